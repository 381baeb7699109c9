package command

import (
	"cmp"
	"math"
	"slices"

	"godwit/internal/engine"
	"godwit/internal/geohash"
	"godwit/internal/object"
)

// geoSearch runs the searches. It keeps its buffers between searches, so that a search does not
// allocate.
type geoSearch struct {
	area     geohash.Area
	spans    []geohash.Span
	walk     object.ZWalk
	starts   []float64
	hits     []geoHit
	order    []geoKey
	vertices []geohash.Point
}

// geoHit is a place in the area.
type geoHit struct {
	place  object.ZPlace
	score  float64
	meters float64 // From the center, if the query needs it.
	exact  bool    // meters equals geohash.Distance to the last bit.
}

// maxKept bounds the buffers that a geoSearch keeps, in places.
const maxKept = 1 << 16

// run runs a search: it parses the arguments, finds the places and replies. It handles an absent
// key only after the arguments, because they decide what to reply.
func (g *geoSearch) run(c *engine.Ctx, form geoForm) {
	x, ok := openRead(c, c.Args[form.key], object.ZSet)
	if !ok {
		return
	}
	q := geoQuery{geoForm: form, c: c, z: object.AsZSet(x), found: x != nil}
	if !q.parse(g) {
		return
	}
	if !q.found {
		if q.dst != nil {
			storedNothing(c, q.dst)
			g.propagate(&q)
		} else {
			c.Array(0)
		}
		return
	}
	if q.count > 0 && q.dir == anyDirection && !q.any {
		q.dir = ascending // COUNT without an order means the nearest.
	}
	q.shape(&g.area)
	g.walk.Open(q.z)
	g.find(&q)
	n := len(g.hits)
	if q.count > 0 && q.count < int64(n) {
		n = int(q.count)
	}
	g.sort(&q, n)
	if q.dst != nil {
		g.store(&q, n)
	} else {
		g.answer(&q, n)
	}
	g.walk.Close()
	if cap(g.hits) > maxKept {
		g.hits, g.order = nil, nil
	}
}

// find collects the places, in the order of the spans.
func (g *geoSearch) find(q *geoQuery) {
	g.hits, g.starts = g.hits[:0], g.starts[:0]
	g.spans = g.area.Spans(g.spans[:0])
	for i := range g.spans {
		g.starts = append(g.starts, float64(g.spans[i].Low))
	}
	g.walk.SeekAll(g.starts)
	measure := q.dir != anyDirection || q.withDist || q.dst != nil && q.storeDist
	limit := math.MaxInt
	if q.any {
		limit = int(min(q.count, math.MaxInt32))
	}
	for i := range g.spans {
		g.walk.Start(i)
		g.walkSpan(&g.spans[i], measure, limit)
	}
	g.order = g.order[:0]
	for i := range g.hits {
		g.order = append(g.order, geoKey{g.hits[i].meters, uint32(i)})
	}
}

// fruitless is the number of places outside the area's rectangles that a walk passes before it
// seeks past the rest. Passing so many costs about as much as a seek.
const fruitless = 12

// walkSpan adds the places of a span to the hits, until there are limit hits in all. The walk must
// stand at the span's first place.
func (g *geoSearch) walkSpan(s *geohash.Span, measure bool, limit int) {
	w := &g.walk
	misses := 0
	for ; len(g.hits) < limit; w.Next() {
		z, score, ok := g.here(s)
		if misses == fruitless && ok {
			if z, ok = s.Next(z); ok {
				misses = 0
				w.Seek(float64(z))
				z, score, ok = g.here(s)
			}
		}
		if !ok {
			return
		}
		if !s.Has(z) {
			misses++
			continue
		}
		misses = 0
		if g.area.Has(z) {
			hit := geoHit{place: w.Place(), score: score}
			if measure {
				hit.meters, hit.exact = g.area.Meters(z)
			}
			g.hits = append(g.hits, hit)
		}
	}
}

