package persist

import (
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"math/rand/v2"
	"strconv"
	"strings"

	"godwit/internal/arena"
	"godwit/internal/invariant"
	"godwit/internal/keyspace"
	"godwit/internal/logging"
	"godwit/internal/object"
	"godwit/internal/persist/rdb"
)

// A check of an RDB file goes on behind what a load would refuse, so that whoever moves a data set
// learns of everything at once: which types are not read, how many keys of each, and where the
// first one is. Only bytes that make no record end it.

// snapshotCheck is what a check of an RDB file has seen.
type snapshotCheck struct {
	c *Checker

	n, expires, expired, functions int

	inTheWay []finding // what a load refuses, by kind
	leftOut  []finding // what a load leaves out
	lastDB   int

	keys  map[uniqueKey]struct{}
	seeds [2]maphash.Seed
	ks    *keyspace.Keyspace // holds one key at a time
}

// finding is something that a file has, how often, and where first.
type finding struct {
	what   string
	n      int
	db     int
	key    string
	offset int64
	reason string
}

// libraries is the finding that belongs to no key.
const libraries = "libraries of functions"

// maxFindings is how many kinds of findings are told apart: names of modules come from the file.
const maxFindings = 100

// note counts a finding.
func note(list *[]finding, f finding) {
	for i := range *list {
		if l := &(*list)[i]; l.what == f.what || i == maxFindings {
			l.n++
			return
		}
	}
	if f.n = 1; len(*list) == maxFindings {
		f.what = "more kinds"
	}
	*list = append(*list, f)
}

// snapshot checks an RDB file, or the RDB part of a log, from its first byte on; end is behind its
// last. ok says that it could be read to its end; what a load refuses sets c.blocked.
func (c *Checker) snapshot(src io.Reader) (end int64, ok bool) {
	s := snapshotCheck{c: c, keys: map[uniqueKey]struct{}{},
		seeds: [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}, ks: scratch(c.Now)}
	defer s.close()
	r := rdb.NewReader(src, rdb.ReadOptions{Survey: true})
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
			s.ended(r)
			return r.Offset(), true
		}
	}
}

// ended reports what a file holds that was read to its end.
func (s *snapshotCheck) ended(r *rdb.Reader) {
	if r.Verified() {
		s.c.at(r.Offset(), "Checksum OK")
	} else {
		s.c.at(r.Offset(),
			"The file has no checksum, so that damage within values may go unnoticed")
	}
	if len(s.inTheWay) == 0 {
		s.c.at(r.Offset(), `\o/ RDB looks OK! \o/`)
	} else {
		s.c.printf("--- RDB ERROR DETECTED ---")
		s.c.printf("A server would refuse to load this:")
		s.c.blocked = true
	}
	s.findings()
	s.counts()
}

// findings lists what is in the way, and what is worth knowing.
func (s *snapshotCheck) findings() {
	for _, f := range s.inTheWay {
		where := fmt.Sprintf("'%s' in database %d, at offset %d", f.key, f.db, f.offset)
		if f.what == libraries {
			where = fmt.Sprintf("'%s', at offset %d", f.key, f.offset)
		}
		if f.reason != "" {
			where += ": " + f.reason
		}
		s.c.printf("[in the way] %d of %s, the first is %s", f.n, f.what, where)
	}
	if len(s.inTheWay) > 0 {
		s.c.printf("Delete these where the file was made and save again, or copy all others " +
			"with a client.")
	}
	for _, f := range s.leftOut {
		line := fmt.Sprintf("[left out] %d of %s", f.n, f.what)
		if f.key != "" {
			line += fmt.Sprintf(", the first of key '%s' in database %d", f.key, f.db)
		}
		s.c.printf("%s", line)
	}
	if s.lastDB >= defaultDatabases {
		s.c.printf("[needed] There are keys in database %d: start the server with databases %d or "+
			"more", s.lastDB, s.lastDB+1)
	}
}

// defaultDatabases is how many databases a server has if its configuration says nothing.
const defaultDatabases = 16

