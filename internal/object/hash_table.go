package object

import (
	"encoding/binary"
	"fmt"
	"math"

	"godwit/internal/arena"
	"godwit/internal/dict"
	"godwit/internal/listpack"
)

// hashTable is a large hash: a dict of field blocks, one arena block for each field with its value.
//
//	 0      1..4            then
//	+------+---------------+------+-------+------+-------+
//	| mark | index (opt)   | flen | field | vlen | value |
//	+------+---------------+------+-------+------+-------+
//
//	mark        bit 0: the field has a deadline;
//	            the other bits: the snapshot epoch that the field was saved or born in
//	index       32-bit little endian: where in the heap of deadlines the field is
//	flen, vlen  unsigned varints
//
// A 14-byte field with a value of 2 to 8 bytes takes a block of 20 to 28 bytes and 9 to 13 bytes
// in the dict. The deadline itself is only in the heap, so a field without one pays nothing for it.
//
// Invariants: each block is in the dict once. It has bit 0 exactly when the heap names it at its
// index. bytes is the sum of the blocks' size classes. Fields that are due are in the dict like
// others: callers pass the clock.
type hashTable struct {
	captured
	h     *Heap
	d     *dict.Dict
	heap  deadlineHeap
	bytes int64    // size classes of the field blocks
	armed [2]int64 // see Fields.Armed
}

const (
	markDeadline = 1
	markBits     = 1
	indexLen     = 4
)

func newHashTable(h *Heap) *hashTable {
	t := &hashTable{h: h}
	t.d = dict.New(h.A, dict.Funcs{Hash: t.hashOf, Match: t.match})
	return t
}

func (t *hashTable) hashOf(r arena.Ref) uint64 {
	field, _ := fieldOf(t.h.A.From(r))
	return t.h.Hash(field)
}

func (t *hashTable) match(r arena.Ref, key []byte) bool {
	field, _ := fieldOf(t.h.A.From(r))
	return string(field) == string(key)
}

// uvarint reads a length; nearly all have one byte.
func uvarint(b []byte) (n, width int) {
	if c := b[0]; c < 0x80 {
		return int(c), 1
	}
	v, w := binary.Uvarint(b)
	return int(v), w
}

// fieldOf returns the field of a block and the offset behind it.
func fieldOf(b []byte) (field []byte, end int) {
	off := 1
	if b[0]&markDeadline != 0 {
		off += indexLen
	}
	n, w := uvarint(b[off:])
	off += w
	return b[off : off+n : off+n], off + n
}

// valueOf returns the value of a block whose field ends at the offset, and the length of the block.
func valueOf(b []byte, off int) (value []byte, size int) {
	n, w := uvarint(b[off:])
	off += w
	return b[off : off+n : off+n], off + n
}

// Len implements Large.
func (t *hashTable) Len() int { return t.d.Len() }

// Size implements Large.
func (t *hashTable) Size() int64 { return t.bytes + t.d.TableBytes() + t.heap.size() }

// Drain implements Large.
func (t *hashTable) Drain(n int) (done bool) {
	t.heap.free(t.h.A) // blocks are freed without being taken from it one by one
	return t.d.Drain(n, func(r arena.Ref) {
		b := t.h.A.From(r)
		_, end := fieldOf(b)
		_, size := valueOf(b, end)
		t.freeBlock(r, size)
	})
}

// HeaderBytes implements Large.
func (t *hashTable) HeaderBytes() int64 { return 240 }

// Clone implements Large.
func (t *hashTable) Clone(h *Heap) Large {
	c := newHashTable(h)
	t.each(func(field, value listpack.Value, deadline int64) bool {
		c.add(field.B, value.B, deadline)
		return true
	})
	return c
}

// newBlock makes a block; index says whether there is room for one, at its place.
func (t *hashTable) newBlock(field, value []byte, index bool) arena.Ref {
	// All of the size class, so that another value may take the place of this one.
	n := arena.ClassSize(blockLen(len(field), len(value), index))
	r := t.h.A.Alloc(n, arena.Values)
	t.bytes += int64(n)
	b := t.h.A.Bytes(r, n)
	b[0] = t.h.Epoch << markBits
	off := 1
	if index {
		b[0] |= markDeadline
		off += indexLen
	}
	off += binary.PutUvarint(b[off:], uint64(len(field)))
	off += copy(b[off:], field)
	off += binary.PutUvarint(b[off:], uint64(len(value)))
	copy(b[off:], value)
	return r
}

