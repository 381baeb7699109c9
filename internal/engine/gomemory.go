package engine

import (
	rtmetrics "runtime/metrics"
	"sync/atomic"
	"time"
)

// GoMemory is the Go runtime's memory in bytes.
type GoMemory struct {
	Objects  int64 // objects on the heap, live ones and garbage not yet swept
	Unused   int64 // of the heap's spans, not holding an object
	Free     int64 // free spans that are still mapped
	Released int64 // free spans given back to the system
	Stacks   int64
	Runtime  int64 // the runtime's own structures
	Cycles   int64 // garbage collections so far
}

// InUse returns the memory that the runtime holds of the system.
func (g GoMemory) InUse() int64 { return g.Objects + g.Unused + g.Free + g.Stacks + g.Runtime }

// ReadGoMemory asks the Go runtime; it takes some microseconds.
func ReadGoMemory() (g GoMemory) {
	where := []struct {
		name string
		to   *int64
	}{
		{"/memory/classes/heap/objects:bytes", &g.Objects},
		{"/memory/classes/heap/unused:bytes", &g.Unused},
		{"/memory/classes/heap/free:bytes", &g.Free},
		{"/memory/classes/heap/released:bytes", &g.Released},
		{"/memory/classes/heap/stacks:bytes", &g.Stacks},
		{"/memory/classes/os-stacks:bytes", &g.Stacks},
		{"/memory/classes/metadata/mcache/inuse:bytes", &g.Runtime},
		{"/memory/classes/metadata/mspan/inuse:bytes", &g.Runtime},
		{"/memory/classes/metadata/other:bytes", &g.Runtime},
		{"/memory/classes/other:bytes", &g.Runtime},
		{"/memory/classes/profiling/buckets:bytes", &g.Runtime},
		{"/gc/cycles/total:gc-cycles", &g.Cycles},
	}
	samples := make([]rtmetrics.Sample, len(where))
	for i, w := range where {
		samples[i].Name = w.name
	}
	rtmetrics.Read(samples)
	for i, s := range samples {
		if s.Value.Kind() == rtmetrics.KindUint64 {
			*where[i].to += int64(s.Value.Uint64())
		}
	}
	return g
}

// How Go's memory goes back to the system
//
// Go collects garbage when its heap has doubled, or after two minutes. A heap that was large once,
// for a burst of replies or a script, stays resident on a server that is quiet afterwards. So once
// a second the runtime's memory is held against what is known to live in it (goCounted). The
// difference is slack: garbage, free spans, and what nobody counts. When that has grown by
// giveBackFrom and a share of all, another goroutine collects and gives back what is free. The
// collector runs beside the executor; the pauses are those of any collection.
//
// The slack that is left is what nobody counts: only what comes on top of it is worth another try
// at once. But requests leave garbage between the collection and the look, and a script that was
// running then held what nobody needs now. So slack that is more than at the start is given back
// once more when the collector has come to rest after a load, and else after two seconds, four,
// eight and so on, while that frees little. When the collector has rested for restLooks, less slack
// is enough, once until it runs again: a server that is quiet has time for one more collection.

const (
	giveBackFrom  = 8 << 20
	giveBackShare = 8 // of the memory that the runtime has: one in
	// restFrom takes the place of giveBackFrom after that many looks without a collection.
	restFrom  = 2 << 20
	restLooks = 5
	// giveBackEvery and giveBackRest bound how often memory is given back. The pause is at least
	// giveBackEvery, and giveBackRest times as long as the last run took. It is at most
	// giveBackLate, because on a busy machine a run takes long only by waiting.
	giveBackEvery = time.Second
	giveBackRest  = 20
	giveBackLate  = 4 * time.Second
	// From the first to the last of these intervals, slack that stays is tried again.
	firstRetry = 2 * time.Second
	lastRetry  = 2 * time.Minute
)

// giveBack is what giveBackGoMemory remembers.
type giveBack struct {
	running atomic.Bool
	took    atomic.Int64 // ns that the last run took; 0 once that was looked at
	left    GoMemory     // at its end
	slack   int64        // least seen since the last one, bytes
	next    int64        // monotonic ns: not before
	start   int64        // slack just after the start
	cycles  int64        // collections at the last look
	loaded  bool         // the collector has run by itself since the last one, or soon will
	calm    int          // looks since the collector ran by itself
	rested  bool         // restFrom has had its turn since then
	before  int64        // slack when the last one began, bytes
	retry   int64        // monotonic ns: when to try again although nothing has come on top
	wait    int64        // ns between the last two tries
}

// due looks at the runtime's memory, of which counted bytes are known to live, and reports whether
// giving back is worth it. It says when to look again.
func (b *giveBack) due(g GoMemory, counted, now int64) bool {
	b.next = now + int64(giveBackEvery)
	quiet := g.Cycles == b.cycles
	b.cycles = g.Cycles
	slack, worth := g.InUse()-counted, giveBackFrom+g.InUse()/giveBackShare
	if took := b.took.Swap(0); took > 0 {
		rest := min(max(int64(giveBackEvery), giveBackRest*took), int64(giveBackLate))
		b.slack, b.next = slack, now+rest
		if b.before-slack >= giveBackFrom { // more of it may be free by now
			b.wait = int64(firstRetry)
			b.retry = now + b.wait
		}
		b.loaded = g.Cycles != b.left.Cycles || g.InUse() >= b.left.InUse()+worth
		return false
	}
	b.slack = min(b.slack, slack)
	b.loaded = b.loaded || !quiet
	if b.calm++; !quiet {
		b.calm, b.rested = 0, false
	}
	resting := !b.rested && b.calm >= restLooks && slack-b.start >= worth-giveBackFrom+restFrom
	b.rested = b.rested || resting
	switch {
	case resting, slack-b.slack >= worth, b.loaded && quiet && slack-b.start >= worth:
		b.wait = int64(firstRetry)
	case quiet && slack-b.start >= worth && now >= b.retry:
		b.wait = min(max(2*b.wait, int64(firstRetry)), int64(lastRetry))
	default:
		return false
	}
	b.before, b.retry = slack, now+b.wait
	return true
}
