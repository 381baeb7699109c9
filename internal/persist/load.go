package persist

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strconv"
	"time"

	"godwit/internal/keyspace"
	"godwit/internal/logging"
	"godwit/internal/persist/rdb"
)

// RDBTarget is the server that an RDB file is loaded into.
type RDBTarget interface {
	// Step runs fn with the executor held; clients are answered between steps.
	Step(fn func())
	// Keyspace is where the keys go, within a step.
	Keyspace() *keyspace.Keyspace
	// Function adds a library of functions, within a step. replace says whether it may take the
	// place of one of the same name. code is borrowed.
	Function(code []byte, replace bool) error
	// Loaded sets the number of bytes that are loaded of all files together, within a step.
	Loaded(bytes int64)
	// Stopped returns why the load must end before its time, nil if it need not, within a step.
	Stopped() error
}

// RDBLoadOptions change how a snapshot is loaded.
type RDBLoadOptions struct {
	Log        *logging.Logger
	NoChecksum bool // rdbchecksum no
	// Base says that the snapshot is the base of a log. Keys whose deadline has passed are kept
	// then, because the commands that follow count on them.
	Base bool
	// KeepDue does the same for a snapshot that names a point of replication: the replicas that go
	// on there must hear when its keys go.
	KeepDue bool
	// Merge lets keys replace those that exist; otherwise they are errors.
	Merge bool
	// Before is the number of bytes of other files that have been loaded.
	Before int64
	// Size is the most bytes that src has, 0 if that is not known. It must not be what src, or who
	// sends it, only says. The number of keys that src claims is believed up to what fits into it.
	Size int64
	// MaxRecord is the most bytes that a record may have, 0 for any number.
	MaxRecord int64
	// KeyDelay is key-load-delay, in µs.
	KeyDelay int64
}

// RDBCounts are the keys of a snapshot.
type RDBCounts struct{ Loaded, Expired, Empty int64 }

// RDBLoaded is what a load has found in a snapshot.
type RDBLoaded struct {
	RDBCounts
	Used  int64     // bytes of the snapshot; more of the source may have been read
	Point ReplPoint // what the snapshot says of replication
}

// stepTime is how long a step of a load holds the executor. Clients wait that long for their
// LOADING.
const stepTime = 2 * time.Millisecond

// LoadRDB reads a snapshot from src into the target. Errors of the content are *rdb.Error, and some
// of the keys are loaded then. Call it without the executor, or with it if the target's steps do
// not take it.
func LoadRDB(src io.Reader, t RDBTarget, o RDBLoadOptions) (n RDBLoaded, err error) {
	l := rdbLoader{RDBLoadOptions: o, t: t}
	// One worker less than there are processors: the step that inserts keeps one busy.
	read := rdb.ReadOptions{NoChecksum: o.NoChecksum, MaxRecord: o.MaxRecord,
		Workers: max(runtime.GOMAXPROCS(0)-1, 1)}
	t.Step(func() { read.Streams = t.Keyspace().Heap.Lim.Stream })
	l.r = rdb.NewReader(src, read)
	defer l.r.Close()
	for !l.done && err == nil {
		l.r.Wait() // a master may be slow
		t.Step(func() { err = l.step() })
		if o.KeyDelay > 0 {
			time.Sleep(time.Duration(o.KeyDelay) * time.Microsecond)
		}
	}
	n = RDBLoaded{l.n, l.used, l.point.point()}
	if err != nil {
		return n, err
	}
	msg := fmt.Sprintf("Done loading RDB, keys loaded: %d, keys expired: %d", l.n.Loaded,
		l.n.Expired)
	if l.n.Empty > 0 {
		msg += fmt.Sprintf(", empty keys skipped: %d", l.n.Empty)
	}
	o.Log.Notice("%s.", msg)
	return n, nil
}

// rdbLoader is one load.
type rdbLoader struct {
	RDBLoadOptions
	t    RDBTarget
	r    *rdb.Reader
	n    RDBCounts
	used int64
	done bool
	left []string // what was logged as left out

	expected uint64 // keys that databases have been given tables for

	point pointReader
}

// step loads records for a while. It does not wait for the source.
func (l *rdbLoader) step() error {
	if err := l.t.Stopped(); err != nil {
		return err
	}
	ks := l.t.Keyspace()
	for start, i := time.Now(), 0; l.r.Ready(); i++ {
		if i%64 == 63 && time.Since(start) > stepTime {
			break
		}
		rec, err := l.r.Next()
		if err != nil {
			return err
		}
		if err := l.record(ks, rec); err != nil {
			return err
		}
		l.used = rec.End
		if rec.Kind == rdb.KindEOF {
			l.done = true
			break
		}
		if l.KeyDelay > 0 && rec.Kind == rdb.KindKey {
			break
		}
	}
	l.t.Loaded(l.Before + l.used)
	return nil
}

