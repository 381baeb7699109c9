// Package raftlog keeps what a node of a cluster must not forget in one bbolt file: who it is, the
// hard state, the snapshot and the log of Raft. It implements core.Storage.
//
//	bucket "godwit"
//	  format       "1"
//	  meta, hard, snapshot
//	  log 00000000000003e9 … log 000000000000040a     one for each record
//	  tally        how many of all these there are, and the sum of their checksums
//
// Each value begins with a CRC-32C of key and value. bbolt itself trusts its file: what is damaged
// in it can make it panic, or be silently skipped. So Open reads the whole file first, walks its
// pages (verify.go), and compares every record's checksum and the tally. A damaged file is
// refused: a node that has forgotten a vote or an entry would lie to the others.
//
// A Save is one transaction. It is durable when Save returns, or has not happened at all. The file
// is locked while it is open.
package raftlog

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"

	"go.etcd.io/bbolt"

	"godwit/internal/cluster/core"
)

var bucketName = []byte("godwit")

// The keys.
const (
	keyFormat   = "format"
	keyMeta     = "meta"
	keyHard     = "hard"
	keySnapshot = "snapshot"
	keyTally    = "tally"
	logPrefix   = "log "

	format = "1"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Log is an open file. It is not safe for concurrent use.
type Log struct {
	path   string
	db     *bbolt.DB
	saved  core.Saved        // what Open has read, until Load
	sums   map[string]uint32 // the checksum of each key but keyTally
	first  uint64            // index of the first record
	next   uint64            // index behind the last record; first if there is none
	broken error             // an error of Save: nothing is written any more
}

// CorruptError says that the file cannot be used.
type CorruptError struct {
	Path, Reason string
}

// Error implements error.
func (e *CorruptError) Error() string {
	return fmt.Sprintf("Unrecoverable error: corrupted cluster config file %s: %s. The node "+
		"cannot know what it has promised to others, so it does not start. Remove the file to "+
		"start as a new node, and CLUSTER FORGET the old one.", e.Path, e.Reason)
}

// LockedError says that another process has the file.
type LockedError struct{ Path string }

// Error implements error, in Redis's words.
func (e *LockedError) Error() string {
	return fmt.Sprintf("Sorry, the cluster configuration file %s is already used by a different "+
		"cluster node. Please make sure that different nodes use different cluster "+
		"configuration files.", e.Path)
}

// Open opens the file, and creates it if there is none. The error is a CorruptError or a
// LockedError, or it comes from the system.
func Open(path string) (l *Log, err error) {
	if path, err = filepath.Abs(path); err != nil {
		return nil, err
	}
	if _, err := os.Lstat(path); errors.Is(err, os.ErrNotExist) {
		if err := create(path); err != nil {
			return nil, fmt.Errorf("Creating the cluster configuration file: %w", err)
		}
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("Opening the cluster configuration file: %w", err)
	}
	if err := lock(f); err != nil {
		f.Close()
		if held(err) {
			return nil, &LockedError{path}
		}
		return nil, fmt.Errorf("locking %s: %w", path, err)
	}
	l = &Log{path: path, sums: map[string]uint32{}}
	if err := l.read(f); err != nil {
		f.Close()
		return nil, err
	}
	if l.db, err = openDB(path, f); err != nil {
		f.Close()
		return nil, err
	}
	return l, nil
}

// openDB has bbolt use an open and locked file.
func openDB(path string, f *os.File) (db *bbolt.DB, err error) {
	defer contain(path, &err)()
	return bbolt.Open(path, 0o600, &bbolt.Options{NoFreelistSync: true, NoStatistics: true,
		FreelistType: bbolt.FreelistMapType,
		OpenFile:     func(string, int, os.FileMode) (*os.File, error) { return f, nil }})
}

// create makes an empty file. It gets its name when it is whole.
func create(path string) error {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".new-")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	db, err := openDB(f.Name(), f)
	if err != nil {
		f.Close()
		return err
	}
	l := &Log{path: path, db: db, sums: map[string]uint32{}}
	err = db.Update(func(tx *bbolt.Tx) error {
		b, err := tx.CreateBucket(bucketName)
		if err != nil {
			return err
		}
		w := writer{l: l, b: b, sums: l.sums}
		w.put(keyFormat, []byte(format))
		w.tally()
		return w.err
	})
	if err = errors.Join(err, db.Close()); err != nil {
		return err
	}
	// Link, not Rename: two servers may start at the same time.
	if err := os.Link(f.Name(), path); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	return syncDir(filepath.Dir(path))
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// contain returns a function to defer: it turns a panic of bbolt, also one of a fault in the mapped
// file, into an error.
func contain(path string, err *error) func() {
	old := debug.SetPanicOnFault(true)
	return func() {
		debug.SetPanicOnFault(old)
		if v := recover(); v != nil {
			*err = &CorruptError{path, fmt.Sprintf("something else has changed it: %v", v)}
		}
	}
}

// Load implements core.Storage. It returns what Open has read.
func (l *Log) Load() (core.Saved, error) {
	s := l.saved
	l.saved = core.Saved{}
	return s, nil
}

// Close closes the file and gives the lock back.
func (l *Log) Close() (err error) {
	if l.db == nil {
		return nil
	}
	defer contain(l.path, &err)()
	db := l.db
	l.db = nil
	if l.broken != nil {
		var bad *CorruptError
		if errors.As(l.broken, &bad) {
			return nil // bbolt has panicked, and holds its locks
		}
	}
	return db.Close()
}

// errClosed says that the log was closed.
var errClosed = errors.New("the cluster configuration file is closed")

// Save implements core.Storage. After an error all further calls fail.
func (l *Log) Save(b core.Batch) error {
	switch {
	case l.broken != nil:
		return l.broken
	case l.db == nil:
		return errClosed
	case b.Empty():
		return nil
	}
	if err := l.save(b); err != nil {
		l.broken = fmt.Errorf("writing the cluster configuration file: %w", err)
		return l.broken
	}
	return nil
}

func (l *Log) save(b core.Batch) (err error) {
	defer contain(l.path, &err)()
	return l.db.Update(func(tx *bbolt.Tx) error {
		w := writer{l: l, b: tx.Bucket(bucketName), sums: l.sums}
		if w.b == nil {
			return &CorruptError{l.path, "its bucket is gone"}
		}
		w.apply(b)
		w.tally()
		return w.err // the transaction is undone; l.sums does not matter any more
	})
}

// tallyOf returns the number of checksums and their sum.
func tallyOf(sums map[string]uint32) []byte {
	var total uint64
	for _, s := range sums {
		total += uint64(s)
	}
	buf := binary.BigEndian.AppendUint64(nil, uint64(len(sums)))
	return binary.BigEndian.AppendUint64(buf, total)
}

func checksum(key string, value []byte) uint32 {
	return crc32.Update(crc32.Checksum([]byte(key), castagnoli), castagnoli, value)
}

func recordKey(index uint64) string { return fmt.Sprintf("%s%016x", logPrefix, index) }

// read reads and checks the whole file into l.
func (l *Log) read(f *os.File) error {
	corrupt := func(why string) error { return &CorruptError{l.path, why} }
	size, err := f.Seek(0, 2)
	if err != nil {
		return err
	}
	if size > maxFile {
		return corrupt(fmt.Sprintf("it is larger than %d bytes", int64(maxFile)))
	}
	data := make([]byte, size)
	if _, err := f.ReadAt(data, 0); err != nil && size > 0 {
		return fmt.Errorf("Reading the cluster configuration file: %w", err)
	}
	items, err := verify(data)
	if err != nil {
		return corrupt(err.Error())
	}
	var tally []byte
	for _, it := range items {
		key := string(it.key)
		if len(it.value) < 4 || binary.BigEndian.Uint32(it.value) != checksum(key, it.value[4:]) {
			return corrupt(fmt.Sprintf("the checksum of %q is wrong", key))
		}
		value := slices.Clone(it.value[4:])
		if key == keyTally {
			tally = value
			continue
		}
		l.sums[key] = checksum(key, value)
		if err := l.take(key, value); err != nil {
			return corrupt(err.Error())
		}
	}
	if string(tally) != string(tallyOf(l.sums)) || l.sums[keyFormat] == 0 {
		return corrupt("records are missing")
	}
	return nil
}

// take notes one record of the file. Records come in the order of their keys.
func (l *Log) take(key string, value []byte) error {
	s := &l.saved
	switch key {
	case keyFormat:
		if string(value) != format {
			return fmt.Errorf("its format is %q, this version of Godwit reads %q", value, format)
		}
	case keyMeta:
		s.Meta = value
	case keyHard:
		s.Hard = value
	case keySnapshot:
		s.Snapshot = value
	default:
		var index uint64
		if _, err := fmt.Sscanf(key, logPrefix+"%016x", &index); err != nil ||
			key != recordKey(index) {
			return fmt.Errorf("it has an unknown record %q", key)
		}
		if len(s.Log) == 0 {
			l.first, l.next = index, index
		}
		if index != l.next {
			return fmt.Errorf("records are missing before entry %d", index)
		}
		s.Log = append(s.Log, core.Record{Index: index, Data: value})
		l.next = index + 1
	}
	return nil
}
