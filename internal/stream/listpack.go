package stream

import "godwit/internal/listpack"

// A node of Redis is a listpack. It begins with an entry of its own, then come those of the stream:
//
//	count, deleted, n, name 1 … name n, 0
//	flags, time, number, value 1 … value n, back                       the names are those above
//	flags, time, number, n, name 1, value 1 … name n, value n, back    they are not
//
// count and deleted are numbers of entries. Time and number are differences to those of master, the
// ID that the node is stored under, modulo 1<<64. back is the number of elements from flags to
// before back.
const (
	nodeDeleted = 1 // flags
	nodeSame    = 2

	nodeFixed = 3 // elements that every entry begins with
)

// AppendListpack appends the entries of PartEntries as a node of Redis: a listpack, whose IDs count
// from master, which is the ID of the first entry.
func (p *Part) AppendListpack(dst []byte) (lp []byte, master ID) {
	var w nodeWriter
	w.start = len(dst)
	w.lp = listpack.Begin(dst)
	w.shape = p.nodeShape()
	p.EachEntry(func(it *Iter) {
		if w.n == 0 {
			w.begin(it, p.info.live)
		}
		w.add(it)
	})
	return listpack.Seal(w.lp, w.start, w.n), w.master
}

// nodeShape returns the offset of the shape whose names become the node's. Redis takes those of the
// first entry. So does nodeShape, unless another shape's names, written with each of its entries,
// would take over maxNodeBytes more: a block has them once, however many entries have that shape.
func (p *Part) nodeShape() (at int) {
	var users [maxShapes]int
	at = -1
	p.EachEntry(func(it *Iter) {
		if at < 0 {
			at = it.shape
		}
		switch h := it.c.head & shapeBits; {
		case h < ownShape:
			users[h]++
		case h == newShape:
			users[it.shapes.n-1]++
		}
	})
	size := func(i uint8) int {
		start := int(p.it.shapes.at[i])
		return users[i] * (shapeEnd(p.block, start) - start)
	}
	most := maxNodeBytes
	for i := range p.it.shapes.n {
		if int(p.it.shapes.at[i]) == at {
			most += size(i)
		}
	}
	for i := range p.it.shapes.n {
		if n := size(i); n > most {
			at, most = int(p.it.shapes.at[i]), n
		}
	}
	return at
}

// nodeWriter makes a node of Redis.
type nodeWriter struct {
	lp     []byte
	start  int // where it begins
	n      int // elements
	master ID
	shape  int // offset of the node's shape
}

func (w *nodeWriter) int(n int64) {
	w.lp = listpack.AppendEntry(w.lp, listpack.Int(n))
	w.n++
}

func (w *nodeWriter) value(v listpack.Value) {
	w.lp = listpack.AppendEntry(w.lp, v)
	w.n++
}

// begin writes the node's own entry, with the names of w.shape. it is at the first entry.
func (w *nodeWriter) begin(it *Iter, count int) {
	w.master = it.ID
	b := it.c.b
	n, at := getUvarint(b, w.shape)
	w.int(int64(count))
	w.int(0)
	w.int(int64(n))
	for range n {
		var size uint64
		size, at = getUvarint(b, at)
		w.value(listpack.Str(b[at : at+int(size)]))
		at += int(size)
	}
	w.int(0)
}

func (w *nodeWriter) add(it *Iter) {
	n := it.Fields()
	same := it.shape == w.shape
	flags, back := int64(nodeSame), nodeFixed+n
	if !same {
		flags, back = 0, nodeFixed+1+2*n
	}
	w.int(flags)
	w.int(int64(it.ID.Ms - w.master.Ms))
	w.int(int64(it.ID.Seq - w.master.Seq))
	if !same {
		w.int(int64(n))
	}
	for range n {
		name, value := it.Field()
		if !same {
			w.value(name)
		}
		w.value(value)
	}
	w.int(int64(back))
}
