package client

import (
	"bytes"
	"io"
	"strconv"
)

// Parse decodes the reply at the beginning of raw, with its attributes, and returns what follows.
// If raw ends inside the reply the error is io.ErrUnexpectedEOF, if it is empty io.EOF.
func Parse(raw []byte) (v Value, rest []byte, err error) {
	var f frame
	n, err := f.end(raw)
	switch {
	case err != nil:
		return Value{}, nil, err
	case n == 0 && len(raw) == 0:
		return Value{}, nil, io.EOF
	case n == 0:
		return Value{}, nil, io.ErrUnexpectedEOF
	}
	v, _, err = decode(raw[:n])
	return v, raw[n:], err
}

// decode decodes a complete reply, of which frame has found the end.
func decode(b []byte) (Value, []byte, error) {
	line, rest, _ := bytes.Cut(b, []byte("\n"))
	kind, text := line[0], line[1:len(line)-1]
	switch kind {
	case '$', '!', '=':
		return decodeBlob(kind, text, rest)
	case '*', '%', '~', '>':
		return decodeAggregate(kind, text, rest)
	case '|':
		return decodeAttr(text, rest)
	}
	v, err := scalar(kind, text)
	return v, rest, err
}

// scalar decodes the kinds that are one line.
func scalar(kind byte, text []byte) (Value, error) {
	switch kind {
	case '+':
		return Value{Kind: Simple, Str: string(text)}, nil
	case '-':
		return Value{Kind: Error, Str: string(text)}, nil
	case ':':
		n, err := strconv.ParseInt(string(text), 10, 64)
		if err != nil {
			return Value{}, malformed("integer %q", clip(text))
		}
		return Value{Kind: Int, Int: n}, nil
	case '_':
		if len(text) != 0 {
			return Value{}, malformed("null %q", clip(text))
		}
		return Value{Kind: Null}, nil
	case ',':
		f, err := parseDouble(text)
		if err != nil {
			return Value{}, malformed("double %q", clip(text))
		}
		return Value{Kind: Double, Double: f, Str: string(text)}, nil
	case '#':
		if string(text) != "t" && string(text) != "f" {
			return Value{}, malformed("boolean %q", clip(text))
		}
		return Value{Kind: Bool, Bool: text[0] == 't'}, nil
	}
	if !isBigNumber(text) {
		return Value{}, malformed("big number %q", clip(text))
	}
	return Value{Kind: BigNumber, Str: string(text)}, nil
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

func decodeBlob(kind byte, text, rest []byte) (Value, []byte, error) {
	n, err := length(kind, text, maxBlob)
	if err != nil || n < 0 {
		return Value{Kind: Null}, rest, err
	}
	s, rest := string(rest[:n]), rest[n+2:]
	switch kind {
	case '!':
		return Value{Kind: Error, Str: s}, rest, nil
	case '=':
		if len(s) < 4 || s[3] != ':' {
			return Value{}, nil, malformed("verbatim string without type")
		}
		return Value{Kind: Verbatim, Format: s[:3], Str: s[4:]}, rest, nil
	}
	return Value{Kind: Bulk, Str: s}, rest, nil
}

var aggregates = map[byte]Kind{'*': Array, '%': Map, '~': Set, '>': Push}

func decodeAggregate(kind byte, text, rest []byte) (v Value, _ []byte, err error) {
	n, err := length(kind, text, maxElems)
	if err != nil || n < 0 {
		return Value{Kind: NullArray}, rest, err
	}
	v.Kind = aggregates[kind]
	v.Elems, rest, err = decodeElems(elements(kind, n), rest)
	return v, rest, err
}

// decodeAttr decodes attributes and the reply they belong to.
func decodeAttr(text, rest []byte) (v Value, _ []byte, err error) {
	n, err := length('|', text, maxElems)
	if err != nil {
		return Value{}, nil, err
	}
	attr, rest, err := decodeElems(2*n, rest)
	if err != nil {
		return Value{}, nil, err
	}
	v, rest, err = decode(rest)
	v.Attr = append(attr, v.Attr...)
	return v, rest, err
}

func decodeElems(n int, rest []byte) (elems []Value, _ []byte, err error) {
	elems = make([]Value, n)
	for i := range elems {
		if elems[i], rest, err = decode(rest); err != nil {
			return nil, nil, err
		}
	}
	return elems, rest, nil
}
