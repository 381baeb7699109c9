package stream

import (
	"math"

	"godwit/internal/arena"
)

// Shared is what the streams of a keyspace share.
type Shared struct {
	A *arena.Arena
	// GoBytes is what groups, consumers and producers take of Go's heap, and the pages of indexes.
	GoBytes int64
	// Large counts the streams that are, or were, so large that a Warmup is worth it.
	Large int

	producing producing
	census    Census
	ever      Census

	pack       packer // for blocks that are written anew
	references References
}

// Limits bound a block of entries: bytes and entries, 0 for no limit of that kind. They are
// stream-node-max-bytes and stream-node-max-entries. An entry that is larger has a block to itself.
// Beyond 64 KiB and 4096 entries they make no difference: a block is searched from its start.
type Limits struct{ NodeBytes, NodeEntries int }

// Stream is a stream. Make one with New or Builder.Build.
type Stream struct {
	LastID     ID     // the largest that an entry has ever had, or XSETID has set
	MaxDeleted ID     // the largest that Delete removed
	Added      uint64 // entries ever added, at most math.MaxInt64

	sh      *Shared
	entries index
	n       int // entries that were not deleted
	tail    tail
	lim     bounds // those of the last Append

	streamGroups
}

// More returns a count and one more, or math.MaxInt64. Clients can set most of the counts that a
// stream and its groups have, to that too, and files cannot tell larger ones.
func More(count int64) int64 { return count + min(1, math.MaxInt64-count) }

// New makes an empty stream.
func New(sh *Shared) *Stream {
	return &Stream{sh: sh, entries: index{sh: sh}, lim: Limits{}.bounded()}
}

// Len returns the number of entries.
func (s *Stream) Len() int { return s.n }

// Nodes returns the number of blocks that hold entries.
func (s *Stream) Nodes() int { return s.entries.blocks }

// Bytes returns the memory in bytes off the heap and on it, size classes included.
func (s *Stream) Bytes() int64 { return s.entries.total() + s.groupBytes() }

// Drain frees about n entries or rows. Once it reports done, all is freed and the stream must not
// be used again; between calls nothing else may be called.
func (s *Stream) Drain(n int) (done bool) {
	if s.entries.large {
		s.entries.large = false
		s.sh.Large--
	}
	return s.entries.drain(&n) && s.drainGroups(&n)
}

// Clone returns a deep copy, which may be of another heap.
func (s *Stream) Clone(sh *Shared) *Stream {
	c := New(sh)
	c.LastID, c.MaxDeleted, c.Added = s.LastID, s.MaxDeleted, s.Added
	c.entries.copyOf(&s.entries)
	c.n, c.lim = s.n, s.lim
	c.countLarge()
	s.cloneGroups(c)
	return c
}

// inGroups marks a cursor of Defrag that is past the entries.
const inGroups = 1 << 63

// Defrag offers blocks to arena.Move: those that follow the place in cursor, which is 0 at first,
// until about budget entries or rows have been passed. It returns the next place, 0 at the end, and
// what is left of the budget. The stream may change between calls.
func (s *Stream) Defrag(cursor uint64, budget int) (next uint64, left int) {
	if cursor < inGroups {
		page, done := s.entries.defrag(int(cursor), &budget)
		if !done {
			return uint64(page), budget
		}
		cursor = inGroups
	}
	if budget <= 0 {
		return cursor, budget
	}
	next, left = s.defragGroups(cursor&^inGroups, budget)
	if next == 0 {
		return 0, left
	}
	return next | inGroups, left
}
