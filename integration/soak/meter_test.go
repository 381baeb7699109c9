package soak

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"godwit/internal/resp/client"
	"godwit/internal/testserver"
)

const (
	meterPeriod = 10 * time.Millisecond
	usedWindow  = 5 * time.Second  // used_memory keeps to a lowered limit by then
	rssWindow   = 10 * time.Second // and the resident bytes keep to it by then
	// lasting is how many samples in a row must show an excess of used_memory. One sample may be
	// taken in the middle of a request, which has arrived while nothing was evicted for it yet.
	lasting = 3
)

// sample is a server's memory at a moment.
type sample struct {
	at               time.Time
	used, rss, limit int64
	clients          int64             // the part of used in buffers of clients
	info             map[string]string // all of INFO memory
}

// meter watches a server's memory during a run. Its requests also show whether the server is alive,
// whatever the others do.
type meter struct {
	mu                sync.Mutex
	samples           []sample
	peakUsed, peakRSS int64
	overUsed, overRSS int64 // the largest excess over what is allowed; negative is room
	over              [lasting]int64
	at                int
	worst             sample // with the largest excess of used_memory
}

// take asks for the memory once.
func (r *run) take(c *client.Client) (sample, error) {
	start := time.Now()
	v, err := c.Do("INFO", "memory")
	if err != nil {
		return sample{}, fmt.Errorf("INFO memory (after %v): %w", time.Since(start), err)
	}
	r.waited(start, "INFO memory")
	m := testserver.Info(v.Text())
	s := sample{at: time.Now(), info: m}
	if s.used, err = strconv.ParseInt(m["used_memory"], 10, 64); err != nil {
		return s, fmt.Errorf("INFO memory: %w", err)
	}
	if s.limit, err = strconv.ParseInt(m["maxmemory"], 10, 64); err != nil {
		return s, fmt.Errorf("INFO memory: %w", err)
	}
	s.clients, _ = strconv.ParseInt(m["mem_clients_normal"], 10, 64)
	s.rss, err = testserver.RSS(r.side.p.Pid)
	return s, err
}

// watch samples the memory until stop is closed.
func (r *run) watch(stop <-chan struct{}) {
	c, err := r.side.p.Dial()
	if err != nil {
		r.fail(err)
		return
	}
	defer c.Close()
	for r.ok() {
		s, err := r.take(c)
		if err != nil {
			r.fail(err)
			return
		}
		r.meter.add(r, s)
		select {
		case <-stop:
			return
		case <-time.After(meterPeriod):
		}
	}
}

// mustUse returns the used_memory that is no fault. That is what the limit allows, or the clients'
// buffers if they alone exceed it. Under policies that do not evict every key, the buffers come on
// top of the keys.
func (r *run) mustUse(limit, clients int64) int64 {
	allowed := r.mayUse(limit)
	if !r.evictsAll {
		return allowed + clients
	}
	return max(allowed, clients+r.side.freshUsed+roomForUsed)
}

// add compares a sample with the limits in force.
func (m *meter) add(r *run, s sample) {
	m.mu.Lock()
	defer m.mu.Unlock()
	fields := s.info
	s.info = nil
	m.samples = append(m.samples, s)
	m.peakUsed, m.peakRSS = max(m.peakUsed, s.used), max(m.peakRSS, s.rss)
	limit, rssLimit := m.highest(s.at.Add(-usedWindow)), m.highest(s.at.Add(-rssWindow))
	if !r.evictsAll { // keys without a deadline stay when the limit is lowered
		limit = m.highest(time.Time{})
		rssLimit = limit
	}
	m.over[m.at%lasting] = s.used - r.mustUse(limit, s.clients)
	m.at++
	over := slices.Min(m.over[:])
	if m.at >= lasting && over > m.overUsed {
		m.overUsed, m.worst = over, sample{used: s.used, info: fields}
	}
	since := s.at.Add(-rssWindow)
	m.overRSS = max(m.overRSS, s.rss-m.clients(since)-r.mayReside(rssLimit))
}

// highest returns the highest limit since the moment. 0 is no limit and the highest of all. A run
// starts with the limit that was in force before its first sample.
func (m *meter) highest(since time.Time) int64 {
	var limit int64
	for i := len(m.samples) - 1; i >= 0; i-- {
		s := m.samples[i]
		if s.limit == 0 {
			return 0
		}
		limit = max(limit, s.limit)
		if s.at.Before(since) {
			break
		}
	}
	return limit
}

// clients returns the most that clients' buffers took since the moment.
func (m *meter) clients(since time.Time) (most int64) {
	for i := len(m.samples) - 1; i >= 0 && m.samples[i].at.After(since); i-- {
		most = max(most, m.samples[i].clients)
	}
	return most
}

// grown lists the fields of INFO memory that have grown by half a megabyte since before. They show
// where the memory is that did not come back.
func (s sample) grown(before sample) string {
	var fields []string
	for name, text := range s.info {
		now, err := strconv.ParseInt(text, 10, 64)
		was, _ := strconv.ParseInt(before.info[name], 10, 64)
		if err == nil && now-was > mb/2 && !strings.Contains(name, "peak") {
			fields = append(fields, name+" +"+megabytes(now-was))
		}
	}
	slices.Sort(fields)
	return strings.Join(fields, ", ")
}
