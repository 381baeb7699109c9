package soak

import (
	"math"
	"math/rand/v2"
	"sort"
	"strconv"
	"sync"
)

const (
	batch       = 100     // commands in a pipeline
	largestSize = 8 << 20 // of a value
)

// noise is what values are cut from: bytes that do not compress.
var noise = sync.OnceValue(func() []byte {
	rnd := rand.New(rand.NewPCG(1, 1))
	b := make([]byte, 2*largestSize)
	for i := range b {
		b[i] = byte(rnd.Uint32())
	}
	return b
})

// blob returns n bytes of noise.
func blob(rnd *rand.Rand, n int) []byte {
	at := rnd.IntN(len(noise()) - n + 1)
	return noise()[at : at+n]
}

// mixedSize returns a size of 8 bytes to 8 MB. Each size class has about as many bytes as any other
// in total: very many small values, few large ones.
func mixedSize(rnd *rand.Rand, largest int) int {
	const smallest = 8
	return min(largest, int(smallest/(1-rnd.Float64()*(1-smallest/float64(largest)))))
}

// fill sends n SETs of the generator in pipelines. In the second half it counts keys at forty
// moments. The mean is what the cache holds when it is full.
func fill(r *run, n int, next func(rnd *rand.Rand, i int) []any) {
	c, rnd := r.dial(), r.source()
	full := census{c: c}
	for i := 0; i < n && r.ok(); i += batch {
		bytes := 0
		for k := range batch {
			args := next(rnd, i+k)
			full.sent(args)
			for _, a := range args {
				if b, ok := a.([]byte); ok {
					bytes += len(b)
				}
			}
			c.add(args...)
			if bytes > 1<<20 {
				c.flush() // large ones go alone
				bytes = 0
			}
		}
		c.flush()
		if i > n/2 && (i/batch)%max(1, n/batch/80) == 0 {
			full.take()
		}
	}
	r.f.keys = full.mean()
}

// key returns the i-th key of a family.
func key(family string, i int) string { return family + ":" + strconv.Itoa(i) }

// setMixed returns a SET of a new key with a value of a mixed size. Of ten keys, as many get a
// deadline as deadlines says.
func setMixed(deadlines int) func(*rand.Rand, int) []any {
	return func(rnd *rand.Rand, i int) []any {
		args := []any{"SET", key("mixed", i), blob(rnd, mixedSize(rnd, largestSize))}
		if rnd.IntN(10) < deadlines {
			args = append(args, "EX", 3600+rnd.IntN(86400))
		}
		return args
	}
}

// zipf holds the cumulative shares of n keys. The i-th key is read in proportion to i^-0.99.
type zipf []float64

func newZipf(n int) zipf {
	z := make(zipf, n)
	sum := 0.0
	for i := range z {
		sum += math.Pow(float64(i+1), -0.99)
		z[i] = sum
	}
	for i := range z {
		z[i] /= sum
	}
	return z
}

// draw returns the number of a key.
func (z zipf) draw(rnd *rand.Rand) int {
	return min(len(z)-1, sort.SearchFloat64s(z, rnd.Float64()))
}

// cacheAside reads keys by Zipf's law and writes those that are missing, as an application does
// that has a cache before its database. The hit rate is that of the second half.
func cacheAside(r *run, keys, reads int) {
	c, rnd, law := r.dial(), r.source(), newZipf(keys)
	hits, counted := 0, 0
	for i := 0; i < reads && r.ok(); i += batch {
		wanted := make([]int, batch)
		for k := range wanted {
			wanted[k] = law.draw(rnd)
			c.add("GET", key("user", wanted[k]))
		}
		for k, v := range c.flush() {
			if i >= reads/2 {
				counted++
				if !v.IsNull() {
					hits++
				}
			}
			if v.IsNull() {
				c.add("SET", key("user", wanted[k]), noise()[:50+wanted[k]%200])
			}
		}
		c.flush()
	}
	r.f.hits = float64(hits) / float64(max(1, counted))
}
