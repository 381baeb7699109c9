package rdb

import (
	"slices"
	"strconv"

	"godwit/internal/object"
	"godwit/internal/stream"
)

// streamRewriter is the Rewriter of streams:
//
//	XADD key id field value …                     each entry
//	XADD key MAXLEN 0 0-1 x y                     if there is none
//	XSETID key last ENTRIESADDED n MAXDELETEDID id
//	XGROUP CREATE key group last ENTRIESREAD n
//	XCLAIM key group consumer 0 id TIME ms RETRYCOUNT n FORCE JUSTID     what is pending
//	XGROUP CREATECONSUMER key group consumer
//	XNACK key group FAIL IDS n id …               what is NACKed, in that order
//	XGROUP DELCONSUMER key group consumer         if it was made for that alone
//	XCFGSET key IDMP-DURATION s IDMP-MAXSIZE n    if it has settings of its own
//	XIDMPRECORD key producer iid id               for entries that are there
//
// What is NACKed is claimed first: read from a log, XCLAIM makes entries pending that are not
// in the stream. XNACK FORCE does not, because the log may be another server's, and hold what a
// client sent.
//
// As with Redis, the times are lost when consumers were seen and active, and how many entries came
// from producers or were sent again: only as many commands could bring such counts back.
type streamRewriter struct {
	key  []byte
	meta *stream.Meta

	group  *stream.GroupInfo // the one that is being written, nil before the first
	holder string            // the consumer that claims what is NACKed in it
	made   bool              // the holder is none of the group's consumers
	batch  nackBatch

	wanted []stream.ID // entries of producers' records that have not come yet, ascending
	kept   []stream.ID // those that have, ascending
	id     []byte      // its text
	digits [24]byte
}

func rewriteStream(_ *Commands, _ *adder, key []byte, o *object.Outline) Rewriter {
	r := &streamRewriter{key: key, meta: o.StreamMeta}
	for _, p := range r.meta.Producers {
		for _, rec := range p.Records {
			r.wanted = append(r.wanted, rec.ID)
		}
	}
	slices.SortFunc(r.wanted, stream.ID.Compare)
	return r
}

// End implements Rewriter. PartEnd has ended everything.
func (r *streamRewriter) End(*Commands) {}

// Element implements Rewriter.
func (r *streamRewriter) Element(c *Commands, el *object.Element) {
	p := el.Part
	switch p.Kind {
	case stream.PartEntries:
		p.EachEntry(func(it *stream.Iter) { r.entry(c, it) })
	case stream.PartMeta:
		r.numbers(c)
	case stream.PartGroup:
		r.endGroup(c)
		r.beginGroup(c, p.Group)
	case stream.PartPending:
		p.EachPending(func(id stream.ID, owner *stream.ConsumerInfo, time, count int64) {
			if owner == nil {
				r.claim(c, id, r.holder, time, count)
			} else {
				r.claim(c, id, owner.Name, time, count)
			}
		})
	case stream.PartConsumer:
		r.consumer(c, "CREATECONSUMER", p.Consumer.Name)
	case stream.PartNacked:
		p.EachID(func(id stream.ID) { r.batch.add(c, r, id) })
		r.batch.flush(c, r)
	case stream.PartEnd:
		r.endGroup(c)
		r.producers(c)
	}
}

// beginGroup makes the group, and chooses who claims what is NACKed: a consumer that has other
// entries pending, because that makes it active anyway, or else one with a name of its own.
func (r *streamRewriter) beginGroup(c *Commands, g *stream.GroupInfo) {
	r.group, r.made = g, false
	r.begin(c, 7, "XGROUP", "CREATE")
	r.groupName(c)
	r.addID(c, g.LastID)
	c.word("ENTRIESREAD")
	r.addInt(c, g.Read)
	if g.Nacked == 0 {
		return
	}
	for _, owner := range g.Consumers {
		if owner.Pending > 0 {
			r.holder = owner.Name
			return
		}
	}
	taken := func(o *stream.ConsumerInfo) bool { return o.Name == r.holder }
	for r.holder, r.made = "x", true; slices.ContainsFunc(g.Consumers, taken); {
		r.holder += "x"
	}
}

// endGroup ends the group, if there is one.
func (r *streamRewriter) endGroup(c *Commands) {
	if r.group != nil && r.made {
		r.consumer(c, "DELCONSUMER", r.holder)
	}
}

