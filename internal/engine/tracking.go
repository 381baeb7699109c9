package engine

import (
	"slices"
	"strings"

	"godwit/internal/pubsub"
	"godwit/internal/resp"
	"godwit/internal/spec"
)

// Client-side caching
//
// A client that has turned tracking on is told when a key changes that it may have cached. In the
// default mode the server remembers which keys each client has read (pubsub.Table), and tells the
// client once for each key. In broadcasting mode it remembers nothing, and tells the client of
// every key with one of its prefixes (pubsub.Broadcast), together at the end of the batch. Clients
// of RESP3 are told by a push. Others are told through a connection that has subscribed to a
// channel, usually one of their own (REDIRECT).
//
// All of this costs nothing while no client tracks.

// TrackingMode holds the options of CLIENT TRACKING ON.
type TrackingMode struct {
	Bcast, OptIn, OptOut, NoLoop bool
}

// Tracking is what a client that tracks has asked for.
type Tracking struct {
	TrackingMode
	Redirect uint64   // the client that is told instead, 0: this one
	Prefixes []string // of a broadcasting client, in order
	Caching  bool     // CLIENT CACHING was called: yes under OPTIN, no under OPTOUT
	Broken   bool     // Redirect has gone
}

// invalidateChannel is the channel on which clients of RESP2 hear of invalid keys.
const invalidateChannel = "__redis__:invalidate"

// evictTracked bounds how many keys one command makes the table forget.
const evictTracked = 100

type trackingState struct {
	clients int
	table   pubsub.Table
	bcast   pubsub.Broadcast[*Client]
	refs    []spec.KeyRef
}

// TrackingInfo holds INFO's figures: clients that track, keys remembered, pairs of key and client,
// prefixes broadcast.
type TrackingInfo struct{ Clients, Keys, Items, Prefixes int }

// TrackingInfo returns the figures.
func (e *Engine) TrackingInfo() TrackingInfo {
	t := &e.tracking
	return TrackingInfo{t.clients, t.table.Len(), t.table.Items(), t.bcast.Len()}
}

// Tracking returns what the client has asked for, nil if it does not track.
func (c *Client) Tracking() *Tracking { return c.track }

// Track turns tracking on for the client, or changes what it asks for. It adds prefixes to those
// that the client has.
func (e *Engine) Track(c *Client, mode TrackingMode, redirect uint64, prefixes []string) {
	if c.track == nil {
		c.track = &Tracking{}
		e.tracking.clients++
	}
	t := c.track
	t.TrackingMode, t.Redirect, t.Broken = mode, redirect, false // Caching goes on
	if !mode.Bcast {
		return
	}
	if len(prefixes) == 0 {
		prefixes = []string{""}
	}
	for _, p := range prefixes {
		if !slices.Contains(t.Prefixes, p) {
			t.Prefixes = append(t.Prefixes, p)
			e.tracking.bcast.Add(c, p)
		}
	}
	slices.Sort(t.Prefixes)
}

// Untrack turns tracking off for the client.
func (e *Engine) Untrack(c *Client) {
	if c.track == nil {
		return
	}
	for _, p := range c.track.Prefixes {
		e.tracking.bcast.Remove(c, p)
	}
	c.track = nil
	if e.tracking.clients--; e.tracking.clients == 0 {
		e.tracking.table.Clear() // its readers have all gone
	}
}

// remember records the keys that a command has read for a client that tracks.
func (e *Engine) remember(c *Ctx) {
	cl := c.Client
	if cl.Origin == OriginScript {
		cl = e.current // a script reads for its caller
	}
	t := cl.track
	if t == nil || t.Bcast || t.OptIn && !t.Caching || t.OptOut && t.Caching {
		return
	}
	s := &e.tracking
	refs, err := c.Cmd.KeyRefs(s.refs[:0], c.Args)
	s.refs = refs[:0]
	if err != nil {
		return
	}
	for _, r := range refs {
		if r.Access&spec.NotKey == 0 {
			s.table.Remember(c.Args[r.Pos], cl.ID)
		}
	}
	e.limitTracking()
}

// limitTracking forgets keys while there are more than tracking-table-max-keys. It tells their
// readers, who would not hear of changes any more.
func (e *Engine) limitTracking() {
	limit, s := e.Cfg.TrackingTableMaxKeys, &e.tracking
	if limit == 0 {
		return
	}
	for n := 0; int64(s.table.Len()) > limit && n < evictTracked; n++ {
		e.invalidate(s.table.Any(), nil)
	}
}

// keyInvalid tells clients that track that a key has changed. by is the client that has changed it,
// nil for expiry and eviction. Under NOLOOP a broadcasting client does not hear of its own changes.
// In the default mode a key that expires during a client's command counts as changed by that
// client, as in Redis.
func (e *Engine) keyInvalid(key []byte, by *Client) {
	s := &e.tracking
	if s.clients == 0 {
		return
	}
	s.bcast.Changed(key, by)
	if s.table.Len() > 0 {
		e.invalidate(key, e.current)
	}
}

