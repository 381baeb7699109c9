package sim

import (
	"errors"
	"time"

	"godwit/internal/cluster/core"
)

// disk is a core.Storage. It is durable once Save has returned, which takes time. A machine may
// crash within Save: then the batch is there, or it is not.
type disk struct {
	h     *host
	saved core.Saved
	full  bool
	// crash makes the next Save the last one.
	crash bool
	took  int64 // by Saves that the loop has yet to wait for
	// stall is what the next Save takes besides. Until slow all take longer.
	stall, slow int64
}

var errFull = errors.New("no space left on device")

func (d *disk) Load() (core.Saved, error) { return d.saved, nil }

func (d *disk) Save(b core.Batch) error {
	if d.full {
		return errFull
	}
	w := d.h.w
	d.took += w.between(50*time.Microsecond, time.Millisecond) + d.stall
	d.stall = 0
	if w.now < d.slow {
		d.took += w.between(0, Timeout/30)
	}
	if d.crash {
		d.crash = false
		if d.h.w.chance(0.5) {
			d.apply(b)
		}
		d.h.dying = true
		return errors.New("the machine has crashed")
	}
	d.apply(b)
	return nil
}

func (d *disk) apply(b core.Batch) {
	s := &d.saved
	if b.Reset {
		*s = core.Saved{}
	}
	if b.Meta != nil {
		s.Meta = b.Meta
	}
	if b.Hard != nil {
		s.Hard = b.Hard
	}
	if b.Snapshot != nil {
		s.Snapshot = b.Snapshot
	}
	var kept []core.Record
	for _, r := range s.Log {
		if r.Index > b.Drop && (len(b.Log) == 0 || r.Index < b.Log[0].Index) {
			kept = append(kept, r)
		}
	}
	s.Log = append(kept, b.Log...)
}
