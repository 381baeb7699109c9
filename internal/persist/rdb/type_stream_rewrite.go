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
//	XNACK key group FAIL IDS n id … RETRYCOUNT n FORCE                   what is NACKed
//	XGROUP CREATECONSUMER key group consumer
//	XNACK key group FAIL IDS n id …               what is NACKed, in another order
//	XCFGSET key IDMP-DURATION s IDMP-MAXSIZE n    if it has settings of its own
//	XIDMPRECORD key producer iid id               for entries that are there
//
// As with Redis, the times are lost when consumers were seen and active. Pending entries that are
// not in the stream are kept: replaying the log, XCLAIM and XNACK do not look for them.
type streamRewriter struct {
	key  []byte
	meta *stream.Meta

	batch  nackBatch
	moving bool      // what is NACKed does not come by ascending ID
	last   stream.ID // of it

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
		r.moving, r.last = false, stream.ID{}
		r.begin(c, 7, "XGROUP", "CREATE")
		r.group(c, p.Group)
		r.addID(c, p.Group.LastID)
		c.word("ENTRIESREAD")
		r.addInt(c, p.Group.Read)
	case stream.PartPending:
		p.EachPending(func(id stream.ID, owner *stream.ConsumerInfo, time, count int64) {
			if owner == nil {
				r.batch.add(c, r, p.Group, id, count)
			} else {
				r.claim(c, p.Group, id, owner, time, count)
			}
		})
		r.batch.flush(c, r, p.Group)
	case stream.PartConsumer:
		r.begin(c, 5, "XGROUP", "CREATECONSUMER")
		r.group(c, p.Group)
		c.B = appendArg(c.B, []byte(p.Consumer.Name))
	case stream.PartNacked:
		p.EachID(func(id stream.ID) { r.move(c, p.Group, id) })
		r.batch.flush(c, r, p.Group)
	case stream.PartEnd:
		r.producers(c)
	}
}

// begin begins a command of that many words up to the key.
func (r *streamRewriter) begin(c *Commands, n int, name, sub string) {
	c.head(n, name)
	if sub != "" {
		c.word(sub)
	}
	c.B = appendArg(c.B, r.key)
}

func (r *streamRewriter) group(c *Commands, g *stream.GroupInfo) {
	c.B = appendArg(c.B, []byte(g.Name))
}

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

func (r *streamRewriter) claim(
	c *Commands, g *stream.GroupInfo, id stream.ID, owner *stream.ConsumerInfo, time, count int64,
) {
	r.begin(c, 12, "XCLAIM", "")
	r.group(c, g)
	c.B = appendArg(c.B, []byte(owner.Name))
	c.word("0")
	r.addID(c, id)
	c.word("TIME")
	r.addInt(c, time)
	c.word("RETRYCOUNT")
	r.addInt(c, count)
	c.word("FORCE")
	c.word("JUSTID")
}

// move moves an entry behind what else is NACKed. Those that are in order from the first on
// stay where they are.
func (r *streamRewriter) move(c *Commands, g *stream.GroupInfo, id stream.ID) {
	r.moving = r.moving || id.Less(r.last)
	r.last = id
	if r.moving {
		r.batch.add(c, r, g, id, unchanged)
	}
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

// unchanged is the count of a nackBatch that does not change the number of deliveries.
const unchanged = -1

// nackBatch collects NACKed entries that have been delivered equally often.
type nackBatch struct {
	ids   []byte // arguments
	n     int
	count int64
}

// add adds an entry of the group, which was delivered count times.
func (b *nackBatch) add(
	c *Commands, r *streamRewriter, g *stream.GroupInfo, id stream.ID, count int64,
) {
	if b.n == perCommand || count != b.count {
		b.flush(c, r, g)
	}
	r.id = id.Append(r.id[:0])
	b.ids = appendArg(b.ids, r.id)
	b.n++
	b.count = count
}

// flush writes the command. With a count it makes entries pending that are not.
func (b *nackBatch) flush(c *Commands, r *streamRewriter, g *stream.GroupInfo) {
	if b.n == 0 {
		return
	}
	words := 6 + b.n
	if b.count != unchanged {
		words += 3
	}
	r.begin(c, words, "XNACK", "")
	r.group(c, g)
	c.word("FAIL")
	c.word("IDS")
	r.addInt(c, int64(b.n))
	c.B = append(c.B, b.ids...)
	if b.count != unchanged {
		c.word("RETRYCOUNT")
		r.addInt(c, b.count)
		c.word("FORCE")
	}
	b.ids, b.n = b.ids[:0], 0
}
