package command

import (
	"math"

	"godwit/internal/engine"
	"godwit/internal/object"
	"godwit/internal/stream"
)

// claimOptions are the arguments of XCLAIM.
type claimOptions struct {
	minIdle int64
	time    int64 // of the delivery, unix ms
	count   int64 // below 0: one more
	force   bool  // entries that are not pending become so
	justID  bool
	last    stream.ID
}

// parse reads the options from an argument on. It replies with Redis's errors and reports false if
// they are wrong.
func (o *claimOptions) parse(c *engine.Ctx, args [][]byte) (ok bool) {
	o.time, o.count = c.Now, -1
	for ; len(args) > 0; args = args[1:] {
		opt, hasArg := args[0], len(args) > 1
		switch {
		case is(opt, "force"):
			o.force = true
			continue
		case is(opt, "justid"):
			o.justID = true
			continue
		case is(opt, "idle") && hasArg:
			o.time, ok = rangeArg(c, args[1], math.MinInt64, math.MaxInt64,
				"ERR Invalid IDLE option argument for XCLAIM")
			o.time = c.Now - max(o.time, 0)
		case is(opt, "time") && hasArg:
			o.time, ok = rangeArg(c, args[1], math.MinInt64, math.MaxInt64,
				"ERR Invalid TIME option argument for XCLAIM")
		case is(opt, "retrycount") && hasArg:
			o.count, ok = rangeArg(c, args[1], math.MinInt64, math.MaxInt64,
				"ERR Invalid RETRYCOUNT option argument for XCLAIM")
		case is(opt, "lastid") && hasArg:
			o.last, ok = streamIDArg(c, args[1], 0)
		default:
			c.Err("ERR Unrecognized XCLAIM option '" + untilNUL(opt) + "'")
			return false
		}
		if !ok {
			return false
		}
		args = args[1:]
	}
	if o.time < 0 || o.time > c.Now {
		o.time = c.Now // a clock that is wrong is no reason to fail
	}
	return true
}

// claim is an XCLAIM or XAUTOCLAIM at work.
type claim struct {
	*engine.Ctx
	claimOptions
	g    *stream.Group
	by   *stream.Consumer
	path claimPath
	find entryFinder
	n    int // entries that were claimed
	gone int // entries that were pending, but not in the stream any more
}

// xclaimCmd makes a consumer the owner of pending entries.
func xclaimCmd(c *engine.Ctx) {
	x, g, ok := groupToClaim(c)
	if !ok {
		return
	}
	cl := claim{Ctx: c, g: g, path: claimPath{c.Args[1], c.Args[2], c.Args[3]}}
	if cl.minIdle, ok = minIdleArg(c, "ERR Invalid min-idle-time argument for XCLAIM"); !ok {
		return
	}
	var some [someIDs]stream.ID
	ids := some[:0]
	args := c.Args[5:]
	for ; len(args) > 0; args = args[1:] {
		id, ok := parseStreamID(args[0], 0)
		if !ok {
			break
		}
		ids = append(ids, id)
	}
	if !cl.parse(c, args) {
		return
	}
	cl.find.s = x.ChangingStream()
	moved := g.LastID.Less(cl.last)
	if moved {
		g.LastID = cl.last
	}
	had := g.Pending()
	made := cl.begin()
	at := c.Mark()
	for _, id := range ids {
		p, pending := g.Find(id)
		p.ID = id
		cl.one(&p, pending)
	}
	insertHead(c, at, '*', cl.n)
	if moved && cl.n+cl.gone == 0 {
		cl.path.advanced(c, g)
		c.Dirty(1)
	}
	cl.end(made)
	if cl.n > 0 && (had == 0 || cl.time < c.Now) {
		c.Happened(c.Args[1], object.Stream, engine.WaitDue)
	}
}

// minIdleArg reads the least idle time of XCLAIM and XAUTOCLAIM. It replies with msg and reports
// false if it is no number.
func minIdleArg(c *engine.Ctx, msg string) (int64, bool) {
	ms, ok := rangeArg(c, c.Args[4], math.MinInt64, math.MaxInt64, msg)
	return max(ms, 0), ok
}

// begin finds or makes the consumer, and reports whether it has made one.
func (cl *claim) begin() (made bool) {
	cl.NoPropagate() // other commands tell what has become of each entry
	cl.by, made = actingConsumer(cl.Ctx, cl.path.key, cl.g, cl.path.consumer)
	return made
}

// end propagates a new consumer that has got nothing.
func (cl *claim) end(made bool) {
	if made && cl.n == 0 {
		cl.path.created(cl.Ctx)
	}
}

