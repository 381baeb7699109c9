package rdb

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"

	"godwit/internal/object"
)

// A module's value is a record of its own (type 7): the module type's id, then parts that each say
// what they are, up to an end mark.
//
//	+----+-----+----+------------+-----+------------+-----+---+
//	| 07 | key | id | opcode     | …   | opcode     | …   | 0 |
//	+----+-----+----+------------+-----+------------+-----+---+
//
//	id      a length of 64 bits: nine characters of six bits, ten bits of version
//	opcode  a length: 1 signed and 2 unsigned integer (a length), 3 float,
//	        4 double (IEEE 754, LE), 5 string
//
// Sketches are written so. Those whose layout a module knows have that module's name. The others
// have names of our own (GW…), which no module has, so that others refuse them and do not misread
// them. A record that has none of the layouts below is refused by name.
//
// A layout turns header and blocks of a sketch (object.Sketch) into parts and back. Large blocks
// are strings of such a record. They are never compressed, because they are written piece by piece.

// layout is one way to write a sketch.
type layout struct {
	name   string // of the module type, nine characters
	ver    int    // that is written
	oldest int    // of those that are read
	newest int
	t      object.Type // set by registerSketch
	chunks string      // the command that loads it piece by piece, or ""; see rewriteSketch
	// handles reports whether the layout is for a sketch with that header. The first one of a type
	// that does is taken.
	handles func(head []byte) bool
	// parts writes the sketch.
	parts func(p *Parts, head []byte, blocks []int)
	// read reads all parts up to the end mark, and checks that header and blocks make a sketch.
	read func(d *Decoder, ver int) (head []byte, blocks [][]byte, err error)
}

func any1([]byte) bool { return true }

// sketches are the layouts by name.
var sketches = map[string]*layout{}

// layoutOf returns the layout that a sketch with the outline is written in.
func layoutOf(o *object.Outline) *layout {
	list := TypeOf(o.Type).layouts
	for _, l := range list[:len(list)-1] {
		if l.handles(o.Header) {
			return l
		}
	}
	return list[len(list)-1]
}

// findLayout returns the layout of the module type with the id and the version that the id says,
// nil if none reads it.
func findLayout(id uint64) (l *layout, ver int) {
	l, ver = sketches[moduleName(id)], int(id&(1<<moduleVersionBits-1))
	if l == nil || ver < l.oldest || ver > l.newest {
		return nil, ver
	}
	return l, ver
}

// moduleVersionBits is how many bits of an id say the version.
const moduleVersionBits = 10

const moduleChars = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

// moduleID returns the id of the module type of that name, nine characters, in a version.
func moduleID(name string, ver int) (id uint64) {
	for i := range len(name) {
		id = id<<6 | uint64(strings.IndexByte(moduleChars, name[i]))
	}
	return id<<moduleVersionBits | uint64(ver)
}

// moduleName returns the name of the module type with that id.
func moduleName(id uint64) string {
	var name [9]byte
	for i := range name {
		name[i] = moduleChars[id>>(58-6*i)&63]
	}
	return string(name[:])
}

// refusedModule says what a module's value is that no layout reads.
func refusedModule(id uint64) string {
	name := moduleName(id)
	if l := sketches[name]; l != nil {
		return fmt.Sprintf("value of module type %s in version %d (%d to %d are read)",
			name, id&(1<<moduleVersionBits-1), l.oldest, l.newest)
	}
	return "value of module type " + name
}

// Parts collects the parts of a module's value. Where the bytes of a block belong it leaves a gap.
type Parts struct {
	e    Encoder
	gaps []int // where in e.B the bytes of each block belong
}

// Uint adds an unsigned integer.
func (p *Parts) Uint(n uint64) {
	p.e.Len(moduleUint)
	p.e.Len(n)
}

// Double adds a floating-point number.
func (p *Parts) Double(f float64) {
	p.e.Len(moduleDouble)
	p.e.B = binary.LittleEndian.AppendUint64(p.e.B, math.Float64bits(f))
}

// String adds a string.
func (p *Parts) String(b []byte) {
	p.e.Len(moduleString)
	p.e.String(b)
}

// Block adds the next block of the sketch, of n bytes, as a string.
func (p *Parts) Block(n int) {
	p.e.Len(moduleString)
	p.e.Len(uint64(n))
	p.gaps = append(p.gaps, len(p.e.B))
}

// sketchEncoder is the ElementEncoder of sketches.
type sketchEncoder struct {
	b    []byte
	gaps []int
	done int // bytes of b that are out
}

