//go:build linux

package main

import (
	"fmt"
	"slices"
	"strconv"
)

// series holds one measurement of both sides, a value for each round.
type series [sides][]float64

func (s *series) add(side int, v float64) { s[side] = append(s[side], v) }

func (s *series) median(side int) float64 { return median(s[side]) }

// ratio returns the median over the rounds of Godwit ÷ Redis. Tables show the ratio of their own
// columns instead.
func (s *series) ratio() float64 {
	n := min(len(s[sideRedis]), len(s[sideGodwit]))
	ratios := make([]float64, 0, n)
	for i := range n {
		if s[sideRedis][i] != 0 {
			ratios = append(ratios, s[sideGodwit][i]/s[sideRedis][i])
		}
	}
	return median(ratios)
}

// shown is a series as a table shows it: both medians, and the ratio of these two figures.
type shown struct {
	redis, godwit, ratio string
	value                float64 // of ratio
}

// show formats the medians, divided by scale. The ratio is that of the printed figures.
func (s *series) show(format string, scale float64) shown {
	x := shown{
		redis:  fmt.Sprintf(format, s.median(sideRedis)/scale),
		godwit: fmt.Sprintf(format, s.median(sideGodwit)/scale),
	}
	x.ratio, x.value = printedRatio(x.redis, x.godwit)
	return x
}

// printedRatio returns Godwit ÷ Redis of two printed figures, to two decimals, or to the first one
// that says something. Without a figure to divide by there is none.
func printedRatio(redis, godwit string) (string, float64) {
	r, g := leading(redis), leading(godwit)
	if r == 0 {
		return "–", 0
	}
	places := 2
	for v := g / r; v > 0 && v < 0.01 && places < 6; places++ {
		v *= 10
	}
	text := strconv.FormatFloat(g/r, 'f', places, 64)
	return text + "×", leading(text)
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
