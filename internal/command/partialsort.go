package command

import (
	"math/bits"
	"slices"
)

// partialSort sorts the n smallest elements to the front. It is the quicksort of Bentley and
// McIlroy ("Engineering a Sort Function", 1993), without the parts that are not needed. Redis sorts
// in this way where COUNT cuts a result. So the algorithm defines which of several equal elements
// come to the front, and in which order. It falls back to an ordinary sort on inputs that would
// take quadratic time. The usual cost is O(len(s) + n log n).
func partialSort[E any](s []E, n int, compare func(a, b E) int) {
	p := partial[E]{compare, n, 4 * bits.Len(uint(len(s)))}
	p.sort(s, 0)
}

type partial[E any] struct {
	compare func(a, b E) int
	n       int // The number of elements wanted, counted from the start of the whole slice.
	rounds  int // The number of further partitions allowed in a row.
}

// sort sorts s, which begins at index at of the whole slice.
func (p partial[E]) sort(s []E, at int) {
	for ; len(s) >= 7; p.rounds-- {
		if p.rounds == 0 {
			slices.SortStableFunc(s, p.compare)
			return
		}
		m := p.pivot(s)
		s[0], s[m] = s[m], s[0]
		less, greater := p.partition(s)
		if less > 1 && at < p.n {
			p.sub().sort(s[:less], at)
		}
		at += len(s) - greater
		s = s[len(s)-greater:]
		if greater <= 1 || at >= p.n {
			return
		}
	}
	for i := range s {
		for j := i; j > 0 && p.compare(s[j-1], s[j]) > 0; j-- {
			s[j-1], s[j] = s[j], s[j-1]
		}
	}
}

// sub returns p for a part of the current part.
func (p partial[E]) sub() partial[E] {
	p.rounds--
	return p
}

// pivot chooses the element to partition by: the middle one, the median of three, or in large parts
// the median of three medians of three.
func (p partial[E]) pivot(s []E) int {
	m := len(s) / 2
	if len(s) == 7 {
		return m
	}
	l, r := 0, len(s)-1
	if len(s) > 40 {
		d := len(s) / 8
		l = p.median(s, l, l+d, l+2*d)
		m = p.median(s, m-d, m, m+d)
		r = p.median(s, r-2*d, r-d, r)
	}
	return p.median(s, l, m, r)
}

func (p partial[E]) median(s []E, a, b, c int) int {
	if p.compare(s[a], s[b]) < 0 {
		switch {
		case p.compare(s[b], s[c]) < 0:
			return b
		case p.compare(s[a], s[c]) < 0:
			return c
		}
		return a
	}
	switch {
	case p.compare(s[b], s[c]) > 0:
		return b
	case p.compare(s[a], s[c]) < 0:
		return a
	}
	return c
}

// partition divides s by its first element. It returns how many elements are less, which it moves
// to the front, and how many are greater, which it moves to the back. The equal ones stay between
// them. While it runs, it gathers the equal ones at both ends:
//
//	| equal | less | not seen | greater | equal |
//	0       a      b          c         d        len
func (p partial[E]) partition(s []E) (less, greater int) {
	a, b := 1, 1
	c, d := len(s)-1, len(s)-1
	for {
		for ; b <= c; b++ {
			r := p.compare(s[b], s[0])
			if r > 0 {
				break
			}
			if r == 0 {
				s[a], s[b] = s[b], s[a]
				a++
			}
		}
		for ; b <= c; c-- {
			r := p.compare(s[c], s[0])
			if r < 0 {
				break
			}
			if r == 0 {
				s[c], s[d] = s[d], s[c]
				d--
			}
		}
		if b > c {
			break
		}
		s[b], s[c] = s[c], s[b]
		b++
		c--
	}
	swapEnds(s[:b], min(a, b-a))
	swapEnds(s[b:], min(d-c, len(s)-1-d))
	return b - a, d - c
}

// swapEnds swaps the first k elements with the last k.
func swapEnds[E any](s []E, k int) {
	end := s[len(s)-k:]
	for i := range k {
		s[i], end[i] = end[i], s[i]
	}
}
