package rdb

import (
	"hash/maphash"

	"godwit/internal/listpack"
)

// dupTable finds equal elements of a listpack, by open addressing over positions. It is used again
// for the next listpack.
type dupTable struct {
	slots []uint32 // position of an element, 0 for free
	seed  maphash.Seed
	keyed bool
}

// fewElements are compared each with each other.
const fewElements = 8

// distinct reports whether every stride-th element, from the first on, differs from the others. A
// string that spells an integer equals that integer.
func (t *dupTable) distinct(lp []byte, stride int) bool {
	n := listpack.Count(lp) / stride
	if n <= fewElements {
		return distinctFew(lp, stride)
	}
	if !t.keyed {
		t.seed, t.keyed = maphash.MakeSeed(), true
	}
	size := 32
	for size < 2*n {
		size *= 2
	}
	if cap(t.slots) < size {
		t.slots = make([]uint32, size)
	}
	t.slots = t.slots[:size]
	clear(t.slots)
	for pos := listpack.First(lp); pos != 0; pos = listpack.Skip(lp, pos, stride) {
		if !t.insert(lp, pos) {
			return false
		}
	}
	return true
}

// insert puts the element at pos into the table and reports whether it was not there.
func (t *dupTable) insert(lp []byte, pos int) bool {
	var tmp [24]byte
	v := listpack.Get(lp, pos)
	b := v.B
	if v.IsInt {
		b = v.Append(tmp[:0])
	}
	mask := len(t.slots) - 1
	for i := int(maphash.Bytes(t.seed, b)) & mask; ; i = (i + 1) & mask {
		at := int(t.slots[i])
		if at == 0 {
			t.slots[i] = uint32(pos)
			return true
		}
		if listpack.Get(lp, at).Equal(b) {
			return false
		}
	}
}

func distinctFew(lp []byte, stride int) bool {
	var tmp [24]byte
	for pos := listpack.First(lp); pos != 0; pos = listpack.Skip(lp, pos, stride) {
		next := listpack.Skip(lp, pos, stride)
		v := listpack.Get(lp, pos)
		b := v.B
		if v.IsInt {
			b = v.Append(tmp[:0])
		}
		if next != 0 && listpack.Find(lp, next, b, stride-1) != 0 {
			return false
		}
	}
	return true
}
