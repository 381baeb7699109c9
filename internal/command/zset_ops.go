package command

import (
	"godwit/internal/engine"
	"godwit/internal/object"
)

var _ = family(zsetOpHandlers)

func zsetOpHandlers() engine.Handlers {
	return engine.Handlers{
		"zunion":      func(c *engine.Ctx) { zsetOpReply(c, zsetUnion) },
		"zinter":      func(c *engine.Ctx) { zsetOpReply(c, zsetInter) },
		"zdiff":       func(c *engine.Ctx) { zsetOpReply(c, zsetDiff) },
		"zunionstore": func(c *engine.Ctx) { zsetOpStore(c, zsetUnion, "zunionstore") },
		"zinterstore": func(c *engine.Ctx) { zsetOpStore(c, zsetInter, "zinterstore") },
		"zdiffstore":  func(c *engine.Ctx) { zsetOpStore(c, zsetDiff, "zdiffstore") },
		"zintercard":  zintercardCmd,
	}
}

// zsetOp is an operation on several sorted sets.
type zsetOp uint8

const (
	zsetUnion zsetOp = iota
	zsetInter
	zsetDiff
)

// aggregate says how the scores of a member in several sources are combined.
type aggregate uint8

const (
	aggregateSum aggregate = iota
	aggregateMin
	aggregateMax
	aggregateCount // The number of sources, or the sum of their weights.
)

var aggregateNames = [...]string{"sum", "min", "max", "count"}

// of combines the score of one more source with have, the result of the sources before it.
func (a aggregate) of(have, score float64) float64 {
	switch a {
	case aggregateMin:
		if score < have {
			return score
		}
		return have
	case aggregateMax:
		if score > have {
			return score
		}
		return have
	}
	return number(have + score)
}

// weigh returns what a source adds for a member that has the given score there.
func (o *zsetOpCall) weigh(s *zsetSource, score float64) float64 {
	if o.agg == aggregateCount {
		return s.weight
	}
	return s.weight * score
}

// number returns f, or 0 if f is not a number: inf-inf and 0*inf count as 0.
func number(f float64) float64 {
	if f != f {
		return 0
	}
	return f
}

// zsetSource is one input of an operation. It is a sorted set, a set, whose members all have score
// 1, or a missing key.
type zsetSource struct {
	entry  object.Entry
	edit   object.Edit
	n      int // The number of members.
	weight float64
}

// zsetOpCall is a call of one of these commands.
type zsetOpCall struct {
	op         zsetOp
	sources    []zsetSource
	agg        aggregate
	withScores bool
	limit      int64 // LIMIT of ZINTERCARD. 0: none.
}

// These say which options a command of the family takes.
const (
	takesScores = 1 << iota
	takesLimit
)

// parse reads the arguments from numkeys on and looks the keys up. It replies with an error and
// reports false if they are wrong. It checks types before options, as Redis does.
func (o *zsetOpCall) parse(c *engine.Ctx, args [][]byte, takes int) bool {
	numkeys, ok := intArg(c, args[0])
	if !ok {
		return false
	}
	if numkeys < 1 {
		c.Err("ERR at least 1 input key is needed for '" + c.Cmd.FullName() + "' command")
		return false
	}
	if numkeys > int64(len(args)-1) {
		c.Err(engine.ErrSyntax)
		return false
	}
	args = args[1:]
	o.sources = make([]zsetSource, numkeys)
	ahead := c.DB.Lookahead(args[:numkeys], 1)
	for i := range o.sources {
		ahead.Reach(i)
		s := &o.sources[i]
		s.entry, s.weight = c.DB.LookupRead(args[i]), 1
		if s.entry.Exists() && s.entry.Type() != object.ZSet && s.entry.Type() != object.Set {
			c.Err(engine.ErrWrongType)
			return false
		}
	}
	if !o.parseOptions(c, args[numkeys:], takes) {
		return false
	}
	for i := range o.sources {
		o.sources[i].open(c)
	}
	return true
}

func (o *zsetOpCall) parseOptions(c *engine.Ctx, args [][]byte, takes int) bool {
	weighs := o.op != zsetDiff && takes&takesLimit == 0
	for len(args) > 0 {
		used := 1
		switch {
		case weighs && len(args) > len(o.sources) && is(args[0], "weights"):
			if !o.parseWeights(c, args[1:]) {
				return false
			}
			used += len(o.sources)
		case weighs && len(args) > 1 && is(args[0], "aggregate"):
			if !o.parseAggregate(c, args[1]) {
				return false
			}
			used = 2
		case takes&takesScores != 0 && is(args[0], "withscores"):
			o.withScores = true
		case takes&takesLimit != 0 && len(args) > 1 && is(args[0], "limit"):
			n, ok := object.ParseInt(args[1])
			if !ok || n < 0 {
				c.Err("ERR LIMIT can't be negative")
				return false
			}
			o.limit = n
			used = 2
		default:
			c.Err(engine.ErrSyntax)
			return false
		}
		args = args[used:]
	}
	return true
}

func (o *zsetOpCall) parseWeights(c *engine.Ctx, args [][]byte) bool {
	for i := range o.sources {
		w, ok := object.ParseScore(args[i])
		if !ok {
			c.Err("ERR weight value is not a float")
			return false
		}
		o.sources[i].weight = w
	}
	return true
}

func (o *zsetOpCall) parseAggregate(c *engine.Ctx, arg []byte) bool {
	for a, name := range aggregateNames {
		if is(arg, name) {
			o.agg = aggregate(a)
			return true
		}
	}
	c.Err(engine.ErrSyntax)
	return false
}
