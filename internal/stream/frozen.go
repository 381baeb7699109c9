package stream

// Frozen is a stream as it was at one moment, given out part by part while it goes on changing.
// Blocks that change before their turn are copied first, and those that go stay until it comes.
type Frozen struct {
	entries *frozenIndex
	groups  *frozenGroups
	meta    *Meta
	parts   int
	next    PartKind // of what Step gives out next; PartGroup for all of the groups
	done    bool
	p       Part
}

// Freeze begins to give out the stream. It must not be frozen already.
func (s *Stream) Freeze() *Frozen {
	return &Frozen{meta: s.Meta(), parts: s.Parts(), entries: s.entries.freeze(),
		groups: s.freezeGroups()}
}

// Parts returns the number of parts that Step is going to give out in all.
func (f *Frozen) Parts() int { return f.parts }

// Meta returns what there was to say of the stream.
func (f *Frozen) Meta() *Meta { return f.meta }

// Step gives out about n parts and reports whether there are no more.
func (f *Frozen) Step(n int, emit func(p *Part)) (done bool) {
	for n > 0 && !f.done {
		switch f.next {
		case PartEntries:
			if f.stepEntries(&n, emit) {
				f.next = PartMeta
			}
		case PartMeta:
			f.p = Part{Kind: PartMeta, meta: f.meta}
			emit(&f.p)
			n--
			f.next = PartGroup
		case PartGroup:
			if f.groups.step(&n, &f.p, emit) {
				f.next = PartEnd
			}
		default:
			f.p = Part{Kind: PartEnd}
			emit(&f.p)
			f.done = true
		}
	}
	return f.done
}

func (f *Frozen) stepEntries(n *int, emit func(p *Part)) (done bool) {
	return f.entries.step(n, func(d *block, b []byte) {
		f.p.Kind, f.p.info, f.p.block = PartEntries, *d, b
		emit(&f.p)
	})
}

// Copied returns the memory in bytes that is kept for what changed or went, and all that ever was.
func (f *Frozen) Copied() (now, ever int64) {
	now, ever = f.groups.copied()
	return now + f.entries.bytes, ever + f.entries.kept
}

// CompressCopies does nothing: the blocks are packed.
func (f *Frozen) CompressCopies() {}

// Close ends it, done or not.
func (f *Frozen) Close() {
	f.entries.close()
	f.groups.close()
}
