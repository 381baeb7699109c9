package stream

import (
	"encoding/binary"
	"slices"
	"strconv"

	"godwit/internal/listpack"
)

// Listpack adds the entries of a node of Redis, a listpack that listpack.Validate has passed.
// Deleted entries are left out. There may be no others: XTRIM MINID leaves such nodes behind XDEL.
// The nodes may come in any order; their entries must not overlap.
func (b *Builder) Listpack(master ID, lp []byte) error {
	if b.err != nil {
		return b.err
	}
	b.flush()
	defer b.flush()
	r := nodeReader{lp: lp, pos: listpack.First(lp), master: master}
	live, dead, n := r.int(), r.int(), r.int()
	if b.readMaster(&r, n); !r.ok() || live < 0 || dead < 0 {
		return b.refuse(ErrListpack)
	}
	var last ID
	for r.pos != 0 {
		id, flags := b.readEntry(&r, n)
		if r.bad {
			return b.refuse(ErrListpack)
		}
		if id.IsZero() || r.entries > 1 && !last.Less(id) {
			return b.refuse(ErrOrder)
		}
		last = id
		if flags&nodeDeleted != 0 {
			dead--
			continue
		}
		live--
		if flags&nodeSame != 0 {
			b.add(id, b.master, true)
		} else {
			b.add(id, b.shape, false)
		}
	}
	if live != 0 || dead != 0 {
		return b.refuse(ErrListpack)
	}
	return nil
}

// readMaster reads the names of a node, of which there are said to be n.
func (b *Builder) readMaster(r *nodeReader, n int64) {
	b.master = r.count(b.master[:0], n)
	for i := int64(0); i < n && r.ok(); i++ {
		b.master = appendName(b.master, r.next())
	}
	if r.int() != 0 {
		r.bad = true
	}
}

// readEntry reads an entry. Its values are in b.values then, and its names in b.shape if they are
// not those of the node, of which there are n.
func (b *Builder) readEntry(r *nodeReader, n int64) (id ID, flags int64) {
	r.entries++
	flags = r.int()
	id = ID{r.master.Ms + uint64(r.int()), r.master.Seq + uint64(r.int())}
	back := n + nodeFixed
	same := flags&nodeSame != 0
	if !same {
		n = r.int()
		b.shape = r.count(b.shape[:0], n)
		back = 2*n + nodeFixed + 1
	}
	b.values = b.values[:0]
	for i := int64(0); i < n && !r.bad; i++ {
		if !same {
			b.shape = appendName(b.shape, r.next())
		}
		b.values = appendValue(b.values, r.next())
	}
	if r.int() != back || flags&^(nodeDeleted|nodeSame) != 0 {
		r.bad = true
	}
	return id, flags
}

// nodeReader reads the elements of a node. Once there is none, or not the kind that was asked for,
// it is bad.
type nodeReader struct {
	lp      []byte
	pos     int
	master  ID
	entries int
	bad     bool
}

// ok reports whether all elements so far were good and another follows.
func (r *nodeReader) ok() bool { return !r.bad && r.pos != 0 }

func (r *nodeReader) next() listpack.Value {
	if !r.ok() {
		r.bad = true
		return listpack.Int(0)
	}
	v := listpack.Get(r.lp, r.pos)
	r.pos = listpack.Next(r.lp, r.pos)
	return v
}

func (r *nodeReader) int() int64 {
	v := r.next()
	if !v.IsInt {
		r.bad = true
	}
	return v.N
}

// count begins a shape of n names. More than the node has bytes are not possible.
func (r *nodeReader) count(dst []byte, n int64) []byte {
	if n < 1 || n > int64(len(r.lp)) {
		r.bad = true
		return dst
	}
	return appendCount(dst, int(n))
}

// appendCount begins a shape of n names.
func appendCount(dst []byte, n int) []byte { return binary.AppendUvarint(dst, uint64(n)) }

// appendName appends a name to a shape.
func appendName(dst []byte, v listpack.Value) []byte {
	var digits [20]byte
	b := v.B
	if v.IsInt {
		b = strconv.AppendInt(digits[:0], v.N, 10)
	}
	return append(binary.AppendUvarint(dst, uint64(len(b))), b...)
}

// appendValue appends a value as blocks have it.
func appendValue(dst []byte, v listpack.Value) []byte {
	at := len(dst)
	dst = slices.Grow(dst, max(valueBound(len(v.B)), maxInt))
	dst = dst[:cap(dst)]
	if v.IsInt {
		return dst[:at+putInt(dst[at:], v.N)]
	}
	return dst[:at+putValue(dst[at:], v.B)]
}
