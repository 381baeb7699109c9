package config

import (
	"math"
	"strconv"
	"strings"
)

// units are the factors of memory sizes: k, m and g count in thousands, kb, mb and gb in 1024s.
var units = []struct {
	name   string
	factor uint64
}{
	{"gb", 1 << 30}, {"mb", 1 << 20}, {"kb", 1 << 10},
	{"g", 1e9}, {"m", 1e6}, {"k", 1e3}, {"b", 1},
}

// ParseMemory reads digits and an optional unit. Missing digits count as 0, as in Redis. It refuses
// sizes over 2^63-1 bytes, where Redis wraps around.
func ParseMemory(s string) (int64, bool) {
	s, _, _ = strings.Cut(s, "\x00") // Redis takes the text as a C string
	digits := strings.TrimLeft(s, "0123456789")
	unit := strings.ToLower(digits)
	digits = s[:len(s)-len(digits)]
	factor := uint64(1)
	if unit != "" {
		factor = 0
		for _, u := range units {
			if u.name == unit {
				factor = u.factor
			}
		}
		if factor == 0 {
			return 0, false
		}
	}
	if digits == "" {
		return 0, true
	}
	v, err := strconv.ParseUint(digits, 10, 63)
	if err != nil || v > math.MaxInt64/factor {
		return 0, false
	}
	return int64(v * factor), true
}

// formatMemory returns the shortest exact form in kb, mb or gb, for CONFIG REWRITE.
func formatMemory(v int64) string {
	if v > 0 {
		for _, u := range units[:3] {
			if uint64(v)%u.factor == 0 {
				return strconv.FormatInt(v/int64(u.factor), 10) + u.name
			}
		}
	}
	return strconv.FormatInt(v, 10)
}

func memory(lo, hi int64, at func(*Config) *int64) value {
	return memoryFrom(lo, hi, lo, at)
}

// memoryFrom takes a number of bytes from lo to hi, and uses at least minv.
func memoryFrom(lo, hi, minv int64, at func(*Config) *int64) value {
	return field[int64]{codec[int64]{
		syntax: "bytes, with k, kb, m, mb, g or gb",
		read: one(func(s string) (int64, error) {
			v, ok := ParseMemory(s)
			if !ok {
				return 0, errMemory
			}
			if v < lo || v > hi {
				return 0, errRange(lo, hi)
			}
			return max(v, minv), nil
		}),
		show: func(v int64) string { return strconv.FormatInt(v, 10) },
		lines: func(name string, v int64) []string {
			return []string{name + " " + formatMemory(v)}
		},
	}, at}
}

// memoryOrPercent stores a percentage as a negative number.
func memoryOrPercent(at func(*Config) *int64) value {
	show := func(v int64) string {
		if v < 0 {
			return strconv.FormatInt(-v, 10) + "%"
		}
		return strconv.FormatInt(v, 10)
	}
	return field[int64]{codec[int64]{
		syntax: "bytes, or 0%..100% of maxmemory",
		read:   one(readPercent),
		show:   show,
		lines: func(name string, v int64) []string {
			if v < 0 {
				return []string{name + " " + show(v)}
			}
			return []string{name + " " + formatMemory(v)}
		},
	}, at}
}

func readPercent(s string) (int64, error) {
	if digits, ok := strings.CutSuffix(s, "%"); ok {
		v, err := strconv.ParseUint(digits, 10, 63)
		if err != nil {
			return 0, errPercent
		}
		if v > 100 {
			return 0, errMaxPct
		}
		return -int64(v), nil
	}
	v, ok := ParseMemory(s)
	if !ok {
		return 0, errPercent
	}
	return v, nil
}
