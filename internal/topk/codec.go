package topk

import (
	"encoding/binary"
	"errors"
	"math"
)

// ErrRecord reports a record that is not a list.
var ErrRecord = errors.New("topk: not a list")

// RedisHeap returns the heap as RedisBloom's files have it. Their first pointer means nothing in a
// file, so the generator's state is stored there. A list loaded from the file goes on exactly as
// the list that was saved.
func (l *List) RedisHeap() []byte {
	b := make([]byte, int(l.K)*EntrySize)
	for i := range l.K {
		e := l.entry(i)
		entry(b[int(i)*EntrySize:]).set(e.fp(), e.length(), 0, e.count(), 0)
	}
	binary.LittleEndian.PutUint64(b[8:], l.state)
	return b
}

// Entry returns the item of an entry of the heap, or nil if the entry is free.
func (l *List) Entry(i uint32) (item []byte) {
	if e := l.entry(i); e.where() != 0 {
		return l.item(e)
	}
	return nil
}

// LoadHead makes the header of a list from what a file says: heap in the form of RedisHeap, and the
// items of its entries. An entry with count 0 is free, and its item is ignored. So is a second
// entry for an item.
func LoadHead(k, width, depth uint32, decay float64, heap []byte, items [][]byte) ([]byte, error) {
	if k < 1 || k > MaxK || width < 1 || depth < 1 || !(decay > 0 && decay <= 1) ||
		uint64(len(heap)) != uint64(k)*EntrySize || len(items) != int(k) {
		return nil, ErrRecord
	}
	all := 0
	for _, item := range items {
		if len(item) > math.MaxInt32 {
			return nil, ErrRecord
		}
		all += len(item)
	}
	mem := &headBytes{b: make([]byte,
		fixed+int(k)*EntrySize+int(slotBytes(k))+max(all, firstBytes))}
	l := New(mem, k, width, depth, decay)
	l.state = binary.LittleEndian.Uint64(heap[8:])
	for i, item := range items {
		count := entry(heap[i*EntrySize:]).count()
		fp := fingerprint(item)
		if _, twice := l.find(item, fp); twice || count == 0 {
			continue
		}
		l.put(uint32(i), item, fp, count)
	}
	// What RedisBloom writes is not always a heap.
	for i := k/2 + 1; i > 0; i-- {
		l.settle(i - 1)
	}
	l.save()
	return mem.b, nil
}

// settle moves an entry down as sink does, but leaves it in place if none below it is smaller.
func (l *List) settle(i uint32) {
	if child, ok := l.child(i); ok && l.entry(child).count() < l.entry(i).count() {
		l.sink(i)
	}
}

// headBytes is a header on Go's heap.
type headBytes struct{ b []byte }

func (h *headBytes) Head() []byte              { return h.b }
func (h *headBytes) Block(int) []byte          { return nil }
func (h *headBytes) Change(_, _, _ int) []byte { return nil }
func (h *headBytes) ResizeHead(n int) (b []byte) {
	b = make([]byte, n)
	copy(b, h.b)
	h.b = b
	return b
}

// AppendState appends all that distinguishes two lists, and nothing else.
func (l *List) AppendState(dst []byte) []byte {
	dst = append(dst, l.mem.Head()[:offState]...)
	dst = append(dst, l.RedisHeap()...)
	for i := range l.K {
		dst = append(dst, l.Entry(i)...)
	}
	return append(dst, l.mem.Block(0)...)
}
