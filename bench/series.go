//go:build linux

package main

import (
	"fmt"
	"slices"
	"strconv"
)

// series holds one measurement of all servers, for each of them a value for each round.
type series struct{ of [][]float64 }

func (s *series) add(side int, v float64) {
	for len(s.of) <= side {
		s.of = append(s.of, nil)
	}
	s.of[side] = append(s.of[side], v)
}

// median returns 0 for a server without values.
func (s *series) median(side int) float64 {
	if side >= len(s.of) {
		return 0
	}
	return median(s.of[side])
}

// printedRatio returns one printed figure divided by another, to two decimals, or to the first one
// that says something, and the number that is not rounded. Without a figure to divide by there is
// none.
func printedRatio(by, of string) (string, float64) {
	r, g := leading(by), leading(of)
	if r == 0 {
		return "–", 0
	}
	places := 2
	for v := g / r; v > 0 && v < 0.01 && places < 6; places++ {
		v *= 10
	}
	return strconv.FormatFloat(g/r, 'f', places, 64) + "×", g / r
}

// leading returns the number that a printed figure begins with, 0 if it begins with none.
func leading(cell string) (v float64) {
	_, _ = fmt.Sscanf(cell, "%g", &v)
	return v
}

// median returns 0 for no values.
func median(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	v := slices.Sorted(slices.Values(values))
	n := len(v)
	return (v[(n-1)/2] + v[n/2]) / 2
}