// invalidate tells the clients that have read the key, and forgets that they have. by is the client
// that has changed it. Under NOLOOP it is not told.
func (e *Engine) invalidate(key []byte, by *Client) {
	e.tracking.table.Take(key, func(id uint64) {
		c := e.clients.byID[id]
		if c == nil || c.track == nil || c.track.Bcast || c.track.NoLoop && c == by {
			return
		}
		w := resp.Writer{Buf: e.pushing.scratch[:0]}
		w.Array(1)
		w.Bulk(key)
		e.pushing.scratch = w.Buf
		e.sendInvalid(c, w.Buf)
	})
}

// InvalidateAll tells all clients that track that every key may have changed (FLUSHALL, FLUSHDB).
func (e *Engine) InvalidateAll() {
	s := &e.tracking
	if s.clients == 0 {
		return
	}
	s.table.Clear()
	e.Clients(func(c *Client) bool {
		if c.track != nil {
			e.sendInvalid(c, nil)
		}
		return true
	})
}

// sendInvalid sends the encoded array of keys, or a null for all keys, to a client or to the one
// that it redirects to. A client of RESP2 that does not redirect cannot be told; nor can a receiver
// of RESP2 that has subscribed to nothing.
func (e *Engine) sendInvalid(c *Client, keys []byte) {
	to := c
	if id := c.track.Redirect; id != 0 {
		if to = e.clients.byID[id]; to == nil {
			e.tellBroken(c)
			return
		}
	}
	var w resp.Writer
	w.Proto = to.W.Proto
	switch {
	case to.W.Proto == 3:
		w.Array(2)
		w.BulkString("invalidate")
	case c.track.Redirect != 0 && to.Class == ClassPubSub:
		w.Array(3)
		w.BulkString("message")
		w.BulkString(invalidateChannel)
	default:
		return
	}
	if keys == nil {
		w.Null()
	} else {
		w.Raw(keys)
	}
	e.pushInvalid(c, to, w.Buf)
}

// pushInvalid pushes a message about c's keys. What the running command makes invalid for its own
// client comes behind all other messages.
func (e *Engine) pushInvalid(c, to *Client, msg []byte) {
	if c == e.current && to == c && !e.pushing.early && !to.CloseASAP && !to.CloseAfterReply {
		e.pushing.invalid = appendPush(e.pushing.invalid, to, msg)
		e.checkWaiting(to)
		return
	}
	e.push(to, msg)
}

// tellBroken records that the client's invalidations have nowhere to go, and tells the client.
func (e *Engine) tellBroken(c *Client) {
	c.track.Broken = true
	if c.W.Proto != 3 {
		return
	}
	var w resp.Writer
	w.Array(2)
	w.BulkString("tracking-redir-broken")
	w.Int(int64(c.track.Redirect))
	e.pushInvalid(c, c, w.Buf)
}

// broadcast tells the clients in broadcasting mode what has changed in this batch.
func (e *Engine) broadcast() {
	b := &e.tracking.bcast
	if !b.Pending() {
		return
	}
	var all, some []byte
	b.Flush(func(clients []*Client, keys []string, by func(string) *Client) {
		all = appendKeys(all[:0], keys)
		for _, c := range slices.Clone(clients) {
			msg := all
			if c.track.NoLoop {
				others := slices.DeleteFunc(slices.Clone(keys), func(key string) bool {
					return by(key) == c
				})
				if len(others) == 0 {
					continue
				}
				some = appendKeys(some[:0], others)
				msg = some
			}
			e.sendInvalid(c, msg)
		}
	})
}

func appendKeys(b []byte, keys []string) []byte {
	w := resp.Writer{Buf: b}
	w.Array(len(keys))
	for _, key := range keys {
		w.BulkString(key)
	}
	return w.Buf
}

// endCaching ends the effect of CLIENT CACHING, which is for one command or one transaction.
func (e *Engine) endCaching(c *Client) {
	if t := c.track; t.Caching && c.multi == nil &&
		(c.LastCmd == nil || !c.LastCmd.Is(spec.KeepsCaching)) {
		t.Caching = false
	}
}

// PrefixClash returns two prefixes of which one begins with the other, because a key with both
// would be told of twice. The first is one of asked. If provided is false the client has the second
// already, else it is of asked too.
func (c *Client) PrefixClash(asked []string) (a, b string, provided, clash bool) {
	overlap := func(x, y string) bool { return strings.HasPrefix(x, y) || strings.HasPrefix(y, x) }
	for i, p := range asked {
		if c.track != nil {
			for _, have := range c.track.Prefixes {
				if overlap(p, have) {
					return p, have, false, true
				}
			}
		}
		for _, o := range asked[i+1:] {
			if overlap(p, o) {
				return p, o, true, true
			}
		}
	}
	return "", "", false, false
}
