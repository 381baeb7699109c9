package resp

import (
	"strconv"
	"strings"

	"github.com/tidwall/redcon"
)

// Writer appends replies to Buf in the protocol version the client chose with HELLO.
//
// Every method only appends, so a Writer whose Buf has room never allocates, and the owner may
// flush, truncate or swap Buf between any two calls. Aggregates are written as a header with the
// number of elements to follow; it is the caller's duty to write exactly that many.
//
// Types that RESP2 lacks fall back to what Redis sends to RESP2 clients:
//
//	call          RESP2                  RESP3
//	Null          $-1                    _
//	NullArray     *-1                    _
//	Map(n)        *2n                    %n
//	Set(n)        *n                     ~n
//	Push(n)       *n                     >n
//	Attr(n)       (nothing)              |n
//	Double        bulk string            ,
//	Bool          :1 or :0               #t or #f
//	BigNumber     bulk string            (
//	Verbatim      bulk string, no type   =
type Writer struct {
	// Buf holds the replies not yet flushed.
	Buf []byte
	// Proto is the RESP version, 2 or 3; the zero value behaves as 2.
	Proto int
	// Stage takes what does not fit a large Buf. If it is nil, Buf grows.
	Stage Stage
	// Staged is how many bytes were handed to Stage, taken or not, since its owner has reset it.
	Staged int
	// Mute says that the replies are thrown away. Then those that take time to write are not.
	Mute bool
}

// OK appends the status reply of most commands that have nothing to return.
func (w *Writer) OK() { w.Buf = redcon.AppendOK(w.Buf) }

// Simple appends a status reply. CR and LF inside s become spaces: they would end the reply.
func (w *Writer) Simple(s string) { w.Buf = redcon.AppendString(w.Buf, s) }

// Error appends an error reply. msg starts with its code ("ERR syntax error", "WRONGTYPE ...") and
// has no leading '-'. Errors often quote what the client sent, so CR and LF become spaces: no
// client can forge a second reply. Line ends at the end of msg are dropped, as Redis does.
func (w *Writer) Error(msg string) {
	w.Buf = redcon.AppendError(w.Buf, strings.TrimRight(msg, "\r\n"))
}

// Int appends an integer reply.
func (w *Writer) Int(n int64) {
	if !w.Mute {
		w.Buf = redcon.AppendInt(w.Buf, n)
	}
}

// Bulk appends a bulk string. nil is sent as the empty string; use Null for null.
func (w *Writer) Bulk(b []byte) {
	n, buf := len(b), w.Buf
	if n+len(buf)+frame > cap(buf) && n+len(buf) >= stageFrom && w.Stage != nil {
		bulkOver(w, b)
		return
	}
	switch { // ranges consist of short strings: these need no division loop for their length
	case n < 10:
		buf = append(buf, '$', byte('0'+n), '\r', '\n')
	case n < 100:
		buf = append(buf, '$', byte('0'+n/10), byte('0'+n%10), '\r', '\n')
	default:
		w.Buf = redcon.AppendBulk(buf, b)
		return
	}
	buf = append(buf, b...)
	w.Buf = append(buf, '\r', '\n')
}

// BulkString does what Bulk does, for a string.
func (w *Writer) BulkString(s string) {
	if len(s)+len(w.Buf)+frame > cap(w.Buf) && len(s)+len(w.Buf) >= stageFrom && w.Stage != nil {
		bulkOver(w, s)
		return
	}
	w.Buf = redcon.AppendBulkString(w.Buf, s)
}

// BulkInt appends n as a bulk string of decimal digits (what GET answers for an integer value).
func (w *Writer) BulkInt(n int64) {
	if len(w.Buf)+frame > cap(w.Buf) {
		w.Spill()
	}
	var tmp [20]byte
	w.Buf = redcon.AppendBulk(w.Buf, strconv.AppendInt(tmp[:0], n, 10))
}

// Null appends the null value.
func (w *Writer) Null() {
	if w.Proto == 3 {
		w.Buf = append(w.Buf, "_\r\n"...)
		return
	}
	w.Buf = redcon.AppendNull(w.Buf)
}

