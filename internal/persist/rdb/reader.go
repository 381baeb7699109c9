package rdb

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"sync"

	"godwit/internal/crash"
	"godwit/internal/stream"
)

// RecordKind is what a Record holds.
type RecordKind byte

// The kinds.
const (
	KindKey        RecordKind = iota + 1 // Key, Value, Meta, DB
	KindAux                              // Name, Text: an auxiliary field
	KindSelectDB                         // DB: the records that follow belong to it
	KindResize                           // DB, Keys, Expires: how many it has
	KindSlot                             // DB: the slot; Keys, Expires
	KindFunction                         // Text: the source of a library
	KindModuleAux                        // Name: the module whose data was skipped
	KindTemplate                         // names of hashes' fields, which the Reader keeps
	KindSlotImport                       // Name: the job of slots that were being imported
	KindEOF                              // the end; the checksum was right, if there is one

	// With ReadOptions.Survey only. DB and Key are set too.
	KindRefused // Name: what the value is, which is not read
	KindDamaged // Name: what is wrong with the value; Keys: the offset of that in the file
)

// Record is one record of a file.
type Record struct {
	Kind          RecordKind
	DB            int
	Offset, End   int64 // its first byte and the one behind its last in the file
	Key           []byte
	Value         Value
	Meta          Meta
	Name          string // of KindKey: a class of metadata that was left out
	Text          []byte
	Keys, Expires uint64
}

// ReadOptions change what a Reader does.
type ReadOptions struct {
	// NoChecksum leaves the checksum at the end unread (rdbchecksum no).
	NoChecksum bool
	// Workers is how many goroutines decode ahead of Next, beside one that reads and splits. With 0
	// Next does everything itself.
	Workers int
	// Survey goes on behind values that are not read or damaged, as far as their ends are known.
	Survey bool
	// Streams bounds the blocks of streams.
	Streams stream.Limits
	// MaxRecord is the most bytes that a record may have, 0 for any number. A record is in memory
	// before its end is known.
	MaxRecord int64
}

// Reader reads a file's records in order. Close it.
//
// # How
//
// The input is read into a buffer and split into records (skim.go), which are decoded together as a
// batch. With workers a goroutine splits. The batches go through two channels, one to whichever
// worker is free and one, in order, to Next:
//
//	splitter ──→ work ──→ workers: decode, then batch.done
//	    └──────→ order ──→ Next: waits for batch.done, hands out the records, gives the buffer back
//
// Decoded values alias their batch's buffer, so a record is valid only until the next call of Next.
type Reader struct {
	src io.Reader
	o   ReadOptions

	split   splitter
	batch   *batch // whose records are handed out
	next    int    // the next of them
	err     error  // after which there is nothing
	offset  int64
	order   chan *batch
	free    chan *batch
	stop    chan struct{}
	running sync.WaitGroup
	closed  bool
}

// batch is a buffer and its records.
type batch struct {
	buf     []byte
	base    int64
	spans   []span
	records []Record
	err     error // after the records
	done    chan struct{}

	survey    bool
	templates *templates
	streams   stream.Limits
}

// chunk is how many bytes are read at a time. A record that is longer gets a buffer that doubles as
// it arrives.
const chunk = 256 << 10

// firstChunk is how much is read at first, in bytes.
const firstChunk = 16 << 10

// maxKept is the largest buffer that is used again, in bytes.
const maxKept = 4 * chunk

// NewReader begins to read at a file's first byte.
func NewReader(src io.Reader, o ReadOptions) *Reader {
	r := &Reader{src: src, o: o}
	r.split = splitter{src: src, noChecksum: o.NoChecksum, survey: o.Survey,
		templates: new(templates), streams: o.Streams, maxRecord: o.MaxRecord}
	if o.Workers > 0 {
		r.start()
	}
	return r
}

// Skim reads a file to its end and decodes no value. An error says where its structure is broken,
// where something begins that cannot be loaded, or that the checksum is wrong. databases is how
// many the file needs. It takes about as long as reading the file. Of the options, NoChecksum and
// MaxRecord count.
func Skim(src io.Reader, o ReadOptions) (databases int, err error) {
	s := splitter{src: src, noChecksum: o.NoChecksum, templates: new(templates),
		maxRecord: o.MaxRecord}
	var b *batch
	for err == nil {
		b = s.batch(b)
		for i := range b.spans {
			if s := &b.spans[i]; s.kind != KindSlot { // of which db is the slot
				databases = max(databases, s.db+1)
			}
		}
		err = b.err
	}
	if err == io.EOF {
		err = nil
	}
	return databases, err
}

