package command

import (
	"math"
	"slices"

	"godwit/internal/engine"
	"godwit/internal/keyspace"
	"godwit/internal/object"
	"godwit/internal/stream"
)

const (
	errXAddZero  = "ERR The ID specified in XADD must be greater than 0-0"
	errXAddLast  = "ERR The stream has exhausted the last possible ID, unable to add more items"
	errXAddOrder = "ERR The ID specified in XADD is equal or smaller than the target stream top " +
		"item"
	errXAddLength = "ERR Elements are too large to be stored"
)

// parseID reads the ID of a new entry, which may end in "-*".
func (o *streamOptions) parseID(c *engine.Ctx, arg []byte) (ok bool) {
	if n := len(arg); n > 2 && n < maxIDArg && arg[n-1] == '*' && slices.Index(arg, '-') == n-2 {
		o.autoSeq = true
		arg = arg[:n-2]
	}
	o.id, ok = streamIDArg(c, arg, 0)
	return ok
}

// newID returns the ID of the next entry of a stream whose last one is last. It replies with
// Redis's errors and reports false if there is none.
func (o *streamOptions) newID(c *engine.Ctx, last stream.ID) (id stream.ID, ok bool) {
	id = o.id
	switch {
	case last == stream.MaxID:
		c.Err(errXAddLast)
		return id, false
	case o.auto:
		if id = (stream.ID{Ms: uint64(c.Now)}); !last.Less(id) {
			id, _ = last.Next()
		}
	case o.autoSeq && id.Ms == last.Ms:
		if last.Seq == math.MaxUint64 {
			c.Err(errXAddOrder)
			return id, false
		}
		id.Seq = last.Seq + 1
	}
	if !last.Less(id) {
		c.Err(errXAddOrder)
		return id, false
	}
	return id, true
}

// xaddCmd adds an entry to a stream, and trims it.
func xaddCmd(c *engine.Ctx, r *rewriter) {
	var o streamOptions
	if !o.parse(c, true) {
		return
	}
	fields := c.Args[min(o.idAt+1, len(c.Args)):]
	if len(fields) == 0 || len(fields)%2 != 0 {
		c.WrongArity()
		return
	}
	if !o.auto && !o.autoSeq && o.id.IsZero() {
		c.Err(errXAddZero)
		return
	}
	key := c.Args[1]
	x, ok := openWrite(c, key, object.Stream)
	if !ok {
		return
	}
	var last stream.ID
	switch {
	case x != nil:
		last = x.Stream().LastID
		o.idmp.hash(fields)
		if o.idmp.isDuplicate(c, x, o.auto) {
			return
		}
	case o.noStream:
		c.Null()
		return
	default:
		o.idmp.hash(fields)
	}
	id, ok := o.newID(c, last)
	if !ok {
		return
	}
	if tooLong(fields) {
		c.Err(errXAddLength)
		return
	}
	if x == nil {
		x = createStream(c, key)
	}
	o.add(c, r, x, id, fields)
}

// tooLong reports whether an entry would be longer than a stream takes.
func tooLong(fields [][]byte) bool {
	n := 0
	for _, f := range fields {
		n += len(f)
	}
	return n > stream.MaxEntry
}

// add adds the entry, once nothing stands against it.
func (o *streamOptions) add(c *engine.Ctx, r *rewriter, x *object.Edit, id stream.ID,
	fields [][]byte) {
	key, s := c.Args[1], x.ChangingStream()
	s.Append(id, fields, x.H.Lim.Stream)
	o.idmp.note(c, s, id)
	bulkID(c, id)
	c.Changed(key)
	c.Happened(key, object.Stream, engine.WaitArrival)
	c.Notify(keyspace.EvStream, "xadd", key)
	c.Dirty(1)
	n, effects := o.apply(c, s)
	if n > 0 {
		c.Notify(keyspace.EvStream, "xtrim", key)
	}
	o.id = id
	o.propagate(c, r, s, &effects)
}
