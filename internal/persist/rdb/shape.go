package rdb

import (
	"fmt"
	"strings"
)

// shape is what a value is made of, so that the skimmer finds its end without decoding it:
//
//	s  string   l  length   8  eight bytes   d  score as text
//	e  element of an array: its index, what it is, and a string or eight bytes
//	*(…)  a length, then the parts in the brackets that many times; they may nest
//	+(…)  the same, with an optional length in between: 0, or 1 and the length
//
// For example *(lss) is a hash whose fields have deadlines, and *(s*(88)) groups with a name and
// pairs of numbers each. What this cannot say has a name instead (skips).
type shape []part

// part is one character of a shape. Of a group, begin and end know each other.
type part struct {
	code  byte // s l 8 d e, * or + for the beginning of a group, ) for its end
	other int
}

// maxNesting is how deep groups can nest.
const maxNesting = 4

// compileShape panics if it is no shape.
func compileShape(text string) (sh shape) {
	if skips[text] != nil {
		return nil
	}
	var open []int
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case strings.IndexByte("sl8de", c) >= 0:
			sh = append(sh, part{code: c})
		case (strings.HasPrefix(text[i:], "*(") || strings.HasPrefix(text[i:], "+(")) &&
			len(open) < maxNesting:
			open = append(open, len(sh))
			sh = append(sh, part{code: c})
			i++
		case c == ')' && len(open) > 0 && len(sh) > open[len(open)-1]+1:
			begin := open[len(open)-1]
			open = open[:len(open)-1]
			sh[begin].other = len(sh)
			sh = append(sh, part{code: c, other: begin})
		default:
			panic(fmt.Sprintf("rdb: a shape %q", text))
		}
	}
	if len(open) > 0 {
		panic(fmt.Sprintf("rdb: a shape %q", text))
	}
	return sh
}

// checkpoint is how far a record was skipped, so that its next try does not begin anew: bytes may
// come a few at a time. Offsets are the file's.
type checkpoint struct {
	record int64 // where the record begins; 0: there is no checkpoint
	pos    int64 // of the next part
	part   int
	depth  int                // groups that are open
	left   [maxNesting]uint64 // elements of each, the current one included
}

// shape skips a value of that shape, or goes on with it.
func (s *skimmer) shape(sh shape) (err error) {
	record := s.base + int64(s.start)
	var cp checkpoint
	if s.cp.record == record {
		cp = s.cp
		s.pos = int(cp.pos - s.base)
	}
	for cp.part < len(sh) {
		at := s.pos
		next := cp.part + 1
		switch p := &sh[cp.part]; p.code {
		case 's':
			err = s.string()
		case 'l':
			_, err = s.length()
		case '8':
			err = s.skip(8)
		case ')':
			if cp.left[cp.depth-1]--; cp.left[cp.depth-1] > 0 {
				next = p.other + 1
			} else {
				cp.depth--
			}
		case '*', '+':
			var n uint64
			if n, err = s.length(); err == nil && p.code == '+' {
				err = s.optional()
			}
			if err != nil || n == 0 {
				next = p.other + 1
			} else {
				cp.left[cp.depth] = n
				cp.depth++
			}
		default:
			err = s.rarer(p.code)
		}
		if err != nil {
			cp.record, cp.pos = record, s.base+int64(at)
			s.cp = cp
			return err
		}
		cp.part = next
	}
	return nil
}

// rarer skips one part of the kinds that are less common.
func (s *skimmer) rarer(code byte) (err error) {
	switch code {
	case 'd':
		var n byte
		if n, err = s.byte(); err == nil && n < 253 {
			err = s.skip(uint64(n))
		}
	case 'e':
		if _, err = s.length(); err != nil {
			return err
		}
		var kind uint64
		if kind, err = s.length(); err != nil {
			return err
		}
		switch kind {
		case arrayString, arrayShort:
			return s.string()
		case arrayInt, arrayFloat:
			return s.skip(8)
		}
		return s.errorf("an element of an array is of unknown kind %d", kind)
	}
	return err
}

// optional skips an optional length.
func (s *skimmer) optional() error {
	there, err := s.length()
	switch {
	case err != nil:
		return err
	case there > 1:
		return s.errorf("%d where 0 or 1 belongs", there)
	case there == 1:
		_, err = s.length()
	}
	return err
}
