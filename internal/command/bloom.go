package command

import (
	"slices"

	"godwit/internal/bloom"
	"godwit/internal/engine"
	"godwit/internal/object"
)

// The BF commands reply as RedisBloom's do, also with errors that lack the word ERR.

var _ = family(bloomHandlers)

func bloomHandlers() engine.Handlers {
	return engine.Handlers{
		"bf.reserve":   bfReserveCmd,
		"bf.add":       bfAddCmd,
		"bf.madd":      bfMaddCmd,
		"bf.insert":    bfInsertCmd,
		"bf.exists":    bfExistsCmd,
		"bf.mexists":   bfMexistsCmd,
		"bf.card":      bfCardCmd,
		"bf.info":      bfInfoCmd,
		"bf.debug":     bfDebugCmd,
		"bf.scandump":  bfScandumpCmd,
		"bf.loadchunk": bfLoadchunkCmd,
	}
}

// These are the bounds of the parameters of a filter.
const (
	bfMaxCapacity  = 1 << 30
	bfMaxExpansion = 32768
)

const errNotFound = "ERR not found"

// bfOptions are the parameters of a new filter. It does not grow if expansion is 0 or nonscaling is
// set.
type bfOptions struct {
	rate       float64
	capacity   int64
	expansion  int64
	nonscaling bool
}

// bfDefaults returns the parameters that the configuration sets.
func bfDefaults(c *engine.Ctx) bfOptions {
	cfg := c.E.Cfg
	return bfOptions{cfg.BFErrorRate, cfg.BFInitialSize, cfg.BFExpansionFactor,
		cfg.BFExpansionFactor == 0}
}

func validRate(f float64) bool { return f > 0 && f < 1 }

func bfReserveCmd(c *engine.Ctx) {
	if len(c.Args) > 7 {
		c.WrongArity()
		return
	}
	o, ok := parseReserve(c)
	if !ok {
		return
	}
	key := c.Args[1]
	x, ok := openWrite(c, key, object.TypeBloom)
	if !ok {
		return
	}
	if x != nil {
		c.Err("ERR item exists")
		return
	}
	if x := o.create(c, key); x != nil {
		c.Dirty(1)
		c.OK()
	}
}

// parseReserve reads the arguments of BF.RESERVE in RedisBloom's order. It skips what it does not
// know.
func parseReserve(c *engine.Ctx) (o bfOptions, ok bool) {
	o = bfDefaults(c)
	if o.rate, ok = object.ParseScore(c.Args[2]); !ok {
		c.Err("ERR bad error rate")
		return o, false
	}
	if !validRate(o.rate) {
		c.Err("ERR error rate must be in the range (0.000000, 1.000000)")
		return o, false
	}
	if o.capacity, ok = object.ParseInt(c.Args[3]); !ok {
		c.Err("ERR bad capacity")
		return o, false
	}
	if o.capacity < 1 || o.capacity > bfMaxCapacity {
		c.Err("ERR capacity must be in the range [1, 1073741824]")
		return o, false
	}
	rest := c.Args[4:]
	named := func(token string) int {
		return slices.IndexFunc(rest, func(a []byte) bool { return is(a, token) })
	}
	if named("nonscaling") >= 0 {
		o.nonscaling = true
	}
	at := named("expansion")
	if at < 0 {
		return o, true
	}
	if at+1 == len(rest) {
		c.Err("ERR no expansion")
		return o, false
	}
	return o, o.parseExpansion(c, rest[at+1])
}

func (o *bfOptions) parseExpansion(c *engine.Ctx, arg []byte) (ok bool) {
	o.expansion, ok = object.ParseInt(arg)
	switch {
	case !ok:
		c.Err("ERR bad expansion")
	case o.expansion == 0:
		o.nonscaling = true
	case o.nonscaling:
		c.Err("Nonscaling filters cannot expand")
		ok = false
	case o.expansion < 0 || o.expansion > bfMaxExpansion:
		c.Err("ERR expansion must be in the range [0, 32768]")
		ok = false
	}
	return ok
}

