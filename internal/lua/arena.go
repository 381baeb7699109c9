package lua

import "godwit/internal/invariant"

const (
	// arenaBytes is the memory for the short strings of one run.
	arenaBytes = 64 << 10
	// arenaString is the length in bytes of the longest of them.
	arenaString = 512
)

// arena is memory for the first short strings of a run. Making one there is a copy: no allocation,
// nothing for Go's collector to do. It is for an environment whose strings end with the run. Later
// strings are allocated one by one, so that garbage among them is collected.
type arena struct {
	block []byte
	used  int
}

// ReuseStrings says that no string outlives the run in which it was made, so that its memory can be
// used again after Reset.
func (s *State) ReuseStrings() { s.arena.block = make([]byte, arenaBytes) }

// reset lets the strings of the last run go. With invariants, who still holds one finds out.
func (a *arena) reset() {
	if invariant.Enabled {
		for i := range a.block[:a.used] {
			a.block[i] = 0xdb
		}
	}
	a.used = 0
}

// NewString returns a string with a copy of b. It does not account for it.
func (s *State) NewString(b []byte) Value {
	if room := s.arena.take(len(b)); room != nil {
		copy(room, b)
		return Bytes(room)
	}
	return String(string(b))
}

// Room returns n bytes to be filled and made a string by Bytes. It does not account for them.
func (s *State) Room(n int) []byte {
	if room := s.arena.take(n); room != nil {
		return room
	}
	return make([]byte, n)
}

// take returns n bytes of the arena, or nil if they do not fit.
func (a *arena) take(n int) []byte {
	if n > arenaString || n > len(a.block)-a.used {
		return nil
	}
	a.used += n
	return a.block[a.used-n : a.used : a.used]
}
