package object

import (
	"math"
	"testing"
)

func TestParseWeight(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range []struct {
		in   string
		want float64
		ok   bool
	}{
		{"", 0, true}, {"7", 7, true}, {" 7", 7, true}, {"\t-7.5", -7.5, true}, {"7 ", 0, false},
		{" ", 0, false}, {"0x10", 16, true}, {"1e3", 1000, true}, {"inf", inf, true},
		{"-Infinity", -inf, true}, {"nan", 0, false}, {"1e400", 0, false}, {"1e-400", 0, false},
		{"5e-324", 0, false}, {"2.2250738585072014e-308", 0x1p-1022, true}, {"0e-400", 0, true},
		{"3\x00x", 3, true}, {"\x00", 0, true}, {"a", 0, false}, {"1_0", 0, false},
		{"12345678901234567890", 12345678901234567890, true}, {"+1", 1, true},
		{"--1", 0, false}, {".5", .5, true}, {"5.", 5, true},
	} {
		got, ok := ParseWeight([]byte(c.in))
		if ok != c.ok || ok && got != c.want {
			t.Errorf("%q: %v, %v", c.in, got, ok)
		}
	}
}
