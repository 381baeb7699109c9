package respclient

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
)

const (
	maxDepth = 128      // nesting of aggregates: recursion must not follow the peer's wishes
	maxBlob  = 1 << 30  // bytes of one string
	maxElems = 1 << 30  // elements of one aggregate
	maxLine  = 1 << 20  // bytes of a line
	firstRun = 64 << 10 // bytes allocated for a string before any of it has arrived
	firstCap = 64       // elements allocated for an aggregate before any has arrived
)

// ErrReply is wrapped by every error that means the peer broke the protocol; other errors are
// those of the connection (io.ErrUnexpectedEOF when it ends inside a reply, io.EOF between two).
var ErrReply = errors.New("malformed reply")

func malformed(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrReply}, args...)...)
}

// ReadReply reads one RESP2 or RESP3 reply, with the attributes before it. Memory grows with what
// arrives, not with what the lengths promise.
func ReadReply(r *bufio.Reader) (Value, error) {
	return readValue(r, 0)
}

func readValue(r *bufio.Reader, depth int) (Value, error) {
	if depth > maxDepth {
		return Value{}, malformed("nested more than %d deep", maxDepth)
	}
	line, err := readLine(r, depth)
	if err != nil {
		return Value{}, err
	}
	if len(line) == 0 {
		return Value{}, malformed("empty line")
	}
	kind, rest := line[0], line[1:]
	switch kind {
	case '$', '!', '=':
		return readBlob(r, kind, rest)
	case '*', '%', '~', '>':
		return readAggregate(r, kind, rest, depth)
	case '|':
		return readAttr(r, rest, depth)
	}
	return scalar(kind, rest)
}

// scalar decodes the kinds that are one line.
func scalar(kind byte, rest []byte) (Value, error) {
	switch kind {
	case '+':
		return Value{Kind: Simple, Str: string(rest)}, nil
	case '-':
		return Value{Kind: Error, Str: string(rest)}, nil
	case ':':
		n, err := strconv.ParseInt(string(rest), 10, 64)
		if err != nil {
			return Value{}, malformed("integer %q", rest)
		}
		return Value{Kind: Int, Int: n}, nil
	case '_':
		if len(rest) != 0 {
			return Value{}, malformed("null %q", rest)
		}
		return Value{Kind: Null}, nil
	case ',':
		f, err := parseDouble(rest)
		if err != nil {
			return Value{}, malformed("double %q", rest)
		}
		return Value{Kind: Double, Double: f, Str: string(rest)}, nil
	case '#':
		if string(rest) != "t" && string(rest) != "f" {
			return Value{}, malformed("boolean %q", rest)
		}
		return Value{Kind: Bool, Bool: rest[0] == 't'}, nil
	case '(':
		if !isBigNumber(rest) {
			return Value{}, malformed("big number %q", rest)
		}
		return Value{Kind: BigNumber, Str: string(rest)}, nil
	}
	return Value{}, malformed("unknown type %q", kind)
}

func isBigNumber(b []byte) bool {
	if len(b) > 0 && (b[0] == '-' || b[0] == '+') {
		b = b[1:]
	}
	for _, c := range b {
		if c < '0' || c > '9' {
			return false
		}
	}
	return len(b) > 0
}

func readBlob(r *bufio.Reader, kind byte, rest []byte) (Value, error) {
	n, err := length(rest, maxBlob)
	if err != nil {
		return Value{}, err
	}
	if n < 0 {
		if kind != '$' {
			return Value{}, malformed("null length for %q", kind)
		}
		return Value{Kind: Null}, nil
	}
	b, err := readFull(r, n+2)
	if err != nil {
		return Value{}, err
	}
	if b[n] != '\r' || b[n+1] != '\n' {
		return Value{}, malformed("string of %d bytes not followed by CRLF", n)
	}
	s := string(b[:n])
	switch kind {
	case '!':
		return Value{Kind: Error, Str: s}, nil
	case '=':
		if len(s) < 4 || s[3] != ':' {
			return Value{}, malformed("verbatim string without type")
		}
		return Value{Kind: Verbatim, Format: s[:3], Str: s[4:]}, nil
	}
	return Value{Kind: Bulk, Str: s}, nil
}

func readAggregate(r *bufio.Reader, kind byte, rest []byte, depth int) (Value, error) {
	n, err := length(rest, maxElems)
	if err != nil {
		return Value{}, err
	}
	if n < 0 {
		if kind != '*' {
			return Value{}, malformed("null length for %q", kind)
		}
		return Value{Kind: NullArray}, nil
	}
	v := Value{Kind: Array}
	switch kind {
	case '%':
		v.Kind = Map
		n *= 2
	case '~':
		v.Kind = Set
	case '>':
		v.Kind = Push
	}
	v.Elems, err = readElems(r, n, depth)
	return v, err
}

// readAttr reads attributes and the reply they belong to.
func readAttr(r *bufio.Reader, rest []byte, depth int) (Value, error) {
	n, err := length(rest, maxElems)
	if err != nil {
		return Value{}, err
	}
	if n < 0 {
		return Value{}, malformed("null length for attributes")
	}
	attr, err := readElems(r, 2*n, depth)
	if err != nil {
		return Value{}, err
	}
	v, err := readValue(r, depth+1)
	if err != nil {
		return Value{}, unexpected(err)
	}
	v.Attr = append(attr, v.Attr...)
	return v, nil
}

func readElems(r *bufio.Reader, n, depth int) ([]Value, error) {
	elems := make([]Value, 0, min(n, firstCap))
	for range n {
		e, err := readValue(r, depth+1)
		if err != nil {
			return nil, unexpected(err)
		}
		elems = append(elems, e)
	}
	return elems, nil
}

// length decodes a length or -1, RESP2's null.
func length(b []byte, limit int64) (int, error) {
	n, err := strconv.ParseInt(string(b), 10, 64)
	if err != nil || n < -1 || n > limit {
		return 0, malformed("length %q", b)
	}
	return int(n), nil
}

// readLine returns a line without its CRLF, valid until the next read.
func readLine(r *bufio.Reader, depth int) ([]byte, error) {
	line, err := r.ReadSlice('\n')
	if err == bufio.ErrBufferFull {
		long := append([]byte(nil), line...)
		for err == bufio.ErrBufferFull && len(long) < maxLine {
			line, err = r.ReadSlice('\n')
			long = append(long, line...)
		}
		line = long
	}
	if err != nil {
		if err == bufio.ErrBufferFull {
			return nil, malformed("line over %d bytes", maxLine)
		}
		if depth > 0 || len(line) > 0 {
			err = unexpected(err)
		}
		return nil, err
	}
	if len(line) < 2 || line[len(line)-2] != '\r' {
		return nil, malformed("line %q not ended by CRLF", line)
	}
	return line[:len(line)-2], nil
}

// readFull reads n bytes, allocating ahead of the data by no more than a factor of two.
func readFull(r *bufio.Reader, n int) ([]byte, error) {
	b := make([]byte, 0, min(n, firstRun))
	for len(b) < n {
		if len(b) == cap(b) {
			b = append(make([]byte, 0, min(n, 2*cap(b))), b...)
		}
		at := len(b)
		b = b[:cap(b)]
		if _, err := io.ReadFull(r, b[at:]); err != nil {
			return nil, unexpected(err)
		}
	}
	return b, nil
}

// unexpected turns the end of input inside a reply into io.ErrUnexpectedEOF.
func unexpected(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}
