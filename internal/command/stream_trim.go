package command

import (
	"strconv"

	"godwit/internal/engine"
	"godwit/internal/keyspace"
	"godwit/internal/object"
	"godwit/internal/stream"
)

// streamOptions are the options of XADD and XTRIM, and the ID of XADD.
type streamOptions struct {
	trim  trimStrategy
	bound stream.Trim
	at    int // the index in Args of the bound
	limit int64
	// limited says that there is a LIMIT.
	limited  bool
	refs     refPolicy
	noStream bool // NOMKSTREAM
	idmp     idmpArgs

	idAt    int // the index in Args of the ID, or their number
	id      stream.ID
	auto    bool // "*"
	autoSeq bool // "ms-*"
}

// trimStrategy says what bounds a stream.
type trimStrategy uint8

const (
	trimNone trimStrategy = iota
	trimMaxLen
	trimMinID
)

const (
	errTrimTwice = "ERR syntax error, MAXLEN and MINID options at the same time are not " +
		"compatible"
	errMaxLen        = "ERR The MAXLEN argument must be >= 0."
	errTrimLimit     = "ERR The LIMIT argument must be >= 0."
	errLimitStrategy = "ERR syntax error, LIMIT cannot be used without specifying a trimming " +
		"strategy"
	errNoStrategy  = "ERR syntax error, XTRIM must be called with a trimming strategy"
	errLimitApprox = "ERR syntax error, LIMIT cannot be used without the special ~ option"
)

// parse reads the options, and for XADD the ID that ends them. It replies with Redis's errors and
// reports false if they are wrong.
func (o *streamOptions) parse(c *engine.Ctx, add bool) bool {
	i := 2
	for ; i < len(c.Args); i++ {
		if add && len(c.Args[i]) == 1 && c.Args[i][0] == '*' {
			o.auto = true
			break
		}
		n, ok := o.option(c, i, add)
		if !ok {
			return false
		}
		if n > 0 {
			i += n - 1
			continue
		}
		if !add {
			c.Err(engine.ErrSyntax)
			return false
		}
		if !o.parseID(c, c.Args[i]) {
			return false
		}
		break
	}
	o.idAt = i
	return o.check(c, add)
}

// option reads the option that argument i begins and returns the number of its arguments, 0 if it
// is none.
func (o *streamOptions) option(c *engine.Ctx, i int, add bool) (n int, ok bool) {
	arg, more := c.Args[i], len(c.Args)-1-i
	switch {
	case more > 0 && is(arg, "maxlen"):
		return o.parseBound(c, i, trimMaxLen)
	case more > 0 && is(arg, "minid"):
		return o.parseBound(c, i, trimMinID)
	case more > 0 && is(arg, "limit"):
		if o.limit, ok = intArg(c, c.Args[i+1]); !ok {
			return 0, false
		}
		if o.limit < 0 {
			c.Err(errTrimLimit)
			return 0, false
		}
		o.limited = true
		return 2, true
	case o.refs.parse(arg):
		return 1, true
	case !add:
		return 0, true
	case is(arg, "nomkstream"):
		o.noStream = true
		return 1, true
	case more > 0 && is(arg, "idmpauto"):
		return o.idmp.parse(c, i, true)
	case more > 1 && is(arg, "idmp"):
		return o.idmp.parse(c, i, false)
	}
	return 0, true
}

// parseBound reads MAXLEN or MINID, which argument i is, with its operator and its bound.
func (o *streamOptions) parseBound(c *engine.Ctx, i int, s trimStrategy) (n int, ok bool) {
	if o.trim != trimNone {
		c.Err(errTrimTwice)
		return 0, false
	}
	o.trim, o.at = s, i+1
	if next := c.Args[i+1]; len(next) == 1 && i+2 < len(c.Args) {
		switch next[0] {
		case '~':
			o.bound.Approx = true
			o.at++
		case '=':
			o.at++
		}
	}
	o.bound.MaxLen = -1
	if s == trimMinID {
		o.bound.MinID, ok = streamIDArg(c, c.Args[o.at], 0)
		return o.at + 1 - i, ok
	}
	length, ok := intArg(c, c.Args[o.at])
	switch {
	case !ok:
		return 0, false
	case length < 0:
		c.Err(errMaxLen)
		return 0, false
	}
	o.bound.MaxLen = int(length)
	return o.at + 1 - i, true
}

