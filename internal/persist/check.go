package persist

import (
	"bufio"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"

	"godwit/internal/arena"
	"godwit/internal/invariant"
	"godwit/internal/keyspace"
	"godwit/internal/logging"
	"godwit/internal/object"
	"godwit/internal/persist/rdb"
	"godwit/internal/vfs"
)

// checkBuffer is the size of read buffers in bytes.
const checkBuffer = 64 << 10

// Checker reads files as the server would, and says what it finds. It is what redis-check-rdb and
// redis-check-aof are to Redis. Each method reports whether the file is sound.
type Checker struct {
	FS  vfs.FS
	Out io.Writer
	In  io.Reader // answers questions
	Now int64     // unix ms: what has expired

	Fix bool // cut off the end of a log that is damaged, after asking
	Yes bool // without asking

	inUse bool // a server has the log

	// Until is in unix seconds. If it is not 0, a log is cut off at the first annotation with a
	// later time.
	Until int64
}

func (c *Checker) printf(format string, args ...any) { fmt.Fprintf(c.Out, format+"\n", args...) }

// at prints a line about an offset of a file.
func (c *Checker) at(offset int64, format string, args ...any) {
	c.printf("[offset %d] "+format, append([]any{offset}, args...)...)
}

// cannot reports a file that cannot be read or changed.
func (c *Checker) cannot(what, name string, err error) bool {
	c.printf("Cannot %s %s: %s", what, name, logging.OSError(err))
	return false
}

// RDB checks a snapshot file.
func (c *Checker) RDB(name string) bool {
	f, err := c.FS.Open(name, os.O_RDONLY, 0)
	if err != nil {
		return c.cannot("open file", name, err)
	}
	defer f.Close()
	c.at(0, "Checking RDB file %s", name)
	end, ok := c.snapshot(bufio.NewReaderSize(f, checkBuffer))
	if !ok {
		return false
	}
	info, err := c.FS.Stat(name)
	if err != nil {
		return c.cannot("look at", name, err)
	}
	if left := info.Size() - end; left > 0 {
		c.at(end, "%d bytes follow the end; they are ignored", left)
	}
	return true
}

// snapshot checks an RDB file from its first byte on; end is behind its last.
func (c *Checker) snapshot(src io.Reader) (end int64, ok bool) {
	s := snapshotCheck{c: c, keys: map[uniqueKey]struct{}{},
		seeds: [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}, ks: scratch(c.Now)}
	defer s.close()
	r := rdb.NewReader(src, rdb.ReadOptions{})
	defer r.Close()
	for {
		rec, err := r.Next()
		if err == nil {
			err = s.take(rec)
		}
		if err != nil {
			s.failed(r.Offset(), err)
			return 0, false
		}
		if rec.Kind == rdb.KindEOF {
			if r.Verified() {
				c.at(r.Offset(), "Checksum OK")
			} else {
				c.at(r.Offset(),
					"The file has no checksum, so that damage within values may go unnoticed")
			}
			c.at(r.Offset(), `\o/ RDB looks OK! \o/`)
			s.counts()
			return r.Offset(), true
		}
	}
}

// snapshotCheck is what a check of an RDB file has seen.
type snapshotCheck struct {
	c *Checker

	n, expires, expired, functions int

	keys  map[uniqueKey]struct{}
	seeds [2]maphash.Seed
	ks    *keyspace.Keyspace // holds one key at a time
}

// scratch returns a keyspace in which every collection takes its large form, which finds equal
// elements.
func scratch(now int64) *keyspace.Keyspace {
	p := keyspace.Params{Databases: 1, Limits: object.Limits{ListMaxListpackSize: -2}}
	return keyspace.New(arena.New(), p, rand.New(rand.NewPCG(0, 0)), now, deaf{})
}

// deaf are hooks that nobody listens to.
type deaf struct{}

func (deaf) KeyEvent(string, []byte, int)                        {}
func (deaf) FieldEvent(string, []byte, keyspace.FieldNames, int) {}
func (deaf) KeyChanged([]byte, int)                              {}
func (deaf) Ready([]byte, int, object.Type)                      {}
func (deaf) Removed([]byte, int, bool)                           {}
func (deaf) FieldExpired([]byte, []byte, int)                    {}

