package keyspace

import "godwit/internal/object"

// # Renewal of marks
//
// Epochs come round again, and a snapshot takes what bears its epoch for saved. So nothing may keep
// a mark for as many snapshots as there are epochs. A snapshot of everything that comes to its end
// marks everything. One of some slots does not, and one that is cancelled does not either: each
// takes one of the epochs that are left. After renewAt of these a renewal marks everything, in
// slices, before they run out. It is a snapshot that keeps nothing, and makes way for each other
// one: then it has to begin anew. Who begins snapshots by the dozen waits for it (RenewPending).
//
//	cancelled 0 ────────── renewAt ─────────────────────── maxCancelled
//	                       in slices, when nobody saves    all at once: the server stands still

const (
	// maxCancelled bounds how many snapshots in a row may be cancelled, or be of some slots only.
	maxCancelled = object.EpochEnd - 8
	renewAt      = maxCancelled / 2
)

// renewal is the Saver of a snapshot that keeps nothing.
type renewal struct {
	sn   *Snapshot
	open []*object.Capture // of large collections that were met
}

// Element implements object.ElementWriter.
func (r *renewal) Element(*object.Element) {}

// Preserve implements Saver.
func (r *renewal) Preserve(_ int, e object.Entry) {
	if e.Encoding().Large() {
		r.open = append(r.open, r.sn.Capture(e, r))
	}
}

// RenewPending reports whether RenewSlice has something to do. It costs a few comparisons.
func (ks *Keyspace) RenewPending() bool {
	return ks.cancelled >= renewAt && !ks.Snapshotting() && ks.shadow == nil
}

// RenewSlice goes on with a renewal for about n entries or elements if one is pending, and reports
// whether there is more to do.
func (ks *Keyspace) RenewSlice(n int) (more bool) {
	if !ks.RenewPending() {
		return false
	}
	r := ks.renewal
	if r == nil {
		r = ks.beginRenewal()
	}
	if k := len(r.open) - 1; k >= 0 {
		if c := r.open[k]; c.Step(n) {
			r.open = r.open[:k]
			r.sn.Release(c)
		}
		return true
	}
	if !r.sn.Walk(n) || len(r.open) > 0 {
		return true
	}
	ks.endRenewal()
	return false
}

func (ks *Keyspace) beginRenewal() *renewal {
	r := &renewal{}
	r.sn = ks.beginSnapshot(r, nil)
	ks.renewal = r
	return r
}

// endRenewal ends a renewal, done or not.
func (ks *Keyspace) endRenewal() {
	if r := ks.renewal; r != nil {
		ks.renewal = nil
		r.sn.End()
	}
}
