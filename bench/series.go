//go:build linux

package main

import "slices"

// series holds one measurement of both sides, a value for each round.
type series [sides][]float64

func (s *series) add(side int, v float64) { s[side] = append(s[side], v) }

func (s *series) median(side int) float64 { return median(s[side]) }

// ratio is the median over the rounds of Godwit ÷ Redis.
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

// median returns 0 for no values.
func median(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	v := slices.Sorted(slices.Values(values))
	n := len(v)
	return (v[(n-1)/2] + v[n/2]) / 2
}
