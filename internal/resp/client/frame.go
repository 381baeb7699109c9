package client

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
)

const (
	maxDepth = 128     // nesting of aggregates: recursion must not follow the peer's wishes
	maxBlob  = 1 << 30 // bytes of one string
	maxElems = 1 << 30 // elements of one aggregate
	maxLine  = 1 << 20 // bytes of a line
)

// ErrReply is wrapped by every error that means the peer broke the protocol. Other errors are those
// of the connection: io.ErrUnexpectedEOF if it ends inside a reply, io.EOF between two.
var ErrReply = errors.New("malformed reply")

func malformed(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrReply}, args...)...)
}

// frame finds where a reply ends while its bytes arrive. It looks at each line and each string
// again only while its end has not arrived. The zero frame is at the beginning of a reply.
type frame struct {
	pos   int           // the bytes before it are complete elements
	depth int           // aggregates that are open
	left  [maxDepth]int // elements that each of them still lacks
}

// reset puts the frame at the beginning of the next reply.
func (f *frame) reset() { f.pos, f.depth = 0, 0 }

// end returns the length of the reply at the beginning of buf, 0 if it is not complete. Calls for
// the same reply pass the same bytes and what has come since.
func (f *frame) end(buf []byte) (int, error) {
	for {
		size, elems, err := element(buf[f.pos:])
		if err != nil || size == 0 {
			return 0, err
		}
		if elems > 0 && f.depth == maxDepth { // f stays where it is: the next call fails too
			return 0, malformed("nested more than %d deep", maxDepth)
		}
		f.pos += size
		if elems > 0 {
			f.left[f.depth] = elems
			f.depth++
			continue
		}
		for f.depth > 0 {
			f.left[f.depth-1]--
			if f.left[f.depth-1] > 0 {
				break
			}
			f.depth--
		}
		if f.depth == 0 {
			return f.pos, nil
		}
	}
}

// element returns the length of a scalar, or of an aggregate's first line and how many elements
// follow. The length is 0 if buf ends before it. Attributes are an aggregate together with the
// reply that they belong to.
func element(buf []byte) (size, elems int, err error) {
	nl := bytes.IndexByte(buf[:min(len(buf), maxLine)], '\n')
	if nl < 0 {
		if len(buf) >= maxLine {
			return 0, 0, malformed("line over %d bytes", maxLine)
		}
		return 0, 0, nil
	}
	size = nl + 1
	if nl < 2 || buf[nl-1] != '\r' {
		return 0, 0, malformed("line %q", clip(buf[:size]))
	}
	switch kind, text := buf[0], buf[1:nl-1]; kind {
	case '+', '-', ':', '_', ',', '#', '(':
		return size, 0, nil
	case '$', '!', '=':
		n, err := length(kind, text, maxBlob)
		if err != nil || n < 0 {
			return size, 0, err
		}
		size += n + 2
		if size > len(buf) {
			return 0, 0, nil
		}
		if buf[size-2] != '\r' || buf[size-1] != '\n' {
			return 0, 0, malformed("string of %d bytes not followed by CRLF", n)
		}
		return size, 0, nil
	case '*', '~', '>', '%', '|':
		n, err := length(kind, text, maxElems)
		return size, elements(kind, n), err
	default:
		return 0, 0, malformed("unknown type %q", kind)
	}
}

// elements returns how many elements follow an aggregate's first line that announces n.
func elements(kind byte, n int) int {
	switch kind {
	case '%':
		return 2 * n
	case '|':
		return 2*n + 1
	}
	return max(n, 0)
}

// length decodes a length or -1, a null of RESP2.
func length(kind byte, text []byte, limit int64) (int, error) {
	n, err := strconv.ParseInt(string(text), 10, 64)
	if err != nil || n < -1 || n > limit || n < 0 && kind != '$' && kind != '*' {
		return 0, malformed("length %q of type %q", clip(text), kind)
	}
	return int(n), nil
}

// clip shortens what the peer sent for an error message.
func clip(b []byte) []byte { return b[:min(len(b), 80)] }
