package config

import (
	"fmt"
	"math"
	"strconv"
)

// maxErrorRate replaces larger error rates of a filter.
const maxErrorRate = 0.25

func bloomTable() []Directive {
	return []Directive{
		{Name: "bf-error-rate", Default: "0.01",
			Doc:   "Share of wrong answers of Bloom filters made without one.",
			value: errorRate("bf-error-rate", func(c *Config) *float64 { return &c.BFErrorRate })},
		{Name: "bf-initial-size", Default: "100",
			Doc:   "Items of the first layer of such filters.",
			value: integer(1, 1<<30, func(c *Config) *int64 { return &c.BFInitialSize })},
		{Name: "bf-expansion-factor", Default: "2",
			Doc:   "How many times as many items each further layer holds; 0 adds none.",
			value: integer(0, 32768, func(c *Config) *int64 { return &c.BFExpansionFactor })},
		{Name: "bf-hash", Default: "murmur3",
			Doc: "Kind of new Bloom filters: Godwit's own, or one that RedisBloom loads.",
			value: choice([]string{"murmur3", "murmur64a"},
				func(c *Config) *string { return &c.BFHash })},
		{Name: "cf-initial-size", Default: "1024",
			Doc: "Items of the first sub-filter of cuckoo filters made without a capacity; " +
				"at least two buckets' worth.",
			value: integer(2, 1<<20, func(c *Config) *int64 { return &c.CFInitialSize })},
		{Name: "cf-bucket-size", Default: "2",
			Doc:   "Items of a bucket of such filters.",
			value: integer(1, 255, func(c *Config) *int64 { return &c.CFBucketSize })},
		{Name: "cf-max-iterations", Default: "20",
			Doc:   "How many items such a filter moves to make room before it grows.",
			value: integer(1, 65535, func(c *Config) *int64 { return &c.CFMaxIterations })},
		{Name: "cf-expansion-factor", Default: "1",
			Doc: "How many times larger each further sub-filter is, " +
				"rounded up to a power of two; 0 adds none.",
			value: integer(0, 32768, func(c *Config) *int64 { return &c.CFExpansionFactor })},
		{Name: "cf-max-expansions", Default: "32",
			Doc:   "How many sub-filters a cuckoo filter may have.",
			value: integer(1, 65535, func(c *Config) *int64 { return &c.CFMaxExpansions })},
	}
}

// errorRate takes a number above 0 and below 1, with RedisBloom's error texts.
func errorRate(name string, at func(*Config) *float64) value {
	return field[float64]{codec[float64]{
		syntax: "a number above 0 and below 1",
		read: one(func(s string) (float64, error) {
			f, err := strconv.ParseFloat(s, 64)
			if err != nil || math.IsNaN(f) {
				return 0, reason(fmt.Sprintf("Invalid value for `%s`", name))
			}
			if f <= 0 || f >= 1 {
				return 0, reason(
					fmt.Sprintf("Value for `%s` must be in the range (0.000000, 1.000000)", name))
			}
			return min(f, maxErrorRate), nil
		}),
		show: func(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) },
	}, at}
}
