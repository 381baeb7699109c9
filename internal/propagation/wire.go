package propagation

import (
	"slices"
	"strconv"
)

const (
	// headBytes is the most bytes that a mark, a number and a line end take.
	headBytes = 1 + 20 + 2
	// selectBytes is the most bytes that a SELECT takes.
	selectBytes = 3*headBytes + len("SELECT\r\n") + 20 + 2
)

// AppendSelect appends the command SELECT db in the protocol.
func AppendSelect(b []byte, db int) []byte {
	var num [20]byte
	n := strconv.AppendInt(num[:0], int64(db), 10)
	return AppendCommand(b, [][]byte{selectName, n})
}

var selectName = []byte("SELECT")

// AppendCommand appends a command in the protocol. It is on the path of every write: room for the
// whole command is made once, and what follows only copies.
func AppendCommand(b []byte, argv [][]byte) []byte {
	need := headBytes
	for _, arg := range argv {
		need += headBytes + len(arg) + 2
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
