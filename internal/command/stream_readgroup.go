package command

import (
	"encoding/binary"
	"fmt"
	"slices"

	"godwit/internal/engine"
	"godwit/internal/keyspace"
	"godwit/internal/object"
	"godwit/internal/stream"
)

// groupAfter is a group of a stream, and what of it XREADGROUP is asked for.
type groupAfter struct {
	x       *object.Edit
	g       *stream.Group
	history bool      // what the consumer has pending
	id      stream.ID // of that, what follows this one
}

// xreadgroupCmd delivers what is new to the group, and what has been pending for too long, or
// replies with what the consumer has pending.
func xreadgroupCmd(c *engine.Ctx) {
	d := delivery{Ctx: c}
	if !d.parse(c, true) {
		return
	}
	var some [someStreams]groupAfter
	groups := some[:0]
	for i := range d.keys {
		g, ok := d.open(c, i)
		if !ok {
			return
		}
		groups = append(groups, g)
	}
	c.NoPropagate() // other commands tell what has become of each entry
	d.begin(c, -1)
	d.drops = d.mayDrop()
	n := 0
	for i := range groups {
		limit, ok := d.limit(c)
		if !ok {
			break
		}
		d.turnTo(groups, i)
		if d.deliver(limit) {
			n++
		}
	}
	switch {
	case n == 0:
		d.waitGroup(c, groups)
	case len(groups) > 1:
		d.end(c, n)
	}
}

// keptOpen is how many streams a command keeps open. If there are more, they are opened again.
const keptOpen = 4

// turnTo makes the delivery one from stream i.
func (d *delivery) turnTo(groups []groupAfter, i int) {
	if d.groupAfter = groups[i]; len(groups) > keptOpen {
		d.x, _ = openWrite(d.Ctx, d.keys[i], object.Stream)
	}
	d.s, d.path = d.x.ChangingStream(), claimPath{d.keys[i], d.group, d.consumer}
	d.find, d.done = entryFinder{s: d.s}, nil
}

// open opens stream i, finds its group and reads its ID.
func (d *delivery) open(c *engine.Ctx, i int) (a groupAfter, ok bool) {
	key := d.keys[i]
	if a.x, ok = openRead(c, key, object.Stream); !ok {
		return a, false
	}
	if a.x != nil {
		a.g = a.x.Stream().Group(d.group)
	}
	if a.g == nil {
		c.Err(fmt.Sprintf("NOGROUP No such key '%s' or consumer group '%s' in XREADGROUP with "+
			"GROUP option", untilNUL(key), untilNUL(d.group)))
		return a, false
	}
	id := d.ids[i]
	switch {
	case len(id) == 1 && (id[0] == '$' || id[0] == '+'):
		c.Err(fmt.Sprintf("ERR The %s ID is meaningless in the context of XREADGROUP: you want to "+
			"read the history of this consumer by specifying a proper ID, or use the > ID to get "+
			"new messages. The %s ID would just return an empty result set.", id, id))
		return a, false
	case len(id) == 1 && id[0] == '>':
		return a, true
	}
	a.id, ok = streamIDArg(c, id, 0)
	a.history = a.id != stream.MaxID // which stands for ">"
	return a, ok
}

// delivery is an XREADGROUP, and what it does with one stream after the other.
type delivery struct {
	streamRead
	*engine.Ctx
	groupAfter
	s    *stream.Stream
	path claimPath
	by   *stream.Consumer
	find entryFinder
	w    readWalk
	done map[stream.ID]bool // what was claimed and has not been idle

	drops int64 // pending entries that are gone may still be dropped
}

// deliver replies with the entries of the stream, at most limit of them if that is above 0. It
// reports false if it has not replied, because there are none.
func (d *delivery) deliver(limit int64) (replied bool) {
	made := d.consumerOf(d.path.consumer)
	had := d.g.Pending()
	due := d.claim >= 0 && !d.history && d.hasDue()
	switch {
	case d.history:
		d.head()
		d.replyHistory(limit)
	case due || d.hasNew():
		d.head()
		d.replyNew(limit, due)
	default:
		if made {
			d.path.created(d.Ctx)
		}
		return false
	}
	if !d.history {
		d.Dirty(1)
	}
	if made && d.by.Pending() == 0 {
		d.path.created(d.Ctx)
	}
	if had == 0 && d.g.Pending() > 0 {
		d.Happened(d.path.key, object.Stream, engine.WaitDue)
	}
	return true
}

// hasNew reports whether there is an entry that the group has not delivered yet. The walk is at it.
func (d *delivery) hasNew() bool {
	if !d.g.LastID.Less(d.s.LastID) {
		return false
	}
	d.w.it, d.w.more = firstAfter(d.s, d.g.LastID)
	return d.w.more
}

