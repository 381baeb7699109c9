package evloop

import "time"

// Timer is a call that After or Every has scheduled.
type Timer struct {
	at     time.Duration // since the loop's start
	every  time.Duration // 0: once
	fn     func()        // nil: stopped or done
	serial uint64        // orders timers that are due at the same time
}

// Stop prevents further calls. Stopping twice, or from the call itself, is fine. Only the loop's
// goroutine may call it.
func (t *Timer) Stop() { t.fn = nil }

// timers is an unordered list. A server has a handful, so looking at each is faster than a heap.
type timers struct {
	list   []*Timer
	serial uint64
}

func (ts *timers) add(now, after, every time.Duration, fn func()) *Timer {
	ts.serial++
	t := &Timer{at: now + max(after, 0), every: every, fn: fn, serial: ts.serial}
	ts.list = append(ts.list, t)
	return t
}

// next returns the live timer that is due first, and drops the dead ones.
func (ts *timers) next() *Timer {
	var first *Timer
	live := ts.list[:0]
	for _, t := range ts.list {
		if t.fn == nil {
			continue
		}
		live = append(live, t)
		if first == nil || t.at < first.at || t.at == first.at && t.serial < first.serial {
			first = t
		}
	}
	clear(ts.list[len(live):])
	ts.list = live
	return first
}

// wait returns how long until the first timer is due.
func (ts *timers) wait(now time.Duration) (d time.Duration, ok bool) {
	if len(ts.list) == 0 {
		return 0, false
	}
	t := ts.next()
	if t == nil {
		return 0, false
	}
	return max(t.at-now, 0), true
}

// run makes the calls that are due when it starts, earliest first. What they add waits for the next
// run, even with a delay of 0. It returns the number of calls.
func (ts *timers) run(clock func() time.Duration) (n int) {
	if len(ts.list) == 0 {
		return 0
	}
	now, last := clock(), ts.serial
	for {
		t := ts.next()
		if t == nil || t.at > now || t.serial > last {
			return n
		}
		fn := t.fn
		if t.every == 0 {
			t.fn = nil
		} else {
			t.at += t.every * (1 + (now-t.at)/t.every)
		}
		n++
		fn()
	}
}
