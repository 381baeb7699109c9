package rdb

import (
	"strconv"

	"godwit/internal/object"
)

// A sketch is written as a module's value. Its id says the type; see module.go.
func init() { registerOp(nil, Op{typeModule2, shapeModule, decodeModule}) }

// registerSketch adds a type of sketches that is written in the first of the layouts that handles
// it, and read in all of them.
func registerSketch(t object.Type, layouts ...*layout) {
	for _, l := range layouts {
		if sketches[l.name] != nil {
			panic("rdb: twice a layout: " + l.name)
		}
		sketches[l.name] = l
		l.t = t
	}
	register(&Type{
		Object:   t,
		Op:       func(*Encoder, *object.Edit) byte { return typeModule2 },
		Encode:   encodeSketch,
		LargeOp:  func(*Encoder, *object.Outline) byte { return typeModule2 },
		Head:     sketchHead,
		SavedLen: savedSketchLen,
		Rewrite:  rewriteSketch,
		Build:    buildSketch,
		layouts:  layouts,
	})
}

func decodeModule(d *Decoder) (Value, error) {
	at := d.pos
	id, err := d.Len()
	if err != nil {
		return Value{}, err
	}
	l, ver := findLayout(id)
	if l == nil {
		d.pos = at
		return Value{}, d.errorf("%s", refusal(refusedModule(id)))
	}
	head, blocks, err := l.read(d, ver)
	if err != nil {
		return Value{}, err
	}
	return Value{t: TypeOf(l.t), form: formSketch, n: 1,
		rare: &rareValue{head: head, blocks: blocks}}, nil
}

func encodeSketch(e *Encoder, _ byte, x *object.Edit) {
	var o object.Outline
	x.Outline(&o)
	to := sketchHead(e, &o)
	x.Each(func(el *object.Element) bool {
		to.Element(e, el)
		return true
	})
	to.End(e)
}

func savedSketchLen(x *object.Edit) int {
	n := savedString(len(x.Sketch().Head()))
	x.Each(func(el *object.Element) bool {
		n += savedString(el.Value.Len())
		return true
	})
	return n
}

func buildSketch(h *object.Heap, v *Value) (*object.Edit, error) {
	s := object.NewSketch(h, len(v.rare.head))
	copy(s.Head(), v.rare.head)
	for _, b := range v.rare.blocks {
		copy(s.Append(len(b)), b)
	}
	return s.Detach(v.t.Object), nil
}

// rewriteSketch is the Rewrite of sketches. If the layout has a command for chunks, it writes that
// command once with the header, and once for each chunk of a block:
//
//	BF.LOADCHUNK key 1 header
//	BF.LOADCHUNK key 1+end chunk      end: bytes of all blocks up to the end of the chunk
//
// For other layouts it collects the whole payload and writes one RESTORE.
func rewriteSketch(c *Commands, _ *adder, key []byte, o *object.Outline) Rewriter {
	if name := layoutOf(o).chunks; name != "" {
		l := &chunkLoader{name: name, key: key}
		l.load(c, 1, o.Header)
		return l
	}
	r := &restorer{key: key}
	r.enc.B = append(r.enc.B, typeModule2)
	r.to = sketchHead(&r.enc, o)
	return r
}

// chunkLoader is the Rewriter of sketches that are loaded chunk by chunk.
type chunkLoader struct {
	name  string
	key   []byte
	b     []byte // the chunk that is being collected
	end   int64  // bytes of blocks so far
	block int
}

// chunkCommand is the longest chunk of a command in bytes.
const chunkCommand = 1 << 20

func (l *chunkLoader) load(c *Commands, iter int64, data []byte) {
	c.Command(l.name, l.key, strconv.AppendInt(c.digits[:0], iter, 10), data)
}

// Element implements Rewriter.
func (l *chunkLoader) Element(c *Commands, el *object.Element) {
	if el.Block != l.block {
		l.End(c)
		l.block = el.Block
	}
	for b := el.Value.B; len(b) > 0; {
		n := min(len(b), chunkCommand-len(l.b))
		l.b = append(l.b, b[:n]...)
		l.end += int64(n)
		b = b[n:]
		if len(l.b) == chunkCommand {
			l.End(c)
		}
	}
}

// End implements Rewriter.
func (l *chunkLoader) End(c *Commands) {
	if len(l.b) > 0 {
		l.load(c, 1+l.end, l.b)
		l.b = l.b[:0]
	}
}

// restorer is the Rewriter of sketches that have no command for chunks.
type restorer struct {
	key []byte
	enc Encoder // the payload
	to  ElementEncoder
}

// Element implements Rewriter.
func (r *restorer) Element(_ *Commands, el *object.Element) { r.to.Element(&r.enc, el) }

// End implements Rewriter.
func (r *restorer) End(c *Commands) {
	r.to.End(&r.enc)
	footer(&r.enc, 0)
	c.Command("RESTORE", r.key, []byte("0"), r.enc.B)
}