// uniqueKey stands for a key of a database: two hashes of 64 bits, which do not collide by chance.
type uniqueKey [2]uint64

// close gives the memory back. With invariants an arena wants all of its blocks back first. Records
// of deadlines stay in the wheel until their time comes.
func (s *snapshotCheck) close() {
	used := s.ks.A.UsedBy(arena.Values)
	invariant.Check(used == 0, "persist: a check leaves %d bytes of values", used)
	if !invariant.Enabled {
		s.ks.A.Close()
	}
}

func (s *snapshotCheck) take(rec *rdb.Record) error {
	switch rec.Kind {
	case rdb.KindAux:
		s.c.at(rec.Offset, "AUX FIELD %s = '%s'", printable(rec.Name), printable(string(rec.Text)))
	case rdb.KindSelectDB:
		s.c.at(rec.Offset, "Selecting DB ID %d", rec.DB)
	case rdb.KindFunction:
		s.functions++
	case rdb.KindModuleAux:
		s.c.at(rec.Offset, "Data of the module %s, which is skipped", printable(rec.Name))
	case rdb.KindKey:
		return s.key(rec)
	}
	return nil
}

func (s *snapshotCheck) key(rec *rdb.Record) error {
	s.n++
	if at := rec.Meta.Deadline; at != 0 {
		s.expires++
		if at < s.c.Now {
			s.expired++
		}
	}
	if rec.Value.Empty() {
		return nil // a load leaves it out, so another may have the name
	}
	name := strconv.AppendInt(nil, int64(rec.DB), 10)
	name = append(append(name, ':'), rec.Key...)
	id := uniqueKey{maphash.Bytes(s.seeds[0], name), maphash.Bytes(s.seeds[1], name)}
	if _, twice := s.keys[id]; twice {
		return &rdb.Error{Offset: rec.Offset, Key: rec.Key, Reason: "the key is there twice"}
	}
	there, err := s.build(rec)
	if there {
		s.keys[id] = struct{}{}
	}
	return err
}

// build makes the value. The reader leaves it to this step to find equal elements of large
// collections. A hash whose fields are all due is not there afterwards.
func (s *snapshotCheck) build(rec *rdb.Record) (there bool, err error) {
	if rec.Value.Sound() {
		return true, nil
	}
	db := s.ks.DB(0)
	if err := rdb.Insert(db, rec.Key, &rec.Value, rdb.NoAccess()); err != nil {
		return false, &rdb.Error{Offset: rec.Offset, Key: rec.Key, Reason: err.Error()}
	}
	there = db.Peek(rec.Key).Exists()
	db.Delete(rec.Key)
	for s.ks.LazyFreeSlice(1 << 16) {
	}
	return there, nil
}

func (s *snapshotCheck) failed(read int64, err error) {
	s.c.printf("--- RDB ERROR DETECTED ---")
	var e *rdb.Error
	switch {
	case errors.As(err, &e) && e.Key != nil:
		s.c.at(e.Offset, "%s", e.Reason)
		s.c.printf("[additional info] Reading key '%s'", printable(string(e.Key)))
	case errors.As(err, &e):
		s.c.at(e.Offset, "%s", e.Reason)
	default:
		s.c.at(read, "Cannot read: %s", logging.OSError(err))
	}
	s.counts()
}

func (s *snapshotCheck) counts() {
	s.c.printf("[info] %d keys read", s.n)
	s.c.printf("[info] %d expires", s.expires)
	s.c.printf("[info] %d already expired", s.expired)
	if s.functions > 0 {
		s.c.printf("[info] %d function libraries", s.functions)
	}
}

// printable makes a text fit for a line of output.
func printable(s string) string {
	if len(s) > 200 {
		s = s[:200] + "…"
	}
	q := strconv.Quote(s)
	return strings.ReplaceAll(q[1:len(q)-1], `\"`, `"`)
}
