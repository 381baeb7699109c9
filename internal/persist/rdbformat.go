package persist

import (
	"godwit/internal/keyspace"
	"godwit/internal/object"
	"godwit/internal/persist/rdb"
)

// RDBOptions are the settings of an RDB file.
type RDBOptions struct {
	Compress  bool        // rdbcompression
	Target    rdb.Target  // rdb-version
	Whole     bool        // raise the version rather than leave out what it cannot tell
	Aux       [][2]string // auxiliary fields, in order
	Functions [][]byte    // source of the function libraries
	// Fixed says that the version is chosen before anything is written, by what there is then: the
	// header cannot be changed. Whole must not be set.
	Fixed bool
}

// RDBFormat is the Format of RDB files. Each file needs its own. With Compress its output has to go
// through Pack, which FileDest does.
type RDBFormat struct {
	ks     *keyspace.Keyspace
	o      RDBOptions
	enc    rdb.Encoder
	frame  rdb.Frame
	fixed  int        // version that cannot be changed, 0 if it can
	packer rdb.Packer // the queue's goroutine has it
}

// NewRDBFormat makes the format for the keys of ks.
func NewRDBFormat(ks *keyspace.Keyspace, o RDBOptions) *RDBFormat {
	f := &RDBFormat{ks: ks, o: o, enc: rdb.Encoder{Compress: o.Compress, Target: o.Target,
		Whole: o.Whole}}
	if o.Fixed {
		f.fixed = o.Target.Needs(census(ks))
	}
	return f
}

// census counts what asks for a later version. Nothing is counted too low.
func census(ks *keyspace.Keyspace) rdb.Census {
	s := ks.Heap.Streams().Census()
	c := rdb.Census{Groups: s.Groups, IDMP: s.IDMP, Nacked: s.Nacked}
	for i := range ks.Databases() {
		c.Timed += ks.DB(i).TimedHashes()
	}
	return c
}

// Version returns the version that the header of the file has to name, known when all is written.
func (f *RDBFormat) Version() int {
	if f.o.Target.Fixed() && !f.o.Whole {
		return f.firstVersion()
	}
	return max(f.firstVersion(), f.enc.Version)
}

// firstVersion returns the version that the header names at first.
func (f *RDBFormat) firstVersion() int {
	v := max(f.o.Target.Version(), f.fixed)
	if f.functions() && !f.o.Target.Functions() {
		v = max(v, rdb.Version)
	}
	return v
}

// functions reports whether the file gets function libraries.
func (f *RDBFormat) functions() bool {
	return len(f.o.Functions) > 0 && (f.o.Whole || f.o.Target.Functions())
}

// to begins to append to dst.
func (f *RDBFormat) to(dst []byte) *rdb.Encoder {
	f.enc.B = dst
	if f.o.Compress {
		f.frame = f.enc.BeginFrame()
	}
	return &f.enc
}

// done returns what was appended to.
func (f *RDBFormat) done() []byte {
	if f.o.Compress {
		f.enc.EndFrame(f.frame)
	}
	b := f.enc.B
	f.enc.B = nil
	return b
}

// Pack turns a chunk that the format wrote into bytes of the file. Strings are compressed here and
// not while clients wait. The result is valid until the next call.
func (f *RDBFormat) Pack(chunk []byte) []byte {
	if !f.o.Compress {
		return chunk
	}
	return f.packer.Pack(chunk)
}

// PackString hands the bytes to put that stand for a long string behind its key.
func (f *RDBFormat) PackString(s *object.FrozenString, put func([]byte) error) error {
	return f.packer.LongString(s, f.o.Compress, put)
}

// Head implements Format.
func (f *RDBFormat) Head(dst []byte) []byte {
	e := f.to(dst)
	e.Header(f.firstVersion())
	for _, a := range f.o.Aux {
		e.Aux(a[0], a[1])
	}
	if f.functions() {
		for _, code := range f.o.Functions {
			e.Function(code)
		}
	}
	return f.done()
}

// Database implements Format.
func (f *RDBFormat) Database(dst []byte, db keyspace.SavedDB) []byte {
	e := f.to(dst)
	e.SelectDB(db.ID)
	if db.Keys >= 0 {
		e.Resize(db.Keys, db.Expires)
	}
	return f.done()
}

// meta returns what precedes the record of the entry. The access time is there only if the eviction
// policy uses it, as in Redis.
func (f *RDBFormat) meta(en object.Entry) rdb.Meta {
	m := rdb.NoAccess()
	m.Deadline = en.Deadline()
	switch p := f.ks.P.Policy; {
	case p.LFU():
		m.Freq = f.ks.Freq(en)
	case p.Idle():
		m.Idle = f.ks.IdleSeconds(en)
	}
	return m
}

// Key implements Format.
func (f *RDBFormat) Key(dst []byte, en object.Entry) []byte {
	e := f.to(dst)
	e.Meta(f.meta(en))
	e.Record(f.ks.Heap, en)
	return f.done()
}

// LongString implements Format.
func (f *RDBFormat) LongString(dst []byte, en object.Entry) []byte {
	e := f.to(dst)
	e.Meta(f.meta(en))
	e.StringHead(en.Key())
	return f.done()
}

// LongStringEnd implements Format.
func (f *RDBFormat) LongStringEnd(dst []byte, _ object.Entry) []byte { return dst }

// Large implements Format.
func (f *RDBFormat) Large(dst []byte, en object.Entry, c *object.Capture) ([]byte, LargeEncoder) {
	e := f.to(dst)
	e.Meta(f.meta(en))
	if e.Compress {
		c.CompressCopies()
	}
	to := e.Large(en.Key(), &c.Outline)
	return f.done(), &rdbLarge{f, to}
}

// Tail implements Format.
func (f *RDBFormat) Tail(dst []byte) []byte {
	f.to(dst).EOF()
	return f.done()
}

// rdbLarge is the LargeEncoder of an RDBFormat.
type rdbLarge struct {
	f  *RDBFormat
	to rdb.ElementEncoder
}

// Element implements LargeEncoder.
func (r *rdbLarge) Element(dst []byte, el *object.Element) []byte {
	r.to.Element(r.f.to(dst), el)
	return r.f.done()
}

// End implements LargeEncoder.
func (r *rdbLarge) End(dst []byte) []byte {
	r.to.End(r.f.to(dst))
	return r.f.done()
}
