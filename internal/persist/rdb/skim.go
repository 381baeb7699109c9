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
	name          string
}

// skimmer reads records from b on from pos.
type skimmer struct {
	b    []byte
	pos  int
	base int64
	db   int // SELECTDB so far
	// valkey: the file is Valkey's, see dialect
	valkey bool
	start  int // of the record
	cp     checkpoint
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
			r.kind, r.db = KindKey, s.db
			if err := s.string(); err != nil {
				return r, err
			}
			r.value = s.pos
			if ent.op.Shape == shapeModule {
				err = s.named(s.module(r.key-1), r.key)
			} else {
				err = s.shape(ent.shape)
			}
		} else {
			err = s.special(op, &r)
		}
		r.end = s.pos
		return r, err
	}
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
	case opEOF:
		r.kind = KindEOF
		return nil
	}
	return s.refuse(op)
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
	return s.parts(id)
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

// module skips a module's value, if it is one that is read; at is where the record's type stands.
func (s *skimmer) module(at int) error {
	id, err := s.length()
	if err != nil {
		return err
	}
	if l, _ := findLayout(id); l == nil {
		s.pos = at
		return s.errorf("%s", refuseModule(id))
	}
	return s.parts(id)
}

// parts skips the parts of data of the module type with that id, the end mark included.
func (s *skimmer) parts(id uint64) error {
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
			return s.errorf("data of module %s has a part of unknown kind %d", moduleName(id), op)
		}
		if err != nil {
			return err
		}
	}
}

// refuse returns the error for a record of a type that is not read, with its key if it has one.
func (s *skimmer) refuse(op byte) error {
	at := s.pos - 1
	e := &Error{Offset: s.base + int64(at), Reason: unknownType(op)}
	if op == opFunctionRC {
		e.Reason = "a function in the form of a release candidate of Redis 7.0"
	}
	if unsupported[op] == "" {
		return e
	}
	d := Decoder{b: s.b, pos: s.pos, base: s.base}
	if err := s.string(); err != nil {
		return err
	}
	e.Key, _ = d.String()
	if op == typeModule {
		id, err := s.length()
		if err != nil {
			return err
		}
		e.Reason = fmt.Sprintf("a value of module type %s; modules are not supported",
			moduleName(id))
	}
	return e
}