// consumer makes or deletes a consumer of the group.
func (r *streamRewriter) consumer(c *Commands, sub, name string) {
	r.begin(c, 5, "XGROUP", sub)
	r.groupName(c)
	c.B = appendArg(c.B, []byte(name))
}

// begin begins a command of that many words up to the key.
func (r *streamRewriter) begin(c *Commands, n int, name, sub string) {
	c.head(n, name)
	if sub != "" {
		c.word(sub)
	}
	c.B = appendArg(c.B, r.key)
}

func (r *streamRewriter) groupName(c *Commands) { c.B = appendArg(c.B, []byte(r.group.Name)) }

func (r *streamRewriter) addID(c *Commands, id stream.ID) {
	r.id = id.Append(r.id[:0])
	c.B = appendArg(c.B, r.id)
}

func (r *streamRewriter) addInt(c *Commands, n int64) {
	c.B = appendArg(c.B, strconv.AppendInt(r.digits[:0], n, 10))
}

func (r *streamRewriter) entry(c *Commands, it *stream.Iter) {
	n := it.Fields()
	r.begin(c, 3+2*n, "XADD", "")
	r.addID(c, it.ID)
	for range n {
		name, value := it.Field()
		c.B = appendArg(c.B, textOf(name, &r.digits))
		c.B = appendArg(c.B, textOf(value, &r.digits))
	}
	for len(r.wanted) > 0 && !it.ID.Less(r.wanted[0]) {
		if r.wanted[0] == it.ID {
			r.kept = append(r.kept, it.ID)
		}
		r.wanted = r.wanted[1:]
	}
}

func (r *streamRewriter) numbers(c *Commands) {
	m := r.meta
	if m.Len == 0 {
		c.Command("XADD", r.key, []byte("MAXLEN"), []byte("0"), []byte("0-1"), []byte("x"),
			[]byte("y"))
	}
	r.begin(c, 7, "XSETID", "")
	r.addID(c, m.LastID)
	c.word("ENTRIESADDED")
	r.addInt(c, int64(m.Added))
	c.word("MAXDELETEDID")
	r.addID(c, m.MaxDeleted)
}

// claim makes an entry pending.
func (r *streamRewriter) claim(c *Commands, id stream.ID, owner string, time, count int64) {
	r.begin(c, 12, "XCLAIM", "")
	r.groupName(c)
	c.B = appendArg(c.B, []byte(owner))
	c.word("0")
	r.addID(c, id)
	c.word("TIME")
	r.addInt(c, time)
	c.word("RETRYCOUNT")
	r.addInt(c, count)
	c.word("FORCE")
	c.word("JUSTID")
}

// producers sets the stream's settings, even those that are the defaults: the server that replays
// the log may have others. It adds what producers have added, as far as it is there.
func (r *streamRewriter) producers(c *Commands) {
	m := r.meta.IDMP
	if m == nil {
		return
	}
	r.begin(c, 6, "XCFGSET", "")
	c.word("IDMP-DURATION")
	r.addInt(c, m.Duration)
	c.word("IDMP-MAXSIZE")
	r.addInt(c, int64(m.MaxSize))
	for _, p := range r.meta.Producers {
		for _, rec := range p.Records {
			if _, ok := slices.BinarySearchFunc(r.kept, rec.ID, stream.ID.Compare); ok {
				r.begin(c, 5, "XIDMPRECORD", "")
				c.B = appendArg(c.B, []byte(p.PID))
				c.B = appendArg(c.B, []byte(rec.IID))
				r.addID(c, rec.ID)
			}
		}
	}
}

// nackBatch collects NACKed entries. Their numbers of deliveries stay.
type nackBatch struct {
	ids []byte // arguments
	n   int
}

// add adds an entry of the group.
func (b *nackBatch) add(c *Commands, r *streamRewriter, id stream.ID) {
	if b.n == perCommand {
		b.flush(c, r)
	}
	r.id = id.Append(r.id[:0])
	b.ids = appendArg(b.ids, r.id)
	b.n++
}

// flush writes the command.
func (b *nackBatch) flush(c *Commands, r *streamRewriter) {
	if b.n == 0 {
		return
	}
	r.begin(c, 6+b.n, "XNACK", "")
	r.groupName(c)
	c.word("FAIL")
	c.word("IDS")
	r.addInt(c, int64(b.n))
	c.B = append(c.B, b.ids...)
	b.ids, b.n = b.ids[:0], 0
}
