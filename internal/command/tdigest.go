package command

import (
	"math"

	"godwit/internal/engine"
	"godwit/internal/object"
	"godwit/internal/tdigest"
)

var _ = family(tdigestHandlers)

func tdigestHandlers() engine.Handlers {
	return engine.Handlers{
		"tdigest.create":       tdigestCreateCmd,
		"tdigest.add":          tdigestAddCmd,
		"tdigest.reset":        tdigestResetCmd,
		"tdigest.merge":        tdigestMergeCmd,
		"tdigest.min":          tdigestMinCmd,
		"tdigest.max":          tdigestMaxCmd,
		"tdigest.quantile":     tdigestQuantileCmd,
		"tdigest.cdf":          tdigestCDFCmd,
		"tdigest.rank":         func(c *engine.Ctx) { tdigestRank(c, (*tdigest.View).Rank) },
		"tdigest.revrank":      func(c *engine.Ctx) { tdigestRank(c, (*tdigest.View).RevRank) },
		"tdigest.byrank":       func(c *engine.Ctx) { tdigestByRank(c, (*tdigest.View).ByRank) },
		"tdigest.byrevrank":    func(c *engine.Ctx) { tdigestByRank(c, (*tdigest.View).ByRevRank) },
		"tdigest.trimmed_mean": tdigestTrimmedMeanCmd,
		"tdigest.info":         tdigestInfoCmd,
	}
}

const (
	errTDMissing = "ERR T-Digest: key does not exist"
	errTDKeyword = "ERR T-Digest: wrong keyword"
)

// tdCompression reads a compression. It reports false if it has replied with an error.
func tdCompression(c *engine.Ctx, arg []byte) (int64, bool) {
	n, ok := object.ParseInt(arg)
	switch {
	case !ok:
		c.Err("ERR T-Digest: error parsing compression parameter")
	case n <= 0:
		c.Err("ERR T-Digest: compression parameter needs to be a positive integer")
		ok = false
	}
	return n, ok
}

// tdFits reports whether there is memory for all the nodes of a digest.
func tdFits(c *engine.Ctx, compression int64) bool {
	nodes, ok := tdigest.Capacity(compression)
	return ok && c.E.Fits(uint64(nodes)*tdigest.NodeSize)
}

func tdigestCreateCmd(c *engine.Ctx) {
	if len(c.Args) != 2 && len(c.Args) != 4 {
		c.WrongArity()
		return
	}
	key := c.Args[1]
	x, ok := openWrite(c, key, object.TypeTDigest)
	if !ok {
		return
	}
	if x != nil {
		c.Err("ERR T-Digest: key already exists")
		return
	}
	compression := int64(tdigest.DefaultCompression)
	if len(c.Args) == 4 {
		if !is(c.Args[2], "compression") {
			c.Err(errTDKeyword)
			return
		}
		if compression, ok = tdCompression(c, c.Args[3]); !ok {
			return
		}
	}
	if !tdFits(c, compression) {
		c.Err("ERR T-Digest: allocation failed")
		return
	}
	s := object.NewSketch(c.E.KS.Heap, tdigest.FirstSize)
	tdigest.New(s, compression)
	c.DB.CreateSketch(key, object.TypeTDigest, s)
	c.Changed(key)
	c.Dirty(1)
	c.OK()
}

func tdigestAddCmd(c *engine.Ctx) {
	x, ok := openWrite(c, c.Args[1], object.TypeTDigest)
	if x = existing(c, x, ok, errTDMissing); x == nil {
		return
	}
	for _, arg := range c.Args[2:] {
		v, ok := object.ParseScore(arg)
		if !ok {
			c.Err("ERR T-Digest: error parsing val parameter")
			return
		}
		if math.IsInf(v, 0) {
			c.Err("ERR T-Digest: val parameter needs to be a finite number")
			return
		}
	}
	d := tdigest.Open(x.Sketch())
	if int64(len(c.Args)-2) > math.MaxInt64-d.Size() {
		c.Err(errTDOverflow)
		return
	}
	d = tdigest.Open(x.ChangingSketch())
	for _, arg := range c.Args[2:] {
		v, _ := object.ParseScore(arg)
		if d.Add(v, 1) != nil {
			break // The check above makes this impossible.
		}
	}
	c.Changed(c.Args[1])
	c.Dirty(len(c.Args) - 2)
	c.OK()
}

const errTDOverflow = "ERR T-Digest: overflow detected"

func tdigestResetCmd(c *engine.Ctx) {
	x, ok := openWrite(c, c.Args[1], object.TypeTDigest)
	if x = existing(c, x, ok, errTDMissing); x == nil {
		return
	}
	tdigest.Open(x.ChangingSketch()).Reset()
	c.Changed(c.Args[1])
	c.Dirty(1)
	c.OK()
}

// tdMerge holds the arguments of TDIGEST.MERGE.
type tdMerge struct {
	keys        [][]byte
	compression int64 // 0: not given.
	override    bool
}

// parse reads the arguments after the destination. It reports false if it has replied with an
// error.
func (m *tdMerge) parse(c *engine.Ctx) bool {
	n, ok := object.ParseInt(c.Args[2])
	switch {
	case !ok:
		c.Err("ERR T-Digest: error parsing numkeys")
		return false
	case n <= 0:
		c.Err("ERR T-Digest: numkeys needs to be a positive integer")
		return false
	case n > int64(len(c.Args)-3):
		c.WrongArity()
		return false
	}
	m.keys = c.Args[3 : 3+n]
	for i := 3 + int(n); i < len(c.Args); i++ {
		switch a := c.Args[i]; {
		case is(a, "override"):
			m.override = true
		case !is(a, "compression"):
			c.Err(errTDKeyword)
			return false
		case i+1 == len(c.Args):
			c.WrongArity()
			return false
		default:
			i++
			if m.compression, ok = tdCompression(c, c.Args[i]); !ok {
				return false
			}
		}
	}
	return true
}

func tdigestMergeCmd(c *engine.Ctx) {
	key := c.Args[1]
	x, ok := openWrite(c, key, object.TypeTDigest)
	if !ok {
		return
	}
	var m tdMerge
	if !m.parse(c) {
		return
	}
	var from []*tdigest.Digest
	if x != nil && !m.override {
		from = append(from, tdigest.Open(x.Sketch()))
		if m.compression == 0 {
			m.compression = from[0].Compression
		}
	}
	said := m.compression > 0
	for _, k := range m.keys {
		src, ok := openRead(c, k, object.TypeTDigest)
		if src = existing(c, src, ok, errTDMissing); src == nil {
			return
		}
		d := tdigest.Open(src.Sketch())
		if from = append(from, d); !said {
			m.compression = max(m.compression, d.Compression)
		}
	}
	if !tdFits(c, m.compression) {
		c.Err("ERR T-Digest: allocation of destination digest failed")
		return
	}
	s := object.NewSketch(c.E.KS.Heap, tdigest.FirstSize)
	sum := tdigest.New(s, m.compression)
	for _, d := range from {
		if sum.Merge(d) != nil {
			s.Discard()
			c.Err(errTDOverflow)
			return
		}
	}
	c.DB.Install(key, s.Detach(object.TypeTDigest))
	c.Changed(key)
	c.Dirty(1)
	c.OK()
}
