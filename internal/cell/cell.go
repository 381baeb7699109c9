// Package cell is the rate limiter of CL.THROTTLE: the generic cell rate algorithm (GCRA), in whole nanoseconds.
//
// # How it limits
//
// Each admitted request occupies the bucket for one emission interval: period ÷ count. All that a bucket has to remember is one number, the theoretical
// arrival time (TAT): when it will be empty again if nobody asks any more. A request of quantity q moves it by q intervals:
//
//	          now            TAT       TAT + q·emission
//	-----------|--------------|----------------|--------> time
//	           |<------- tolerance: (max_burst + 1)·emission ------->|
//
// It is admitted if the new TAT is not more than the tolerance away from now; a refused one changes nothing. A TAT in the past is the same as none:
// then the bucket is as if new, which is why the key that holds it may vanish at that moment.
//
// So within any time t at most max_burst + 1 + t ÷ emission are admitted: each moves the TAT by an interval, which starts at now or later and never gets
// further than now + tolerance.
//
// # Numbers
//
// Times are unix nanoseconds in an int64, good until the year 2262. New refuses rates whose products do not fit, so that no sum below can overflow:
// with 0 < now and base = max(now, tat), an admitted TAT is at most now + tolerance, and New's limit on the tolerance leaves room for now.
//
// Source: ITU-T I.371 (virtual scheduling), in the form that redis-cell gave it.
package cell

import (
	"errors"
	"math"
)

const (
	second      = 1_000_000_000
	millisecond = 1_000_000

	// maxTolerance leaves room for a now of 2^62 ns, the year 2116, beside it.
	maxTolerance = math.MaxInt64 - 1<<62
)

var (
	// ErrZero says that count or period is zero.
	ErrZero = errors.New("cell: zero rate")
	// ErrNegative says that a number is negative that may not be.
	ErrNegative = errors.New("cell: negative value")
	// ErrRange says that the rate cannot be told in nanoseconds: more than one of them for each, or centuries for the burst.
	ErrRange = errors.New("cell: rate out of range")
)

// Rate is a bucket's size and speed.
type Rate struct {
	limit     int64 // how many an empty bucket takes at once
	emission  int64 // ns that each occupies it
	tolerance int64 // ns: limit × emission
}

// New is the rate of count in period seconds, with burst more than one at once.
func New(burst, count, period int64) (Rate, error) {
	switch {
	case burst < 0 || count < 0 || period < 0:
		return Rate{}, ErrNegative
	case count == 0 || period == 0:
		return Rate{}, ErrZero
	case burst == math.MaxInt64 || period > math.MaxInt64/second:
		return Rate{}, ErrRange
	}
	r := Rate{limit: burst + 1, emission: period * second / count}
	if r.emission == 0 || r.limit > maxTolerance/r.emission {
		return Rate{}, ErrRange
	}
	r.tolerance = r.limit * r.emission
	return r, nil
}

// Result is what a request got to know. Times are in ns.
type Result struct {
	Limited    bool
	Limit      int64
	Remaining  int64 // how many more would be admitted now
	RetryAfter int64 // when the same request would be admitted; -1 when it was, or never will be
	ResetAfter int64 // when the bucket is empty
}

// Throttle asks for quantity (not negative) of a bucket whose arrival time is tat, anything up to now for a new one. It returns the arrival time to
// keep, which is tat itself when there is nothing to change: when the request is refused, or asks for nothing.
func (r Rate) Throttle(tat, now, quantity int64) (int64, Result) {
	res := Result{Limit: r.limit, RetryAfter: -1}
	base := max(tat, now)
	if quantity > r.limit { // never; the product may not even fit
		res.Limited = true
	} else {
		// The new time is within the tolerance if base is within what the quantity leaves of it.
		allowAt := base - (r.tolerance - quantity*r.emission)
		switch {
		case allowAt > now:
			res.Limited, res.RetryAfter = true, allowAt-now
		case quantity > 0:
			base += quantity * r.emission
			tat = base
		}
	}
	res.ResetAfter = base - now
	if free := r.tolerance - res.ResetAfter; free > 0 {
		res.Remaining = free / r.emission
	}
	return tat, res
}

// Seconds rounds a time as the replies do: up to a whole second, unless less than a millisecond is over. Negative ones are codes.
func Seconds(ns int64) int64 {
	if ns < 0 {
		return ns
	}
	s := ns / second
	if ns%second >= millisecond {
		s++
	}
	return s
}

// Deadline is the unix time in ms from which the key of a bucket is not needed any more. Rounded up: a bucket that is forgotten a moment too early
// would admit too much.
func Deadline(tat int64) int64 {
	ms := tat / millisecond
	if tat%millisecond > 0 {
		ms++
	}
	return ms
}
