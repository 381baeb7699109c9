package sim

import (
	"godwit/internal/cluster/topology"
	"godwit/internal/slot"
)

// Slots are dealt with in ranges of the same size.
const (
	ranges    = 8
	rangeSize = slot.Count / ranges
)

// rangeOf returns the slots of a range.
func rangeOf(r int) slot.Set {
	return slot.SetOf(slot.Range{First: r * rangeSize, Last: (r+1)*rangeSize - 1})
}

// entry is a write in a shard's history. No two appends have the same uid, so two histories that
// agree at a position agree before it too.
type entry struct {
	uid   uint32
	write uint32
	slots int    // its range
	via   string // the migration that has brought it, "" for a client's write
	drop  bool   // no write: what the range had before is deleted
}

// data is a shard's data set, as the history that made it.
type data struct {
	shard topology.ShardID
	term  uint64
	log   []entry
}

// extends reports whether d goes on from a history of n entries whose last one is uid.
func (d *data) extends(n int, uid uint32) bool {
	return n <= len(d.log) && (n == 0 || d.log[n-1].uid == uid)
}

// of returns what there is in a range.
func (d *data) of(r int) (list []entry) {
	for _, e := range d.log {
		switch {
		case e.slots != r:
		case e.drop:
			list = list[:0]
		default:
			list = append(list, e)
		}
	}
	return list
}

// last returns the length of the history and its last uid.
func (d *data) last() (int, uint32) {
	n := len(d.log)
	if n == 0 {
		return 0, 0
	}
	return n, d.log[n-1].uid
}
