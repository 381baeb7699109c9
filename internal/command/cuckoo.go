package command

import (
	"strconv"

	"godwit/internal/cuckoo"
	"godwit/internal/engine"
	"godwit/internal/object"
)

// The CF commands reply as RedisBloom's do, also with errors that lack the word ERR.

var _ = family(cuckooHandlers)

func cuckooHandlers() engine.Handlers {
	return engine.Handlers{
		"cf.reserve":   cfReserveCmd,
		"cf.add":       func(c *engine.Ctx) { cfAddCmd(c, false) },
		"cf.addnx":     func(c *engine.Ctx) { cfAddCmd(c, true) },
		"cf.insert":    func(c *engine.Ctx) { cfInsertCmd(c, false) },
		"cf.insertnx":  func(c *engine.Ctx) { cfInsertCmd(c, true) },
		"cf.del":       cfDelCmd,
		"cf.compact":   cfCompactCmd,
		"cf.exists":    cfExistsCmd,
		"cf.mexists":   cfMexistsCmd,
		"cf.count":     cfCountCmd,
		"cf.info":      cfInfoCmd,
		"cf.debug":     cfDebugCmd,
		"cf.scandump":  cfScandumpCmd,
		"cf.loadchunk": cfLoadchunkCmd,
	}
}

// cfMaxCapacity is the largest capacity of a filter.
const cfMaxCapacity = 1 << 30

const errNoMemory = "ERR Insufficient memory to create filter"

// cfOptions are the parameters of a new filter.
type cfOptions struct {
	capacity, bucketSize, maxIterations, expansion int64
}

// cfDefaults returns the parameters that the configuration sets.
func cfDefaults(c *engine.Ctx) cfOptions {
	cfg := c.E.Cfg
	return cfOptions{max(cfg.CFInitialSize, 2*cfg.CFBucketSize), cfg.CFBucketSize,
		cfg.CFMaxIterations, cfg.CFExpansionFactor}
}

func cfReserveCmd(c *engine.Ctx) {
	if len(c.Args)%2 == 0 {
		c.WrongArity()
		return
	}
	o := cfDefaults(c)
	var ok bool
	if o.capacity, ok = object.ParseInt(c.Args[2]); !ok {
		c.Err("Bad capacity")
		return
	}
	// The options are checked in RedisBloom's order.
	if !cfOption(c, "MAXITERATIONS", &o.maxIterations, 1, cuckoo.MaxMaxIterations) ||
		!cfOption(c, "BUCKETSIZE", &o.bucketSize, 1, cuckoo.MaxBucketSize) ||
		!cfOption(c, "EXPANSION", &o.expansion, 0, cuckoo.MaxExpansion) {
		return
	}
	if o.capacity < 2*o.bucketSize || o.capacity > cfMaxCapacity {
		c.Err("Capacity must be in the range [2 * BUCKETSIZE, 1073741824]")
		return
	}
	x, ok := openWrite(c, c.Args[1], object.TypeCuckoo)
	switch {
	case !ok:
	case x != nil:
		c.Err("ERR item exists")
	case o.create(c, c.Args[1]) != nil:
		o.propagate(c)
		c.Dirty(1)
		c.OK()
	}
}

// cfOption reads an option of CF.RESERVE if it is given. It skips what RESERVE does not know.
func cfOption(c *engine.Ctx, name string, to *int64, low, high int64) bool {
	for i := 3; i+1 < len(c.Args); i += 2 {
		if !isUpper(c.Args[i], name) {
			continue
		}
		n, ok := object.ParseInt(c.Args[i+1])
		switch {
		case !ok:
			c.Err("Couldn't parse " + name)
			return false
		case n < low || n > high:
			c.Err(name + ": value must be in the range [" + strconv.FormatInt(low, 10) + ", " +
				strconv.FormatInt(high, 10) + "]")
			return false
		}
		*to = n
		return true
	}
	return true
}

// create makes an empty filter at key, which must be absent. It replies with the error and returns
// nil if memory is short.
func (o *cfOptions) create(c *engine.Ctx, key []byte) *object.Sketch {
	f := cuckoo.Filter{BucketSize: uint16(o.bucketSize), MaxIterations: uint16(o.maxIterations)}
	f.Buckets, f.Expansion = cuckoo.Geometry(uint64(o.capacity), f.BucketSize, uint16(o.expansion))
	return storeCuckoo(c, key, f, 1)
}

// storeCuckoo makes a filter of n empty sub-filters at key, which must be absent. It replies with
// the error and returns nil if memory is short.
func storeCuckoo(c *engine.Ctx, key []byte, f cuckoo.Filter, n uint64) *object.Sketch {
	bytes, ok := f.TotalBytes(n)
	if !ok || !c.E.Fits(uint64(bytes)) {
		c.Err(errNoMemory)
		return nil
	}
	s := object.NewSketch(c.E.KS.Heap, cuckoo.HeadSize)
	f.Mem = s
	for range n {
		f.Grow()
	}
	f.PutHead(s.Head())
	c.DB.CreateSketch(key, object.TypeCuckoo, s)
	c.Changed(key)
	return s
}

// propagate sends the command that makes the filter. It names every option, because the defaults
// may differ where the command is replayed.
func (o *cfOptions) propagate(c *engine.Ctx) {
	num := func(n int64) []byte { return strconv.AppendInt(nil, n, 10) }
	c.PropagateAs([]byte("CF.RESERVE"), c.Args[1], num(o.capacity),
		[]byte("BUCKETSIZE"), num(o.bucketSize),
		[]byte("MAXITERATIONS"), num(o.maxIterations), []byte("EXPANSION"), num(o.expansion))
}

