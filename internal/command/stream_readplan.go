package command

import (
	"math"

	"godwit/internal/stream"
)

// A reply says first of how many streams it has entries. Where that depends on what becomes of the
// streams before, XREAD and XREADGROUP hold the reply together until they know it. That is for
// small replies: where the entries may be many, they count them before.

// few reports whether the reply has few entries, of so many streams.
func (r *streamRead) few(streams int) bool {
	return 0 < r.maxCount && r.maxCount <= manyEntries ||
		0 < r.count && r.count <= int64(manyEntries/streams)
}

// atMost returns how many entries the next stream may add to the reply if so many are left of
// MAXCOUNT.
func (r *streamRead) atMost(left int64) int {
	if r.maxCount == 0 {
		left = math.MaxInt
	}
	if r.count > 0 {
		left = min(left, r.count)
	}
	return int(left)
}

// served returns of how many streams XREAD replies with entries, -1 if that is not known. have is
// how many have any.
func (r *streamRead) served(streams []streamAfter, have int) (n int) {
	switch {
	case r.maxSize > 0:
		return -1
	case r.maxCount == 0:
		return have
	case r.few(len(streams)):
		return -1
	}
	left := r.maxCount
	for i := range streams {
		s := &streams[i]
		if left > 0 && s.has() {
			n++
			from, _ := s.id.Next()
			left -= int64(s.s.Count(from, stream.MaxID, r.atMost(left)))
		}
	}
	return n
}

// served returns of how many streams XREADGROUP replies with entries, -1 if that is not known. For
// one stream it is 0: its reply begins once it has entries.
func (d *delivery) served(groups []groupAfter) (n int) {
	switch {
	case len(groups) == 1:
		return 0
	case d.maxSize > 0 || d.maxCount > 0 && d.claim >= 0 || d.few(len(groups)):
		return -1
	}
	seen := make(map[*stream.Group]bool, someStreams)
	left := d.maxCount
	for i := range groups {
		if d.maxCount > 0 && left == 0 {
			break
		}
		d.turnTo(groups, i)
		if seen[d.g] && (!d.history || d.maxCount > 0) {
			return -1 // it depends on what becomes of the group before
		}
		seen[d.g] = true
		if !d.history && !(d.claim >= 0 && d.hasDue()) && !d.hasNew() {
			continue
		}
		n++
		if d.maxCount > 0 {
			left -= int64(d.amount(d.atMost(left)))
		}
	}
	return n
}

// amount returns how many entries of the stream are delivered, which hasNew or has a history, if
// they may be limit at most.
func (d *delivery) amount(limit int) int {
	if !d.history {
		return d.s.Count(d.w.it.ID, stream.MaxID, limit)
	}
	if by := d.g.Consumer(d.consumer); by != nil {
		return d.countHistory(by, int64(limit))
	}
	return 0
}
