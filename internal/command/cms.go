package command

import (
	"slices"

	"godwit/internal/cms"
	"godwit/internal/engine"
	"godwit/internal/object"
)

// The CMS commands reply as RedisBloom's do, also with errors that lack the word ERR.

var _ = family(cmsHandlers)

func cmsHandlers() engine.Handlers {
	return engine.Handlers{
		"cms.initbydim":  func(c *engine.Ctx) { cmsInit(c, cmsByDim) },
		"cms.initbyprob": func(c *engine.Ctx) { cmsInit(c, cmsByProb) },
		"cms.incrby":     cmsIncrbyCmd,
		"cms.query":      cmsQueryCmd,
		"cms.merge":      cmsMergeCmd,
		"cms.info":       cmsInfoCmd,
	}
}

const (
	errCMSMissing   = "CMS: key does not exist"
	errCMSArguments = "CMS: invalid init arguments"
)

func cmsInit(c *engine.Ctx, size func(c *engine.Ctx) (width, depth uint64, ok bool)) {
	key := c.Args[1]
	if c.DB.Lookup(key).Exists() {
		c.Err("CMS: key already exists")
		return
	}
	width, depth, ok := size(c)
	if !ok {
		return
	}
	n, ok := cms.Bytes(width, depth)
	switch {
	case !ok:
		c.Err(errCMSArguments)
		return
	case !c.E.Fits(uint64(n)):
		c.Err("CMS: Insufficient memory to create the key")
		return
	}
	s := object.NewSketch(c.E.KS.Heap, cms.HeadSize)
	s.Append(int(n))
	k := cms.Sketch{Width: width, Depth: depth}
	k.PutHead(s.Head())
	c.DB.CreateSketch(key, object.TypeCMS, s)
	c.Changed(key)
	c.Dirty(1)
	c.OK()
}

// cmsByDim reads the size of a sketch. It reports false if it has replied with an error.
func cmsByDim(c *engine.Ctx) (width, depth uint64, ok bool) {
	w, ok := object.ParseInt(c.Args[2])
	if !ok || w < 1 {
		c.Err("CMS: invalid width")
		return 0, 0, false
	}
	d, ok := object.ParseInt(c.Args[3])
	if !ok || d < 1 {
		c.Err("CMS: invalid depth")
		return 0, 0, false
	}
	return uint64(w), uint64(d), true
}

// cmsByProb computes the size of a sketch from an error and a probability. It reports false if it
// has replied with an error.
func cmsByProb(c *engine.Ctx) (width, depth uint64, ok bool) {
	over, ok := object.ParseScore(c.Args[2])
	if !ok || !(over > 0 && over < 1) {
		c.Err("CMS: invalid overestimation value")
		return 0, 0, false
	}
	prob, ok := object.ParseScore(c.Args[3])
	if !ok || !(prob > 0 && prob < 1) {
		c.Err("CMS: invalid prob value")
		return 0, 0, false
	}
	if width, depth, ok = cms.Dim(over, prob); !ok {
		c.Err(errCMSArguments)
	}
	return width, depth, ok
}

// existing returns the Edit of openRead or openWrite. If the key is absent, it replies with the
// error missing.
func existing(c *engine.Ctx, x *object.Edit, ok bool, missing string) *object.Edit {
	if ok && x == nil {
		c.Err(missing)
	}
	return x
}