func blockLen(field, value int, index bool) int {
	n := 1 + uvarintLen(uint64(field)) + field + uvarintLen(uint64(value)) + value
	if index {
		n += indexLen
	}
	return n
}

func (t *hashTable) freeBlock(r arena.Ref, size int) {
	size = arena.ClassSize(size)
	t.bytes -= int64(size)
	t.h.A.Free(r, size, arena.Values)
}

// add puts in a field that is known to be absent.
func (t *hashTable) add(field, value []byte, deadline int64) {
	r := t.newBlock(field, value, deadline != 0)
	t.d.Insert(t.h.Hash(field), r)
	if deadline != 0 {
		t.heap.push(t.h.A, r, deadline)
	}
}

// deadline returns the deadline of a block, 0 for none.
func (t *hashTable) deadline(b []byte) int64 {
	if b[0]&markDeadline == 0 {
		return 0
	}
	return t.heap.at(t.h.A, blockIndex(b)).deadline
}

// gone reports whether the block's field is due.
func (t *hashTable) gone(b []byte, now int64) bool {
	return b[0]&markDeadline != 0 && t.deadline(b) < now
}

func (t *hashTable) get(field []byte, now int64) (v listpack.Value, ok bool) {
	r := t.d.Find(t.h.Hash(field), field)
	if r == 0 {
		return v, false
	}
	b := t.h.A.From(r)
	if t.gone(b, now) {
		return v, false
	}
	_, end := fieldOf(b)
	value, _ := valueOf(b, end)
	return listpack.Str(value), true
}

func (t *hashTable) set(field, value []byte, keep bool, now int64) (created bool) {
	hash := t.h.Hash(field)
	r := t.d.Find(hash, field)
	if r == 0 {
		t.d.Insert(hash, t.newBlock(field, value, false))
		return true
	}
	b := t.h.A.From(r)
	created = t.gone(b, now)
	t.rewrite(hash, r, value, b[0]&markDeadline != 0 && keep && !created)
	return created
}

// rewrite gives the block another value. index says whether it has a deadline from now on. If it
// had none before, the caller must push it.
func (t *hashTable) rewrite(hash uint64, r arena.Ref, value []byte, index bool) arena.Ref {
	a := t.h.A
	b := a.From(r)
	t.keep(b)
	field, end := fieldOf(b)
	_, size := valueOf(b, end)
	had := b[0]&markDeadline != 0
	n := blockLen(len(field), len(value), index)
	if had == index && arena.ClassSize(n) == arena.ClassSize(size) {
		copy(b[end+binary.PutUvarint(b[end:], uint64(len(value))):], value)
		return r
	}
	if had && !index {
		t.heap.remove(a, blockIndex(b))
	}
	to := t.newBlock(field, value, index)
	if had && index {
		t.heap.moved(a, blockIndex(b), to)
	}
	t.d.Replace(hash, r, to)
	t.freeBlock(r, size)
	return to
}

func (t *hashTable) delete(field []byte, now int64) bool {
	hash := t.h.Hash(field)
	r := t.d.Find(hash, field)
	if r == 0 {
		return false
	}
	gone := t.gone(t.h.A.From(r), now)
	t.remove(hash, r)
	return !gone
}

func (t *hashTable) remove(hash uint64, r arena.Ref) {
	b := t.h.A.From(r)
	t.keep(b)
	_, end := fieldOf(b)
	_, size := valueOf(b, end)
	if b[0]&markDeadline != 0 {
		t.heap.remove(t.h.A, blockIndex(b))
	}
	t.d.Delete(hash, r)
	t.freeBlock(r, size)
}

