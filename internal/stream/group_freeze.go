package stream

// frozenGroups are the groups at one moment. What is said of groups and consumers is copied at
// the beginning. Rows are those of frozen indexes, which stay if their group or consumer goes.
type frozenGroups struct {
	left []frozenGroup
	kept kept
	open []*frozenIndex // of all groups
}

// frozenGroup is a group on its way. Its parts are runs of blocks with something before some.
type frozenGroup struct {
	info    *GroupInfo
	numbers []*ConsumerInfo
	runs    []frozenRun
}

// frozenRun is a PartGroup or PartConsumer if it has one, and the blocks that follow.
type frozenRun struct {
	head     PartKind // PartEnd: none
	rows     PartKind
	consumer *ConsumerInfo
	f        *frozenIndex // nil: no blocks
}

// freezeGroups begins to give out the groups.
func (s *Stream) freezeGroups() *frozenGroups {
	f := &frozenGroups{}
	for _, g := range s.groups {
		fg := frozenGroup{runs: make([]frozenRun, 0, 2+len(g.consumers))}
		fg.info, fg.numbers = g.info()
		fg.runs = append(fg.runs, frozenRun{PartGroup, PartPending, nil, f.freeze(&g.pending)})
		for i, c := range g.consumers {
			fg.runs = append(fg.runs,
				frozenRun{PartConsumer, PartOwned, fg.info.Consumers[i], f.freeze(c.ids())})
		}
		fg.runs = append(fg.runs, frozenRun{PartEnd, PartNacked, nil, f.freeze(g.queue())})
		f.left = append(f.left, fg)
	}
	return f
}

// freeze freezes the index of rows, if there are any.
func (f *frozenGroups) freeze(x *rows) *frozenIndex {
	if x.n == 0 {
		return nil
	}
	fi := x.index.freeze()
	fi.all = &f.kept
	f.open = append(f.open, fi)
	return fi
}

// step gives out parts as long as n, from which it takes their number, is above 0. It reports
// whether there are no more. p is the Part to pass on.
func (f *frozenGroups) step(n *int, p *Part, emit func(p *Part)) (done bool) {
	for len(f.left) > 0 {
		g := &f.left[0]
		for len(g.runs) > 0 {
			r := &g.runs[0]
			if *n <= 0 {
				return false
			}
			if !r.step(n, g, p, emit) {
				return false
			}
			g.runs = g.runs[1:]
		}
		f.left = f.left[1:]
	}
	*p = Part{}
	return true
}

func (r *frozenRun) step(n *int, g *frozenGroup, p *Part, emit func(p *Part)) (done bool) {
	*p = Part{Kind: r.head, Group: g.info, Consumer: r.consumer}
	p.numbers = g.numbers
	if r.head != PartEnd {
		*n--
		emit(p)
		r.head = PartEnd
	}
	if r.f == nil {
		return true
	}
	p.Kind = r.rows
	return r.f.step(n, func(d *block, b []byte) {
		p.block, p.n = b, d.live
		emit(p)
	})
}

// copied returns the bytes that were copied for the walk: now, and in all.
func (f *frozenGroups) copied() (now, ever int64) { return f.kept.now, f.kept.ever }

// close ends it, done or not.
func (f *frozenGroups) close() {
	for _, fi := range f.open {
		fi.close()
	}
	f.open, f.left = nil, nil
}