// NullArray appends the null of commands whose normal reply is an array (an aborted EXEC, BLPOP at
// its timeout). RESP2 has two nulls, and clients distinguish them.
func (w *Writer) NullArray() {
	if w.Proto == 3 {
		w.Buf = append(w.Buf, "_\r\n"...)
		return
	}
	w.Buf = append(w.Buf, "*-1\r\n"...)
}

// Array appends the header of an array of n elements.
func (w *Writer) Array(n int) { w.Buf = redcon.AppendArray(w.Buf, n) }

// Map appends the header of a map. The caller then writes key and value, pairs times.
func (w *Writer) Map(pairs int) {
	if w.Proto == 3 {
		w.Buf = appendHeader(w.Buf, '%', pairs)
		return
	}
	w.Buf = redcon.AppendArray(w.Buf, 2*pairs)
}

// Set appends the header of a set of n elements.
func (w *Writer) Set(n int) {
	if w.Proto == 3 {
		w.Buf = appendHeader(w.Buf, '~', n)
		return
	}
	w.Buf = redcon.AppendArray(w.Buf, n)
}

// Push appends the header of an out-of-band message of n elements (pub/sub, invalidations).
func (w *Writer) Push(n int) {
	if w.Proto == 3 {
		w.Buf = appendHeader(w.Buf, '>', n)
		return
	}
	w.Buf = redcon.AppendArray(w.Buf, n)
}

// Attr appends the header of attributes that describe the next reply, and reports whether it did.
// RESP2 cannot carry them: if it reports false, the caller must leave the pairs out.
func (w *Writer) Attr(pairs int) bool {
	if w.Proto != 3 {
		return false
	}
	w.Buf = appendHeader(w.Buf, '|', pairs)
	return true
}

// Double appends f with the fewest digits (see AppendDouble).
func (w *Writer) Double(f float64) {
	var tmp [32]byte
	w.DoubleText(AppendDouble(tmp[:0], f))
}

// DoubleText appends a number that the caller has formatted (the long doubles of INCREX) as the
// protocol's double. Not all numbers are sent this way: INCRBYFLOAT and GEODIST answer with bulk
// strings in RESP3 too.
func (w *Writer) DoubleText(num []byte) {
	if len(w.Buf)+frame > cap(w.Buf) {
		w.Spill()
	}
	if w.Proto != 3 {
		w.Buf = redcon.AppendBulk(w.Buf, num)
		return
	}
	w.Buf = append(w.Buf, ',')
	w.Buf = append(w.Buf, num...)
	w.Buf = append(w.Buf, '\r', '\n')
}

// Bool appends a truth value.
func (w *Writer) Bool(b bool) {
	switch {
	case w.Proto == 3 && b:
		w.Buf = append(w.Buf, "#t\r\n"...)
	case w.Proto == 3:
		w.Buf = append(w.Buf, "#f\r\n"...)
	case b:
		w.Buf = append(w.Buf, ":1\r\n"...)
	default:
		w.Buf = append(w.Buf, ":0\r\n"...)
	}
}

// BigNumber appends an integer of any size, given as decimal digits with an optional '-'.
func (w *Writer) BigNumber(digits string) {
	if w.Proto != 3 {
		w.Buf = redcon.AppendBulkString(w.Buf, digits)
		return
	}
	w.Buf = append(w.Buf, '(')
	w.Buf = append(w.Buf, digits...)
	w.Buf = append(w.Buf, '\r', '\n')
}

// Verbatim appends text with a type tag of three bytes ("txt", "mkd").
func (w *Writer) Verbatim(ext, s string) {
	if w.Proto != 3 {
		w.BulkString(s)
		return
	}
	tag := [3]byte{' ', ' ', ' '}
	copy(tag[:], ext)
	w.Buf = appendHeader(w.Buf, '=', len(s)+4)
	w.Buf = append(w.Buf, tag[0], tag[1], tag[2], ':')
	w.Buf = append(w.Buf, s...)
	w.Buf = append(w.Buf, '\r', '\n')
}

// Raw appends bytes that are already a reply.
func (w *Writer) Raw(b []byte) { w.Buf = append(w.Buf, b...) }

// appendHeader appends a type byte, a length and CRLF. redcon has no function for the RESP3 types.
func appendHeader(dst []byte, kind byte, n int) []byte {
	dst = append(dst, kind)
	dst = strconv.AppendInt(dst, int64(n), 10)
	return append(dst, '\r', '\n')
}
