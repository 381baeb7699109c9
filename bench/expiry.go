//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// dueWithin is the time over which the deadlines of the expiry part are spread; see
// setExpiringKeys.
const dueWithin = time.Second

// measureMs is a time that is long enough for whole milliseconds.
var measureMs = measure{"ms", 1}

// errLoadedTooLate reports that the keys began to expire before all of them were loaded.
var errLoadedTooLate = errors.New("the load was not done before the first deadline")

// expiryResult is one round of the expiry part on one server.
type expiryResult struct {
	idle, during latencies
	emptyAfter   float64 // ms from the last deadline to DBSIZE 0
}

// expiryMeanwhile names the row of the window in which the keys expire.
const expiryMeanwhile = "while keys expire"

func (b *bench) expiry(ctx context.Context) error {
	if !b.plan.has("expiry") {
		return nil
	}
	var idle, during, empty series
	err := b.eachRound(ctx, func(side int) error {
		r, err := b.expiryOnce(ctx, side)
		idle.add(side, r.idle.p999)
		during.add(side, r.during.p999)
		empty.add(side, r.emptyAfter)
		return err
	})
	c := b.report.compare(titleExpiry,
		fmt.Sprintf("%s keys, all due within one second; a second client's GETs every %v.",
			count(b.plan.expireKeys), b.plan.eventProbeEvery),
		[]string{"window"}, measureP999)
	c.row([]string{eventIdle}, &idle)
	c.row([]string{expiryMeanwhile}, &during)
	b.report.compare(titleEmpty, "Until DBSIZE is 0.", nil, measureMs).row(nil, &empty)
	return err
}

// expiryOnce loads the keys with more and more time to spare, until the load ends before the first
// deadline.
func (b *bench) expiryOnce(ctx context.Context, side int) (r expiryResult, err error) {
	lead := b.plan.expireLead
	for range 3 {
		r, err = b.expiryWithLead(ctx, side, lead)
		if !errors.Is(err, errLoadedTooLate) {
			return r, err
		}
		lead *= 2
	}
	return r, err
}

func (b *bench) expiryWithLead(ctx context.Context, side int, lead time.Duration) (r expiryResult,
	err error) {
	s, err := b.start(ctx, side)
	if err != nil {
		return r, err
	}
	defer s.stop()
	first := time.Now().Add(lead)
	if err := pump(ctx, s.Addr, setExpiringKeys(b.plan.valueSize, first.UnixMilli()), 0,
		b.plan.expireKeys); err != nil {
		return r, err
	}
	c, err := dial(s.Addr)
	if err != nil {
		return r, err
	}
	defer c.Close()
	n, err := dbsize(c)
	if err != nil {
		return r, err
	}
	if n != b.plan.expireKeys || time.Until(first) < b.plan.expireIdle+100*time.Millisecond {
		return r, errLoadedTooLate
	}
	if err := sleep(ctx, time.Until(first)-b.plan.expireIdle-50*time.Millisecond); err != nil {
		return r, err
	}
	every := b.plan.eventProbeEvery
	if r.idle, err = probeFor(ctx, s.Addr, every, b.plan.expireKeys, b.plan.expireIdle,
		nil); err != nil {
		return r, err
	}
	if err := sleep(ctx, time.Until(first)); err != nil {
		return r, err
	}
	last := first.Add(dueWithin)
	empty := last
	r.during, err = probeFor(ctx, s.Addr, every, b.plan.expireKeys, dueWithin, func() error {
		var err error
		empty, err = waitEmpty(ctx, c, last, b.plan.expireWait)
		return err
	})
	r.emptyAfter = max(0, empty.Sub(last).Seconds()*1e3)
	return r, err
}

// waitEmpty polls DBSIZE until it is 0, and returns when it was.
func waitEmpty(ctx context.Context, c *control, last time.Time,
	patience time.Duration) (time.Time, error) {
	for {
		n, err := dbsize(c)
		if err != nil || n == 0 {
			return time.Now(), err
		}
		if time.Since(last) > patience {
			return last, fmt.Errorf("%d keys were left %v after the last deadline", n, patience)
		}
		if err := sleep(ctx, 5*time.Millisecond); err != nil {
			return last, err
		}
	}
}
