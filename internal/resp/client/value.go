// Package client is the client's side of the protocol, for MIGRATE, tests and tools. It speaks
// RESP2 and RESP3 over any net.Conn, with pipelines and push messages. It returns each reply
// exactly as it came, type by type, or as bytes.
//
// Replies are found in place: what arrives is appended to one buffer, a frame looks for the end of
// the reply in it, and only a complete reply is decoded.
package client

import (
	"bytes"
	"math"
	"strconv"
	"strings"
)

// Kind is the type of a reply.
type Kind uint8

// The kinds, with the byte that announces each on the wire.
const (
	Invalid   Kind = iota // the zero Value
	Simple                // +
	Error                 // - and the bulk error ! of RESP3
	Int                   // :
	Bulk                  // $
	Null                  // _ and RESP2's $-1
	NullArray             // *-1
	Array                 // *
	Map                   // %
	Set                   // ~
	Push                  // >
	Double                // ,
	Bool                  // #
	BigNumber             // (
	Verbatim              // =
)

var kindNames = [...]string{"invalid", "simple", "error", "int", "bulk", "null", "nullarray",
	"array", "map", "set", "push", "double", "bool", "bignum", "verbatim"}

// String returns the kind's name in lower case.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "kind" + strconv.Itoa(int(k))
}

// Value is one reply.
type Value struct {
	Kind Kind
	// Str is the text of Simple, Error (without '-'), Bulk, BigNumber and Verbatim (without its
	// type), and of Double as it was sent.
	Str string
	// Format is the three-byte type of a Verbatim.
	Format string
	Int    int64
	Double float64
	Bool   bool
	// Elems are the elements of Array, Set and Push; of a Map key, value, key, value.
	Elems []Value
	// Attr holds the attributes (key, value, key, value) that came before the reply.
	Attr []Value
}

// IsNull reports whether v is one of the nulls.
func (v Value) IsNull() bool { return v.Kind == Null || v.Kind == NullArray }

// IsError reports whether v is an error reply.
func (v Value) IsError() bool { return v.Kind == Error }

// Text returns the reply's scalar as text: "" for nulls and aggregates.
func (v Value) Text() string {
	switch v.Kind {
	case Int:
		return strconv.FormatInt(v.Int, 10)
	case Bool:
		return strconv.FormatBool(v.Bool)
	}
	return v.Str
}

// Strings returns Text of every element.
func (v Value) Strings() []string {
	out := make([]string, len(v.Elems))
	for i, e := range v.Elems {
		out[i] = e.Text()
	}
	return out
}

// Equal reports whether both replies are the same on the wire, attributes included. NaN equals NaN.
func (v Value) Equal(w Value) bool {
	if v.Kind != w.Kind || v.Str != w.Str || v.Format != w.Format || v.Int != w.Int ||
		v.Bool != w.Bool {
		return false
	}
	if v.Double != w.Double && !(math.IsNaN(v.Double) && math.IsNaN(w.Double)) {
		return false
	}
	return equalAll(v.Elems, w.Elems) && equalAll(v.Attr, w.Attr)
}

func equalAll(a, b []Value) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !a[i].Equal(b[i]) {
			return false
		}
	}
	return true
}

// String renders v on one line for messages: kinds are visible, strings are quoted.
func (v Value) String() string {
	var sb strings.Builder
	v.render(&sb)
	return sb.String()
}

func (v Value) render(sb *strings.Builder) {
	if v.Attr != nil {
		renderAll(sb, "attr", v.Attr)
		sb.WriteByte(' ')
	}
	switch v.Kind {
	case Int:
		sb.WriteString(strconv.FormatInt(v.Int, 10))
	case Bulk:
		sb.WriteString(strconv.Quote(v.Str))
	case Double, Simple, BigNumber:
		sb.WriteString(v.Kind.String() + ":" + v.Str)
	case Error, Verbatim:
		sb.WriteString(v.Kind.String() + ":" + v.Format + strconv.Quote(v.Str))
	case Bool:
		sb.WriteString(strconv.FormatBool(v.Bool))
	case Array, Map, Set, Push:
		renderAll(sb, v.Kind.String(), v.Elems)
	default:
		sb.WriteString(v.Kind.String())
	}
}

func renderAll(sb *strings.Builder, name string, vs []Value) {
	sb.WriteString(name)
	sb.WriteByte('[')
	for i, e := range vs {
		if i > 0 {
			sb.WriteByte(' ')
		}
		e.render(sb)
	}
	sb.WriteByte(']')
}

// Append writes v in the form it is read from. Parse of the result equals v, except that a bulk
// error that fits a simple one comes back as that.
func (v Value) Append(dst []byte) []byte {
	if v.Attr != nil {
		dst = appendAll(dst, '|', len(v.Attr)/2, v.Attr)
	}
	switch v.Kind {
	case Simple:
		return appendLine(dst, '+', v.Str)
	case Error:
		if strings.ContainsAny(v.Str, "\r\n") {
			return appendBlob(dst, '!', v.Str)
		}
		return appendLine(dst, '-', v.Str)
	case Int:
		return appendLine(dst, ':', strconv.FormatInt(v.Int, 10))
	case Bulk:
		return appendBlob(dst, '$', v.Str)
	case Null:
		return append(dst, "_\r\n"...)
	case NullArray:
		return append(dst, "*-1\r\n"...)
	case Array:
		return appendAll(dst, '*', len(v.Elems), v.Elems)
	case Map:
		return appendAll(dst, '%', len(v.Elems)/2, v.Elems)
	case Set:
		return appendAll(dst, '~', len(v.Elems), v.Elems)
	case Push:
		return appendAll(dst, '>', len(v.Elems), v.Elems)
	case Double:
		return appendLine(dst, ',', v.Str)
	case Bool:
		if v.Bool {
			return append(dst, "#t\r\n"...)
		}
		return append(dst, "#f\r\n"...)
	case BigNumber:
		return appendLine(dst, '(', v.Str)
	case Verbatim:
		return appendBlob(dst, '=', v.Format+":"+v.Str)
	}
	return dst
}

func appendLine(dst []byte, kind byte, s string) []byte {
	dst = append(dst, kind)
	dst = append(dst, s...)
	return append(dst, '\r', '\n')
}

func appendBlob(dst []byte, kind byte, s string) []byte {
	dst = appendLine(dst, kind, strconv.Itoa(len(s)))
	dst = append(dst, s...)
	return append(dst, '\r', '\n')
}

func appendAll(dst []byte, kind byte, n int, vs []Value) []byte {
	dst = appendLine(dst, kind, strconv.Itoa(n))
	for _, e := range vs {
		dst = e.Append(dst)
	}
	return dst
}

func parseDouble(b []byte) (float64, error) {
	switch string(bytes.ToLower(b)) {
	case "inf", "+inf":
		return math.Inf(1), nil
	case "-inf":
		return math.Inf(-1), nil
	case "nan", "-nan":
		return math.NaN(), nil
	}
	return strconv.ParseFloat(string(b), 64)
}
