package command

import (
	"strconv"

	"godwit/internal/engine"
	"godwit/internal/stream"
)

// What a group delivers is propagated as what becomes of it, in the forms of Redis: an XCLAIM for
// each entry that is pending then, XGROUP SETID for the group, and XGROUP CREATECONSUMER for a
// consumer that got nothing.

// The words of these forms.
var (
	wordXClaim         = []byte("XCLAIM")
	wordXGroup         = []byte("XGROUP")
	wordXAck           = []byte("XACK")
	wordSetID          = []byte("SETID")
	wordEntriesRead    = []byte("ENTRIESREAD")
	wordCreateConsumer = []byte("CREATECONSUMER")
	wordZero           = []byte("0")
	wordTime           = []byte("TIME")
	wordRetryCount     = []byte("RETRYCOUNT")
	wordForce          = []byte("FORCE")
	wordJustID         = []byte("JUSTID")
	wordLastID         = []byte("LASTID")
)

// claimPath names a group of a stream and the consumer that acts.
type claimPath struct{ key, group, consumer []byte }

// claimed propagates that an entry is pending, and up to where the group has read.
func (p *claimPath) claimed(c *engine.Ctx, e *stream.Pending, last stream.ID) {
	if !c.Propagating() {
		return
	}
	var id, lastID [idText]byte
	var ms, n [20]byte
	c.PropagateEach(wordXClaim, p.key, p.group, p.consumer, wordZero, e.ID.Append(id[:0]),
		wordTime, strconv.AppendInt(ms[:0], e.Time, 10),
		wordRetryCount, strconv.AppendInt(n[:0], e.Count, 10),
		wordForce, wordJustID, wordLastID, last.Append(lastID[:0]))
}

// vanished propagates that an entry, which is not in the stream any more, is not pending any more.
// Claiming it has that effect too, and is Redis's way if the entry has an owner.
func (p *claimPath) vanished(c *engine.Ctx, e *stream.Pending, last stream.ID) {
	switch {
	case !c.Propagating():
	case e.Owner == nil:
		var id [idText]byte
		c.PropagateEach(wordXAck, p.key, p.group, e.ID.Append(id[:0]))
	default:
		owner := claimPath{p.key, p.group, []byte(e.Owner.Name)}
		owner.claimed(c, e, last)
	}
}

// vanish takes away an entry of the group that is pending, but not in the stream any more.
func (p *claimPath) vanish(c *engine.Ctx, g *stream.Group, e *stream.Pending) {
	p.vanished(c, e, g.LastID)
	g.Ack(e.ID)
	c.Dirty(1)
}

// advanced propagates up to where the group has read.
func (p *claimPath) advanced(c *engine.Ctx, g *stream.Group) {
	if !c.Propagating() {
		return
	}
	var id [idText]byte
	var read [20]byte
	c.PropagateEach(wordXGroup, wordSetID, p.key, p.group, g.LastID.Append(id[:0]),
		wordEntriesRead, strconv.AppendInt(read[:0], g.Read, 10))
}

// created propagates that there is a new consumer.
func (p *claimPath) created(c *engine.Ctx) {
	if c.Propagating() {
		c.PropagateEach(wordXGroup, wordCreateConsumer, p.key, p.group, p.consumer)
	}
}
