package stream

// partRows is what a Part keeps of a group's rows.
type partRows struct {
	n       int             // rows
	numbers []*ConsumerInfo // by the numbers that rows have for them
}

// groupParts returns the number of parts from the first PartGroup to the last PartNacked.
func (s *Stream) groupParts() int {
	n := 0
	for _, g := range s.groups {
		n += 1 + g.pending.parts() + g.queue().parts()
		for _, c := range g.consumers {
			n += 1 + c.ids().parts()
		}
	}
	return n
}

// parts returns the number of blocks that have rows.
func (x *rows) parts() int {
	if x.n == 0 {
		return 0
	}
	return x.blocks
}

// info returns what is saved of the group, and its consumers by their numbers.
func (g *Group) info() (info *GroupInfo, numbers []*ConsumerInfo) {
	info = &GroupInfo{Name: g.Name, LastID: g.LastID, Read: g.Read,
		Pending: g.pending.n, Nacked: g.Nacked(),
		Consumers: make([]*ConsumerInfo, len(g.consumers))}
	if last := len(g.numbered) - 1; last >= 0 {
		numbers = make([]*ConsumerInfo, g.numbered[last].number)
	}
	all := make([]ConsumerInfo, len(g.consumers))
	for i, c := range g.consumers {
		all[i] = ConsumerInfo{Name: c.Name, Seen: c.Seen, Active: c.Active, Pending: c.Pending()}
		info.Consumers[i] = &all[i]
		numbers[c.number-1] = &all[i]
	}
	return info, numbers
}

// eachGroupPart calls visit for those parts until it returns false, and reports whether it went to
// the end. p is the Part to pass on.
func (s *Stream) eachGroupPart(p *Part, visit func(p *Part) bool) bool {
	for _, g := range s.groups {
		*p = Part{Kind: PartGroup}
		p.Group, p.numbers = g.info()
		if !visit(p) || !g.pending.eachPart(p, PartPending, visit) {
			return false
		}
		for i, c := range g.consumers {
			p.Kind, p.Consumer, p.block = PartConsumer, p.Group.Consumers[i], nil
			if !visit(p) || !c.ids().eachPart(p, PartOwned, visit) {
				return false
			}
		}
		p.Consumer = nil
		if !g.queue().eachPart(p, PartNacked, visit) {
			return false
		}
	}
	*p = Part{}
	return true
}

func (x *rows) eachPart(p *Part, kind PartKind, visit func(p *Part) bool) bool {
	if x.n == 0 {
		return true
	}
	for at, ok := x.head(); ok; at, ok = x.next(at) {
		d := x.at(at)
		p.Kind, p.block, p.n = kind, x.data(&d), d.live
		if !visit(p) {
			return false
		}
	}
	return true
}

// groupRows returns the number of rows of a group's part.
func (p *Part) groupRows() int {
	if p.block == nil {
		return 0
	}
	return p.n
}
