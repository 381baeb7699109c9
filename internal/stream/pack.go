package stream

import "encoding/binary"

// packer writes a block of entries that are packed already, or come from a file. Its memory is used
// again and again.
type packer struct {
	b           []byte
	first, last ID
	n           int // entries
	shapes      shapes
	recent      uint8 // the shape that was used last
}

// maxPacked is the most that a packer keeps to be used again.
const maxPacked = 4 * maxNodeBytes

// reset begins another block.
func (k *packer) reset() {
	if cap(k.b) > maxPacked {
		k.b = nil
	}
	k.b, k.n, k.shapes.n, k.recent = k.b[:0], 0, 0, 0
}

// number returns the number of a shape, which may be newShape or ownShape. It leaves so many
// numbers to shapes that come later.
func (k *packer) number(shape []byte, left int) uint8 {
	if n, ok := k.shapes.matchRaw(k.b, shape, k.recent); ok {
		return n
	}
	if k.shapes.room(len(k.b), left) {
		return newShape
	}
	return ownShape
}

// add adds an entry behind the others: its shape, with the number that it has, and its values as
// they are stored.
func (k *packer) add(id ID, number uint8, shape, values []byte) {
	if k.n == 0 {
		k.first, k.last = id, id
	}
	var form [2 * maxUvarint]byte
	head, size := putForm(form[:], k.last, id)
	n := len(values)
	if number >= ownShape {
		n += len(shape)
	}
	k.b = append(append(k.b, head|number), form[:size]...)
	k.b = binary.AppendUvarint(k.b, uint64(n))
	if number == newShape {
		k.recent = k.shapes.n
		k.shapes.note(len(k.b))
	}
	if number >= ownShape {
		k.b = append(k.b, shape...)
	} else {
		k.recent = number
	}
	k.b = append(k.b, values...)
	k.last = id
	k.n++
}

// addLive adds what was not deleted of a block. It reports whether all shapes that had a number
// have one now. If not, the block is useless: it could be many times as long as it was.
func (k *packer) addLive(d *block, b []byte) bool {
	var sh shapes
	for c := scanOf(d.first, b); c.next(); {
		at, values := sh.met(&c), c.body
		if c.dead() {
			continue
		}
		if c.defines() {
			values = shapeEnd(b, c.body)
		}
		shape := b[at:shapeEnd(b, at)]
		number := k.number(shape, 0)
		if number >= ownShape && c.head&shapeBits == ownShape {
			number = ownShape // so that it takes no number from others
		} else if number == ownShape {
			return false
		}
		k.add(c.id, number, shape, b[values:c.end])
	}
	return true
}