func (r *Reader) start() {
	ahead := 2*r.o.Workers + 2 // batches in flight
	work := make(chan *batch, ahead)
	r.order = make(chan *batch, ahead)
	r.free = make(chan *batch, ahead+2)
	r.stop = make(chan struct{})
	r.running.Add(1 + r.o.Workers)
	go func() {
		defer crash.Guard("reading a snapshot")()
		defer r.running.Done()
		defer close(work)
		defer close(r.order)
		for {
			var used *batch
			select {
			case used = <-r.free:
			default:
			}
			b := r.split.batch(used)
			b.done = make(chan struct{})
			final := b.err != nil // a worker may set it later
			work <- b
			select {
			case r.order <- b:
			case <-r.stop:
				return
			}
			if final {
				return
			}
		}
	}()
	for range r.o.Workers {
		go func() {
			defer crash.Guard("decoding a snapshot")()
			defer r.running.Done()
			for b := range work {
				b.decode()
				close(b.done)
			}
		}()
	}
}

// Next returns the next record. The last is KindEOF; after it comes io.EOF. The record is valid
// until the next call. Errors other than those of the source are *Error, also for a file that ends
// too early. After any error the Reader is done.
func (r *Reader) Next() (*Record, error) {
	for r.err == nil {
		if b := r.batch; b != nil {
			if r.next < len(b.records) {
				rec := &b.records[r.next]
				r.next++
				r.offset = rec.End
				return rec, nil
			}
			if r.err = b.err; r.err != nil {
				break
			}
		}
		r.fetch()
	}
	return nil, r.err
}

// Ready reports whether Next returns at once.
func (r *Reader) Ready() bool {
	return r.err != nil || r.batch != nil && (r.next < len(r.batch.records) || r.batch.err != nil)
}

// Wait blocks until Next would return at once. The last record is not valid any more.
func (r *Reader) Wait() {
	for !r.Ready() {
		r.fetch()
	}
}

// Ahead returns the record that the n-th call of Next from now on is going to return, nil if it is
// not known yet. With it a caller can fetch memory that will be needed into the cache in time.
func (r *Reader) Ahead(n int) *Record {
	if r.batch == nil || r.next+n > len(r.batch.records) || r.err != nil {
		return nil
	}
	return &r.batch.records[r.next+n-1]
}

// fetch makes the next batch the current one.
func (r *Reader) fetch() {
	old := r.batch
	r.next = 0
	if r.order == nil {
		r.batch = r.split.batch(old)
		r.batch.decode()
		return
	}
	if old != nil {
		select {
		case r.free <- old:
		default:
		}
	}
	b, ok := <-r.order
	if !ok {
		r.err = io.EOF
		return
	}
	<-b.done
	r.batch = b
}

// Version returns the version that the file's header states, known after the first Next.
func (r *Reader) Version() int {
	if r.batch == nil {
		return 0
	}
	return r.split.version
}

// Offset returns the number of bytes of the file up to the end of the last record that Next
// returned. Behind KindEOF that is the whole RDB file with its checksum.
func (r *Reader) Offset() int64 { return r.offset }

// Verified reports, after KindEOF, whether the file has a checksum that was compared. Old versions
// have none, and neither do files whose writers were told to leave it out.
func (r *Reader) Verified() bool { return r.split.verified }

// Close ends the goroutines. It waits for a read of the source that is under way. It does not close
// the source.
func (r *Reader) Close() {
	if r.closed {
		return
	}
	r.closed = true
	if r.err == nil {
		r.err = io.ErrClosedPipe
	}
	if r.stop != nil {
		close(r.stop)
		r.running.Wait()
	}
}

// decode fills in the records.
func (b *batch) decode() {
	b.records = slices.Grow(b.records[:0], len(b.spans))[:len(b.spans)]
	d := Decoder{base: b.base, templates: b.templates, streams: b.streams}
	for i := range b.spans {
		sp := &b.spans[i]
		r := &b.records[i]
		d.b, d.pos = b.buf[:sp.end:sp.end], sp.key
		err := sp.decode(&d, r)
		if err == nil {
			continue
		}
		var e *Error
		if !b.survey || sp.kind != KindKey || !errors.As(err, &e) {
			b.records, b.err = b.records[:i], err
			return
		}
		r.Kind, r.Name, r.Keys = KindDamaged, e.Reason, uint64(e.Offset)
	}
}

func (sp *span) decode(d *Decoder, r *Record) (err error) {
	*r = Record{Kind: sp.kind, DB: sp.db, Offset: d.base + int64(sp.start),
		End: d.base + int64(sp.end), Meta: sp.meta,
		Name: sp.name, Keys: sp.keys, Expires: sp.expires}
	switch sp.kind {
	case KindRefused:
		r.Key, err = d.String()
	case KindKey:
		if r.Key, err = d.String(); err != nil {
			return err
		}
		if r.Value, err = d.value(sp.op); err == nil && d.left() > 0 {
			err = d.errorf("%d bytes behind the value", d.left())
		}
		var e *Error
		if errors.As(err, &e) {
			e.Key = bytes.Clone(r.Key)
		}
	case KindAux:
		var name []byte
		if name, err = d.String(); err != nil {
			return err
		}
		r.Name = string(name)
		r.Text, err = d.String()
	case KindFunction:
		r.Text, err = d.String()
	}
	return err
}
