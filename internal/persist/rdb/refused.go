package rdb

import (
	"encoding/binary"
	"fmt"
)

// Values that are not read. Their records are known, so that a file can be looked at beyond them
// (ReadOptions.Survey) and a refusal can name what it met.
//
//   - An array (28): the number of elements, perhaps where the next one goes, and each element with
//     its index.
//   - A rate limiter (33): a number.
//   - A value of a module from before Redis 4.0 (6). Nothing tells where it ends.

// Kinds of an array's elements.
const (
	arrayString = iota
	arrayInt
	arrayFloat
	arrayShort
)

func init() {
	for _, op := range []struct {
		code        byte
		shape, what string
	}{
		{typeArray, "+(e)", "array"},
		{typeLimiter, "l", "rate limiter"},
		{typeModule, shapeNone, "value of a module from before Redis 4.0"},
	} {
		registerOp(nil, Op{Code: op.code, Shape: op.shape})
		types.byOp[op.code].refused = op.what
	}
}

// refusal returns the reason why a value is not read.
func refusal(what string) string {
	article := "a"
	if what[0] == 'a' {
		article = "an"
	}
	return fmt.Sprintf("%s %s, which is not supported", article, what)
}

// Shapes that have a name.
const (
	// shapeModule is that of modules' values, whose parts say what they are.
	shapeModule = "module"
	// shapeNone is that of values that cannot be skipped.
	shapeNone = "none"
	// shapeTemplateLP, shapeTemplateArray and shapeTemplateRef are those of hashes with a template;
	// see template.go.
	shapeTemplateLP    = "template, listpack"
	shapeTemplateArray = "template, values"
	shapeTemplateRef   = "template's number, values"
)

// skips are the functions that skip values whose shape has a name. If more bytes are needed, they
// are called again from the beginning.
var skips = map[string]func(s *skimmer) error{
	shapeModule: func(s *skimmer) error {
		id, err := s.length()
		if err != nil {
			return err
		}
		return s.parts("module " + moduleName(id))
	},
	shapeNone: func(s *skimmer) error {
		return s.errorf("nothing tells where this value ends")
	},
	shapeTemplateLP: func(s *skimmer) error {
		if _, err := s.templateFields(); err != nil {
			return err
		}
		return s.string()
	},
	shapeTemplateArray: func(s *skimmer) error {
		n, err := s.templateFields()
		if err != nil {
			return err
		}
		return s.strings(n)
	},
	shapeTemplateRef: func(s *skimmer) error {
		at := s.pos
		id, err := s.length()
		if err != nil {
			return err
		}
		t := s.templates.find(id, s.base+int64(s.start))
		if t == nil {
			s.pos = at
			return s.errorf("no template has the number %d", id)
		}
		return s.strings(uint64(len(t.fields)))
	},
}

// strings skips that many strings.
func (s *skimmer) strings(n uint64) error {
	for range n {
		if err := s.string(); err != nil {
			return err
		}
	}
	return nil
}

// Modules of Redis 8.6 and later may attach metadata to keys of any type. It precedes the type, in
// files and in payloads:
//
//	+----+--------+-------------+-------+---+-----+
//	| F3 | number | class, LE   | parts | 0 | …   |
//	+----+--------+-------------+-------+---+-----+
//
//	class   32 bits: four characters of six bits, five bits of version, three of flags
//
// It is left out if its flags allow that. Otherwise the key is refused.

const (
	metaClasses   = 7 // that a key can have at most
	metaIgnorable = 1 // of the flags: a server without the module leaves the metadata out
)

// metaChars are the characters of a class's name, in another order than those of modules.
var metaChars = moduleChars[:62] + "_-"

// keyMeta skips the metadata of a key. It returns the name of a class that cannot be left out, or
// "", and the name of one that is.
func (s *skimmer) keyMeta() (refused, ignored string, err error) {
	at := s.pos
	n, err := s.length()
	if err != nil {
		return "", "", err
	}
	if n > metaClasses {
		s.pos = at
		return "", "", s.errorf("a key with metadata of %d classes", n)
	}
	for range n {
		at := s.pos
		if err := s.skip(4); err != nil {
			return "", "", err
		}
		class := binary.LittleEndian.Uint32(s.b[at:])
		name := metaName(class)
		if class&metaIgnorable != 0 {
			ignored = name
		} else {
			refused = name
		}
		if err := s.parts("key metadata " + name); err != nil {
			return "", "", err
		}
	}
	return refused, ignored, nil
}

// metaName returns the name of a class of metadata.
func metaName(class uint32) string {
	var name [4]byte
	for i := range name {
		name[i] = metaChars[class>>(26-6*i)&63]
	}
	return string(name[:])
}

// refusedMeta says what a key is whose metadata cannot be left out.
func refusedMeta(class string) string { return "key with metadata of the module class " + class }
