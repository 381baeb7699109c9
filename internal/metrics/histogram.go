// Package metrics holds the plain data behind INFO, LATENCY and SLOWLOG: histograms, rate samplers,
// event series and the slow log. Nothing here has a lock or reads a clock: the executor owns all of
// it and passes the time in.
package metrics

import "math/bits"

// Histogram counts durations in buckets that are linear within a power of two and logarithmic
// across them, so that each value keeps two significant decimal digits.
//
// # Layout
//
// Row 0 counts the values 0..127 ns one by one. Row r >= 1 covers
// [128, 256) << (r-1) ns in 128 buckets, each 1 << (r-1) ns wide:
//
//	row  0: 0 1 2 … 127              (width 1)
//	row  1: 128 129 … 255            (width 1)
//	row  2: 256 258 … 510            (width 2)
//	row 23: 2^29 … 2^30-2^22         (width 4 ms)
//
// A row (1 KiB) is allocated when its first value comes. So a command that never ran costs 200
// bytes, and one with a usual spread about 8 KiB, where one flat array would take 24 KiB. The zero
// value is ready to use.
//
// The bucket bounds and the range (1 ns to 1 s, 2 digits) are those of the HDR histogram that Redis
// uses, because LATENCY HISTOGRAM and INFO latencystats show them.
type Histogram struct {
	total uint64
	rows  [rows]*[rowSize]uint64
}

const (
	rowBits = 7
	rowSize = 1 << rowBits
	rows    = 24

	minValue = 1
	maxValue = 1_000_000_000
)

// Record counts one duration in nanoseconds. A duration outside of 1 ns to 1 s counts as the nearer
// end. O(1); it allocates only for a row's first value.
func (h *Histogram) Record(ns int64) {
	v := uint64(min(max(ns, minValue), maxValue))
	r := max(bits.Len64(v)-rowBits, 0)
	if h.rows[r] == nil {
		h.rows[r] = new([rowSize]uint64)
	}
	h.rows[r][v>>max(r-1, 0)&(rowSize-1)]++
	h.total++
}

// Count returns the number of recorded durations.
func (h *Histogram) Count() uint64 { return h.total }

// lowest and highest return the bounds, inclusive, of bucket i of row r in ns.
func lowest(r, i int) int64 {
	if r == 0 {
		return int64(i)
	}
	return int64(rowSize+i) << (r - 1)
}

func highest(r, i int) int64 { return lowest(r, i) + int64(1)<<max(r-1, 0) - 1 }

// Percentile returns the upper bound, in ns, of the bucket in which the given percentile (0 to 100)
// lies, or 0 if nothing was recorded. INFO shows it divided by 1000 with three decimals.
func (h *Histogram) Percentile(p float64) int64 {
	want := max(uint64(min(max(p, 0), 100)/100*float64(h.total)+0.5), 1)
	var seen uint64
	for r, row := range h.rows {
		if row == nil {
			continue
		}
		for i, n := range row {
			if seen += n; seen >= want {
				return highest(r, i)
			}
		}
	}
	return 0
}

// firstStep is the row that begins at 1024 ns, the first step that Cumulative shows.
const firstStep = 4

// Cumulative calls emit for each step of LATENCY HISTOGRAM. us is the step's upper bound in whole
// microseconds, count how many durations were at most that. The steps are the powers of two from
// 1024 ns to 2^30 ns. Steps that would repeat the count before are left out.
//
// As in Redis, a step's bound is the end of the bucket that the power of two begins (so 33 µs and
// not 32). The last one, 1073741 µs, is the end of the range.
func (h *Histogram) Cumulative(emit func(us int64, count uint64)) {
	var below, shown uint64 // below: the sum of the rows before r
	for r, row := range h.rows {
		if row == nil {
			row = new([rowSize]uint64)
		}
		if r >= firstStep && below+row[0] > shown {
			shown = below + row[0]
			emit(highest(r, 0)/1000, shown)
		}
		for _, n := range row {
			below += n
		}
	}
	if below > shown {
		emit(highest(rows-1, rowSize-1)/1000, below)
	}
}
