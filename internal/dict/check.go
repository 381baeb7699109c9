package dict

import (
	"errors"
	"fmt"

	"godwit/internal/arena"
)

// Check walks the whole structure and reports the first thing that is wrong. It is O(n) and
// allocates.
func (d *Dict) Check() error {
	c := checker{d: d, seen: make(map[arena.Ref]bool, d.used)}
	for n := range d.tab {
		t := &d.tab[n]
		if t.base == nil {
			if n == 0 && (d.used > 0 || d.tab[1].base != nil) {
				return errors.New("dict: entries but no table")
			}
			continue
		}
		c.bytes += d.a.Counted(t.ref, t.bytes())
		from := uint64(0)
		if n == 0 {
			from = d.moved
		}
		for i := from; i <= t.mask; i++ {
			if err := c.chain(t, i); err != nil {
				return fmt.Errorf("dict: table %d, bucket %d: %w", n, i, err)
			}
		}
	}
	if d.moved > 0 && d.tab[1].base == nil {
		return errors.New("dict: moved buckets without a second table")
	}
	if len(c.seen) != d.used {
		return fmt.Errorf("dict: %d entries found, %d counted", len(c.seen), d.used)
	}
	if c.bytes != d.bytes {
		return fmt.Errorf("dict: tables take %d bytes, %d accounted", c.bytes, d.bytes)
	}
	return nil
}

type checker struct {
	d     *Dict
	seen  map[arena.Ref]bool
	bytes int64
}

func (c *checker) chain(t *table, index uint64) error {
	b := t.at(index)
	for pos := 0; ; pos++ {
		n := b.count()
		last := b[0]&hasLink == 0
		switch {
		case b[0]&^(countMask|hasLink)&0xff != 0:
			return fmt.Errorf("meta %#x", b[0]&0xff)
		case !last && n != linked:
			return fmt.Errorf("bucket %d of the chain has a link and %d entries", pos, n)
		case n > slots || last && pos > 0 && n < 2:
			return fmt.Errorf("bucket %d of the chain has %d entries", pos, n)
		}
		for i := range n {
			if err := c.entry(t, index, b.slot(i), b.fp(i)); err != nil {
				return err
			}
		}
		if pos > 0 {
			c.bytes += int64(tailBytes(b))
		}
		if last {
			if most := c.longest(t); pos*linked+n > most {
				return fmt.Errorf("%d entries, though the longest chain ever had %d", pos*linked+n,
					most)
			}
			return nil
		}
		b = c.d.next(b)
	}
}

func (c *checker) entry(t *table, index, slot, fp uint64) error {
	r := arena.Unpack(slot)
	if r == 0 || c.seen[r] {
		return fmt.Errorf("entry %#x is nil or there twice", uint64(r))
	}
	c.seen[r] = true
	h := c.d.f.Hash(r)
	if h&t.mask != index || fpOf(h) != fp || tagOf(h) != slot&^refMask {
		return fmt.Errorf("entry %#x with hash %#x: fingerprint %#x, slot %#x", uint64(r), h, fp,
			slot)
	}
	if t == &c.d.tab[1] && h&c.d.tab[0].mask >= c.d.moved {
		return fmt.Errorf("entry %#x is in the new table before its bucket was moved", uint64(r))
	}
	return nil
}

// longest returns the bound of chain lengths in the table.
func (c *checker) longest(t *table) int {
	if t == &c.d.tab[1] {
		return c.d.longest[1]
	}
	return c.d.longest[0]
}
