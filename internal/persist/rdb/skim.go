package rdb

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// The skimmer finds where records end without decoding values, so that these can be decoded
// elsewhere. It reads from what has arrived so far. When more arrives it begins again with a record
// that had not arrived completely.

// errMore: the bytes end within a record.
var errMore = errors.New("rdb: more bytes are needed")

// span is a record in a buffer.
type span struct {
	kind  RecordKind
	op    byte
	db    int
	start int // its first byte
	// key and value are where these begin. For kinds other than KindKey, key is where the contents
	// begin.
	key, value    int
	end           int
	meta          Meta
	keys, expires uint64
	// name is the module of KindModuleAux, the job of KindSlotImport, what a KindRefused is, and
	// for KindKey a class of metadata that was left out.
	name string
}

// skimmer reads records from b on from pos.
type skimmer struct {
	b    []byte
	pos  int
	base int64
	db   int // SELECTDB so far
	// valkey: the file is Valkey's, see dialect
	valkey    bool
	survey    bool // see ReadOptions
	start     int  // of the record
	cp        checkpoint
	templates *templates
}

func (s *skimmer) errorf(format string, args ...any) error {
	return &Error{Offset: s.base + int64(s.pos), Reason: fmt.Sprintf(format, args...)}
}

func (s *skimmer) skip(n uint64) error {
	if n > uint64(len(s.b)-s.pos) {
		return errMore
	}
	s.pos += int(n)
	return nil
}

func (s *skimmer) byte() (byte, error) {
	if s.pos == len(s.b) {
		return 0, errMore
	}
	s.pos++
	return s.b[s.pos-1], nil
}

func (s *skimmer) length() (uint64, error) {
	n, special, w := parseLen(s.b[s.pos:])
	switch {
	case w == 0:
		return 0, errMore
	case w < 0 || special:
		return 0, s.errorf("no length begins with %#x", s.b[s.pos])
	}
	s.pos += w
	return n, nil
}

func (s *skimmer) string() error { return s.stringUpTo(maxString) }

func (s *skimmer) stringUpTo(longest uint64) error {
	n, special, w := parseLen(s.b[s.pos:])
	if w == 0 {
		return errMore
	}
	if w < 0 || special && n > encLZF {
		return s.errorf("no string begins with %#x", s.b[s.pos])
	}
	if !special && n > longest {
		return s.errorf("a string of %d bytes", n)
	}
	s.pos += w
	if !special {
		return s.skip(n)
	}
	if n < encLZF {
		return s.skip(1 << n)
	}
	compressed, err := s.length()
	if err != nil {
		return err
	}
	if compressed > longest {
		return s.errorf("a compressed string of %d bytes", compressed)
	}
	if _, err := s.length(); err != nil {
		return err
	}
	return s.skip(compressed)
}

// record skips a record with all that comes before its type.
func (s *skimmer) record() (r span, err error) {
	r = span{start: s.pos, meta: NoAccess()}
	s.start = s.pos
	for {
		op, err := s.byte()
		if err != nil {
			return r, err
		}
		done, err := s.prefix(op, &r)
		if err != nil {
			return r, err
		}
		if done {
			continue
		}
		r.op, r.key = dialect(op, s.valkey), s.pos
		if ent := types.byOp[r.op]; ent != nil {
			err = s.key(ent, &r)
		} else {
			err = s.special(op, &r)
		}
		r.end = s.pos
		return r, err
	}
}

// key skips key and value of a record.
func (s *skimmer) key(ent *opEntry, r *span) (err error) {
	r.db = s.db
	if err := s.string(); err != nil {
		return err
	}
	r.value = s.pos
	if r.kind == 0 && ent.shape != nil && ent.refused == "" {
		r.kind = KindKey
		return s.shape(ent.shape)
	}
	if r.kind != KindRefused {
		r.kind = KindKey
		what, err := s.refused(ent)
		if err != nil {
			return err
		}
		if what != "" {
			r.kind, r.name = KindRefused, what
		}
	}
	if r.kind == KindRefused && !s.survey {
		return s.refuse(r)
	}
	if ent.skip != nil {
		return s.named(ent.skip(s), r.key)
	}
	return s.shape(ent.shape)
}

// refused says what the value at the position is, if it is one that is not read.
func (s *skimmer) refused(ent *opEntry) (what string, err error) {
	if ent.refused != "" || ent.op.Code != typeModule2 {
		return ent.refused, nil
	}
	at := s.pos
	id, err := s.length()
	s.pos = at
	if l, _ := findLayout(id); l == nil {
		what = refusedModule(id)
	}
	return what, err
}

