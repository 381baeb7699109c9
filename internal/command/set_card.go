package command

import (
	"godwit/internal/engine"
	"godwit/internal/hll"
	"godwit/internal/listpack"
	"godwit/internal/object"
)

// setCard is a call of SINTERCARD, SUNIONCARD or SDIFFCARD.
type setCard struct {
	keys   [][]byte
	limit  int64 // 0: none.
	approx bool
}

// parse reads the arguments and replies with Redis's errors. approx says whether the command takes
// APPROX.
func (s *setCard) parse(c *engine.Ctx, approx bool) bool {
	numkeys, ok := object.ParseInt(c.Args[1])
	if !ok || numkeys < 1 {
		c.Err("ERR numkeys should be greater than 0")
		return false
	}
	if numkeys > int64(len(c.Args)-2) {
		c.Err("ERR Number of keys can't be greater than number of args")
		return false
	}
	s.keys = c.Args[2 : 2+numkeys]
	for rest := c.Args[2+numkeys:]; len(rest) > 0; {
		switch {
		case approx && is(rest[0], "approx"):
			s.approx = true
			rest = rest[1:]
		case len(rest) > 1 && is(rest[0], "limit"):
			if s.limit, ok = object.ParseInt(rest[1]); !ok || s.limit < 0 {
				c.Err("ERR LIMIT can't be negative")
				return false
			}
			rest = rest[2:]
		default:
			c.Err(engine.ErrSyntax)
			return false
		}
	}
	return true
}

// setCardCmd replies with how many members the result of the operation has. It stops to count at
// the limit.
func setCardCmd(c *engine.Ctx, op setOp) {
	var s setCard
	if !s.parse(c, op == opUnion) {
		return
	}
	sets, ok := openSets(c, s.keys)
	if !ok {
		return
	}
	sets = op.present(sets)
	if s.approx && len(sets) > 1 {
		c.Int(s.estimate(sets))
		return
	}
	n := int64(0)
	op.run(sets, func(listpack.Value) bool {
		n++
		return n != s.limit
	})
	c.Int(n)
}

// estimate estimates the number of members in the union with a HyperLogLog.
func (s *setCard) estimate(sets []object.Members) int64 {
	var u hll.Union
	var digits [20]byte
	for _, set := range sets {
		set.Each(func(v listpack.Value) bool {
			u.AddElement(valueText(v, &digits))
			return true
		})
	}
	n := int64(u.Count())
	if s.limit > 0 {
		n = min(n, s.limit)
	}
	return n
}
