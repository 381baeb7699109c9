package bloom

import (
	"encoding/binary"
	"math"
	"math/bits"
	"strconv"
)

// Info describes a filter.
type Info struct {
	Capacity uint64 // items of all links
	Items    uint64
	Links    int
	Growth   uint32
	Scales   bool
}

// InfoOf reads the description from a header.
func InfoOf(head []byte) Info {
	in := Info{Items: binary.LittleEndian.Uint64(head), Links: links(head), Growth: growth(head),
		Scales: Scales(head)}
	for i := range in.Links {
		sum, carry := bits.Add64(in.Capacity, linkAt(head, i).capacity, 0)
		if in.Capacity = sum; carry > 0 {
			in.Capacity = math.MaxInt64
			break
		}
	}
	return in
}

// AppendDebug appends a line about link i in RedisBloom's form.
func AppendDebug(dst, head []byte, i int) []byte {
	l := linkAt(head, i)
	width := uint64(64)
	if options(head)&(optMurmur3|optForce64) == 0 {
		width = 32
	}
	for _, f := range []struct {
		name string
		n    uint64
	}{
		{"bytes:", l.bits / 8}, {" bits:", l.bits}, {" hashes:", uint64(l.probes)},
		{" hashwidth:", width}, {" capacity:", l.capacity}, {" size:", l.items},
	} {
		dst = strconv.AppendUint(append(dst, f.name...), f.n, 10)
	}
	return AppendRate(append(dst, " ratio:"...), l.err)
}

// AppendRate appends an error rate as C's %g prints it.
func AppendRate(dst []byte, f float64) []byte {
	s := strconv.FormatFloat(f, 'e', 5, 64)
	exp, _ := strconv.Atoi(s[8:])
	if exp >= -4 && exp < 6 {
		s = strconv.FormatFloat(f, 'f', 5-exp, 64)
		return append(dst, trimZeros(s)...)
	}
	return append(append(dst, trimZeros(s[:7])...), s[7:]...)
}

func trimZeros(s string) string {
	for s[len(s)-1] == '0' {
		s = s[:len(s)-1]
	}
	if s[len(s)-1] == '.' {
		s = s[:len(s)-1]
	}
	return s
}

// A dump is the header, followed by the bits of all links, in chunks. An iterator identifies a
// chunk: when it is asked for, 1 plus the number of bytes before it; when it is loaded, 1 plus the
// number of bytes up to its end.

// MaxChunk is the longest chunk in bytes.
const MaxChunk = 16 << 20

// Chunk returns the chunk of the iterator, n bytes of a block from off on, and the next iterator. n
// is 0 at the end.
func Chunk(head []byte, iter int64) (block, off, n int, next int64) {
	block, off, ok := locate(head, iter)
	if !ok {
		return 0, 0, 0, 0
	}
	n = min(int(linkAt(head, block).bits/8)-off, MaxChunk)
	return block, off, n, iter + int64(n)
}

// Place returns where n bytes that are loaded with the iterator belong. known reports whether they
// begin in a block, fits whether they also end there.
func Place(head []byte, iter int64, n int) (block, off int, known, fits bool) {
	block, off, known = locate(head, iter-int64(n))
	return block, off, known, known && n <= int(linkAt(head, block).bits/8)-off
}

func locate(head []byte, iter int64) (block, off int, ok bool) {
	if iter < 1 {
		return 0, 0, false
	}
	at := uint64(iter - 1)
	for i := range links(head) {
		n := linkAt(head, i).bits / 8
		if at < n {
			return i, int(at), true
		}
		at -= n
	}
	return 0, 0, false
}
