package logging

import (
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Format is the form of a line (log-format).
type Format int

// The forms: Redis's, and Valkey's two for machines. Their fields have the same names:
//
//	pid=4465 role=primary timestamp="…" level=notice message="…"
//	{"pid":4465,"role":"primary","timestamp":"…","level":"notice","message":"…"}
const (
	Legacy Format = iota
	Logfmt
	JSON
)

// Stamp is the form of a line's time (log-timestamp-format).
type Stamp int

// The forms of the time: Redis's, ISO 8601 with the offset to UTC, milliseconds since 1970.
const (
	StampLegacy Stamp = iota
	StampISO8601
	StampMilliseconds
)

// SetFormat changes the form of later lines.
func (l *Logger) SetFormat(f Format, s Stamp) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.format, l.stamp = f, s
}

var levelNames = [...]string{"debug", "verbose", "notice", "warning"}

func roleName(role byte) string {
	switch role {
	case Replica:
		return "replica"
	case Sentinel:
		return "sentinel"
	}
	return "primary"
}

// line appends a whole line.
func (l *Logger) line(b []byte, v Level, msg string) []byte {
	now, role := l.now(), byte(l.role.Load())
	switch l.format {
	case Logfmt:
		b = append(strconv.AppendInt(append(b, "pid="...), int64(l.pid), 10), " role="...)
		b = append(append(b, roleName(role)...), " timestamp=\""...)
		b = append(l.stamp.append(b, now), "\" level="...)
		b = append(append(b, levelNames[v]...), " message=\""...)
		return append(appendEscaped(b, logfmtText.Replace(msg)), "\"\n"...)
	case JSON:
		b = append(strconv.AppendInt(append(b, `{"pid":`...), int64(l.pid), 10), `,"role":"`...)
		b = append(append(b, roleName(role)...), `","timestamp":"`...)
		b = append(l.stamp.append(b, now), `","level":"`...)
		b = append(append(b, levelNames[v]...), `","message":"`...)
		return append(appendJSON(b, msg), "\"}\n"...)
	}
	b = strconv.AppendInt(b, int64(l.pid), 10)
	b = append(b, ':', role, ' ')
	b = append(l.stamp.append(b, now), ' ', marks[v], ' ')
	return append(appendEscaped(b, msg), '\n')
}

// append appends the time.
func (s Stamp) append(b []byte, t time.Time) []byte {
	switch s {
	case StampISO8601:
		return t.AppendFormat(b, "2006-01-02T15:04:05.000-07:00")
	case StampMilliseconds:
		return strconv.AppendInt(b, t.UnixMilli(), 10)
	}
	return t.AppendFormat(b, "02 Jan 2006 15:04:05.000")
}

// logfmtText makes a message fit between quotes, as Valkey does.
var logfmtText = strings.NewReplacer(`"`, "'", "\n", " ", "\r", " ")

// appendJSON appends s as the inside of a JSON string. Bytes that are not UTF-8 become U+FFFD.
func appendJSON(b []byte, s string) []byte {
	const hex = "0123456789abcdef"
	for _, r := range s { // yields U+FFFD for each byte that is not UTF-8
		switch {
		case r == '"' || r == '\\':
			b = append(b, '\\', byte(r))
		case r == '\n':
			b = append(b, `\n`...)
		case r == '\r':
			b = append(b, `\r`...)
		case r == '\t':
			b = append(b, `\t`...)
		case r < ' ' || r >= 0x7f && r < 0xa0: // would control a terminal
			b = append(b, `\u00`...)
			b = append(b, hex[r>>4], hex[r&15])
		default:
			b = utf8.AppendRune(b, r)
		}
	}
	return b
}
