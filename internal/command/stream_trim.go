package command

import (
	"godwit/internal/engine"
	"godwit/internal/keyspace"
	"godwit/internal/object"
	"godwit/internal/stream"
)

// streamOptions are the options of XADD and XTRIM, and the ID of XADD.
type streamOptions struct {
	trim  trimStrategy
	bound stream.Trim
	limit int64
	refs  refPolicy
	optionPlaces
	noStream bool // NOMKSTREAM
	idmp     idmpArgs

	idAt    int // the index in Args of the ID, or their number
	id      stream.ID
	auto    bool // "*"
	autoSeq bool // "ms-*"
}

// optionPlaces are the indexes in Args of options, 0 for those that are not there.
type optionPlaces struct {
	trimAt  int // of MAXLEN or MINID
	at      int // of the bound
	limitAt int // of LIMIT
	refsAt  int // of KEEPREF, DELREF or ACKED
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
		o.limitAt = i
		return 2, true
	case o.refs.parse(arg):
		o.refsAt = i
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
	o.trim, o.trimAt, o.at = s, i, i+1
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
	case o.limitAt > 0 && !o.bound.Approx:
		c.Err(errLimitApprox)
	case o.idmp.used() && !o.auto && o.idAt < len(c.Args):
		c.Err(errIDMPAuto)
	default:
		o.bound.Limit = int(o.limit)
		if o.bound.Approx && o.limitAt == 0 {
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

// apply trims the stream. It returns the number of entries that it has removed, and what else there
// is to propagate.
func (o *streamOptions) apply(c *engine.Ctx, s *stream.Stream) (n int, effects refEffects) {
	if o.trim == trimNone {
		return 0, effects
	}
	t := o.bound
	t.Refs = o.refs.refs()
	if t.Refs == stream.RefsStay || !c.Propagating() {
		return s.Trim(t), effects
	}
	f := &refEffects{on: true}
	t.Dropped, t.Removed = f.drop, f.remove
	n = s.Trim(t)
	return n, *f
}

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
	n, effects := o.apply(c, s)
	if n > 0 {
		c.Changed(key)
		c.Notify(keyspace.EvStream, "xtrim", key)
		c.Dirty(n)
		o.propagate(c, r, s, &effects)
	}
	c.Int(int64(n))
}
