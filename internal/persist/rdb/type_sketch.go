package rdb

import (
	"strconv"

	"godwit/internal/object"
)

// moduleOp reads the values of modules; which type they have says their id. It writes nothing.
var moduleOp = Op{typeModule2, shapeModule, decodeModule}

// sketchTypes are the types of sketches: how they are written and read is said by layouts, see module.go.
func sketchTypes() (list []*Type) {
	for _, t := range []struct {
		name string
		t    object.Type
	}{
		{"bloom", object.TypeBloom}, {"cuckoo", object.TypeCuckoo}, {"cms", object.TypeCMS}, {"topk", object.TypeTopK},
		{"tdigest", object.TypeTDigest},
	} {
		list = append(list, &Type{
			Name: t.name, Object: t.t,
			Op:      func(*object.Edit) byte { return typeModule2 },
			Encode:  encodeSketch,
			Build:   buildSketch,
			Rewrite: rewriteSketch,
		})
	}
	return list
}

// sketchValue is what a decoded sketch consists of.
type sketchValue struct {
	t      object.Type
	head   []byte
	blocks [][]byte
}

func decodeModule(d *Decoder) (Value, error) {
	at := d.pos
	id, err := d.Len()
	if err != nil {
		return Value{}, err
	}
	l, ver := sketches.find(id)
	if l == nil {
		d.pos = at
		return Value{}, d.errorf("%s", refuseModule(id))
	}
	head, blocks, err := l.read(d, ver)
	if err != nil {
		return Value{}, err
	}
	return Value{form: formSketch, n: 1, sketch: &sketchValue{l.t, head, blocks}}, nil
}

func blockLens(s *object.Sketch) []int {
	lens := make([]int, s.Blocks())
	for i := range lens {
		lens[i] = s.BlockLen(i)
	}
	return lens
}

// encodeSketch adds what follows the key.
func encodeSketch(e *Encoder, _ byte, x *object.Edit) {
	s := x.Sketch()
	r := NewSketchRecord(x.E.Type(), s.Head(), blockLens(s))
	e.Len(r.id)
	for i := range s.Blocks() {
		r.Bytes(e, i, s.Block(i))
	}
	r.End(e)
}

func buildSketch(h *object.Heap, v *Value) (*object.Edit, error) {
	s := object.NewSketch(h, len(v.sketch.head))
	copy(s.Head(), v.sketch.head)
	for _, b := range v.sketch.blocks {
		copy(s.Append(len(b)), b)
	}
	return s.Detach(v.sketch.t), nil
}

func rewriteSketch(c *Commands, key []byte, x *object.Edit) {
	s := x.Sketch()
	w := NewSketchCommands(x.E.Type(), key, s.Head(), blockLens(s))
	c.B = w.Begin(c.B)
	for i := range s.Blocks() {
		c.B = w.Bytes(c.B, i, s.Block(i))
	}
	c.B = w.End(c.B)
}

// SketchCommands are the commands that recreate a sketch. A layout with a command for chunks gets one with the header and one for each
// chunk of a block:
//
//	BF.LOADCHUNK key 1 header
//	BF.LOADCHUNK key 1+end chunk      end: bytes of all blocks up to the end of the chunk
//
// The others get one RESTORE, for which the whole payload is collected.
type SketchCommands struct {
	name  string
	key   []byte
	head  []byte
	rec   *SketchRecord
	enc   Encoder // the payload of RESTORE, or the chunk that is being collected
	end   int64   // bytes of blocks so far
	block int
}

// NewSketchCommands begins with the header and the lengths of the blocks in bytes. key and head must stay until End.
func NewSketchCommands(t object.Type, key, head []byte, blocks []int) *SketchCommands {
	w := &SketchCommands{name: sketches.of(t, head).chunks, key: key, head: head}
	if w.name == "" {
		w.rec = NewSketchRecord(t, head, blocks)
		w.rec.Head(&w.enc, nil)
	}
	return w
}

// chunkCommand is the longest chunk of a command in bytes.
const chunkCommand = 1 << 20

// Begin appends the first command to dst.
func (w *SketchCommands) Begin(dst []byte) []byte {
	if w.rec != nil {
		return dst
	}
	return w.load(dst, 1, w.head)
}

func (w *SketchCommands) load(dst []byte, iter int64, data []byte) []byte {
	var digits [20]byte
	c := Commands{B: dst}
	c.Command(w.name, w.key, strconv.AppendInt(digits[:0], iter, 10), data)
	return c.B
}

// Bytes takes the next bytes of a block, blocks in order.
func (w *SketchCommands) Bytes(dst []byte, block int, b []byte) []byte {
	if w.rec != nil {
		w.rec.Bytes(&w.enc, block, b)
		return dst
	}
	if block != w.block {
		dst = w.flush(dst)
		w.block = block
	}
	for len(b) > 0 {
		n := min(len(b), chunkCommand-len(w.enc.B))
		w.enc.B = append(w.enc.B, b[:n]...)
		w.end += int64(n)
		b = b[n:]
		if len(w.enc.B) == chunkCommand {
			dst = w.flush(dst)
		}
	}
	return dst
}

func (w *SketchCommands) flush(dst []byte) []byte {
	if len(w.enc.B) == 0 {
		return dst
	}
	dst = w.load(dst, 1+w.end, w.enc.B)
	w.enc.B = w.enc.B[:0]
	return dst
}

// End appends the last command.
func (w *SketchCommands) End(dst []byte) []byte {
	if w.rec == nil {
		return w.flush(dst)
	}
	w.rec.End(&w.enc)
	footer(&w.enc, 0)
	c := Commands{B: dst}
	c.Command("RESTORE", w.key, []byte("0"), w.enc.B)
	return c.B
}
