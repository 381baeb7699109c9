package rdb

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"

	"godwit/internal/listpack"
	"godwit/internal/lzf"
	"godwit/internal/stream"
)

// Decoder reads values from bytes that are all there: a payload, or a record that the Reader has
// split off. Whatever the bytes are, it ends with an *Error or a value. Slices that it returns
// alias the bytes where these are not encoded.
type Decoder struct {
	b    []byte
	pos  int
	base int64 // offset of b in the file
	dup  dupTable
	// templates are those that the file has defined so far, nil for a payload.
	templates *templates
	streams   stream.Limits
}

// errorf returns an error at the current position.
func (d *Decoder) errorf(format string, args ...any) error {
	return &Error{Offset: d.base + int64(d.pos), Reason: fmt.Sprintf(format, args...)}
}

func (d *Decoder) short() error { return d.errorf("the data ends here, within a value") }

// left returns how many bytes there are yet.
func (d *Decoder) left() int { return len(d.b) - d.pos }

// Byte reads a byte.
func (d *Decoder) Byte() (byte, error) {
	if d.left() == 0 {
		return 0, d.short()
	}
	d.pos++
	return d.b[d.pos-1], nil
}

// bytes takes n bytes, aliased.
func (d *Decoder) bytes(n uint64) ([]byte, error) {
	if n > uint64(d.left()) {
		return nil, d.short()
	}
	p := d.b[d.pos : d.pos+int(n) : d.pos+int(n)]
	d.pos += int(n)
	return p, nil
}

// Uint64 reads eight bytes, little endian.
func (d *Decoder) Uint64() (uint64, error) {
	p, err := d.bytes(8)
	if err != nil {
		return 0, err
	}
	return binary.LittleEndian.Uint64(p), nil
}

// length reads a length, or with special set the number of a special string encoding.
func (d *Decoder) length() (n uint64, special bool, err error) {
	n, special, w := parseLen(d.b[d.pos:])
	switch {
	case w == 0:
		return 0, false, d.short()
	case w < 0:
		return 0, false, d.errorf("no length begins with %#x", d.b[d.pos])
	}
	d.pos += w
	return n, special, nil
}

// parseLen reads the length that b begins with. width is how many bytes it takes: 0 if b is too
// short, below 0 if b does not begin with a length.
func parseLen(b []byte) (n uint64, special bool, width int) {
	if len(b) == 0 {
		return 0, false, 0
	}
	switch c := b[0]; {
	case c < 0x40:
		return uint64(c), false, 1
	case c < 0x80:
		if len(b) < 2 {
			return 0, false, 0
		}
		return uint64(c&0x3f)<<8 | uint64(b[1]), false, 2
	case c >= 0xc0:
		return uint64(c & 0x3f), true, 1
	case c == 0x80:
		if len(b) < 5 {
			return 0, false, 0
		}
		return uint64(binary.BigEndian.Uint32(b[1:])), false, 5
	case c == 0x81:
		if len(b) < 9 {
			return 0, false, 0
		}
		return binary.BigEndian.Uint64(b[1:]), false, 9
	}
	return 0, false, -1
}

// Len reads a length.
func (d *Decoder) Len() (uint64, error) {
	at := d.pos
	n, special, err := d.length()
	if err == nil && special {
		d.pos = at
		return 0, d.errorf("a string where a length belongs")
	}
	return n, err
}

// Count reads the number of elements to come, each of which takes at least size bytes.
func (d *Decoder) Count(size int) (int, error) {
	at := d.pos
	n, err := d.Len()
	if err == nil && n > uint64(d.left()/size) {
		d.pos = at
		return 0, d.errorf("%d elements in %d bytes", n, d.left())
	}
	return int(n), err
}

// maxString is the longest string in bytes that is accepted.
const maxString = math.MaxInt32

// maxPart is the longest string in bytes that is accepted as a part of a module's value.
const maxPart = 1 << 40

// maxRatio is how much longer than LZF data its original can be. The longest match makes 264 bytes
// of 3.
const maxRatio = 88

// text is a string, or an integer that stands for its text.
type text struct {
	b     []byte
	n     int64
	isInt bool
	fresh bool // b is memory of its own
}

// text reads a string.
func (d *Decoder) text() (text, error) { return d.textUpTo(maxString) }

func (d *Decoder) textUpTo(longest uint64) (text, error) {
	at := d.pos
	n, special, err := d.length()
	if err != nil {
		return text{}, err
	}
	if !special {
		if n > longest {
			d.pos = at
			return text{}, d.errorf("a string of %d bytes", n)
		}
		b, err := d.bytes(n)
		return text{b: b}, err
	}
	if n == encLZF {
		b, err := d.inflated()
		return text{b: b, fresh: true}, err
	}
	v, err := d.smallInt(n)
	return text{n: v, isInt: true}, err
}