// refuse returns the error for a record that is not read.
func (s *skimmer) refuse(r *span) error {
	s.pos = r.key - 1
	d := Decoder{b: s.b, pos: r.key, base: s.base}
	key, err := d.String()
	if err != nil {
		return err
	}
	return &Error{Offset: s.base + int64(s.pos), Key: key, Reason: refusal(r.name),
		Refused: r.name}
}

// prefix reads what comes before a record's type; ok is false if op is not such.
func (s *skimmer) prefix(op byte, r *span) (ok bool, err error) {
	at := s.pos
	switch op {
	case opExpireMs:
		if err := s.skip(8); err != nil {
			return false, err
		}
		// What is not after 1970 has passed; 0 would mean none.
		r.meta.Deadline = max(int64(binary.LittleEndian.Uint64(s.b[at:])), 1)
	case opExpire:
		if err := s.skip(4); err != nil {
			return false, err
		}
		r.meta.Deadline = max(int64(int32(binary.LittleEndian.Uint32(s.b[at:])))*1000, 1)
	case opFreq:
		c, err := s.byte()
		r.meta.Freq = int(c)
		return true, err
	case opIdle:
		n, err := s.length()
		r.meta.Idle = int64(min(n, 1<<62))
		return true, err
	case opKeyMeta:
		if s.valkey {
			return false, nil
		}
		refused, ignored, err := s.keyMeta()
		if r.name = ignored; refused != "" {
			r.kind, r.name = KindRefused, refusedMeta(refused)
		}
		return true, err
	default:
		return false, nil
	}
	return true, nil
}

// auxShape is the shape of an auxiliary field: name and text.
var auxShape = compileShape("ss")

// special skips a record that is no key's.
func (s *skimmer) special(op byte, r *span) (err error) {
	switch op {
	case opAux:
		r.kind = KindAux
		return s.shape(auxShape)
	case opFunction2:
		r.kind = KindFunction
		return s.string()
	case opSelectDB:
		r.kind = KindSelectDB
		n, err := s.length()
		if err == nil && n >= 1<<31 {
			s.pos = r.key
			return s.errorf("database %d", n)
		}
		if err == nil {
			s.db = int(n)
		}
		r.db = int(n)
		return err
	case opResize:
		r.kind = KindResize
		r.db = s.db
		return s.sizes(r)
	case opSlotInfo:
		r.kind = KindSlot
		n, err := s.length()
		if err != nil {
			return err
		}
		r.db = int(min(n, 1<<31))
		return s.sizes(r)
	case opModuleAux:
		r.kind = KindModuleAux
		return s.moduleAux(r)
	case opTemplate:
		r.kind = KindTemplate
		return s.template()
	case opSlotImport: // of Valkey: of Redis it is a prefix
		r.kind = KindSlotImport
		return s.slotImport(r)
	case opEOF:
		r.kind = KindEOF
		return nil
	}
	s.pos--
	if op == opFunctionRC {
		return s.errorf("a function in the form of a release candidate of Redis 7.0")
	}
	return s.errorf("unknown record type %d", op)
}

// rangesShape is a number of ranges.
var rangesShape = compileShape("*(ll)")

// slotImport skips slots that a node of a cluster was importing.
func (s *skimmer) slotImport(r *span) error {
	d := Decoder{b: s.b, pos: s.pos, base: s.base}
	if err := s.string(); err != nil {
		return err
	}
	name, err := d.String()
	if err != nil {
		return err
	}
	r.name = string(name)
	return s.shape(rangesShape)
}

func (s *skimmer) sizes(r *span) (err error) {
	if r.keys, err = s.length(); err == nil {
		r.expires, err = s.length()
	}
	return err
}

// moduleAux skips what a module keeps beside keys.
func (s *skimmer) moduleAux(r *span) error {
	id, err := s.length()
	if err != nil {
		return err
	}
	r.name = moduleName(id)
	// When it is to be loaded is an integer of the same form as the parts.
	return s.parts("module " + r.name)
}

// named adds the key that begins at the position to an error.
func (s *skimmer) named(err error, key int) error {
	var e *Error
	if errors.As(err, &e) {
		d := Decoder{b: s.b, pos: key, base: s.base}
		e.Key, _ = d.String()
	}
	return err
}

// parts skips the parts of a module's data, the end mark included. whose names it in errors.
func (s *skimmer) parts(whose string) error {
	for {
		op, err := s.length()
		if err != nil {
			return err
		}
		switch op {
		case moduleEOF:
			return nil
		case moduleSint, moduleUint:
			_, err = s.length()
		case moduleFloat:
			err = s.skip(4)
		case moduleDouble:
			err = s.skip(8)
		case moduleString:
			err = s.stringUpTo(maxPart)
		default:
			return s.errorf("data of %s has a part of unknown kind %d", whose, op)
		}
		if err != nil {
			return err
		}
	}
}
