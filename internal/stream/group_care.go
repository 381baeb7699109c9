package stream

import (
	"errors"
	"fmt"
)

// groupBytes returns the memory in bytes of groups and producers, in O(1).
func (s *Stream) groupBytes() int64 { return s.groupMem }

// drainGroups frees groups and producers as long as n, from which it takes rows, is above 0. It
// reports whether all are gone.
func (s *Stream) drainGroups(n *int) (done bool) {
	s.dropIDMP()
	s.forgetHeld()
	for len(s.groups) > 0 {
		g := s.groups[len(s.groups)-1]
		if !g.drain(n) {
			return false
		}
		g.uncount()
		s.groups = without(s, s.groups, len(s.groups)-1)
	}
	return true
}

// Drain frees about n rows of a group that was destroyed. Once it reports done, all is freed.
// Between calls nothing else may be called.
func (g *Group) Drain(n int) (done bool) { return g.drain(&n) }

func (g *Group) drain(n *int) (done bool) {
	if !g.pending.drain(n) || g.nacked != nil && !g.nacked.drain(n) {
		return false
	}
	g.numbered.drop(g)
	for len(g.consumers) > 0 {
		if *n <= 0 {
			return false
		}
		last := len(g.consumers) - 1
		c := g.consumers[last]
		if c.owned != nil {
			if !c.owned.drain(n) {
				return false
			}
			g.countGo(-rowsGoBytes)
		}
		*n--
		g.consumers[last] = nil
		g.consumers = g.consumers[:last]
		g.countGo(-consumerGoBytes - len(c.Name))
	}
	if g.nacked != nil {
		g.countGo(-rowsGoBytes)
	}
	g.countGo(-groupGoBytes - len(g.Name) - cap(g.consumers)*pointerBytes)
	g.consumers, g.nacked = nil, nil
	return true
}

// Size returns the memory of a consumer that was deleted, in bytes, as far as Drain frees it.
func (c *Consumer) Size() int64 {
	if c.owned == nil {
		return 0
	}
	return c.owned.total.n
}

// Drain frees about n rows of a consumer that was deleted. Once it reports done, all is freed.
func (c *Consumer) Drain(n int) (done bool) { return c.owned == nil || c.owned.drain(&n) }

// detach moves the memory of rows from the group's tally to one of their own, until they are
// drained.
func (x *rows) detach() {
	n := x.weight()
	x.total.add(-n)
	x.total = &tally{n: n}
}

// drain frees blocks as index.drain does. Those of a frozen index are left to its walk.
func (x *rows) drain(n *int) (done bool) {
	if f := x.frozen; f != nil {
		if !f.orphan {
			x.drop()
		}
		return true
	}
	was := x.weight()
	done = x.index.drain(n)
	x.total.add(x.weight() - was)
	return done
}

// cloneGroups copies groups and producers to a stream that has none. It may be of another heap.
func (s *Stream) cloneGroups(to *Stream) {
	for _, g := range s.groups {
		n := to.CreateGroup([]byte(g.Name), g.LastID, g.Read)
		n.last = g.last
		n.consumers = make([]*Consumer, len(g.consumers))
		n.numbered = make(numbered, len(g.numbered))
		n.countGo((cap(n.consumers) + cap(n.numbered)) * pointerBytes)
		g.pending.clone(&n.pending)
		if g.nacked != nil {
			g.nacked.clone(n.makeQueue())
			n.countNacked()
		}
		for i, c := range g.consumers {
			nc := &Consumer{Name: c.Name, Seen: c.Seen, Active: c.Active, number: c.number}
			if c.owned != nil {
				c.owned.clone(n.makeOwned(nc))
			}
			n.consumers[i], n.numbered[g.numbered.find(c.number)] = nc, nc
			n.countGo(consumerGoBytes + len(c.Name))
		}
	}
	s.cloneIDMP(to)
}

// clone copies all rows.
func (x *rows) clone(to *rows) {
	if x.n == 0 {
		return
	}
	was := to.weight()
	to.n = x.n
	to.index.copyOf(&x.index)
	to.total.add(to.weight() - was)
}

// defragGroups is Defrag for the groups' indexes. The cursor is 0 at first and at the end, and
// below 1<<63. It is the number of an index, in the order of groups and consumers, and of a page.
func (s *Stream) defragGroups(cursor uint64, budget int) (next uint64, left int) {
	const pageBits = 31
	to, page := int(cursor>>pageBits), int(cursor&(1<<pageBits-1))
	at := 0
	for _, g := range s.groups {
		end := at + 2 + len(g.consumers)
		for ; to < end; to, page = to+1, 0 {
			x := g.rows(to - at)
			if x == nil {
				continue
			}
			x.changes++
			page, done := x.index.defrag(page, &budget)
			if !done || budget <= 0 {
				return uint64(to)<<pageBits | uint64(page), 0
			}
			budget--
		}
		at = end
	}
	return 0, budget
}

