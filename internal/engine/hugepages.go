package engine

import (
	"errors"
	"runtime"
	"sync/atomic"
	"syscall"
	"time"

	"godwit/internal/arena"
	"godwit/internal/crash"
)

// When full memory becomes huge pages
//
// Every hugeEvery the cron sweeps the arena for halves of chunks that have been full for a while,
// and a goroutine has the system collapse them, beside the executor. It takes at most a twentieth
// of the time: a batch ends after hugeBatch halves or hugeSpend, and the next one waits hugeRest
// times as long as this one took. Where there are few processors, it competes with the executor or
// its clients for one of them, so a batch is one half. A refusal, which as a rule means that the
// system has no memory in one piece, or a call that takes longer than hugeSlow brings a longer
// pause, which doubles each time. A kernel that finds every call invalid, because it does not know
// it, is not asked again.
//
// There is no batch while a snapshot is made or loaded: the tails of both would add up.
//
// The goroutine lives for its batch only. The cron picks up the results, so none of this wakes a
// server that is idle.

const (
	hugeEvery = time.Second
	hugeSpend = 4 * time.Millisecond
	hugeRest  = 20
	hugeSlow  = 50 * time.Millisecond
	hugeLate  = 5 * time.Minute // the longest pause
	hugeTries = 3               // calls in turn that a kernel finds invalid
)

// hugeBatch returns how many halves a batch has at most.
func hugeBatch() int {
	if runtime.NumCPU() < 4 {
		return 1
	}
	return 8
}

// hugePages is the state of that work. While it runs, what follows running belongs to its
// goroutine.
type hugePages struct {
	sweptNs int64 // when the last sweep began
	next    int64 // no batch before this time, in monotonic ns
	pause   time.Duration
	running atomic.Bool

	off     bool         // the system has no huge pages for us
	halves  []arena.Half // to be collapsed
	tried   int          // how many of halves the batch has tried
	done    []bool       // which of these it has collapsed
	spent   time.Duration
	trouble bool // a refusal or a slow call
	invalid int  // calls that the kernel has found invalid since one succeeded
}

// collapseHuge is the part of the cron that looks after huge pages.
func (e *Engine) collapseHuge() {
	h := &e.huge
	if h.running.Load() || h.off {
		return
	}
	if h.tried > 0 {
		e.endHugeBatch()
	}
	if e.lastNs < h.next || e.persist.busy() || e.loading.on || e.loading.aside {
		return
	}
	if e.lastNs-h.sweptNs >= int64(hugeEvery) {
		h.sweptNs = e.lastNs
		e.KS.A.BeginHuge()
	}
	if h.halves = e.KS.A.FullHalves(h.halves, hugeBatch()); len(h.halves) == 0 {
		return
	}
	h.running.Store(true)
	go func() {
		defer crash.Guard("collapsing into huge pages")()
		h.run()
		h.running.Store(false)
	}()
}

// run tries to collapse halves until the batch has taken its time.
func (h *hugePages) run() {
	h.spent, h.trouble, h.done = 0, false, h.done[:0]
	for _, f := range h.halves {
		done, took, err := f.Collapse()
		h.tried++
		h.done = append(h.done, done)
		h.spent += took
		h.trouble = err != nil || took > hugeSlow
		switch {
		case done:
			h.invalid = 0
		case errors.Is(err, syscall.EINVAL): // which raced page tables may bring too
			h.invalid++
			h.off = h.invalid == hugeTries
		}
		if h.spent >= hugeSpend || h.trouble || h.tried == hugeBatch() {
			return
		}
	}
}

// endHugeBatch tells the arena what a batch has done, and decides when the next one may run. What
// it has not tried is left for that.
func (e *Engine) endHugeBatch() {
	h := &e.huge
	for i, done := range h.done {
		e.KS.A.Collapsed(h.halves[i], done)
	}
	h.halves = h.halves[:copy(h.halves, h.halves[h.tried:])]
	h.tried = 0
	h.next = e.lastNs + int64(h.rest())
}

// rest returns how long the next batch must wait for this one.
func (h *hugePages) rest() time.Duration {
	if !h.trouble {
		h.pause = 0
		return h.spent * hugeRest
	}
	h.pause = min(max(2*h.pause, time.Second), hugeLate)
	return max(h.spent*hugeRest, h.pause)
}
