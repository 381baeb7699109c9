package diff

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// errFrame says that a server sent bytes that are not RESP at all.
var errFrame = errors.New("not a RESP frame")

// maxFrame bounds one announced length: a server that announces more is broken,
// and the tester must not die with it.
const maxFrame = 1 << 30

// frameEnd finds the end of the RESP2 or RESP3 reply starting at buf[pos]. It
// returns the index after the reply, or -1 when buf ends before the reply does.
// Nesting is a counter instead of recursion: the common reply is one line, and a
// hostile depth costs nothing.
func frameEnd(buf []byte, pos int) (int, error) {
	for pending := 1; pending > 0; pending-- {
		nl := bytes.IndexByte(buf[min(pos, len(buf)):], '\n')
		if nl < 0 {
			return -1, nil
		}
		end := pos + nl + 1
		if nl < 2 || buf[end-2] != '\r' {
			return 0, fmt.Errorf("%w: line %q", errFrame, clip(buf[pos:end], 80))
		}
		kind, line := buf[pos], buf[pos+1:end-2]
		switch kind {
		case '+', '-', ':', ',', '#', '_', '(':
			pos = end
		case '$', '=', '!', '*', '~', '>', '%', '|':
			n, err := strconv.Atoi(string(line))
			if err != nil || n < -1 || n > maxFrame {
				return 0, fmt.Errorf("%w: length %q", errFrame, clip(line, 80))
			}
			pos = end
			switch {
			case n < 0:
			case kind == '$' || kind == '=' || kind == '!':
				pos += n + 2
				if pos > len(buf) {
					return -1, nil
				}
				if buf[pos-2] != '\r' || buf[pos-1] != '\n' {
					return 0, fmt.Errorf("%w: bulk of %d bytes without its end", errFrame, n)
				}
			case kind == '%':
				pending += 2 * n
			case kind == '|': // attributes precede the reply they belong to
				pending += 2*n + 1
			default:
				pending += n
			}
		default:
			return 0, fmt.Errorf("%w: kind %q", errFrame, kind)
		}
	}
	return pos, nil
}

// Reply is a decoded reply; only mismatches are decoded.
type Reply struct {
	Kind  byte    // the RESP type byte; '_' for every form of null
	Str   string  // the payload of scalar kinds
	Elems []Reply // the elements of aggregates; of a map: key, value, key, value …
}

// decode reads the reply at buf[pos], which frameEnd has found complete.
func decode(buf []byte, pos int) (Reply, int) {
	nl := pos + bytes.IndexByte(buf[pos:], '\n')
	kind, line := buf[pos], string(buf[pos+1:nl-1])
	pos = nl + 1
	n := 0
	switch kind {
	case '$', '=', '!', '*', '~', '>', '%', '|':
		n, _ = strconv.Atoi(line)
		if n < 0 {
			return Reply{Kind: '_'}, pos
		}
	default:
		return Reply{Kind: kind, Str: line}, pos
	}
	switch kind {
	case '$', '=', '!':
		return Reply{Kind: kind, Str: string(buf[pos : pos+n])}, pos + n + 2
	case '%':
		n *= 2
	case '|':
		for range 2 * n {
			_, pos = decode(buf, pos)
		}
		return decode(buf, pos)
	}
	r := Reply{Kind: kind, Elems: make([]Reply, n)}
	for i := range r.Elems {
		r.Elems[i], pos = decode(buf, pos)
	}
	return r, pos
}

// Decode reads exactly one complete reply.
func Decode(raw []byte) (Reply, error) {
	end, err := frameEnd(raw, 0)
	if err != nil {
		return Reply{}, err
	}
	if end != len(raw) {
		return Reply{}, fmt.Errorf("%w: %d bytes, the reply ends at %d", errFrame, len(raw), end)
	}
	r, _ := decode(raw, 0)
	return r, nil
}

// IsErr reports whether the reply is an error of either protocol version.
func (r Reply) IsErr() bool { return r.Kind == '-' || r.Kind == '!' }

// Int is the value of an integer reply.
func (r Reply) Int() (int64, bool) {
	if r.Kind != ':' {
		return 0, false
	}
	n, err := strconv.ParseInt(r.Str, 10, 64)
	return n, err == nil
}

// Float is the value of a double or of a string that spells one.
func (r Reply) Float() (float64, bool) {
	switch r.Kind {
	case ',', '$', ':', '+':
		f, err := strconv.ParseFloat(r.Str, 64)
		return f, err == nil && !math.IsNaN(f)
	}
	return 0, false
}

// Get looks a field up in a map reply or in its RESP2 form, a flat array.
func (r Reply) Get(field string) (Reply, bool) {
	for i := 0; i+1 < len(r.Elems); i += 2 {
		if r.Elems[i].Str == field {
			return r.Elems[i+1], true
		}
	}
	return Reply{}, false
}

// String shows the reply on one line, near to how redis-cli names the types.
func (r Reply) String() string {
	switch r.Kind {
	case '_':
		return "(nil)"
	case '+':
		return "+" + r.Str
	case '-', '!':
		return "(error) " + r.Str
	case ':':
		return "(integer) " + r.Str
	case ',':
		return "(double) " + r.Str
	case '#':
		return "(bool) " + r.Str
	case '(':
		return "(big) " + r.Str
	case '$':
		return Quote([]byte(r.Str))
	case '=':
		return "(verbatim) " + Quote([]byte(r.Str))
	}
	name := map[byte]string{'*': "", '~': "set", '>': "push", '%': "map"}[r.Kind]
	parts := make([]string, len(r.Elems))
	for i, e := range r.Elems {
		parts[i] = e.String()
	}
	return name + "[" + strings.Join(parts, ", ") + "]"
}

// show makes raw reply bytes readable, whatever they are.
func show(raw []byte) string {
	if r, err := Decode(raw); err == nil {
		return clip(r.String(), 2000)
	}
	return "raw " + clip(Quote(raw), 2000)
}

func clip[S ~string | ~[]byte](s S, n int) string {
	if len(s) <= n {
		return string(s)
	}
	return fmt.Sprintf("%s… (%d bytes)", string(s[:n]), len(s))
}