// setDeadline changes the deadline (0: none) of the block that holds the field.
func (t *hashTable) setDeadline(field []byte, r arena.Ref, deadline int64) {
	a := t.h.A
	b := a.From(r)
	had := b[0]&markDeadline != 0
	if had && deadline != 0 {
		t.keep(b)
		t.heap.change(a, blockIndex(b), deadline)
		return
	}
	if had == (deadline != 0) {
		return
	}
	_, end := fieldOf(b)
	value, _ := valueOf(b, end)
	r = t.rewrite(t.h.Hash(field), r, value, deadline != 0)
	if deadline != 0 {
		t.heap.push(a, r, deadline)
	}
}

// expire takes up to budget due fields away after emit saw them.
func (t *hashTable) expire(now int64, budget int, emit func(field []byte)) (n int) {
	for ; n < budget && t.heap.n > 0; n++ {
		top := t.heap.at(t.h.A, 0)
		if top.deadline >= now {
			break
		}
		field, _ := fieldOf(t.h.A.From(top.ref))
		emit(field)
		t.remove(t.h.Hash(field), top.ref)
	}
	return n
}

// each calls f for every field until it returns false.
func (t *hashTable) each(f func(field, value listpack.Value, deadline int64) bool) {
	t.d.Pause++ // else the end of a step might shrink the table, and fields would come again
	defer func() { t.d.Pause-- }()
	more := true
	for cursor := uint64(0); more; {
		cursor = t.d.Scan(cursor, func(r arena.Ref) {
			if more {
				b := t.h.A.From(r)
				field, end := fieldOf(b)
				value, _ := valueOf(b, end)
				more = f(listpack.Str(field), listpack.Str(value), t.deadline(b))
			}
		})
		more = more && cursor != 0
	}
}

func (t *hashTable) scan(
	cursor uint64, now int64, f func(field, value listpack.Value),
) (next uint64, seen int) {
	next = t.d.Scan(cursor, func(r arena.Ref) {
		seen++
		b := t.h.A.From(r)
		if t.gone(b, now) {
			return
		}
		field, end := fieldOf(b)
		value, _ := valueOf(b, end)
		f(listpack.Str(field), listpack.Str(value))
	})
	return next, seen
}

// check walks the whole table.
func (t *hashTable) check() error {
	if err := t.d.Check(); err != nil {
		return err
	}
	bytes, timed := int64(0), 0
	var err error
	for cursor := uint64(0); ; {
		cursor = t.d.Scan(cursor, func(r arena.Ref) {
			b := t.h.A.From(r)
			field, end := fieldOf(b)
			_, size := valueOf(b, end)
			bytes += int64(arena.ClassSize(size))
			if b[0]&markDeadline != 0 {
				timed++
				if i := blockIndex(b); i >= t.heap.n || t.heap.at(t.h.A, i).ref != r {
					err = fmt.Errorf("object: field %q is not at its place %d of the heap", field,
						i)
				}
			}
		})
		if cursor == 0 {
			break
		}
	}
	if err == nil && (bytes != t.bytes || timed != t.heap.n) {
		err = fmt.Errorf("object: %d bytes, %d deadlines counted; %d, %d on the books", bytes,
			timed, t.bytes, t.heap.n)
	}
	return err
}

// begin implements Large.
func (t *hashTable) begin(c *Capture) {
	if t.heap.n > 0 {
		c.MinDeadline, c.DueAt = t.heap.at(t.h.A, 0).deadline, t.h.Now
		c.Due = func() int { return t.heap.countDue(t.h.A, t.h.Now, math.MaxInt) }
	}
	c.visit = func(r arena.Ref) {
		if b := t.h.A.From(r); b[0]>>markBits != t.h.Epoch {
			t.give(b)
		}
	}
}

// step implements Large.
func (t *hashTable) step(c *Capture, n int) bool { return c.scan(n, t.d.Scan, t.d.PrefetchRef) }

// keep is called before a field's block is changed or freed.
func (t *hashTable) keep(b []byte) {
	if t.older(t.h, b[0]>>markBits) {
		t.give(b)
	}
}

func (t *hashTable) give(b []byte) {
	field, end := fieldOf(b)
	value, _ := valueOf(b, end)
	el := &t.capture.el
	el.Name.B, el.Value.B, el.Deadline = field, value, t.deadline(b)
	t.capture.give()
	b[0] = b[0]&markDeadline | t.h.Epoch<<markBits
}