// sketchHead begins a module's value. Nothing is kept of the outline.
func sketchHead(e *Encoder, o *object.Outline) ElementEncoder {
	l := layoutOf(o)
	var p Parts
	l.parts(&p, o.Header, o.Blocks)
	p.e.Len(moduleEOF)
	e.Len(moduleID(l.name, l.ver))
	return &sketchEncoder{b: p.e.B, gaps: p.gaps}
}

// Element implements ElementEncoder. Blocks come in order, empty ones may be left out.
func (s *sketchEncoder) Element(e *Encoder, el *object.Element) {
	s.upTo(e, s.gaps[el.Block])
	e.B = append(e.B, el.Value.B...)
}

// End implements ElementEncoder.
func (s *sketchEncoder) End(e *Encoder) { s.upTo(e, len(s.b)) }

func (s *sketchEncoder) upTo(e *Encoder, at int) {
	e.B = append(e.B, s.b[s.done:at]...)
	s.done = at
}

// plainParts writes a plain layout: the header as a string, the number of blocks, and each block as
// a string.
func plainParts(p *Parts, head []byte, blocks []int) {
	p.String(head)
	p.Uint(uint64(len(blocks)))
	for _, n := range blocks {
		p.Block(n)
	}
}

// plainRead returns a reader of plain layouts. check finds out whether header and blocks make a
// sketch.
func plainRead(
	check func(head []byte, blocks [][]byte) error,
) func(d *Decoder, ver int) ([]byte, [][]byte, error) {
	return func(d *Decoder, _ int) (head []byte, blocks [][]byte, err error) {
		at := d.pos
		if head, err = d.PartString(); err != nil {
			return nil, nil, err
		}
		n, err := d.PartUint()
		if err != nil {
			return nil, nil, err
		}
		if n > uint64(d.left()) {
			return nil, nil, d.errorf("%d blocks in %d bytes", n, d.left())
		}
		for range n {
			b, err := d.PartString()
			if err != nil {
				return nil, nil, err
			}
			blocks = append(blocks, b)
		}
		if err := d.PartEnd(); err != nil {
			return nil, nil, err
		}
		if err := check(head, blocks); err != nil {
			d.pos = at
			return nil, nil, d.errorf("%v", err)
		}
		return head, blocks, nil
	}
}

// part reads the opcode of a part.
func (d *Decoder) part(want uint64) error {
	at := d.pos
	op, err := d.Len()
	if err == nil && op != want {
		d.pos = at
		return d.errorf("a part of kind %d where one of kind %d belongs", op, want)
	}
	return err
}

// PartUint reads a part that is an unsigned integer.
func (d *Decoder) PartUint() (uint64, error) {
	if err := d.part(moduleUint); err != nil {
		return 0, err
	}
	return d.Len()
}

// PartDouble reads a part that is a floating-point number.
func (d *Decoder) PartDouble() (float64, error) {
	if err := d.part(moduleDouble); err != nil {
		return 0, err
	}
	bits, err := d.Uint64()
	return math.Float64frombits(bits), err
}

// PartString reads a part that is a string, aliased if it is not compressed.
func (d *Decoder) PartString() ([]byte, error) {
	if err := d.part(moduleString); err != nil {
		return nil, err
	}
	return d.stringUpTo(maxPart)
}

// PartEnd reads the end mark.
func (d *Decoder) PartEnd() error { return d.part(moduleEOF) }

// partReader reads parts one after the other and keeps the first error. What it reads after an
// error is zero.
type partReader struct {
	d   *Decoder
	err error
}

// uint reads an unsigned integer up to a bound.
func (r *partReader) uint(most uint64) (n uint64) {
	if r.err != nil {
		return 0
	}
	at := r.d.pos
	if n, r.err = r.d.PartUint(); r.err == nil && n > most {
		r.d.pos = at
		r.err = r.d.errorf("%d where at most %d makes sense", n, most)
		return 0
	}
	return n
}

func (r *partReader) double() (f float64) {
	if r.err == nil {
		f, r.err = r.d.PartDouble()
	}
	return f
}

func (r *partReader) string() (b []byte) {
	if r.err == nil {
		b, r.err = r.d.PartString()
	}
	return b
}

func (r *partReader) end() {
	if r.err == nil {
		r.err = r.d.PartEnd()
	}
}

// lengths returns how long the blocks are.
func lengths(blocks [][]byte) []int {
	n := make([]int, len(blocks))
	for i, b := range blocks {
		n[i] = len(b)
	}
	return n
}