// check holds the options against each other, and sets the limit.
func (o *streamOptions) check(c *engine.Ctx, add bool) bool {
	switch {
	case o.limit != 0 && o.trim == trimNone:
		c.Err(errLimitStrategy)
	case !add && o.trim == trimNone:
		c.Err(errNoStrategy)
	case c.Obeyed():
		return true // the bound is what trimming has reached where the command came from
	case o.limited && !o.bound.Approx:
		c.Err(errLimitApprox)
	case o.idmp.used() && !o.auto && o.idAt < len(c.Args):
		c.Err(errIDMPAuto)
	default:
		o.bound.Limit = int(o.limit)
		if o.bound.Approx && !o.limited {
			o.bound.Limit = trimLimit(c)
		}
		return true
	}
	return false
}

// trimLimit is the LIMIT of approximate trimming that has none: a hundred nodes.
func trimLimit(c *engine.Ctx) int {
	n := c.E.Cfg.StreamNodeMaxEntries
	if n <= 0 {
		n = 100
	}
	return int(100 * min(n, 10000))
}

// apply trims the stream and returns the number of entries that it has removed.
func (o *streamOptions) apply(s *stream.Stream) int {
	if o.trim == trimNone {
		return 0
	}
	t := o.bound
	t.Refs = o.refs.refs()
	return s.Trim(t)
}

// rewriter has room for the arguments that XADD and XTRIM are propagated with. It belongs to a
// table.
type rewriter struct {
	argv      [][]byte
	id, bound [idText]byte
}

// propagate sends the command as it is to be repeated elsewhere: with the ID id, if it has been
// chosen here, and with what approximate trimming has come to, because elsewhere the nodes may be
// others. With ACKED, entries before the bound may have stayed, and only the length tells how many
// have gone.
func (o *streamOptions) propagate(c *engine.Ctx, r *rewriter, s *stream.Stream, id stream.ID) {
	if !o.auto && !o.autoSeq && !o.bound.Approx || !c.Propagating() {
		return // as it came
	}
	r.argv = append(r.argv[:0], c.Args...)
	if o.auto || o.autoSeq {
		r.argv[o.idAt] = id.Append(r.id[:0])
	}
	if o.bound.Approx {
		o.rewriteBound(r, s)
	}
	c.PropagateEach(r.argv...)
	clear(r.argv)
	if cap(r.argv) > keptArgs {
		r.argv = nil
	}
}

// keptArgs bounds how many arguments a rewriter keeps room for.
const keptArgs = 1024

// rewriteBound puts the bound that trimming has come to among the arguments.
func (o *streamOptions) rewriteBound(r *rewriter, s *stream.Stream) {
	r.argv[o.at-1] = wordEqual
	if o.trim == trimMinID && o.refs != refsAcked {
		first := stream.MaxID
		if s.Len() > 0 {
			first = s.First()
		}
		r.argv[o.at] = first.Append(r.bound[:0])
		return
	}
	if o.trim == trimMinID {
		r.argv[o.at-2] = wordMaxLen
	}
	r.argv[o.at] = strconv.AppendInt(r.bound[:0], int64(s.Len()), 10)
}

var (
	wordEqual  = []byte("=")
	wordMaxLen = []byte("MAXLEN")
)

// xtrimCmd removes entries from the start of a stream.
func xtrimCmd(c *engine.Ctx, r *rewriter) {
	var o streamOptions
	if !o.parse(c, false) {
		return
	}
	key := c.Args[1]
	x, ok := openWrite(c, key, object.Stream)
	if !ok {
		return
	}
	if x == nil {
		c.Int(0)
		return
	}
	s := x.ChangingStream()
	n := o.apply(s)
	if n > 0 {
		c.Changed(key)
		c.Notify(keyspace.EvStream, "xtrim", key)
		c.Dirty(n)
		o.propagate(c, r, s, stream.ID{})
	}
	c.Int(int64(n))
}
