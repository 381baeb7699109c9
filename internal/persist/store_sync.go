package persist

import (
	"encoding/binary"
	"errors"
	"fmt"

	"godwit/internal/object"
	"godwit/internal/persist/rdb"
	"godwit/internal/slot"
)

// A snapshot for replicas is the snapshot file's, but for three things. It goes to whoever asked
// for it, as it is made. Its version is chosen before the first byte, for a header on a wire cannot
// be changed. And nobody waits for it: the end of the server, FLUSHALL with save points, DEBUG
// RELOAD and a full synchronization of this server itself cancel it. SAVE is refused meanwhile.

// SyncOptions say what the replicas can read.
type SyncOptions struct {
	Target     rdb.Target // what all of them can read; Auto: the least version that holds the data
	NoCompress bool       // REPLCONF rdb-no-compress: strings are not compressed
	NoChecksum bool       // REPLCONF rdb-no-checksum: zeros stand for the checksum
	Functions  bool       // REPLCONF rdb-filter-only functions: libraries of functions, no keys
}

// SyncDest takes a snapshot's bytes. All methods are called from one goroutine, which is not the
// executor's.
type SyncDest interface {
	// Write takes the next bytes, in order; it must not keep p. It may block: the snapshot goes on
	// when it returns.
	Write(p []byte) error
	// Commit is called after the last Write, if all succeeded.
	Commit() error
	// Abort is called instead of Commit, and also after a Commit that failed.
	Abort()
}

// StartSync begins a snapshot of this moment for replicas. No job may be running, and no unit of
// changes may be open. done is told of the end, unless CancelSync comes before it. It is
// ErrJobCancelled if something that cannot wait ended the snapshot. Then dest may still be within
// Write; Abort follows it.
func (s *Store) StartSync(o SyncOptions, dest SyncDest, done func(error)) error {
	if s.job != nil {
		return errors.New("another snapshot is running")
	}
	f := NewRDBFormat(s.ks, RDBOptions{Compress: s.cfg.RDBCompression && !o.NoCompress,
		Aux: s.aux(false), Target: o.Target, Functions: s.host.FunctionSources(), Fixed: true})
	q := NewQueue(&syncDest{to: dest, rdb: f, checksum: s.cfg.RDBChecksum && !o.NoChecksum},
		s.host.Wake)
	snap := Start(s.ks, f, q,
		Options{KeyDelay: int64(s.cfg.RDBKeySaveDelay), NoKeys: o.Functions})
	s.run(&job{kind: jobSync, snap: snap, done: func(err error) {
		if err == nil {
			s.tell(f)
		}
		done(err)
	}})
	return nil
}

// StartSlots is StartSync for the keys of some slots, as the commands that make them. The set must
// not change meanwhile.
func (s *Store) StartSlots(slots *slot.Set, dest SyncDest, done func(error)) error {
	if s.job != nil {
		return errors.New("another snapshot is running")
	}
	q := NewQueue(slotsDest{dest}, s.host.Wake)
	snap := Start(s.ks, NewCommandFormat(s.ks.Heap, 0), q,
		Options{KeyDelay: int64(s.cfg.RDBKeySaveDelay), Slots: slots})
	s.run(&job{kind: jobSync, snap: snap, done: done})
	return nil
}

// slotsDest is the Dest of a snapshot of slots.
type slotsDest struct{ SyncDest }

// WriteString implements Dest.
func (d slotsDest) WriteString(f *object.FrozenString) error {
	return rdb.Pieces(f, make([]byte, chunkBytes), d.Write)
}

// Syncing reports whether a snapshot for replicas runs.
func (s *Store) Syncing() bool { return s.job != nil && s.job.kind == jobSync }

// CancelSync ends a running snapshot for replicas, and does not tell its owner. It does not wait
// for the destination.
func (s *Store) CancelSync() { s.endSync() }

// FailSync is CancelSync that tells the owner.
func (s *Store) FailSync() {
	if j := s.endSync(); j != nil {
		j.done(ErrJobCancelled)
	}
}

func (s *Store) endSync() *job {
	j := s.job
	if j == nil || j.kind != jobSync {
		return nil
	}
	s.job = nil
	j.snap.Cancel()
	return j
}

// syncDest is the Dest of a snapshot for replicas.
type syncDest struct {
	to       SyncDest
	rdb      *RDBFormat
	checksum bool
	crc      uint64
}

// Write implements Dest.
func (d *syncDest) Write(p []byte) error { return d.put(d.rdb.Pack(p)) }

// WriteString implements Dest.
func (d *syncDest) WriteString(f *object.FrozenString) error { return d.rdb.PackString(f, d.put) }

func (d *syncDest) put(p []byte) error {
	if d.checksum {
		d.crc = rdb.CRC64(d.crc, p)
	}
	return d.to.Write(p)
}

// Commit implements Dest. A version that turns out to be too low is an error of ours; the readers
// do not get the end of the file then.
func (d *syncDest) Commit() error {
	if first, v := d.rdb.firstVersion(), d.rdb.Version(); v != first {
		return fmt.Errorf("the snapshot is of version %d and has what only version %d can tell",
			first, v)
	}
	var sum [rdb.ChecksumLen]byte
	binary.LittleEndian.PutUint64(sum[:], d.crc)
	if err := d.to.Write(sum[:]); err != nil {
		return err
	}
	return d.to.Commit()
}

// Abort implements Dest.
func (d *syncDest) Abort() { d.to.Abort() }