// scratch returns a keyspace in which every collection takes its large form, which finds equal
// elements.
func scratch(now int64) *keyspace.Keyspace {
	p := keyspace.Params{Databases: 1, Limits: object.Limits{ListMaxListpackSize: -2}}
	return keyspace.New(arena.New(), p, rand.New(rand.NewPCG(0, 0)), now, keyspace.NoHooks{})
}

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
		s.function(rec)
	case rdb.KindModuleAux:
		note(&s.leftOut, finding{what: "the data of module " + rec.Name + " that belong to no key"})
	case rdb.KindSlotImport:
		note(&s.leftOut, finding{what: "the imports of slots that were under way; the keys that " +
			"had come are in the file"})
	case rdb.KindKey:
		if rec.Name != "" {
			s.note(&s.leftOut, rec, "the key metadata of module class "+rec.Name, "")
		}
		return s.key(rec)
	case rdb.KindRefused:
		s.counted(rec)
		s.note(&s.inTheWay, rec, "type "+rec.Name, "")
	case rdb.KindDamaged:
		s.counted(rec)
		s.damaged(rec, fmt.Sprintf("%s (offset %d)", rec.Name, rec.Keys))
	}
	return nil
}

// function loads a library of functions.
func (s *snapshotCheck) function(rec *rdb.Record) {
	s.functions++
	if s.c.Library == nil {
		return
	}
	if err := s.c.Library(rec.Text); err != nil {
		head, _, _ := strings.Cut(string(rec.Text), "\n")
		note(&s.inTheWay, finding{what: libraries, key: printable(head),
			offset: rec.Offset, reason: printable(err.Error())})
	}
}

// note counts a finding about a key.
func (s *snapshotCheck) note(list *[]finding, rec *rdb.Record, what, reason string) {
	note(list, finding{what: what, db: rec.DB, key: printable(string(rec.Key)), offset: rec.Offset,
		reason: reason})
}

func (s *snapshotCheck) damaged(rec *rdb.Record, reason string) {
	s.note(&s.inTheWay, rec, "damaged values", reason)
}

// counted counts a key.
func (s *snapshotCheck) counted(rec *rdb.Record) {
	s.n++
	s.lastDB = max(s.lastDB, rec.DB)
	if at := rec.Meta.Deadline; at != 0 {
		s.expires++
		if at < s.c.Now {
			s.expired++
		}
	}
}

func (s *snapshotCheck) key(rec *rdb.Record) error {
	s.counted(rec)
	if rec.Value.Empty() {
		return nil // a load leaves it out, so another may have the name
	}
	name := strconv.AppendInt(nil, int64(rec.DB), 10)
	name = append(append(name, ':'), rec.Key...)
	id := uniqueKey{maphash.Bytes(s.seeds[0], name), maphash.Bytes(s.seeds[1], name)}
	if _, twice := s.keys[id]; twice {
		s.note(&s.inTheWay, rec, "keys that are there twice", "")
		return nil
	}
	there, err := s.build(rec)
	if there {
		s.keys[id] = struct{}{}
	}
	if err != nil {
		s.damaged(rec, err.Error())
	}
	return nil
}

// build makes the value. The reader leaves it to this step to find equal elements of large
// collections. A hash whose fields are all due is not there afterwards.
func (s *snapshotCheck) build(rec *rdb.Record) (there bool, err error) {
	if rec.Value.Sound() {
		return true, nil
	}
	db := s.ks.DB(0)
	if err := rdb.Insert(db, rec.Key, &rec.Value, rdb.NoAccess()); err != nil {
		return false, err
	}
	there = db.Peek(rec.Key).Exists()
	db.Delete(rec.Key)
	for s.ks.LazyFreeSlice(1 << 16) {
	}
	return there, nil
}

// failed reports what ends a check: behind it nothing can be read.
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
	if s.n > 0 {
		s.c.printf("The rest of the file cannot be looked at.")
	}
	s.findings()
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