// one claims an entry, and replies with it. pending says whether it is pending at all.
func (cl *claim) one(p *stream.Pending, pending bool) {
	switch {
	case pending:
	case cl.force:
		p.Count = 1
	default:
		return
	}
	switch {
	case cl.find.find(p.ID):
	case pending:
		cl.path.vanish(cl.Ctx, cl.g, p)
		cl.gone++
		return
	case !cl.restores():
		return
	}
	if p.Owner != nil && cl.minIdle > 0 && cl.Now-p.Time < cl.minIdle {
		return
	}
	if p.Owner, p.Time = cl.by, cl.time; cl.count >= 0 {
		p.Count = cl.count
	} else if !cl.justID {
		p.Count = stream.More(p.Count)
	}
	cl.g.Set(*p)
	cl.by.Active = cl.Now
	cl.n++
	cl.Dirty(1)
	if cl.justID {
		bulkID(cl.Ctx, p.ID)
	} else {
		replyEntry(cl.Ctx, &cl.find.it)
	}
	cl.path.claimed(cl.Ctx, p, cl.g.LastID)
}

// restores reports whether an entry may become pending that is not in the stream: a log that was
// rewritten as commands has such entries. Nothing else in a log claims by FORCE what is neither
// pending nor in the stream.
func (cl *claim) restores() bool { return cl.force && cl.justID && cl.Obeyed() }

// autoClaim is the number of entries that XAUTOCLAIM claims if it is not told how many, and how
// many times as many it looks at.
const (
	autoClaim     = 100
	autoClaimLook = 10
)

// xautoclaimCmd makes a consumer the owner of the next entries that have been pending for long
// enough. It replies with where to go on, with the entries, and with the IDs of those that are not
// in the stream any more.
func xautoclaimCmd(c *engine.Ctx) {
	cl := claim{Ctx: c, path: claimPath{c.Args[1], c.Args[2], c.Args[3]}}
	count, from, ok := cl.parseAuto(c)
	if !ok {
		return
	}
	x, g, ok := groupToClaim(c)
	if !ok {
		return
	}
	cl.g, cl.find.s = g, x.ChangingStream()
	made := cl.begin()
	var some [someIDs]stream.ID
	gone := some[:0]
	at := c.Mark()
	it := g.Range(from, stream.MaxID)
	more := it.Next()
	for look := count * autoClaimLook; more && look > 0 && count > 0; look-- {
		p, n, was := it.Pending, cl.n, cl.gone
		cl.one(&p, true)
		switch {
		case cl.gone > was:
			gone = append(gone, p.ID)
			count--
		case cl.n > n:
			count--
		}
		more = it.Next()
	}
	var next stream.ID
	if more {
		next = it.ID
	}
	insertCursor(c, at, next, cl.n)
	c.Array(len(gone))
	for _, id := range gone {
		bulkID(c, id)
	}
	cl.end(made)
}

// insertCursor puts what comes first in the reply of XAUTOCLAIM at a position that Mark has
// returned: where to go on, and the head of the n entries.
func insertCursor(c *engine.Ctx, at int, next stream.ID, n int) {
	var buf [3*headText + idText + 2]byte
	var id [idText]byte
	text := next.Append(id[:0])
	b := appendHead(appendHead(buf[:0], '*', 3), '$', len(text))
	b = append(append(b, text...), '\r', '\n')
	c.Insert(at, appendHead(b, '*', n))
}

// parseAuto reads the arguments of XAUTOCLAIM. It replies with Redis's errors and reports false if
// they are wrong.
func (cl *claim) parseAuto(c *engine.Ctx) (count int64, from stream.ID, ok bool) {
	cl.time, cl.count, count = c.Now, -1, autoClaim
	if cl.minIdle, ok = minIdleArg(c, "ERR Invalid min-idle-time argument for XAUTOCLAIM"); !ok {
		return 0, from, false
	}
	if from, ok = streamStartArg(c, c.Args[5]); !ok {
		return 0, from, false
	}
	for args := c.Args[6:]; len(args) > 0; args = args[1:] {
		switch {
		case is(args[0], "count") && len(args) > 1:
			args = args[1:]
			count, ok = rangeArg(c, args[0], 1, math.MaxInt64/stream.IDLen, "ERR COUNT must be > 0")
			if !ok {
				return 0, from, false
			}
		case is(args[0], "justid"):
			cl.justID = true
		default:
			c.Err(engine.ErrSyntax)
			return 0, from, false
		}
	}
	if count > maxAutoClaim {
		c.Err("ERR Insufficient memory, failed allocating transient memory, COUNT too high.")
		return 0, from, false
	}
	return count, from, true
}

// maxAutoClaim is the largest COUNT of XAUTOCLAIM. More IDs do not fit into an address space.
const maxAutoClaim = 1 << 47 / stream.IDLen