// create makes an empty filter at key, which must be absent, and propagates that. It replies with
// the error and returns nil if it cannot.
// It propagates the header, as BF.LOADCHUNK key 1 header. A BF.RESERVE could make another filter
// where it is replayed: the defaults there, and the way in which filters are sized, may differ.
func (o *bfOptions) create(c *engine.Ctx, key []byte) *object.Edit {
	p := bloom.Params{Error: o.rate, Capacity: uint64(o.capacity), Growth: uint32(o.expansion),
		Murmur64A: c.E.Cfg.BFHash == "murmur64a"}
	if o.nonscaling {
		p.Growth = 0
	}
	head, err := bloom.NewHeader(p)
	if err != nil {
		c.Err("ERR could not create filter")
		return nil
	}
	x := storeFilter(c, key, head)
	if x != nil {
		c.PropagateAs([]byte("BF.LOADCHUNK"), key, []byte("1"), head)
	}
	return x
}

// storeFilter makes a filter from a checked header, with all bits zero. It replies with the error
// and returns nil if memory is short.
func storeFilter(c *engine.Ctx, key, head []byte) *object.Edit {
	if !c.E.Fits(bloom.Bytes(head)) {
		c.Err("ERR Insufficient memory to create filter")
		return nil
	}
	s := object.NewSketch(c.E.KS.Heap, len(head))
	copy(s.Head(), head)
	bloom.Init(s)
	x := c.DB.CreateSketch(key, object.TypeBloom, s)
	c.Changed(key)
	return x
}

func bfAddCmd(c *engine.Ctx) {
	o := bfDefaults(c)
	if x := o.target(c, c.Args[2:], true); x != nil {
		bfAdd(c, x, c.Args[2])
	}
}

func bfMaddCmd(c *engine.Ctx) {
	o := bfDefaults(c)
	o.addAll(c, c.Args[2:], true)
}

func bfInsertCmd(c *engine.Ctx) {
	o := bfDefaults(c)
	create := true
	for i := 2; i < len(c.Args); i++ {
		more := i+1 < len(c.Args)
		switch a := c.Args[i]; {
		case is(a, "items"):
			if !more {
				c.WrongArity()
				return
			}
			o.nonscaling = o.nonscaling || o.expansion == 0
			o.addAll(c, c.Args[i+1:], create)
			return
		case is(a, "nocreate"):
			create = false
		case is(a, "nonscaling"):
			o.nonscaling = true
		case is(a, "error"), is(a, "expansion"), is(a, "capacity"):
			if i++; !more {
				c.WrongArity()
				return
			}
			if !o.insertOption(c, a, c.Args[i]) {
				return
			}
		default:
			c.Err("Unknown argument received")
			return
		}
	}
	c.WrongArity()
}

// insertOption reads an option of BF.INSERT.
func (o *bfOptions) insertOption(c *engine.Ctx, name, arg []byte) (ok bool) {
	bad := ""
	switch {
	case is(name, "error"):
		o.rate, ok = object.ParseScore(arg)
		ok, bad = ok && validRate(o.rate), "Bad error rate"
	case is(name, "expansion"):
		o.expansion, ok = object.ParseInt(arg)
		ok, bad = ok && 0 <= o.expansion && o.expansion <= bfMaxExpansion, "Bad expansion"
	default:
		o.capacity, ok = object.ParseInt(arg)
		ok, bad = ok && 1 <= o.capacity && o.capacity <= bfMaxCapacity, "Bad capacity"
	}
	if !ok {
		c.Err(bad)
	}
	return ok
}

// target opens the filter that a command adds items to, or creates it. It returns nil if it has
// replied with an error. If it has created the filter, the items propagate as a command without
// options.
func (o *bfOptions) target(c *engine.Ctx, items [][]byte, create bool) *object.Edit {
	key := c.Args[1]
	x, ok := openWrite(c, key, object.TypeBloom)
	switch {
	case !ok || x != nil:
		return x
	case !create:
		c.Err(errNotFound)
		return nil
	}
	if x = o.create(c, key); x != nil {
		c.PropagateAs(append([][]byte{[]byte("BF.MADD"), key}, items...)...)
	}
	return x
}

// addAll adds the items, the last arguments of the command, and replies with an array. It stops
// when the filter is full.
func (o *bfOptions) addAll(c *engine.Ctx, items [][]byte, create bool) {
	x := o.target(c, items, create)
	if x == nil {
		return
	}
	at, n := c.Mark(), 0
	for n < len(items) {
		n++
		if !bfAdd(c, x, items[n-1]) {
			break
		}
	}
	countedArray(c, at, n)
}