// here returns the place at which the walk stands. ok is false after the end of the span. Scores
// below 0 lie before all spans.
func (g *geoSearch) here(s *geohash.Span) (z uint64, score float64, ok bool) {
	score, ok = g.walk.Score()
	if !ok || score >= 1<<60 {
		return 0, 0, false
	}
	z = uint64(score)
	return z, score, z <= s.High
}

// geoKey is the sort key of a place.
type geoKey struct {
	meters float64
	hit    uint32
}

// sort moves the first n places, by distance, to the front of g.order. Without an order, the places
// stay as they were found. The order of places at the same distance is Redis's: as found if all are
// sorted, else as partialSort leaves them.
func (g *geoSearch) sort(q *geoQuery, n int) {
	compare := g.compare
	switch {
	case q.dir == anyDirection:
		return
	case q.dir == descending:
		compare = func(a, b geoKey) int { return g.compare(b, a) }
	}
	if n == len(g.order) {
		slices.SortFunc(g.order, func(a, b geoKey) int {
			return cmp.Or(compare(a, b), cmp.Compare(a.hit, b.hit))
		})
		return
	}
	partialSort(g.order, n, compare)
}

// compare compares two distances. It computes exact ones only if the quick estimates are close.
func (g *geoSearch) compare(a, b geoKey) int {
	if order, close := geohash.Compare(a.meters, b.meters); !close {
		return order
	}
	if g.hits[a.hit].score == g.hits[b.hit].score {
		return 0
	}
	return cmp.Compare(g.exactly(a.hit), g.exactly(b.hit))
}

// exactly returns the distance of a hit, exact to the last bit.
func (g *geoSearch) exactly(i uint32) float64 {
	h := &g.hits[i]
	if !h.exact {
		h.meters, h.exact = g.area.Exactly(uint64(h.score)), true
	}
	return h.meters
}

// answer replies with the first n places.
func (g *geoSearch) answer(q *geoQuery, n int) {
	c := q.c
	c.Array(n)
	parts := 1
	for _, with := range [...]bool{q.withDist, q.withHash, q.withCoord} {
		if with {
			parts++
		}
	}
	var text [32]byte
	for _, k := range g.order[:n] {
		h := &g.hits[k.hit]
		if parts > 1 {
			c.Array(parts)
		}
		bulkValue(c, g.walk.Member(h.place))
		if q.withDist {
			c.Bulk(g.appendDistance(text[:0], k.hit, q.unit))
		}
		if q.withHash {
			c.Int(int64(h.score))
		}
		if q.withCoord {
			coordReply(c, h.score)
		}
	}
}

// appendDistance appends the distance in the given unit, in meters. It computes the last bits only
// if the four decimals depend on them.
func (g *geoSearch) appendDistance(dst []byte, i uint32, unit float64) []byte {
	h := &g.hits[i]
	if !h.exact && !geohash.Settled(h.meters/unit) {
		g.exactly(i)
	}
	return geohash.AppendMeters(dst, h.meters/unit)
}

// store stores the first n places as a sorted set.
func (g *geoSearch) store(q *geoQuery, n int) {
	b := object.NewZBuilder(q.c.E.KS.Heap, n)
	for _, k := range g.order[:n] {
		h := &g.hits[k.hit]
		score := h.score
		if q.storeDist {
			score = g.exactly(k.hit) / q.unit
		}
		b.Add(g.walk.Member(h.place), score)
	}
	event := "georadiusstore"
	if q.search {
		event = "geosearchstore"
	}
	storeZSet(q.c, q.dst, b, event)
	if n > 1 {
		q.c.Dirty(n - 1) // Each member counts as a change, and storeZSet has counted one.
	}
	g.propagate(q)
}

// propagate sends what was stored, if the search was one that only Valkey 9 knows.
func (g *geoSearch) propagate(q *geoQuery) {
	if len(q.polygon) > 0 {
		propagateZSet(q.c, q.dst)
	}
}
