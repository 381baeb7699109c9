// Package logging writes the server log. Unless another format is chosen, that is Redis's line
// format, which log shippers and test harnesses parse:
//
//	4465:M 21 Nov 2026 14:25:16.570 * Ready to accept connections tcp
//	pid  │ day, month, year, time   │ message
//	     role                       level
//
// Role is M for a primary, S for a replica, C for a child or a process that is still starting,
// X for a Sentinel. The level is one of . - * # for debug, verbose, notice, warning.
//
// A log file is opened, appended to and closed for every line. That costs three system calls where
// one would do. It gives administrators what they rely on: a rotated or deleted file is created
// again at the next line, without a signal. Lines below the logger's level cost one atomic load.
package logging

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unicode/utf8"
)

// Level orders lines by importance. A logger drops lines below its own level.
type Level int

// The levels, in the order of the loglevel directive. Nothing silences every line.
const (
	Debug Level = iota
	Verbose
	Notice
	Warning
	Nothing
)

const marks = ".-*#"

// The roles that a line can carry.
const (
	Primary  = 'M'
	Replica  = 'S'
	Child    = 'C'
	Sentinel = 'X'
)

// Options say where a Logger writes.
type Options struct {
	Level  Level
	Format Format
	Stamp  Stamp
	File   string // empty: Out
	Role   byte   // 0: Child, as a process is until the server is up

	Syslog   bool // lines also go to the system log, without pid, role and time
	Ident    string
	Facility string // user, local0 … local7

	Out io.Writer        // standard output when nil
	Now func() time.Time // time.Now when nil
	Pid int              // os.Getpid when 0
}

// Logger writes lines. Several goroutines may use it.
type Logger struct {
	level atomic.Int32
	role  atomic.Int32

	mu     sync.Mutex // keeps lines whole and guards buf, format and stamp
	buf    []byte
	format Format
	stamp  Stamp
	file   string
	out    io.Writer
	syslog sink
	now    func() time.Time
	pid    int
}

// sink is the system log.
type sink interface {
	write(level Level, line string)
	close()
}

// New returns a Logger for o. It opens a log file once, so that a path that cannot be written is
// refused at the start.
func New(o Options) (*Logger, error) {
	l := &Logger{file: o.File, out: o.Out, now: o.Now, pid: o.Pid, format: o.Format,
		stamp: o.Stamp}
	if l.out == nil {
		l.out = os.Stdout
	}
	if l.now == nil {
		l.now = time.Now
	}
	if l.pid == 0 {
		l.pid = os.Getpid()
	}
	if o.Role == 0 {
		o.Role = Child
	}
	l.SetLevel(o.Level)
	l.SetRole(o.Role)
	if o.File != "" {
		f, err := open(o.File)
		if err != nil {
			return nil, openError("Can't open the log file: " + OSError(err))
		}
		f.Close()
	}
	if o.Syslog {
		s, err := openSyslog(o.Ident, o.Facility)
		if err != nil {
			return nil, openError("Can't open the system log: " + OSError(err))
		}
		l.syslog = s
	}
	return l, nil
}

// openError says why there is no log, in Redis's words.
type openError string

func (e openError) Error() string { return string(e) }

// Discard returns a Logger that drops every line, for tests and tools.
func Discard() *Logger {
	l := &Logger{out: io.Discard, now: time.Now}
	l.SetLevel(Nothing)
	l.SetRole(Primary)
	return l
}

func open(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
}

// SetLevel changes the level. It may be called at any time.
func (l *Logger) SetLevel(v Level) { l.level.Store(int32(v)) }

// SetRole changes the role that later lines carry.
func (l *Logger) SetRole(r byte) { l.role.Store(int32(r)) }

// Enabled reports whether a line of this level would be written. It is for callers whose arguments
// are expensive to compute.
func (l *Logger) Enabled(v Level) bool { return int32(v) >= l.level.Load() && v < Nothing }

// Debug writes a line for developers. Here and below, the arguments are as for fmt.Sprintf.
func (l *Logger) Debug(format string, args ...any) { l.Log(Debug, format, args...) }

// Verbose writes a line about routine work.
func (l *Logger) Verbose(format string, args ...any) { l.Log(Verbose, format, args...) }

// Notice writes a line about the life of the server.
func (l *Logger) Notice(format string, args ...any) { l.Log(Notice, format, args...) }

// Warning writes a line that somebody should read.
func (l *Logger) Warning(format string, args ...any) { l.Log(Warning, format, args...) }

// Log writes a line of the given level. Bytes that would end the line or control a terminal are
// escaped, because messages quote what clients send. If a line cannot be written it is lost: the
// server goes on.
func (l *Logger) Log(v Level, format string, args ...any) {
	if !l.Enabled(v) {
		return
	}
	msg := fmt.Sprintf(format, args...)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.buf = l.line(l.buf[:0], v, msg)
	l.emit(l.buf)
	if l.syslog != nil {
		l.syslog.write(v, string(appendEscaped(nil, msg)))
	}
}

// Picture writes a text of several lines as it is, in any format.
func (l *Logger) Picture(v Level, text string) {
	if !l.Enabled(v) {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.emit([]byte(text))
}

func (l *Logger) emit(b []byte) {
	if l.file == "" {
		_, _ = l.out.Write(b)
		return
	}
	f, err := open(l.file)
	if err != nil {
		return
	}
	_, _ = f.Write(b)
	_ = f.Close()
}

// Report writes a report of many lines unchanged, whatever the level, after a line that announces
// it. It goes to the log file, or to standard error if there is none. Report does not wait for
// other lines: the caller is about to end the process, and the goroutine that holds the lock may be
// the one that crashed.
func (l *Logger) Report(report []byte) {
	for range 100 {
		if l.mu.TryLock() {
			l.mu.Unlock()
			l.Log(Warning, "A bug report follows, in the log file or on standard error.")
			break
		}
		time.Sleep(time.Millisecond)
	}
	if l.file != "" {
		if f, err := open(l.file); err == nil {
			_, _ = f.Write(report)
			_ = f.Close()
			return
		}
	}
	_, _ = os.Stderr.Write(report)
}

// Close closes the system log. Lines may still be written to the file or the standard output.
func (l *Logger) Close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.syslog != nil {
		l.syslog.close()
		l.syslog = nil
	}
}

// appendEscaped appends s with control bytes, and bytes that are not UTF-8, as \n, \r, \t or \xHH.
func appendEscaped(b []byte, s string) []byte {
	const hex = "0123456789abcdef"
	for i := 0; i < len(s); {
		c := s[i]
		if c >= ' ' && c < 0x7f {
			b = append(b, c)
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r >= 0xa0 && (r != utf8.RuneError || n > 1): // the C1 controls are below
			b = append(b, s[i:i+n]...)
		case c == '\n':
			b = append(b, `\n`...)
		case c == '\r':
			b = append(b, `\r`...)
		case c == '\t':
			b = append(b, `\t`...)
		default:
			for _, c := range []byte(s[i : i+n]) {
				b = append(b, '\\', 'x', hex[c>>4], hex[c&15])
			}
		}
		i += n
	}
	return b
}

// OSError returns C's strerror words for an error of the system ("No such file or directory"),
// because log lines and errors quote them. For other errors it returns their own text.
func OSError(err error) string {
	var no syscall.Errno
	if !errors.As(err, &no) {
		return err.Error()
	}
	s := []byte(no.Error())
	if len(s) > 0 && s[0] >= 'a' && s[0] <= 'z' {
		s[0] -= 'a' - 'A'
	}
	return string(s)
}