// rows returns the group's rows by number, nil if they have not been made.
func (g *Group) rows(i int) *rows {
	switch i {
	case 0:
		return &g.pending
	case 1:
		return g.nacked
	}
	return g.consumers[i-2].owned
}

// checkGroups returns an error if an invariant of the groups does not hold.
func (s *Stream) checkGroups() error {
	sum := int64(cap(s.groups) * pointerBytes)
	if s.held != nil {
		sum += heldGoBytes
	}
	for i, g := range s.groups {
		if i > 0 && s.groups[i-1].Name >= g.Name {
			return errors.New("stream: groups are out of order")
		}
		if err := g.check(&sum); err != nil {
			return fmt.Errorf("stream: group %q: %w", g.Name, err)
		}
	}
	sum += s.checkIDMP()
	if sum != s.groupMem {
		return fmt.Errorf("stream: groups take %d bytes, %d are counted", sum, s.groupMem)
	}
	return nil
}

func (g *Group) check(all *int64) error {
	sum := int64(groupGoBytes + len(g.Name))
	sum += int64(cap(g.consumers)+cap(g.numbered)) * pointerBytes
	owned := 0
	for i, c := range g.consumers {
		sum += int64(consumerGoBytes + len(c.Name))
		if i > 0 && g.consumers[i-1].Name >= c.Name || g.numbered.of(uint64(c.number)) != c {
			return errors.New("consumers are out of order")
		}
		owned += c.Pending()
		if err := checkMade(c.owned, &sum); err != nil {
			return fmt.Errorf("consumer %q: %w", c.Name, err)
		}
		for it := c.ids().walk(ID{}, MaxID); it.next(); {
			if p, ok := g.Find(it.last); !ok || p.Owner != c {
				return fmt.Errorf("consumer %q: %v is not pending", c.Name, it.last)
			}
		}
	}
	if owned+g.Nacked() != g.pending.n || len(g.numbered) != len(g.consumers) {
		return fmt.Errorf("%d owned, %d nacked, %d pending", owned, g.Nacked(), g.pending.n)
	}
	if g.hasNacked != (g.Nacked() > 0) {
		return fmt.Errorf("%d nacked, counted: %v", g.Nacked(), g.hasNacked)
	}
	if err := g.checkQueue(); err != nil {
		return err
	}
	if err := checkMade(g.nacked, &sum); err != nil {
		return fmt.Errorf("nacked: %w", err)
	}
	if err := g.pending.check(&sum); err != nil {
		return err
	}
	if *all += sum; sum != g.mem.n {
		return fmt.Errorf("%d bytes, %d counted", sum, g.mem.n)
	}
	return nil
}

// checkQueue returns an error if what is NACKed is pending otherwise.
func (g *Group) checkQueue() error {
	for it := g.queue().walk(ID{}, MaxID); it.next(); {
		id := ID{it.value(colMs), it.value(colSeq)}
		var at place
		if !g.pending.seekFrame(&at, id) {
			return fmt.Errorf("nacked %v is not pending", id)
		}
		var r row
		at.get(&r)
		if r[colOwner] != 0 || uint64(unflip(r[colTime])) != it.last.Seq {
			return fmt.Errorf("nacked %v is pending otherwise", id)
		}
	}
	return nil
}

// checkMade is check for rows that may not have been made.
func checkMade(x *rows, sum *int64) error {
	if x == nil {
		return nil
	}
	*sum += rowsGoBytes
	return x.check(sum)
}

// check returns an error if an invariant of the rows does not hold, and adds their memory to sum.
func (x *rows) check(sum *int64) error {
	*sum += x.weight()
	n := 0
	var last ID
	err := x.index.check(func(d *block, b []byte) error {
		if d.live == 0 && x.blocks > 1 || d.live > rowsPerBlock {
			return fmt.Errorf("%d rows", d.live)
		}
		var f frame
		if f.read(b, x.cols); d.n != blockSize(x.cols, f.size, d.live) {
			return fmt.Errorf("%d bytes for %d rows of %d", d.n, d.live, f.size)
		}
		for i := range d.live {
			var r row
			f.row(b, i, &r)
			if id := r.id(); n > 0 && !last.Less(id) || id.Less(d.first) {
				return fmt.Errorf("%v is behind %v", id, last)
			}
			if d.low > lowOf(x.cols, &r) {
				return errors.New("the bound of times is too high")
			}
			last = r.id()
			n++
		}
		return nil
	})
	if err == nil && n != x.n {
		err = fmt.Errorf("%d rows, %d counted", n, x.n)
	}
	return err
}

// checkIDMP returns what the producers take.
func (s *Stream) checkIDMP() (sum int64) {
	if s.idmp == nil {
		return 0
	}
	sum = idmpGoBytes
	for _, p := range s.idmp.list {
		sum += listedGoBytes + int64(len(p.PID)+cap(p.Records)*recordGoBytes)
		sum += int64(len(p.byIID) * mappedGoBytes)
		for _, r := range p.Records {
			sum += int64(len(r.IID))
		}
	}
	return sum
}
