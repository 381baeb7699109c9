package stream

import (
	"fmt"

	"godwit/internal/arena"
	"godwit/internal/listpack"
)

// Check returns an error if an invariant does not hold. It walks everything.
func (s *Stream) Check() error {
	if err := s.checkEntries(); err != nil {
		return err
	}
	if err := s.checkHeld(); err != nil {
		return err
	}
	return s.checkGroups()
}

// checkHeld checks that groups have the entries that held says.
func (s *Stream) checkHeld() error {
	if s.held == nil {
		return nil
	}
	refs := s.References()
	defer refs.Done()
	for it := s.Range(ID{}, s.held.to, false); it.Next(); {
		if s.held.needs(it.ID) && !refs.Hold(it.ID) {
			return fmt.Errorf("stream: no group has %v pending, held up to %v but for %v",
				it.ID, s.held.to, s.held.spans[:s.held.n])
		}
	}
	return nil
}

func (s *Stream) checkEntries() error {
	n := 0
	var last, live ID
	err := s.entries.check(func(d *block, b []byte) error {
		end, err := checkBlock(d, b)
		if err != nil {
			return err
		}
		if n > 0 && !last.Less(d.first) {
			return fmt.Errorf("stream: a block begins at %v and the one before ends at %v", d.first,
				last)
		}
		n += d.live
		last, live = end, lastOf(d, b)
		return nil
	})
	if err != nil {
		return fmt.Errorf("entries: %w", err)
	}
	if n != s.n || s.LastID.Less(live) {
		return fmt.Errorf("stream: %d entries up to %v, counted %d up to %v", n, live, s.n,
			s.LastID)
	}
	return s.checkTail()
}

// checkTail compares what is known of the last block with the block.
func (s *Stream) checkTail() error {
	p, ok := s.entries.tail()
	if !s.tail.known || !ok {
		return nil
	}
	var t tail
	d := s.entries.at(p)
	t.learn(&d, s.entries.data(&d))
	same := t.last == s.tail.last && t.shapes.n == s.tail.shapes.n
	for i := range t.shapes.n {
		same = same && t.shapes.at[i] == s.tail.shapes.at[i]
	}
	if !same {
		return fmt.Errorf("stream: the last block ends at %v with %d shapes, known as %v and %d",
			t.last, t.shapes.n, s.tail.last, s.tail.shapes.n)
	}
	return nil
}

// checkBlock decodes a block, which may hold anything, and returns the ID of its last entry.
func checkBlock(d *block, b []byte) (last ID, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("stream: the block at %v is cut off: %v", d.first, r)
		}
	}()
	var sh shapes
	live, dead := 0, 0
	c := scanOf(d.first, b)
	for last = d.first; c.next(); last = c.id {
		first := live+dead == 0
		if c.end > len(b) || c.end < c.body || !first && !last.Less(c.id) || c.id.Less(d.first) {
			return last, fmt.Errorf("stream: a broken entry at offset %d of the block at %v", c.at,
				d.first)
		}
		if !c.defines() && c.head&shapeBits >= sh.n {
			return last, fmt.Errorf("stream: no shape for the entry %v", c.id)
		}
		if end := valuesEnd(&c, sh.met(&c)); end != c.end {
			return last, fmt.Errorf("stream: the entry %v ends at %d, its values at %d", c.id,
				c.end, end)
		}
		if c.dead() {
			dead++
		} else {
			live++
		}
	}
	if live != d.live || dead != d.dead || live == 0 {
		return last, fmt.Errorf("stream: %d and %d entries in %d bytes, counted %d and %d", live,
			dead, len(b), d.live, d.dead)
	}
	return last, nil
}

// valuesEnd returns the offset behind the values of an entry.
func valuesEnd(c *scan, shape int) (end int) {
	it := Iter{c: *c, shape: shape, body: c.body}
	for range it.Fields() {
		name, value := it.Field()
		_, isInt := listpack.ParseInt(value.B)
		if it.name > len(c.b) || it.value > len(c.b) || name.IsInt || !value.IsInt && isInt {
			return -1
		}
	}
	return it.value
}

// check returns an error if an invariant does not hold, or the one of the blocks that each returns.
func (x *index) check(each func(d *block, b []byte) error) error {
	blocks, bytes := 0, int64(0)
	var last ID
	for i := range x.pages {
		pg := &x.pages[i]
		if pg.n < 1 || pg.n > pg.room || pg.room > pageBlocks {
			return fmt.Errorf("page %d has %d blocks and room for %d", i, pg.n, pg.room)
		}
		bytes += int64(arena.ClassSize(int(pg.room) * blockInfo))
		for j := range int(pg.n) {
			d := x.at(pos{i, j})
			if blocks > 0 && !last.Less(d.first) || j == 0 && d.first != pg.first {
				return fmt.Errorf("block %d of page %d begins at %v", j, i, d.first)
			}
			if d.n < 1 || d.n > d.room || d.room != arena.ClassSize(d.room) || d.low < pg.low {
				return fmt.Errorf("block %d of page %d: %d of %d bytes, low %d", j, i, d.n, d.room,
					d.low)
			}
			if err := each(&d, x.data(&d)); err != nil {
				return fmt.Errorf("block %d of page %d: %w", j, i, err)
			}
			blocks++
			bytes += int64(d.room)
			last = d.first
		}
	}
	if blocks != x.blocks || bytes != x.bytes {
		return fmt.Errorf("%d blocks, %d bytes; counted %d, %d", blocks, bytes, x.blocks, x.bytes)
	}
	return nil
}
