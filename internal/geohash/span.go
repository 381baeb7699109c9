package geohash

import "math/bits"

// rect is a rectangle of the finest grid: columns x0 to x1 and rows y0 to y1, inclusive.
type rect struct{ x0, x1, y0, y1 uint32 }

func (r rect) has(x, y uint32) bool { return r.x0 <= x && x <= r.x1 && r.y0 <= y && y <= r.y1 }

// and returns the common part. empty says that there is none.
func (r rect) and(o rect) (common rect, empty bool) {
	c := rect{max(r.x0, o.x0), min(r.x1, o.x1), max(r.y0, o.y0), min(r.y1, o.y1)}
	return c, c.x0 > c.x1 || c.y0 > c.y1
}

// without appends what is left of r after cutting out o: up to four rectangles.
func (r rect) without(o rect, dst []rect) []rect {
	c, empty := r.and(o)
	if empty {
		return append(dst, r)
	}
	if r.y0 < c.y0 {
		dst = append(dst, rect{r.x0, r.x1, r.y0, c.y0 - 1})
	}
	if c.y1 < r.y1 {
		dst = append(dst, rect{r.x0, r.x1, c.y1 + 1, r.y1})
	}
	if r.x0 < c.x0 {
		dst = append(dst, rect{r.x0, c.x0 - 1, c.y0, c.y1})
	}
	if c.x1 < r.x1 {
		dst = append(dst, rect{c.x1 + 1, r.x1, c.y0, c.y1})
	}
	return dst
}

// low and high return the lowest and the highest score in the rectangle.
func (r rect) low() uint64  { return interleave(r.x0, r.y0) }
func (r rect) high() uint64 { return interleave(r.x1, r.y1) }

// none is greater than all scores.
const none = ^uint64(0)

// next returns the lowest score from z on that is in the rectangle, or none. It compares z and the
// corners bit by bit from the top. low and high shrink to the half of the rectangle that the bits
// of z so far lead to, and found is where the other, higher half begins.
func (r rect) next(z uint64) uint64 {
	low, high, found := r.low(), r.high(), none
	if z <= low {
		return low
	}
	if z > high {
		return none
	}
	for i := 63 - bits.LeadingZeros64(z|high); i >= 0; i-- {
		bit := uint64(1) << i
		// below has the lower bits of the same coordinate.
		below := (uint64(0x5555555555555555) << (i & 1)) & (bit - 1)
		zb, lb, hb := z&bit != 0, low&bit != 0, high&bit != 0
		switch {
		case zb && !hb:
			return found // z is after the whole part
		case !zb && lb:
			return low // z is before the whole part
		case !zb && hb: // the part lies on both sides: try the lower half, else take the upper one
			found = low&^below | bit
			high = high&^bit | below
		case zb && !lb: // only the upper half is left
			low = low&^below | bit
		}
	}
	return z
}

// Span is a part of an area's scores: those in one or two rectangles, all in one cell.
type Span struct {
	Low, High uint64 // the lowest and the highest score
	rects     [2]rect
	n         int
}

func (s *Span) add(r rect) {
	if s.n == 0 {
		s.Low, s.High = r.low(), r.high()
	}
	s.Low, s.High = min(s.Low, r.low()), max(s.High, r.high())
	s.rects[s.n] = r
	s.n++
}

// Has reports whether a score is in the span's rectangles.
func (s *Span) Has(z uint64) bool {
	x, y := deinterleave(z)
	return s.rects[0].has(x, y) || s.n > 1 && s.rects[1].has(x, y)
}

// Next returns the lowest score from z on that is in the span's rectangles. ok is false if there is
// none.
func (s *Span) Next(z uint64) (next uint64, ok bool) {
	next = s.rects[0].next(z)
	if s.n > 1 {
		next = min(next, s.rects[1].next(z))
	}
	return next, next != none
}