// consumerOf finds or makes the consumer that acts, and reports whether it has made one.
func (d *delivery) consumerOf(name []byte) (made bool) {
	d.by, made = actingConsumer(d.Ctx, d.path.key, d.g, name)
	return made
}

// actingConsumer returns the consumer of that name, which acts now. made is true if it is new.
func actingConsumer(c *engine.Ctx, key []byte, g *stream.Group,
	name []byte) (by *stream.Consumer, made bool) {
	if by = g.Consumer(name); by == nil {
		by, made = g.CreateConsumer(name, c.Now), true
		c.Notify(keyspace.EvStream, "xgroup-createconsumer", key)
		c.Dirty(1)
	}
	by.Seen = c.Now
	return by, made
}

// head begins the reply of the stream. If it is the only one, the reply as a whole begins here.
func (d *delivery) head() {
	if len(d.keys) == 1 {
		d.header(d.Ctx, 1)
	}
	d.stream(d.Ctx, d.path.key)
}

// replyHistory replies with what the consumer has pending. It counts as delivered once more, unless
// it is not in the stream any more.
func (d *delivery) replyHistory(limit int64) {
	from, _ := d.id.Next()
	at, n := d.Mark(), int64(0)
	for it := d.g.Owned(d.by, from, stream.MaxID); it.Next(); {
		d.Array(2)
		bulkID(d.Ctx, it.ID)
		if d.find.find(it.ID) {
			replyStreamFields(d.Ctx, &d.find.it)
			d.g.Set(stream.Pending{ID: it.ID, Owner: d.by, Time: d.Now,
				Count: stream.More(it.Count)})
		} else {
			d.NullArray()
		}
		n++
		if n == limit || d.full(d.Ctx) {
			break
		}
	}
	insertHead(d.Ctx, at, '*', int(n))
	d.entries += n
}

// replyNew replies with what is due, and then with what the group has not delivered yet.
func (d *delivery) replyNew(limit int64, due bool) {
	w := &d.w
	w.limit, w.n = limit, 0
	w.begin(d.Ctx)
	if due {
		d.deliverDue()
	}
	if w.n == 0 || w.n != limit && !d.full(d.Ctx) && d.hasNew() {
		d.deliverNew()
	}
	w.end(d.Ctx, &d.streamRead)
}

// deliverNew delivers what the group has not delivered yet.
func (d *delivery) deliverNew() {
	w := &d.w
	first := d.s.First() // no entry goes meanwhile
	p := stream.Pending{Owner: d.by, Time: d.Now, Count: 1}
	for ; w.more; w.next(d.Ctx, &d.streamRead) {
		p.ID = w.it.ID
		if d.claim >= 0 {
			d.Array(4)
		} else {
			d.Array(2)
		}
		bulkID(d.Ctx, p.ID)
		replyStreamFields(d.Ctx, &w.it)
		if d.claim >= 0 {
			d.Int(0)
			d.Int(0)
		}
		advance(d.s, d.g, first, p.ID)
		if !d.noAck {
			d.g.Set(p)
			d.by.Active = d.Now
			d.path.claimed(d.Ctx, &p, d.g.LastID)
		}
	}
	d.path.advanced(d.Ctx, d.g)
}

// advance notes that the group has read up to an entry of the stream, whose first one is known.
func advance(s *stream.Stream, g *stream.Group, first, id stream.ID) {
	if g.Read != stream.ReadUnknown && !g.LastID.Less(first) && !hasTombstones(s, first, g.LastID) {
		g.Read = min(stream.More(g.Read), int64(s.Added)) // XGROUP may have set it too high
	} else if s.Added > 0 {
		g.Read = entriesUpTo(s, first, id)
	}
	g.LastID = id
}

// waitGroup waits until there is something to deliver.
func (d *delivery) waitGroup(c *engine.Ctx, groups []groupAfter) {
	if !d.wait || !c.MayBlock() {
		c.NullArray()
		return
	}
	w := engine.Wait{Keys: d.keys, Type: object.Stream, Deadline: d.deadline,
		OnTimeout: replyNullArray, Events: engine.WaitArrival | engine.WaitLoss, Rivals: d.group}
	if d.claim >= 0 {
		w.Events |= engine.WaitDue
		w.Rivals = binary.BigEndian.AppendUint64(slices.Clip(d.group), uint64(d.claim))
		for i := range groups {
			if at := d.dueAt(c, groups[i].g); at != 0 && (w.Due == 0 || at < w.Due) {
				w.Due = at
			}
		}
	}
	c.Block(w)
}
