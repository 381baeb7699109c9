package rdb

import (
	"encoding/binary"
	"errors"
	"fmt"
	"iter"

	"godwit/internal/listpack"
)

// Packed collections as they were before listpacks, and listpacks from outside.
//
// # Ziplist
//
//	+---------+--------+--------+-------+-----+------+
//	| bytes   | tail   | count  | entry | …   | 0xFF |
//	| u32, LE | u32    | u16    |       |     |      |
//	+---------+--------+--------+-------+-----+------+
//
//	entry: length of the entry before: one byte up to 253, or FE + 4 bytes, LE; then
//	00xxxxxx            string of x bytes     80 + 4 bytes, BE    string
//	01xxxxxx yyyyyyyy   string of xy bytes    C0 D0 E0 F0 FE      integer of 2 4 8 3 1 bytes, LE
//	                                          F1 … FD             the integers 0 to 12
//
// tail is the offset of the last entry (of the end if there is none). count 65535 means unknown.
//
// # Zipmap
//
//	+-------+-------------------------------------------------------+-----+------+
//	| count | field length, field, value length, free, value, unused | …   | 0xFF |
//	+-------+-------------------------------------------------------+-----+------+
//
// A length is one byte up to 253, or FE + 4 bytes, LE. free is how many unused bytes follow the
// value. count is the number of pairs up to 253; above that it says nothing.

const (
	ziplistHeader = 10
	ziplistEnd    = 0xff
	bigLen        = 0xfe
	countUnknown  = 65535
)

// count returns the number of elements of a listpack that may be nil.
func count(lp []byte) int {
	if lp == nil {
		return 0
	}
	return listpack.Count(lp)
}

// listpack reads a string that is a listpack of groups of stride elements. With distinct the first
// elements of the groups must differ.
func (d *Decoder) listpack(stride int, distinct bool) ([]byte, error) {
	at := d.pos
	lp, err := d.String()
	if err != nil {
		return nil, err
	}
	if err := listpack.Validate(lp); err != nil {
		d.pos = at
		return nil, d.errorf("%v", err)
	}
	return lp, d.groups(lp, at, stride, distinct)
}

func (d *Decoder) groups(lp []byte, at, stride int, distinct bool) error {
	reason := ""
	switch n := listpack.Count(lp); {
	case n%stride != 0:
		reason = fmt.Sprintf("%d elements in groups of %d", n, stride)
	case distinct && !d.dup.distinct(lp, stride):
		reason = "duplicate elements"
	default:
		return nil
	}
	d.pos = at
	return d.errorf("%s", reason)
}

// ziplist reads a string that is a ziplist of such groups and converts it to a listpack.
func (d *Decoder) ziplist(stride int, distinct bool) ([]byte, error) {
	at := d.pos
	b, err := d.String()
	if err != nil {
		return nil, err
	}
	s := listpack.NewSlice()
	if err := ziplistEach(b, func(v listpack.Value) { appendElement(s, v) }); err != nil {
		d.pos = at
		return nil, d.errorf("%v", err)
	}
	return s.B, d.groups(s.B, at, stride, distinct)
}

// appendElement adds an element in its canonical form.
func appendElement(s *listpack.Slice, v listpack.Value) {
	if v.IsInt {
		listpack.AppendInt(s, v.N)
	} else {
		listpack.Append(s, v.B)
	}
}

func (d *Decoder) listpackPairs() ([]byte, error) { return d.listpack(2, true) }

func (d *Decoder) ziplistPairs() ([]byte, error) { return d.ziplist(2, true) }

var (
	errZiplist = errors.New("a ziplist is corrupt")
	errZipmap  = errors.New("a zipmap is corrupt")
)

// ziplistEach checks a ziplist and calls emit for its elements, which alias b. What was emitted
// before an error is void.
func ziplistEach(b []byte, emit func(v listpack.Value)) error {
	if len(b) < ziplistHeader+1 || uint64(binary.LittleEndian.Uint32(b)) != uint64(len(b)) ||
		b[len(b)-1] != ziplistEnd {
		return errZiplist
	}
	end := len(b) - 1
	pos, before, n := ziplistHeader, 0, 0
	last := pos
	for ; pos < end; n++ {
		v, size, prev := ziplistEntry(b[pos:end])
		if size == 0 || prev != before {
			return errZiplist
		}
		emit(v)
		last, before = pos, size
		pos += size
	}
	if uint64(binary.LittleEndian.Uint32(b[4:])) != uint64(last) {
		return errZiplist
	}
	if c := int(binary.LittleEndian.Uint16(b[8:])); c != countUnknown && c != n {
		return errZiplist
	}
	return nil
}

// ziplistEntry reads the entry that b begins with: its element, its size in bytes (0: it is broken)
// and the size that it gives for the entry before.
func ziplistEntry(b []byte) (v listpack.Value, size, prev int) {
	prev, w := oldLen(b)
	if w == 0 || w == len(b) {
		return v, 0, 0
	}
	body := b[w:]
	head, n := ziplistString(body)
	if head == 0 {
		var ok bool
		v, n, ok = ziplistInt(body)
		if !ok {
			return v, 0, 0
		}
		return v, w + 1 + n, prev
	}
	if n > len(body)-head {
		return v, 0, 0
	}
	return listpack.Str(body[head : head+n]), w + head + n, prev
}

