// Package cell is the rate limiter of CL.THROTTLE: the generic cell rate algorithm (GCRA), in whole
// nanoseconds.
//
// # How it limits
//
// Each admitted request occupies the bucket for one emission interval: period ÷ count. A bucket
// only has to remember one number, the theoretical arrival time (TAT): when it will be empty again
// if nobody asks any more. A request of quantity q moves it by q intervals:
//
//	          now            TAT       TAT + q·emission
//	-----------|--------------|----------------|--------> time
//	           |<------- tolerance: (max_burst + 1)·emission ------->|
//
// The request is admitted if the new TAT is at most the tolerance away from now. A refused request
// changes nothing. A TAT in the past is the same as none: the bucket is as if new. So the key that
// holds it may disappear at that moment.
//
// Within any time t, then, at most max_burst + 1 + t ÷ emission requests are admitted. Each moves
// the TAT by an interval, which starts at now or later, and the TAT never gets further than now +
// tolerance.
//
// # Numbers
//
// Times are unix nanoseconds in an int64, valid until the year 2262. New refuses rates whose
// products do not fit, so that no sum below can overflow: with 0 < now and base = max(now, tat), an
// admitted TAT is at most now + tolerance, and New's limit on the tolerance leaves room for now.
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

	// maxTolerance leaves room for a now of 2^62 ns, the year 2116.
	maxTolerance = math.MaxInt64 - 1<<62
)

var (
	// ErrZero reports that count or period is zero.
	ErrZero = errors.New("cell: zero rate")
	// ErrNegative reports that a number is negative that must not be.
	ErrNegative = errors.New("cell: negative value")
	// ErrRange reports that the rate cannot be expressed in nanoseconds: more than one request in
	// each, or centuries for the burst.
	ErrRange = errors.New("cell: rate out of range")
)

// Rate is the size and speed of a bucket.
type Rate struct {
	limit     int64 // how many requests an empty bucket takes at once
	emission  int64 // ns for which each request occupies it
	tolerance int64 // ns: limit × emission
}

// New returns the rate of count requests in period seconds, with burst more than one at once.
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

// Result is the outcome of a request. Times are in ns.
type Result struct {
	Limited    bool
	Limit      int64
	Remaining  int64 // how many more requests would be admitted now
	RetryAfter int64 // time until the same request would be admitted; -1: it was, or never will be
	ResetAfter int64 // time until the bucket is empty
}

// Throttle requests quantity (not negative) of a bucket with the arrival time tat; a new bucket may
// have any tat up to now. It returns the arrival time to store. That is tat itself if nothing
// changes: the request is refused, or its quantity is 0.
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

// Seconds rounds a time as the replies do: up to a whole second, unless the excess is below a
// millisecond. Negative times are codes.
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

// Deadline returns the unix time in ms from which the key of a bucket is not needed any more. It
// rounds up: a bucket that is forgotten a moment too early would admit too much.
func Deadline(tat int64) int64 {
	ms := tat / millisecond
	if tat%millisecond > 0 {
		ms++
	}
	return ms
}
