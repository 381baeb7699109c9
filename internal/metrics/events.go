package metrics

import (
	"math"
	"slices"
)

// eventSamples is how many samples of one event LATENCY HISTORY can show.
const eventSamples = 160

// Event is the series of one latency-monitor event ("command", "fork", "expire-cycle" …). It keeps
// the worst latency of each second that had one, for the newest 160 such seconds, and the worst
// ever.
type Event struct {
	samples [eventSamples]EventSample
	next    int
	n       int
	max     int64
}

// EventSample is the worst latency within one second.
type EventSample struct {
	Time    int64 // Unix time in s
	Latency int64 // ms
}

// Add records a latency. Of several in the same second the highest counts. O(1).
func (e *Event) Add(timeSec, ms int64) {
	e.max = max(e.max, ms)
	if e.n > 0 {
		last := &e.samples[(e.next+eventSamples-1)%eventSamples]
		if last.Time == timeSec {
			last.Latency = max(last.Latency, ms)
			return
		}
	}
	e.samples[e.next] = EventSample{timeSec, ms}
	e.next = (e.next + 1) % eventSamples
	e.n = min(e.n+1, eventSamples)
}

// Len returns the number of samples, at most 160.
func (e *Event) Len() int { return e.n }

// At returns sample i in order of time. 0 is the oldest that is kept.
func (e *Event) At(i int) EventSample {
	return e.samples[(e.next-e.n+i+eventSamples)%eventSamples]
}

// Latest returns the newest sample, or the zero sample if there is none.
func (e *Event) Latest() EventSample {
	if e.n == 0 {
		return EventSample{}
	}
	return e.At(e.n - 1)
}

// Max returns the highest latency ever added, in ms.
func (e *Event) Max() int64 { return e.max }

// EventStats is what LATENCY DOCTOR and LATENCY GRAPH say about an Event.
type EventStats struct {
	Samples  int
	Min, Max int64   // ms, of the kept samples
	Average  int64   // ms, rounded down
	Mad      int64   // ms, mean absolute deviation from Average, rounded down
	Period   float64 // s from the oldest kept sample to now, divided by Samples
	AllTime  int64   // ms, the highest ever
}

// Stats summarises the kept samples. Without samples all fields except AllTime are 0.
func (e *Event) Stats(nowSec int64) EventStats {
	s := EventStats{Samples: e.n, AllTime: e.max}
	if e.n == 0 {
		return s
	}
	s.Min = math.MaxInt64
	var sum int64
	for i := range e.n {
		l := e.At(i).Latency
		s.Min, s.Max = min(s.Min, l), max(s.Max, l)
		sum += l
	}
	s.Average = sum / int64(e.n)
	sum = 0
	for i := range e.n {
		d := e.At(i).Latency - s.Average
		sum += max(d, -d)
	}
	s.Mad = sum / int64(e.n)
	// At least one second: the first sample may be of this very second.
	s.Period = float64(max(nowSec-e.At(0).Time, 1)) / float64(e.n)
	return s
}

// Events is the latency monitor: an Event for each name that has had one. The zero value is ready.
type Events struct {
	byName map[string]*Event
}

// Add records a latency of ms for the named event. The caller has compared it with
// latency-monitor-threshold.
func (es *Events) Add(name string, timeSec, ms int64) {
	e := es.byName[name]
	if e == nil {
		if es.byName == nil {
			es.byName = make(map[string]*Event)
		}
		e = new(Event)
		es.byName[name] = e
	}
	e.Add(timeSec, ms)
}

// Get returns the event of that name, or nil if it has no sample.
func (es *Events) Get(name string) *Event { return es.byName[name] }

// Names returns the names in ascending order.
func (es *Events) Names() []string {
	names := make([]string, 0, len(es.byName))
	for name := range es.byName {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Reset removes one event and reports whether it existed.
func (es *Events) Reset(name string) bool {
	_, ok := es.byName[name]
	delete(es.byName, name)
	return ok
}

// ResetAll removes all events and returns how many there were.
func (es *Events) ResetAll() int {
	n := len(es.byName)
	clear(es.byName)
	return n
}
