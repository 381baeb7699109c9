package command

import (
	"math"

	"godwit/internal/engine"
	"godwit/internal/object"
	"godwit/internal/topk"
)

// The TOPK commands reply as RedisBloom's do, also with errors that lack the word ERR.

var _ = family(topkHandlers)

func topkHandlers() engine.Handlers {
	return engine.Handlers{
		"topk.reserve": topkReserveCmd,
		"topk.add":     topkAddCmd,
		"topk.incrby":  topkIncrbyCmd,
		"topk.query":   topkQueryCmd,
		"topk.count":   topkCountCmd,
		"topk.list":    topkListCmd,
		"topk.info":    topkInfoCmd,
	}
}

const errTopKMissing = "TopK: key does not exist"

func topkReserveCmd(c *engine.Ctx) {
	if len(c.Args) != 3 && len(c.Args) != 6 {
		c.WrongArity()
		return
	}
	key := c.Args[1]
	if c.DB.Lookup(key).Exists() {
		c.Err("TopK: key already exists")
		return
	}
	width, depth, decay := uint32(8), uint32(7), 0.9
	k, ok := topkSize(c, 2, "TopK: invalid k")
	if !ok {
		return
	}
	if len(c.Args) == 6 {
		if width, ok = topkSize(c, 3, "TopK: invalid width"); !ok {
			return
		}
		if depth, ok = topkSize(c, 4, "TopK: invalid depth"); !ok {
			return
		}
		if decay, ok = object.ParseScore(c.Args[5]); !ok || !(decay > 0 && decay <= 1) {
			c.Err("TopK: invalid decay value. must be '<= 1' & '> 0'")
			return
		}
	}
	head, buckets, ok := topk.Sizes(k, width, depth)
	if !ok || !c.E.Fits(uint64(head)+uint64(buckets)) {
		c.Err("ERR Insufficient memory to create topk data structure")
		return
	}
	s := object.NewSketch(c.E.KS.Heap, int(head))
	s.Append(int(buckets))
	topk.New(s, k, width, depth, decay)
	c.DB.CreateSketch(key, object.TypeTopK, s)
	c.Changed(key)
	c.Dirty(1)
	c.OK()
}

// topkSize reads argument i, a number from 1 to 2^32 − 1.
func topkSize(c *engine.Ctx, i int, wrong string) (uint32, bool) {
	n, ok := object.ParseInt(c.Args[i])
	if !ok || n < 1 || n > math.MaxUint32 {
		c.Err(wrong)
		return 0, false
	}
	return uint32(n), true
}

// changingTopK opens the list at the first argument for a change. It returns nil if it has replied
// with an error.
func changingTopK(c *engine.Ctx) *topk.List {
	x, ok := openWrite(c, c.Args[1], object.TypeTopK)
	if x = existing(c, x, ok, errTopKMissing); x == nil {
		return nil
	}
	return topk.Open(x.ChangingSketch())
}

// topkAdd adds an item n times. It replies with the item that drops out of the list, or null.
func topkAdd(c *engine.Ctx, l *topk.List, item []byte, n uint32) {
	var buf [64]byte
	if expelled, ok := l.Add(item, n, buf[:0]); ok {
		c.Bulk(expelled)
	} else {
		c.Null()
	}
}

func topkAddCmd(c *engine.Ctx) {
	l := changingTopK(c)
	if l == nil {
		return
	}
	items := c.Args[2:]
	c.Array(len(items))
	for _, item := range items {
		topkAdd(c, l, item, 1)
	}
	c.Changed(c.Args[1])
	c.Dirty(len(items))
}

// errTopKIncrement has the same spaces as RedisBloom's error.
const errTopKIncrement = "TopK: increment must be an integer greater or equal to 0               " +
	"             and smaller or equal to 100,000"

// topkIncrbyCmd applies the increments up to the first invalid one. The reply ends with the error
// for that one.
func topkIncrbyCmd(c *engine.Ctx) {
	if len(c.Args)%2 != 0 {
		c.WrongArity()
		return
	}
	l := changingTopK(c)
	if l == nil {
		return
	}
	pairs := c.Args[2:]
	good := 0
	for ; good < len(pairs); good += 2 {
		if n, ok := object.ParseInt(pairs[good+1]); !ok || n < 0 || n > topk.MaxIncrement {
			break
		}
	}
	replies := good / 2
	if good < len(pairs) {
		replies++
	}
	c.Array(replies)
	for i := 0; i < good; i += 2 {
		n, _ := object.ParseInt(pairs[i+1])
		topkAdd(c, l, pairs[i], uint32(n))
	}
	if good > 0 {
		c.PropagateAs(c.Args[:2+good]...)
		c.Changed(c.Args[1])
		c.Dirty(good / 2)
	}
	if good < len(pairs) {
		c.Err(errTopKIncrement)
	}
}

// readTopK opens the list at the first argument for reading. It returns nil if it has replied with
// an error.
func readTopK(c *engine.Ctx) *topk.List {
	x, ok := openRead(c, c.Args[1], object.TypeTopK)
	if x = existing(c, x, ok, errTopKMissing); x == nil {
		return nil
	}
	return topk.Open(x.Sketch())
}

func topkQueryCmd(c *engine.Ctx) {
	l := readTopK(c)
	if l == nil {
		return
	}
	c.Array(len(c.Args) - 2)
	for _, item := range c.Args[2:] {
		c.Bool(l.Has(item))
	}
}

func topkCountCmd(c *engine.Ctx) {
	l := readTopK(c)
	if l == nil {
		return
	}
	c.Array(len(c.Args) - 2)
	for _, item := range c.Args[2:] {
		c.Int(int64(l.Count(item)))
	}
}

func topkListCmd(c *engine.Ctx) {
	counts := len(c.Args) == 3
	switch {
	case len(c.Args) > 3:
		c.WrongArity()
		return
	case counts && !is(c.Args[2], "withcount"):
		c.Err("WITHCOUNT keyword expected")
		return
	}
	l := readTopK(c)
	if l == nil {
		return
	}
	items := l.List()
	if counts {
		c.Array(2 * len(items))
	} else {
		c.Array(len(items))
	}
	for _, it := range items {
		c.Bulk(it.Name)
		if counts {
			c.Int(int64(it.Count))
		}
	}
}

func topkInfoCmd(c *engine.Ctx) {
	l := readTopK(c)
	if l == nil {
		return
	}
	c.Map(4)
	for _, f := range []infoField{{"k", int64(l.K)}, {"width", int64(l.Width)},
		{"depth", int64(l.Depth)}} {
		c.Simple(f.name)
		c.Int(f.n)
	}
	c.Simple("decay")
	c.Double(l.Decay)
}
