package command

import (
	"math"

	"godwit/internal/engine"
	"godwit/internal/object"
	"godwit/internal/tdigest"
)

func tdigestMinCmd(c *engine.Ctx) {
	tdigestExtreme(c, func(d *tdigest.Digest) float64 { return d.Min })
}

func tdigestMaxCmd(c *engine.Ctx) {
	tdigestExtreme(c, func(d *tdigest.Digest) float64 { return d.Max })
}

// readTDigest opens the digest at the first argument. It returns nil if it has replied with an
// error.
func readTDigest(c *engine.Ctx) (*tdigest.Digest, *object.Sketch) {
	x, ok := openRead(c, c.Args[1], object.TypeTDigest)
	if x = existing(c, x, ok, errTDMissing); x == nil {
		return nil, nil
	}
	return tdigest.Open(x.Sketch()), x.Sketch()
}

func tdigestExtreme(c *engine.Ctx, of func(d *tdigest.Digest) float64) {
	d, _ := readTDigest(c)
	switch {
	case d == nil:
	case d.Size() == 0:
		c.Double(math.NaN())
	default:
		c.Double(of(d))
	}
}

// tdValues reads the arguments from the second on as numbers. If one is none, it replies with the
// error wrong and reports false.
func tdValues(c *engine.Ctx, wrong string) ([]float64, bool) {
	values := make([]float64, len(c.Args)-2)
	for i, arg := range c.Args[2:] {
		v, ok := object.ParseScore(arg)
		if !ok {
			c.Err(wrong)
			return nil, false
		}
		values[i] = v
	}
	return values, true
}

func tdDoubles(c *engine.Ctx, values []float64, of func(float64) float64) {
	c.Array(len(values))
	for _, v := range values {
		c.Double(of(v))
	}
}

func tdigestQuantileCmd(c *engine.Ctx) {
	d, _ := readTDigest(c)
	if d == nil {
		return
	}
	quantiles, ok := tdValues(c, "ERR T-Digest: error parsing quantile")
	if !ok {
		return
	}
	for _, q := range quantiles {
		if q < 0 || q > 1 {
			c.Err("ERR T-Digest: quantile should be in [0,1]")
			return
		}
	}
	tdDoubles(c, quantiles, d.View().Quantile)
}

func tdigestCDFCmd(c *engine.Ctx) {
	d, _ := readTDigest(c)
	if d == nil {
		return
	}
	if values, ok := tdValues(c, "ERR T-Digest: error parsing cdf"); ok {
		tdDoubles(c, values, d.View().CDF)
	}
}

func tdigestRank(c *engine.Ctx, rank func(v *tdigest.View, x float64) int64) {
	d, _ := readTDigest(c)
	if d == nil {
		return
	}
	values, ok := tdValues(c, "ERR T-Digest: error parsing value")
	if !ok {
		return
	}
	view := d.View()
	c.Array(len(values))
	for _, x := range values {
		c.Int(rank(view, x))
	}
}

func tdigestByRank(c *engine.Ctx, value func(v *tdigest.View, rank int64) float64) {
	d, _ := readTDigest(c)
	if d == nil {
		return
	}
	ranks := make([]int64, len(c.Args)-2)
	for i, arg := range c.Args[2:] {
		n, ok := object.ParseInt(arg)
		switch {
		case !ok:
			c.Err("ERR T-Digest: error parsing rank")
			return
		case n < 0:
			c.Err("ERR T-Digest: rank needs to be non negative")
			return
		}
		ranks[i] = n
	}
	view := d.View()
	c.Array(len(ranks))
	for _, n := range ranks {
		c.Double(value(view, n))
	}
}

func tdigestTrimmedMeanCmd(c *engine.Ctx) {
	d, _ := readTDigest(c)
	if d == nil {
		return
	}
	low, ok := object.ParseScore(c.Args[2])
	if !ok {
		c.Err("ERR T-Digest: error parsing low_cut_percentile")
		return
	}
	high, ok := object.ParseScore(c.Args[3])
	switch {
	case !ok:
		c.Err("ERR T-Digest: error parsing high_cut_percentile")
	case low < 0 || low > 1 || high < 0 || high > 1:
		c.Err("ERR T-Digest: low_cut_percentile and high_cut_percentile should be in [0,1]")
	case low >= high:
		c.Err("ERR T-Digest: low_cut_percentile should be lower than high_cut_percentile")
	default:
		c.Double(d.View().TrimmedMean(low, high))
	}
}

func tdigestInfoCmd(c *engine.Ctx) {
	d, s := readTDigest(c)
	if d == nil {
		return
	}
	capacity, _ := tdigest.Capacity(d.Compression)
	infoFields(c, []infoField{
		{"Compression", d.Compression}, {"Capacity", capacity}, {"Merged nodes", d.Merged},
		{"Unmerged nodes", d.Unmerged}, {"Merged weight", d.MergedWeight},
		{"Unmerged weight", d.UnmergedWeight}, {"Observations", d.Size()},
		{"Total compressions", d.Compressions}, {"Memory usage", s.Size()},
	})
}