func cmsIncrbyCmd(c *engine.Ctx) {
	if len(c.Args)%2 != 0 {
		c.WrongArity()
		return
	}
	x, ok := openWrite(c, c.Args[1], object.TypeCMS)
	if x = existing(c, x, ok, errCMSMissing); x == nil {
		return
	}
	pairs := c.Args[2:]
	for i := 1; i < len(pairs); i += 2 {
		switch n, ok := object.ParseInt(pairs[i]); {
		case !ok:
			c.Err("CMS: Cannot parse number")
			return
		case n < 0:
			c.Err("CMS: Number cannot be negative")
			return
		}
	}
	s := x.ChangingSketch()
	k := cms.Open(s.Head(), s)
	c.Array(len(pairs) / 2)
	for i := 0; i < len(pairs); i += 2 {
		n, _ := object.ParseInt(pairs[i+1])
		if count := k.Incr(pairs[i], uint64(n)); count == cms.Max {
			c.Err("CMS: INCRBY overflow")
		} else {
			c.Int(int64(count))
		}
	}
	k.PutHead(s.Head())
	c.Changed(c.Args[1])
	c.Dirty(len(pairs) / 2)
}

// readCMS opens the sketch at a key for reading. It reports false if it has replied with an error.
func readCMS(c *engine.Ctx, key []byte) (cms.Sketch, bool) {
	x, ok := openRead(c, key, object.TypeCMS)
	if x = existing(c, x, ok, errCMSMissing); x == nil {
		return cms.Sketch{}, false
	}
	return cms.Open(x.Sketch().Head(), x.Sketch()), true
}

func cmsQueryCmd(c *engine.Ctx) {
	k, ok := readCMS(c, c.Args[1])
	if !ok {
		return
	}
	c.Array(len(c.Args) - 2)
	for _, item := range c.Args[2:] {
		c.Int(int64(k.Query(item)))
	}
}

func cmsInfoCmd(c *engine.Ctx) {
	if k, ok := readCMS(c, c.Args[1]); ok {
		infoFields(c, []infoField{
			{"width", int64(k.Width)}, {"depth", int64(k.Depth)}, {"count", int64(k.Count)},
		})
	}
}

func cmsMergeCmd(c *engine.Ctx) {
	x, ok := openWrite(c, c.Args[1], object.TypeCMS)
	if x = existing(c, x, ok, errCMSMissing); x == nil {
		return
	}
	e, s := x.E, x.Sketch() // x itself is reused once eight more are open.
	dest := cms.Open(s.Head(), s)
	keys, args, ok := cmsMergeArgs(c)
	if !ok {
		return
	}
	sources, weights := make([]cms.Sketch, len(keys)), make([]int64, len(keys))
	for i, key := range keys {
		weights[i] = 1
		if args != nil {
			if weights[i], ok = object.ParseInt(args[i]); !ok {
				c.Err("CMS: invalid weight value")
				return
			}
		}
		if sources[i], ok = readCMS(c, key); !ok {
			return
		}
		if sources[i].Width != dest.Width || sources[i].Depth != dest.Depth {
			c.Err("CMS: width/depth is not equal")
			return
		}
	}
	dest.Mem = c.DB.Open(e).ChangingSketch()
	if dest.Merge(sources, weights) != nil {
		c.Err("CMS: MERGE overflow")
		return
	}
	dest.PutHead(s.Head())
	c.Changed(c.Args[1])
	c.Dirty(1)
	c.OK()
}

// cmsMergeArgs reads numkeys and returns the keys and the weights, if there are any. It reports
// false if it has replied with an error.
func cmsMergeArgs(c *engine.Ctx) (keys, weights [][]byte, ok bool) {
	n, ok := object.ParseInt(c.Args[2])
	if !ok {
		c.Err("CMS: invalid numkeys")
		return nil, nil, false
	}
	if n <= 0 {
		c.Err("CMS: Number of keys must be positive")
		return nil, nil, false
	}
	rest := c.Args[3:]
	switch have := int64(len(rest)); {
	case have == n:
		return rest, nil, true
	case n < have && have == 2*n+1 && is(rest[n], "weights"):
		return rest[:n], rest[n+1:], true
	}
	if slices.ContainsFunc(rest, func(a []byte) bool { return is(a, "weights") }) {
		c.Err("CMS: wrong number of keys/weights")
	} else {
		c.Err("CMS: wrong number of keys")
	}
	return nil, nil, false
}
