package persist

import (
	"bytes"
	"errors"
	"io"
	"strconv"
)

// logParser reads the commands of a log file: arrays of bulk strings, and annotations, lines that
// begin with "#".
//
// It keeps a window of the file, large enough for one unit (a command, or a transaction as a
// whole), from which arguments are aliased. When a unit is not complete the window grows to at
// least twice its size and the unit is parsed anew, so that the work stays proportional to the
// bytes. A length that the file announces is believed only as far as the file goes.
type logParser struct {
	r       io.Reader
	buf     []byte
	start   int   // of the unit in buf
	pos     int   // where parsing goes on
	reached int   // how far in buf it got, also in vain
	base    int64 // offset in the file of buf[0]
	eof     bool
	spans   []span
	place   placeReader

	until int64 // unix seconds; 0: no bound
	// late is the offset of the first annotation with a later time, or of the unit that it is
	// within; -1: none so far.
	late int64
}

type span struct{ from, to int }

const (
	logWindow = 1 << 20
	// logLine is the longest line: a mark, a number, or an annotation.
	logLine = 4096
	// logArgs bounds the arguments of one command, as the protocol does for clients.
	logArgs = 1 << 30
)

// errShort says that the file ends within a unit.
var errShort = errors.New("unexpected end of file")

// formatError says what is wrong at an offset.
type formatError struct {
	offset int64
	reason string
}

func (e *formatError) Error() string { return e.reason }

// newLogParser parses r, which is at that offset of its file and has about size bytes.
func newLogParser(r io.Reader, offset, size int64) *logParser {
	return &logParser{r: r, base: offset, late: -1,
		buf: make([]byte, 0, max(min(size+1, logWindow), 64))}
}

// offset returns where the next command begins in the file.
func (p *logParser) offset() int64 { return p.base + int64(p.pos) }

// unit marks the next command as the first of a unit: what was returned before is void.
func (p *logParser) unit() { p.start = p.pos }

// next returns the next command, which together with all since unit stays valid until the next call
// of unit. io.EOF means that the file ends here, errShort that it ends within a command, and a
// formatError that the bytes here are no command.
//
// When the window has to move, earlier arguments move too, and their spans in p.spans with them.
func (p *logParser) next() (args []span, err error) {
	for {
		from := len(p.spans)
		end, err := p.parse(p.pos)
		if err == nil {
			p.pos = end
			p.place.command()
			return p.spans[from:], nil
		}
		p.spans = p.spans[:from]
		if err != errShort {
			return nil, err
		}
		if p.eof {
			if p.rest() {
				return nil, io.EOF
			}
			return nil, errShort
		}
		if err := p.fill(); err != nil {
			return nil, err
		}
	}
}

// rest reports whether nothing but complete annotations is left, which parse has looked at; it
// skips them.
func (p *logParser) rest() bool {
	pos := p.pos
	for pos < len(p.buf) && p.buf[pos] == '#' {
		end, err := p.line(pos)
		if err != nil {
			return false
		}
		p.place.line(p.buf[pos:end])
		pos = end
	}
	if pos == len(p.buf) {
		p.pos = pos
		return true
	}
	return false
}

// fill reads more. Bytes before the unit are dropped.
func (p *logParser) fill() error {
	if p.start > 0 {
		n := copy(p.buf, p.buf[p.start:])
		p.buf = p.buf[:n]
		p.base += int64(p.start)
		for i := range p.spans {
			p.spans[i].from -= p.start
			p.spans[i].to -= p.start
		}
		p.pos -= p.start
		p.start = 0
	}
	if len(p.buf) > cap(p.buf)/2 {
		b := make([]byte, len(p.buf), 2*cap(p.buf))
		copy(b, p.buf)
		p.buf = b
	}
	n, err := io.ReadFull(p.r, p.buf[len(p.buf):cap(p.buf)])
	p.buf = p.buf[:len(p.buf)+n]
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		p.eof = true
		return nil
	}
	return err
}

// line returns the offset behind the line that begins at pos.
func (p *logParser) line(pos int) (end int, err error) {
	for i := pos; i < len(p.buf); i++ {
		if p.buf[i] == '\n' {
			return i + 1, nil
		}
		if i-pos > logLine {
			return 0, &formatError{p.base + int64(pos), "a line is too long"}
		}
	}
	return 0, errShort
}

// annotation notes the place that the line names, and whether it gives a time after until.
func (p *logParser) annotation(pos, end int) error {
	p.place.line(p.buf[pos:end])
	if p.until == 0 || p.late >= 0 {
		return nil
	}
	stamp, ok := bytes.CutPrefix(p.buf[pos:end], []byte(stampPrefix))
	if !ok {
		return nil
	}
	sec, err := strconv.ParseInt(string(bytes.TrimSuffix(stamp, []byte("\r\n"))), 10, 64)
	switch {
	case err != nil:
		return &formatError{p.base + int64(pos), "a timestamp annotation is not valid"}
	case sec > p.until && p.pos > p.start:
		p.late = p.base + int64(p.start)
	case sec > p.until:
		p.late = p.base + int64(pos)
	}
	return nil
}

// parse parses the command at pos, annotations before it included, and appends its arguments to
// spans.
func (p *logParser) parse(pos int) (end int, err error) {
	for pos < len(p.buf) && p.buf[pos] == '#' {
		if end, err = p.line(pos); err != nil {
			return 0, err
		}
		if err = p.annotation(pos, end); err != nil {
			return 0, err
		}
		pos = end
	}
	n, pos, err := p.count(pos, '*')
	if err != nil {
		return 0, err
	}
	if n < 1 || n > logArgs {
		return 0, &formatError{p.base + int64(pos),
			"a command has an impossible number of arguments"}
	}
	for range n {
		var size int64
		if size, pos, err = p.count(pos, '$'); err != nil {
			return 0, err
		}
		if size > int64(len(p.buf)-pos) {
			return 0, errShort
		}
		to := pos + int(size)
		if err := p.crlf(to); err != nil {
			return 0, err
		}
		p.spans = append(p.spans, span{pos, to})
		pos = to + 2
		p.reached = pos
	}
	return pos, nil
}

// crlf checks for a line end at pos.
func (p *logParser) crlf(pos int) error {
	for i, c := range []byte("\r\n") {
		if pos+i >= len(p.buf) {
			return errShort
		}
		if p.buf[pos+i] != c {
			return &formatError{p.base + int64(pos),
				"an argument is longer or shorter than its length says"}
		}
	}
	return nil
}

// count parses a line of the mark and a number.
func (p *logParser) count(pos int, mark byte) (n int64, end int, err error) {
	if pos >= len(p.buf) {
		return 0, 0, errShort
	}
	if p.buf[pos] != mark {
		return 0, 0, &formatError{p.base + int64(pos), "expected '" + string(mark) + "'"}
	}
	i := pos + 1
	for ; i < len(p.buf) && p.buf[i] >= '0' && p.buf[i] <= '9'; i++ {
		if i-pos > 18 {
			return 0, 0, &formatError{p.base + int64(pos), "a number is too large"}
		}
		n = 10*n + int64(p.buf[i]-'0')
	}
	if i < len(p.buf) && i == pos+1 {
		return 0, 0, &formatError{p.base + int64(pos), "expected a number"}
	}
	for _, c := range []byte("\r\n") {
		if i >= len(p.buf) {
			return 0, 0, errShort
		}
		if p.buf[i] != c {
			return 0, 0, &formatError{p.base + int64(i),
				"expected the end of a line after a number"}
		}
		i++
	}
	return n, i, nil
}
