//go:build !windows && !plan9

package logging

import (
	"fmt"
	"log/syslog"
)

// sysWriter sends lines to the local system log, each with the priority of its level. As with C's
// openlog, it is no error if there is no system log yet: the next line tries again.
type sysWriter struct {
	facility syslog.Priority
	ident    string
	w        *syslog.Writer
}

func openSyslog(ident, facility string) (sink, error) {
	p, ok := facilityOf(facility)
	if !ok {
		return nil, fmt.Errorf("unknown facility %q", facility)
	}
	return &sysWriter{facility: p, ident: ident}, nil
}

func facilityOf(name string) (syslog.Priority, bool) {
	if name == "user" {
		return syslog.LOG_USER, true
	}
	if len(name) == 6 && name[:5] == "local" && name[5] >= '0' && name[5] <= '7' {
		return syslog.LOG_LOCAL0 + syslog.Priority(name[5]-'0')<<3, true
	}
	return 0, false
}

func (s *sysWriter) write(v Level, line string) {
	if s.w == nil {
		w, err := syslog.New(s.facility|syslog.LOG_NOTICE, s.ident)
		if err != nil {
			return
		}
		s.w = w
	}
	switch v {
	case Debug:
		_ = s.w.Debug(line)
	case Verbose:
		_ = s.w.Info(line)
	case Notice:
		_ = s.w.Notice(line)
	default:
		_ = s.w.Warning(line)
	}
}

func (s *sysWriter) close() {
	if s.w != nil {
		_ = s.w.Close()
	}
}
