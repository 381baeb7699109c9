package persist

import (
	"slices"
	"strconv"
)

// The append-only file is a stream of commands in the protocol, with annotations between them.

// stampPrefix begins the annotation that what follows was written at a time.
const stampPrefix = "#TS:"

func appendTimestamp(b []byte, sec int64) []byte {
	b = append(b, stampPrefix...)
	b = strconv.AppendInt(b, sec, 10)
	return append(b, "\r\n"...)
}

func appendSelect(b []byte, db int) []byte {
	var num [20]byte
	n := strconv.AppendInt(num[:0], int64(db), 10)
	b = append(b, "*2\r\n$6\r\nSELECT\r\n"...)
	return appendBulk(b, n)
}

// appendCommand is on the path of every write: room for the whole command is made once, and what
// follows only copies.
func appendCommand(b []byte, argv [][]byte) []byte {
	const head = 1 + 20 + 2 // a mark, a number, a line end
	need := head
	for _, arg := range argv {
		need += head + len(arg) + 2
	}
	b = slices.Grow(b, need)
	p := b[len(b) : len(b)+need]
	n := putHead(p, '*', len(argv))
	for _, arg := range argv {
		n += putHead(p[n:], '$', len(arg))
		n += copy(p[n:], arg)
		p[n], p[n+1] = '\r', '\n'
		n += 2
	}
	return b[:len(b)+n]
}

// putHead writes the mark, the number and a line end.
func putHead(p []byte, mark byte, n int) int {
	p[0] = mark
	switch {
	case n < 10:
		p = p[1:4:4]
		p[0], p[1], p[2] = '0'+byte(n), '\r', '\n'
		return 4
	case n < 100:
		p = p[1:5:5]
		p[0], p[1], p[2], p[3] = '0'+byte(n/10), '0'+byte(n%10), '\r', '\n'
		return 5
	}
	b := strconv.AppendInt(p[:1], int64(n), 10)
	p[len(b)], p[len(b)+1] = '\r', '\n'
	return len(b) + 2
}

func appendBulk(b, arg []byte) []byte {
	b = appendHead(b, '$', len(arg))
	b = append(b, arg...)
	return append(b, '\r', '\n')
}

func appendHead(b []byte, mark byte, n int) []byte {
	if n < 10 {
		return append(b, mark, '0'+byte(n), '\r', '\n')
	}
	b = append(b, mark)
	b = strconv.AppendInt(b, int64(n), 10)
	return append(b, '\r', '\n')
}
