package rdb

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"godwit/internal/stream"
)

// splitter splits what it reads into batches.
type splitter struct {
	src        io.Reader
	noChecksum bool
	verified   bool
	version    int
	valkey     bool // a file of Valkey's: see dialect
	survey     bool // see ReadOptions
	templates  *templates
	streams    stream.Limits
	maxRecord  int64 // see ReadOptions
	db         int
	base       int64  // offset of what is left
	rest       []byte // what was read and is not yet in a batch
	crc        uint64
	cp         checkpoint
	eof        bool // the source is at its end
}

// batch reads and splits off at least one record, or sets the batch's err. used, which may be nil,
// is a batch that is not needed any more.
func (s *splitter) batch(used *batch) *batch {
	b := &batch{base: s.base, survey: s.survey, templates: s.templates, streams: s.streams}
	var buf []byte
	if used != nil {
		b.spans, b.records = used.spans[:0], used.records
		if cap(used.buf) <= maxKept {
			buf = used.buf
		}
	}
	size := chunk
	if s.version == 0 {
		size = firstChunk // many files are small
	}
	if cap(buf) < size+len(s.rest) {
		buf = make([]byte, 0, size+len(s.rest))
	}
	buf = buf[:copy(buf[:cap(buf)], s.rest)]
	for {
		var err error
		if !s.eof {
			if buf, err = s.read(buf); err != nil {
				b.err = err
				return b
			}
		}
		b.buf = buf
		n := s.records(b)
		if len(b.spans) > 0 || b.err != nil {
			s.finish(b, n)
			return b
		}
		if s.eof {
			b.err = &Error{Offset: s.base + int64(len(buf)),
				Reason: fmt.Sprintf("Short read or OOM loading DB: the file ends here, "+
					"within the record at offset %d or without its end mark", s.base)}
			return b
		}
		if s.maxRecord > 0 && int64(len(buf)) > s.maxRecord {
			b.err = &Error{Offset: s.base,
				Reason: fmt.Sprintf("a record of more than %d bytes", s.maxRecord)}
			return b
		}
	}
}

// read adds what the source has to buf, which grows if it is full.
func (s *splitter) read(buf []byte) ([]byte, error) {
	if len(buf) == cap(buf) {
		buf = append(make([]byte, 0, 2*cap(buf)), buf...)
	}
	n, err := s.src.Read(buf[len(buf):cap(buf)])
	buf = buf[:len(buf)+n]
	if errors.Is(err, io.EOF) {
		s.eof = true
		err = nil
	}
	return buf, err
}

// records finds the records of the batch's buffer, and how many bytes of it belong to them.
func (s *splitter) records(b *batch) (used int) {
	k := skimmer{b: b.buf, base: b.base, db: s.db, cp: s.cp, valkey: s.valkey, survey: s.survey,
		templates: s.templates}
	defer func() { s.cp = k.cp }()
	if s.version == 0 {
		if len(b.buf) < HeaderLen {
			return 0
		}
		if s.version, s.valkey, b.err = parseHeader(b.buf); b.err != nil {
			return 0
		}
		k.pos, k.valkey = HeaderLen, s.valkey
		used = HeaderLen
	}
	for b.err == nil {
		sp, err := k.record()
		if err == nil && sp.kind == KindEOF {
			err = s.end(b, &k, &sp)
		}
		if errors.Is(err, errMore) {
			// The next try begins with this record, or with the header if there was none yet.
			if len(b.spans) == 0 && b.base == 0 {
				s.version, used = 0, 0
			}
			k.pos = used
			break
		}
		if err != nil {
			b.err = err
			break
		}
		used = sp.end
		s.db = k.db
		b.spans = append(b.spans, sp)
		if sp.kind == KindEOF {
			b.err = io.EOF
		}
	}
	return used
}

// end checks the checksum behind the end mark, which is a part of the last record.
func (s *splitter) end(b *batch, k *skimmer, sp *span) error {
	if s.version < versionChecksum {
		return nil
	}
	at := sp.end
	if err := k.skip(ChecksumLen); err != nil {
		return err
	}
	sp.end = k.pos
	want := binary.LittleEndian.Uint64(b.buf[at:])
	if s.noChecksum || want == 0 { // 0: the writer left it out
		return nil
	}
	if crc := CRC64(s.crc, b.buf[:at]); crc != want {
		return &Error{Offset: b.base + int64(at),
			Reason: fmt.Sprintf("CRC error: the file says %016x, its contents %016x", want, crc)}
	}
	s.verified = true
	return nil
}

// finish leaves what is not used to the next batch.
func (s *splitter) finish(b *batch, used int) {
	if !s.noChecksum {
		s.crc = CRC64(s.crc, b.buf[:used])
	}
	s.base += int64(used)
	s.rest = append([]byte(nil), b.buf[used:]...)
}