// openCuckoo returns the filter in a sketch. After a change, the caller must put it back with
// PutHead.
func openCuckoo(c *engine.Ctx, s *object.Sketch) cuckoo.Filter {
	f, _ := cuckoo.ParseHead(s.Head())
	f.Mem, f.Limit = s, c.E
	return f
}

// target opens the filter that a command adds items to, or creates it. It returns nil if it has
// replied with an error.
func (o *cfOptions) target(c *engine.Ctx, items [][]byte, unique, create bool) *object.Sketch {
	x, ok := openWrite(c, c.Args[1], object.TypeCuckoo)
	var s *object.Sketch
	switch {
	case !ok:
		return nil
	case x != nil:
		s = x.ChangingSketch()
	case !create:
		c.Err(errNotFound)
		return nil
	default:
		if s = o.create(c, c.Args[1]); s == nil {
			return nil
		}
		c.Dirty(1)
		o.propagate(c)
	}
	// A command that was accepted once is not refused when it is replayed.
	if s.Blocks() >= int(c.E.Cfg.CFMaxExpansions) && !c.Obeyed() {
		c.Err("Maximum expansions reached")
		return nil
	}
	if len(c.Args) > 3 || x == nil { // Without options, which a replica might refuse.
		name := "CF.INSERT"
		if unique {
			name = "CF.INSERTNX"
		}
		c.PropagateAs(append([][]byte{
			[]byte(name), c.Args[1], []byte("NOCREATE"), []byte("ITEMS"),
		}, items...)...)
	}
	return s
}

// cfInsert adds an item.
func cfInsert(c *engine.Ctx, f *cuckoo.Filter, item []byte, unique bool) cuckoo.Result {
	r := cuckoo.Exists
	if unique {
		r = f.InsertUnique(item)
	} else {
		r = f.Insert(item)
	}
	if r == cuckoo.Inserted {
		c.Dirty(1)
		c.Changed(c.Args[1])
	}
	return r
}

func cfAddCmd(c *engine.Ctx, unique bool) {
	o := cfDefaults(c)
	s := o.target(c, c.Args[2:], unique, true)
	if s == nil {
		return
	}
	f := openCuckoo(c, s)
	switch r := cfInsert(c, &f, c.Args[2], unique); r {
	case cuckoo.Full:
		c.Err("Filter is full")
	case cuckoo.NoMemory:
		c.Err("Insufficient memory")
	default:
		c.Bool(r == cuckoo.Inserted)
	}
	f.PutHead(s.Head())
}

func cfInsertCmd(c *engine.Ctx, unique bool) {
	o := cfDefaults(c)
	items, create, ok := o.parseInsert(c)
	if !ok {
		return
	}
	s := o.target(c, items, unique, create)
	if s == nil {
		return
	}
	f := openCuckoo(c, s)
	c.Array(len(items))
	for _, item := range items {
		switch r := cfInsert(c, &f, item, unique); {
		case r < 0:
			c.Int(-1)
		case unique: // Alone among the CF commands, this one says no with a number.
			c.Int(int64(r))
		default:
			c.Bool(r == cuckoo.Inserted)
		}
	}
	f.PutHead(s.Head())
}

// parseInsert reads the arguments of CF.INSERT.
func (o *cfOptions) parseInsert(c *engine.Ctx) (items [][]byte, create, ok bool) {
	create = true
	for i := 2; i < len(c.Args); i++ {
		switch a := c.Args[i]; {
		case is(a, "items"):
			if items = c.Args[i+1:]; len(items) == 0 {
				c.WrongArity()
				return nil, false, false
			}
			return items, create, true
		case is(a, "nocreate"):
			create = false
		case is(a, "capacity"):
			if i++; i == len(c.Args) {
				c.WrongArity()
				return nil, false, false
			}
			if o.capacity, ok = object.ParseInt(c.Args[i]); !ok {
				c.Err("Bad capacity")
				return nil, false, false
			}
			if o.capacity < 2*o.bucketSize || o.capacity > cfMaxCapacity {
				c.Err("Capacity must be in the range [cf-bucket-size * 2, 1073741824]")
				return nil, false, false
			}
		default:
			c.Err("Unknown argument received")
			return nil, false, false
		}
	}
	c.WrongArity()
	return nil, false, false
}

// cuckooToChange opens the filter at the first argument for a change. It replies with the error
// missing and returns nil if the key is absent or holds another type.
func cuckooToChange(c *engine.Ctx, missing string) *object.Sketch {
	e := c.DB.Lookup(c.Args[1])
	if !e.Exists() || e.Type() != object.TypeCuckoo {
		c.Err(missing)
		return nil
	}
	return c.DB.Open(e).ChangingSketch()
}

func cfDelCmd(c *engine.Ctx) {
	s := cuckooToChange(c, "Not found")
	if s == nil {
		return
	}
	f := openCuckoo(c, s)
	deleted := f.Delete(c.Args[2])
	if deleted {
		f.PutHead(s.Head())
		c.Changed(c.Args[1])
		c.Dirty(1)
	}
	c.Bool(deleted)
}

func cfCompactCmd(c *engine.Ctx) {
	s := cuckooToChange(c, "Cuckoo filter was not found")
	if s == nil {
		return
	}
	f := openCuckoo(c, s)
	f.Compact()
	f.PutHead(s.Head())
	c.Changed(c.Args[1])
	c.Dirty(1)
	c.OK()
}
