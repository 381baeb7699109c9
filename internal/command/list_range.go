package command

import (
	"math"

	"godwit/internal/engine"
	"godwit/internal/keyspace"
	"godwit/internal/listpack"
	"godwit/internal/object"
)

// listSpan converts the arguments start and stop to the first index and the number of elements, in
// a list of size elements.
func listSpan(start, stop int64, size int) (first, n int) {
	length := int64(size)
	if start < 0 {
		start = max(start+length, 0)
	}
	if stop < 0 {
		stop += length
	}
	stop = min(stop, length-1)
	if start > stop {
		return 0, 0
	}
	return int(start), int(stop - start + 1)
}

// spanArgs reads the arguments start and stop.
func spanArgs(c *engine.Ctx) (start, stop int64, ok bool) {
	if start, ok = intArg(c, c.Args[2]); !ok {
		return
	}
	stop, ok = intArg(c, c.Args[3])
	return
}

func lrangeCmd(c *engine.Ctx) {
	start, stop, ok := spanArgs(c)
	if !ok {
		return
	}
	l, ok := readList(c, c.Args[1])
	if !ok {
		return
	}
	if l.Edit == nil {
		c.Array(0)
		return
	}
	first, n := listSpan(start, stop, l.Len())
	replyRange(c, l, first, n, false)
}

func ltrimCmd(c *engine.Ctx) {
	start, stop, ok := spanArgs(c)
	if !ok {
		return
	}
	key := c.Args[1]
	l, ok := openList(c, key)
	if !ok {
		return
	}
	if l.Edit == nil {
		c.OK()
		return
	}
	size := l.Len()
	first, n := listSpan(start, stop, size)
	if n == 0 {
		first = size
	}
	l.DeleteRange(first+n, size-first-n)
	l.DeleteRange(0, first)
	c.Notify(keyspace.EvList, "ltrim", key)
	removedFrom(c, l, key)
	c.Changed(key)
	c.Dirty(size - n)
	c.OK()
}

// posOptions are the options of LPOS.
type posOptions struct {
	rank   int64 // The first match to return. A negative one counts from the end.
	count  int64 // The number of matches to return, 0 for all, -1 if not given.
	maxlen int64 // The number of elements to compare, 0 for all.
}

func (o *posOptions) parse(c *engine.Ctx, args [][]byte) bool {
	o.rank, o.count = 1, -1
	for i := 0; i < len(args); i += 2 {
		if i+1 == len(args) {
			c.Err(engine.ErrSyntax)
			return false
		}
		var ok bool
		switch arg := args[i+1]; {
		case is(args[i], "rank"):
			if o.rank, ok = signedArg(c, arg); !ok {
				return false
			}
			if o.rank == 0 {
				c.Err("ERR RANK can't be zero: use 1 to start from the first match, 2 from the " +
					"second ... or use negative to start from the end of the list")
				return false
			}
		case is(args[i], "count"):
			if o.count, ok = rangeArg(c, arg, 0, math.MaxInt64,
				"ERR COUNT can't be negative"); !ok {
				return false
			}
		case is(args[i], "maxlen"):
			if o.maxlen, ok = rangeArg(c, arg, 0, math.MaxInt64,
				"ERR MAXLEN can't be negative"); !ok {
				return false
			}
		default:
			c.Err(engine.ErrSyntax)
			return false
		}
	}
	return true
}

func lposCmd(c *engine.Ctx) {
	var o posOptions
	if !o.parse(c, c.Args[3:]) {
		return
	}
	l, ok := readList(c, c.Args[1])
	switch {
	case !ok:
	case l.Edit == nil && o.count >= 0:
		c.Array(0)
	case l.Edit == nil:
		c.Null()
	case o.rank > 0 && o.maxlen == 0:
		lposAhead(c, l, c.Args[2], &o)
	default:
		lpos(c, l, c.Args[2], &o)
	}
}

// lposAhead is lpos for the whole list from its head on. It searches node by node.
func lposAhead(c *engine.Ctx, l object.Elements, elem []byte, o *posOptions) {
	var few [4]int
	found := few[:0]
	i, skip := 0, o.rank-1 // i: elements before pos
	it := l.Iter(0, false)
	match := func(i int) (enough bool) {
		if skip > 0 {
			skip--
			return false
		}
		found = append(found, i)
		return o.count < 0 || int64(len(found)) == o.count
	}
	for size := l.Len(); i < size; {
		lp, pos := it.Chunk()
		if pos == 0 { // an element with a node of its own
			if v, _ := it.Next(); v.Equal(elem) && match(i) {
				break
			}
			i++
			continue
		}
		// After an element with a node of its own, Next has taken the first one of this node.
		end := i + listpack.Count(lp) - listpack.Between(lp, listpack.First(lp), pos)
		for pos != 0 {
			at := listpack.Find(lp, pos, elem, 0)
			if at == 0 {
				break
			}
			i += listpack.Between(lp, pos, at)
			if match(i) {
				answerPositions(c, found, o)
				return
			}
			pos = listpack.Next(lp, at)
			i++
		}
		i = end
	}
	answerPositions(c, found, o)
}

// answerPositions replies with the indexes that LPOS has found.
func answerPositions(c *engine.Ctx, found []int, o *posOptions) {
	switch {
	case o.count >= 0:
		c.Array(len(found))
		for _, i := range found {
			c.Int(int64(i))
		}
	case len(found) > 0:
		c.Int(int64(found[0]))
	default:
		c.Null()
	}
}

func lpos(c *engine.Ctx, l object.Elements, elem []byte, o *posOptions) {
	size := l.Len()
	i, step, skip := 0, 1, o.rank-1
	if o.rank < 0 {
		i, step, skip = size-1, -1, -o.rank-1
		// Redis negates the rank, which overflows here: every match counts, without a limit.
		if o.rank == math.MinInt64 {
			skip, o.count = 0, min(o.count, 0)
		}
	}
	limit := int64(size)
	if o.maxlen > 0 {
		limit = min(limit, o.maxlen)
	}
	var found []int
	it := l.Iter(i, o.rank < 0)
	for ; limit > 0; limit-- {
		v, _ := it.Next()
		if v.Equal(elem) {
			if skip > 0 {
				skip--
			} else {
				found = append(found, i)
				if o.count < 0 || int64(len(found)) == o.count {
					break
				}
			}
		}
		i += step
	}
	answerPositions(c, found, o)
}
