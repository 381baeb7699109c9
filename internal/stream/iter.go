package stream

import "godwit/internal/listpack"

// Iter walks entries. The stream must not be changed meanwhile, except for what groups have
// pending.
//
//	for it := s.Range(from, to, false); it.Next(); {
//		it.ID
//		for range it.Fields() {
//			name, value := it.Name(), it.Value()
//		}
//	}
type Iter struct {
	ID ID // of the entry

	x        *index // nil: what is left of this block is all
	p        pos
	from, to ID
	reverse  bool
	c        scan
	shapes   shapes
	back     window

	shape, body int // offsets of the entry's shape and of what follows its length
	name, value int // offsets of what Field returns next
}

// Range walks the entries from one ID to another, both included, in reverse from the last to the
// first.
func (s *Stream) Range(from, to ID, reverse bool) (it Iter) {
	it.x, it.from, it.to, it.reverse = &s.entries, from, to, reverse
	start := from
	if reverse {
		start = to
	}
	p, ok := it.x.find(start)
	if !ok && !reverse {
		p, ok = it.x.head()
	}
	if ok {
		it.enter(p)
	} else {
		it.x = nil
	}
	return it
}

// enter begins to walk the block at p.
func (it *Iter) enter(p pos) {
	it.p = p
	d := it.x.at(p)
	it.begin(&d, it.x.data(&d))
}

// begin begins to walk a block.
func (it *Iter) begin(d *block, b []byte) {
	it.c = scanOf(d.first, b)
	it.shapes.n = 0
	it.back.reset(len(b), d.live+d.dead)
}

// Next moves to the next entry and reports whether there is one.
func (it *Iter) Next() bool {
	if it.reverse {
		return it.nextBack()
	}
	for {
		for it.c.next() {
			shape := it.shapes.met(&it.c)
			if it.c.dead() || it.c.id.Less(it.from) {
				continue
			}
			if it.to.Less(it.c.id) {
				it.x, it.c.end = nil, len(it.c.b)
				return false
			}
			it.ID, it.shape, it.body = it.c.id, shape, it.c.body
			return true
		}
		if it.x == nil {
			return false
		}
		p, ok := it.x.next(it.p)
		if !ok {
			it.x = nil
			return false
		}
		it.enter(p)
	}
}

// Fields returns the number of fields of the entry. Field begins with the first one.
func (it *Iter) Fields() int {
	n, at := getUvarint(it.c.b, it.shape)
	it.name, it.value = at, it.body
	if it.shape == it.body {
		it.value = shapeEnd(it.c.b, it.shape)
	}
	return int(n)
}

// Field returns the next field of the entry. The bytes are good until the stream changes.
func (it *Iter) Field() (name, value listpack.Value) {
	return listpack.Str(it.Name()), it.Value()
}

// Name returns the name of the next field, and Value must be called for its value before Name is
// called again. They are quicker than Field, because their results fit in registers.
func (it *Iter) Name() []byte {
	b := it.c.b
	n, at := uint64(b[it.name]), it.name+1
	if n >= 0x80 {
		n, at = longUvarint(b, it.name)
	}
	end := at + int(n)
	it.name = end
	return b[at:end:end]
}

// Value returns the value of the name that Name has just returned. See Name.
func (it *Iter) Value() listpack.Value {
	b, at := it.c.b, it.value
	switch c := b[at]; { // most values are short
	case c < tagString:
		it.value = at + 1
		return listpack.Int(int64(c))
	case c < tagInt13:
		end := at + 1 + int(c&maxShort)
		it.value = end
		return listpack.Str(b[at+1 : end : end])
	}
	v, end := longValue(b, at)
	it.value = end
	return v
}

// Size returns the length in bytes of the entry's names and values together.
func (it *Iter) Size() (size int) {
	for range it.Fields() {
		name, value := it.Field()
		size += name.Len() + value.Len()
	}
	return size
}