// smallInt reads the integer of a special encoding.
func (d *Decoder) smallInt(enc uint64) (int64, error) {
	if enc > encInt32 {
		d.pos--
		return 0, d.errorf("unknown string encoding %d", enc)
	}
	p, err := d.bytes(1 << enc)
	if err != nil {
		return 0, err
	}
	switch enc {
	case encInt8:
		return int64(int8(p[0])), nil
	case encInt16:
		return int64(int16(binary.LittleEndian.Uint16(p))), nil
	}
	return int64(int32(binary.LittleEndian.Uint32(p))), nil
}

// inflated reads a compressed string behind its first byte.
func (d *Decoder) inflated() ([]byte, error) {
	at := d.pos
	compressed, err := d.Len()
	if err != nil {
		return nil, err
	}
	size, err := d.Len()
	if err != nil {
		return nil, err
	}
	data, err := d.bytes(compressed)
	if err != nil {
		return nil, err
	}
	if size > maxString || size > compressed*maxRatio {
		d.pos = at
		return nil, d.errorf("%d compressed bytes for a string of %d", compressed, size)
	}
	b := make([]byte, size)
	if err := lzf.Decompress(b, data); err != nil {
		d.pos = at
		return nil, d.errorf("compressed data is corrupt")
	}
	return b, nil
}

// String reads a string.
func (d *Decoder) String() ([]byte, error) { return d.stringUpTo(maxString) }

func (d *Decoder) stringUpTo(longest uint64) ([]byte, error) {
	t, err := d.textUpTo(longest)
	if err == nil && t.isInt {
		return strconv.AppendInt(nil, t.n, 10), nil
	}
	return t.b, err
}

// flat collects elements as uncompressed strings. As long as none was compressed, the input already
// has that form and is not copied.
type flat struct {
	d    *Decoder
	from int    // where what is not yet copied begins
	out  []byte // what was copied
	max  int    // bytes of the longest string
}

func (d *Decoder) flatten() flat { return flat{d: d, from: d.pos} }

// string takes the next string.
func (f *flat) string() error {
	at := f.d.pos
	t, err := f.d.text()
	if err != nil {
		return err
	}
	switch {
	case t.isInt:
		f.max = max(f.max, listpack.IntLen(t.n))
	default:
		f.max = max(f.max, len(t.b))
		if t.fresh {
			f.put(at, t.b)
		}
	}
	return nil
}

// put puts b in the place of what was read since the offset at.
func (f *flat) put(at int, b []byte) {
	e := Encoder{B: append(f.out, f.d.b[f.from:at]...)}
	e.Len(uint64(len(b)))
	f.out = append(e.B, b...)
	f.from = f.d.pos
}

// replace puts b, as it is, in the place of what was read since the offset at.
func (f *flat) replace(at int, b []byte) {
	f.out = append(append(f.out, f.d.b[f.from:at]...), b...)
	f.from = f.d.pos
}

// drop leaves out what was read since the offset at.
func (f *flat) drop(at int) { f.replace(at, nil) }

// end returns all that was taken.
func (f *flat) end() []byte {
	rest := f.d.b[f.from:f.d.pos:f.d.pos]
	if f.out == nil {
		return rest
	}
	return append(f.out, rest...)
}

// reader walks over what flat made, or what Encoder would make without compression. It is trusted.
type reader struct{ b []byte }

// string returns the next string; an integer is printed into buf.
func (r *reader) string(buf []byte) []byte {
	n, special, w := parseLen(r.b)
	r.b = r.b[w:]
	if special {
		d := Decoder{b: r.b}
		v, _ := d.smallInt(n)
		r.b = r.b[1<<n:]
		return strconv.AppendInt(buf[:0], v, 10)
	}
	s := r.b[:n:n]
	r.b = r.b[n:]
	return s
}

func (r *reader) uint64() uint64 {
	v := binary.LittleEndian.Uint64(r.b)
	r.b = r.b[8:]
	return v
}

func (r *reader) length() uint64 {
	n, _, w := parseLen(r.b)
	r.b = r.b[w:]
	return n
}

// value reads a value of the record type.
func (d *Decoder) value(op byte) (Value, error) {
	ent := types.byOp[op]
	switch {
	case ent == nil:
		d.pos = max(d.pos-1, 0)
		return Value{}, d.errorf("unknown record type %d", op)
	case ent.refused != "":
		d.pos = max(d.pos-1, 0)
		return Value{}, d.errorf("%s", refusal(ent.refused))
	}
	v, err := ent.op.Decode(d)
	if ent.t != nil {
		v.t = ent.t
	}
	return v, err
}
