package resp

import (
	"slices"
	"strconv"
)

// headBytes is the most bytes that a mark, a number and a line end take.
const headBytes = 1 + 20 + 2

// CommandRoom returns how many bytes AppendCommand needs room for.
func CommandRoom[T string | []byte](args []T) int {
	need := headBytes
	for _, arg := range args {
		need += headBytes + len(arg) + 2
	}
	return need
}

// AppendCommand appends args as a request, an array of bulk strings. Commands have this form in the
// append-only file and on the replication link. It is on the path of every write: room for the
// whole command is made once, and what follows only copies.
func AppendCommand[T string | []byte](dst []byte, args ...T) []byte {
	need := CommandRoom(args)
	dst = slices.Grow(dst, need)
	p := dst[len(dst) : len(dst)+need]
	n := putHead(p, '*', len(args))
	for _, arg := range args {
		n += putHead(p[n:], '$', len(arg))
		n += copy(p[n:], arg)
		p[n], p[n+1] = '\r', '\n'
		n += 2
	}
	return dst[:len(dst)+n]
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