func (l *rdbLoader) record(ks *keyspace.Keyspace, rec *rdb.Record) error {
	switch rec.Kind {
	case rdb.KindKey:
		return l.key(ks, rec)
	case rdb.KindAux:
		l.aux(rec)
	case rdb.KindSelectDB:
		if rec.DB >= ks.Databases() {
			return &rdb.Error{Offset: rec.Offset,
				Reason: fmt.Sprintf(
					"database %d does not exist: the server has %d (directive databases)",
					rec.DB, ks.Databases())}
		}
	case rdb.KindResize:
		l.expect(ks, rec)
	case rdb.KindFunction:
		if err := l.t.Function(rec.Text, l.Merge); err != nil {
			return &rdb.Error{Offset: rec.Offset,
				Reason: "a library of functions cannot be loaded: " + err.Error()}
		}
	case rdb.KindModuleAux:
		l.leave("Data of the module %s in the RDB file is skipped", rec.Name)
	case rdb.KindSlotImport:
		l.leave("An import of slots (%s) was under way when the RDB file was made: what had come "+
			"of their keys is loaded", rec.Name)
	}
	return nil
}

// maxLeft is how many lines a load logs about what it leaves out.
const maxLeft = 10

// leave logs that something is left out, once for each line.
func (l *rdbLoader) leave(format, name string) {
	line := fmt.Sprintf(format, name)
	if len(l.left) < maxLeft && !slices.Contains(l.left, line) {
		l.left = append(l.left, line)
		l.Log.Warning("%s", line)
	}
}

// smallestKey is the least that a key takes in a file, in bytes: its type, its name and a value.
const smallestKey = 4

// expect gives the table of a database its size. All databases together get no more than the rest
// of the file can hold.
func (l *rdbLoader) expect(ks *keyspace.Keyspace, rec *rdb.Record) {
	room := uint64(max(l.Size-rec.Offset, 0) / smallestKey)
	if rec.DB < ks.Databases() && room > l.expected {
		keys := min(rec.Keys, room-l.expected)
		l.expected += keys
		ks.DB(rec.DB).Expect(int(keys))
	}
}

// ahead is how many keys before its turn the memory for a key is fetched into the cache.
const ahead = 8

func (l *rdbLoader) key(ks *keyspace.Keyspace, rec *rdb.Record) error {
	if next := l.r.Ahead(ahead); next != nil && next.Kind == rdb.KindKey &&
		next.DB < ks.Databases() {
		ks.DB(next.DB).Prefetch(next.Key)
	}
	if rec.Value.Empty() {
		l.n.Empty++
		return nil
	}
	if d := rec.Meta.Deadline; d != 0 && d < ks.Now() && !l.keepsDue() {
		l.n.Expired++
		return nil
	}
	db := ks.DB(rec.DB)
	if l.Merge {
		db.Delete(rec.Key)
	}
	switch err := rdb.Insert(db, rec.Key, &rec.Value, rec.Meta); {
	case errors.Is(err, rdb.ErrBusy):
		return &rdb.Error{Offset: rec.Offset, Key: rec.Key,
			Reason: fmt.Sprintf("the key is there twice in database %d", rec.DB)}
	case err != nil:
		return &rdb.Error{Offset: rec.Offset, Key: rec.Key, Reason: err.Error()}
	}
	if rec.Name != "" {
		l.leave("Skipping metadata for class '%s' of keys in the RDB file", rec.Name)
	}
	l.n.Loaded++
	return nil
}

// keepsDue reports whether keys are loaded whose deadline has passed.
func (l *rdbLoader) keepsDue() bool { return l.Base || l.KeepDue && l.point.point().ID != "" }

// aux notes and logs what the file says of itself.
func (l *rdbLoader) aux(rec *rdb.Record) {
	l.point.field(rec.Name, rec.Text)
	switch rec.Name {
	case "redis-ver":
		l.Log.Notice("Loading RDB produced by version %s", rec.Text)
	case "valkey-ver":
		l.Log.Notice("Loading RDB produced by Valkey version %s", rec.Text)
	case "ctime":
		if t, err := strconv.ParseInt(string(rec.Text), 10, 64); err == nil {
			l.Log.Notice("RDB age %d seconds", max(time.Now().Unix()-t, 0))
		}
	case "used-mem":
		if n, err := strconv.ParseInt(string(rec.Text), 10, 64); err == nil {
			l.Log.Notice("RDB memory usage when created %.2f Mb", float64(n)/(1<<20))
		}
	case "aof-base":
		if string(rec.Text) == "1" {
			l.Log.Notice("RDB is base AOF")
		}
	}
}
