package object

import (
	"encoding/binary"

	"godwit/internal/arena"
)

// deadlineHeap orders the fields of a hashTable that have a deadline. It is a 4-ary min-heap of
// 16-byte slots in one arena block.
//
//	slot i:  0          8       16       children of i: 4i+1 … 4i+4
//	        +----------+-------+
//	        | deadline | block |         little endian
//	        +----------+-------+
//
// A field block knows its slot, so a deadline that changes or goes away is found in O(1) and
// repaired in O(log n). There are no stale slots, and the first slot is the next field to expire.
// Adding deadlines in rising order, the usual case, costs O(1).
//
// Invariants: no deadline is before its parent's; the block of slot i has index i. At most 1<<32
// slots.
type deadlineHeap struct {
	ref     arena.Ref
	n, room int // slots in use, slots there is room for
}

const (
	slotLen  = 16
	heapArms = 4
)

// slot is one deadline (unix ms) and the block it belongs to.
type slot struct {
	deadline int64
	ref      arena.Ref
}

// blockIndex returns the slot that a block with a deadline is in.
func blockIndex(b []byte) int { return int(binary.LittleEndian.Uint32(b[1:])) }

// size returns the memory in bytes.
func (q *deadlineHeap) size() int64 {
	if q.room == 0 {
		return 0
	}
	return int64(arena.ClassSize(q.room * slotLen))
}

func (q *deadlineHeap) at(a *arena.Arena, i int) slot {
	b := a.Bytes(q.ref, q.room*slotLen)[i*slotLen:]
	return slot{int64(binary.LittleEndian.Uint64(b)), arena.Ref(binary.LittleEndian.Uint64(b[8:]))}
}

// put stores the slot at i and tells its block.
func (q *deadlineHeap) put(a *arena.Arena, i int, s slot) {
	b := a.Bytes(q.ref, q.room*slotLen)[i*slotLen:]
	binary.LittleEndian.PutUint64(b, uint64(s.deadline))
	binary.LittleEndian.PutUint64(b[8:], uint64(s.ref))
	binary.LittleEndian.PutUint32(a.From(s.ref)[1:], uint32(i))
}

// resize gives the heap room for that many slots.
func (q *deadlineHeap) resize(a *arena.Arena, room int) {
	switch {
	case q.room == 0:
		q.ref = a.Alloc(room*slotLen, arena.Tables)
	case room == 0:
		a.Free(q.ref, q.room*slotLen, arena.Tables)
		q.ref = 0
	default:
		q.ref = a.Resize(q.ref, q.room*slotLen, room*slotLen, arena.Tables)
	}
	q.room = room
}

// free gives the memory back.
func (q *deadlineHeap) free(a *arena.Arena) {
	if q.room > 0 {
		q.n = 0
		q.resize(a, 0)
	}
}

// push adds a block.
func (q *deadlineHeap) push(a *arena.Arena, r arena.Ref, deadline int64) {
	if q.n == q.room {
		q.resize(a, max(4, q.room+q.room/2))
	}
	q.n++
	q.up(a, q.n-1, slot{deadline, r})
}

// remove takes slot i out.
func (q *deadlineHeap) remove(a *arena.Arena, i int) {
	q.n--
	if i < q.n {
		q.settle(a, i, q.at(a, q.n))
	}
	if q.n == 0 {
		q.resize(a, 0)
	} else if q.n < q.room/4 {
		q.resize(a, q.room/2)
	}
}

// change gives slot i another deadline.
func (q *deadlineHeap) change(a *arena.Arena, i int, deadline int64) {
	q.settle(a, i, slot{deadline, q.at(a, i).ref})
}

// moved tells that the block of slot i is now r.
func (q *deadlineHeap) moved(a *arena.Arena, i int, r arena.Ref) {
	q.put(a, i, slot{q.at(a, i).deadline, r})
}

// settle puts s where slot i was and moves it up or down to its place.
func (q *deadlineHeap) settle(a *arena.Arena, i int, s slot) {
	if i > 0 && s.deadline < q.at(a, (i-1)/heapArms).deadline {
		q.up(a, i, s)
	} else {
		q.down(a, i, s)
	}
}

func (q *deadlineHeap) up(a *arena.Arena, i int, s slot) {
	for i > 0 {
		p := (i - 1) / heapArms
		above := q.at(a, p)
		if above.deadline <= s.deadline {
			break
		}
		q.put(a, i, above)
		i = p
	}
	q.put(a, i, s)
}

func (q *deadlineHeap) down(a *arena.Arena, i int, s slot) {
	for {
		first := i*heapArms + 1
		if first >= q.n {
			break
		}
		least, at := q.at(a, first), first
		for c := first + 1; c < min(first+heapArms, q.n); c++ {
			if x := q.at(a, c); x.deadline < least.deadline {
				least, at = x, c
			}
		}
		if least.deadline >= s.deadline {
			break
		}
		q.put(a, i, least)
		i = at
	}
	q.put(a, i, s)
}

// countDue returns how many deadlines are before now, at most limit. It looks only at these and
// their children.
func (q *deadlineHeap) countDue(a *arena.Arena, now int64, limit int) int {
	if q.n == 0 {
		return 0
	}
	return q.countDueFrom(a, 0, now, limit)
}

// countDueFrom counts below slot i; it nests as deep as the heap, 16 levels at most.
func (q *deadlineHeap) countDueFrom(a *arena.Arena, i int, now int64, limit int) int {
	if q.at(a, i).deadline >= now || limit == 0 {
		return 0
	}
	n := 1
	for c := i*heapArms + 1; c < min(i*heapArms+1+heapArms, q.n) && n < limit; c++ {
		n += q.countDueFrom(a, c, now, limit-n)
	}
	return n
}