// oldLen reads a length of a ziplist or zipmap and its width, 0 if there is none.
func oldLen(b []byte) (n, width int) {
	switch {
	case len(b) == 0 || b[0] > bigLen:
		return 0, 0
	case b[0] < bigLen:
		return int(b[0]), 1
	case len(b) < 5:
		return 0, 0
	}
	return int(binary.LittleEndian.Uint32(b[1:])), 5
}

// ziplistString reads the encoding of a string. head is how many bytes it takes (0: it is not that
// of a string, or it is cut off), n is the string's length.
func ziplistString(b []byte) (head, n int) {
	switch c := b[0]; {
	case c < 0x40:
		return 1, int(c)
	case c < 0x80 && len(b) >= 2:
		return 2, int(c&0x3f)<<8 | int(b[1])
	case c == 0x80 && len(b) >= 5:
		return 5, int(binary.BigEndian.Uint32(b[1:]))
	}
	return 0, 0
}

// ziplistInt reads an integer behind its encoding, which takes n bytes.
func ziplistInt(b []byte) (v listpack.Value, n int, ok bool) {
	c := b[0]
	b = b[1:]
	switch c {
	case 0xc0:
		n = 2
	case 0xd0:
		n = 4
	case 0xe0:
		n = 8
	case 0xf0:
		n = 3
	case 0xfe:
		n = 1
	default:
		if c >= 0xf1 && c <= 0xfd {
			return listpack.Int(int64(c) - 0xf1), 0, true
		}
		return v, 0, false
	}
	if n > len(b) {
		return v, 0, false
	}
	var u uint64
	for i := range n {
		u |= uint64(b[i]) << (8 * i)
	}
	shift := 64 - 8*n
	return listpack.Int(int64(u<<shift) >> shift), n, true
}

// zipmapListpack checks a zipmap and converts it to a listpack of field, value, …; longest is the
// length in bytes of the longest field or value.
func zipmapListpack(b []byte) (lp []byte, longest int, err error) {
	if len(b) < 2 || b[len(b)-1] != ziplistEnd {
		return nil, 0, errZipmap
	}
	end := len(b) - 1
	s := listpack.NewSlice()
	pos, n := 1, 0
	for ; pos < end; n++ {
		field, w := zipmapString(b[pos:end], false)
		if w == 0 {
			return nil, 0, errZipmap
		}
		pos += w
		value, w := zipmapString(b[pos:end], true)
		if w == 0 {
			return nil, 0, errZipmap
		}
		pos += w
		listpack.AppendPair(s, field, value)
		longest = max(longest, len(field), len(value))
	}
	if c := int(b[0]); c < bigLen && c != n {
		return nil, 0, errZipmap
	}
	return s.B, longest, nil
}

// zipmapString reads a field or value and how many bytes it takes, 0 if it is broken.
func zipmapString(b []byte, value bool) (s []byte, size int) {
	n, w := oldLen(b)
	free := 0
	if value && w > 0 && w < len(b) {
		free = int(b[w])
		w++
	} else if value {
		return nil, 0
	}
	if w == 0 || n > len(b)-w || free > len(b)-w-n {
		return nil, 0
	}
	return b[w : w+n], w + n + free
}

// ziplist adds a listpack as a string that is a ziplist.
func (e *Encoder) ziplist(lp []byte) {
	e.String(appendZiplist(nil, func(yield func(listpack.Value) bool) {
		for p := listpack.First(lp); p != 0 && yield(listpack.Get(lp, p)); {
			p = listpack.Next(lp, p)
		}
	}))
}

// appendZiplist appends a ziplist of the elements.
func appendZiplist(dst []byte, elements iter.Seq[listpack.Value]) []byte {
	start := len(dst)
	dst = append(dst, make([]byte, ziplistHeader)...)
	before, last, n := 0, ziplistHeader, 0
	for v := range elements {
		last = len(dst) - start
		at := len(dst)
		if before < bigLen {
			dst = append(dst, byte(before))
		} else {
			dst = binary.LittleEndian.AppendUint32(append(dst, bigLen), uint32(before))
		}
		dst = appendZiplistElement(dst, v)
		before = len(dst) - at
		n++
	}
	dst = append(dst, ziplistEnd)
	head := dst[start:]
	binary.LittleEndian.PutUint32(head, uint32(len(head)))
	binary.LittleEndian.PutUint32(head[4:], uint32(last))
	binary.LittleEndian.PutUint16(head[8:], uint16(min(n, countUnknown)))
	return dst
}

func appendZiplistElement(dst []byte, v listpack.Value) []byte {
	if !v.IsInt {
		switch n := len(v.B); {
		case n < 1<<6:
			dst = append(dst, byte(n))
		case n < 1<<14:
			dst = append(dst, 0x40|byte(n>>8), byte(n))
		default:
			dst = binary.BigEndian.AppendUint32(append(dst, 0x80), uint32(n))
		}
		return append(dst, v.B...)
	}
	width, code := 8, byte(0xe0)
	switch n := v.N; {
	case n >= 0 && n <= 12:
		return append(dst, 0xf1+byte(n))
	case n == int64(int8(n)):
		width, code = 1, 0xfe
	case n == int64(int16(n)):
		width, code = 2, 0xc0
	case n == n<<40>>40:
		width, code = 3, 0xf0
	case n == int64(int32(n)):
		width, code = 4, 0xd0
	}
	dst = append(dst, code)
	for i := range width {
		dst = append(dst, byte(v.N>>(8*i)))
	}
	return dst
}
