package persist

import (
	"errors"
	"io"

	"godwit/internal/persist/rdb"
)

// SyncLoadOptions say how the snapshot of a full synchronization is read.
type SyncLoadOptions struct {
	// Target is where it goes: databases without a key.
	Target RDBTarget
	// Size is the most bytes that there are, 0 if that is not known for sure: a master may lie.
	Size int64
	// MaxRecord is the most bytes that a record may have, 0 for any number: a master may send one
	// that never ends.
	MaxRecord int64
}

// LoadSync reads the snapshot that a master has sent, up to its end mark and checksum. Keys that
// are due are kept: the master says when they go. It is called without the executor, which it takes
// for each step; nobody waits for the source. An error says where it is in the snapshot and, if it
// is about a key, which. The target has a part of the data then.
func (s *Store) LoadSync(src io.Reader, o SyncLoadOptions) (RDBLoaded, error) {
	lo := RDBLoadOptions{Log: s.log, Base: true, Size: o.Size, MaxRecord: o.MaxRecord}
	o.Target.Step(func() {
		lo.NoChecksum, lo.KeyDelay = !s.cfg.RDBChecksum, int64(s.cfg.KeyLoadDelay)
	})
	n, err := LoadRDB(src, o.Target, lo)
	var content *rdb.Error
	if errors.As(err, &content) {
		return n, errors.New(explain(err))
	} else if err != nil {
		return n, err
	}
	o.Target.Step(func() { s.loaded = n })
	return n, nil
}
