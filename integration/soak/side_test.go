package soak

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"time"

	"godwit/internal/testserver"
)

// side is one of the two servers. The scenarios share its process, so each finds what the one
// before left behind.
type side struct {
	name, bin           string
	judged              bool // waits for its bounds; Redis's figures are taken as they are
	p                   *testserver.Server
	freshUsed, freshRSS int64 // memory just after the start
	fresh               sample
}

// ready starts the server unless it runs.
func (s *side) ready() error {
	if s.p != nil && !s.p.Ended() {
		return nil
	}
	p, err := launch(s.bin)
	if err != nil {
		return fmt.Errorf("%s: %w", s.name, err)
	}
	s.p = p
	c, err := p.Dial()
	if err != nil {
		return err
	}
	defer c.Close()
	r := &run{side: s}
	r.stalls.pid = p.Pid
	fresh, err := r.take(c)
	s.fresh, s.freshUsed, s.freshRSS = fresh, fresh.used, fresh.rss
	return err
}

// drop ends the server. The next scenario gets a new one.
func (s *side) drop() error {
	if s.p == nil {
		return nil
	}
	p := s.p
	s.p = nil
	p.Kill()
	return os.RemoveAll(p.Dir)
}

// drive runs a scenario on the server.
func (s *side) drive(sc *scenario, seed uint64, size int) figures {
	if err := s.ready(); err != nil {
		return figures{err: err}
	}
	r := &run{side: s, size: size, inFlight: sc.inFlight, rnd: rand.New(rand.NewPCG(seed, 0))}
	r.evictsAll = strings.Contains(sc.config, "policy allkeys")
	r.stalls.pid = s.p.Pid
	r.meter.overUsed, r.meter.overRSS = math.MinInt64, math.MinInt64
	r.control = r.dial()
	stop := make(chan struct{})
	var watching sync.WaitGroup
	watching.Go(func() { r.stalls.watch(stop) })
	if sc.config != "" {
		r.control.must(words("CONFIG SET " + sc.config)...)
	}
	measuring := make(chan struct{})
	var meter sync.WaitGroup
	meter.Go(func() { r.watch(measuring) })
	began := time.Now()
	sc.load(r)
	r.f.loadTime = time.Since(began)
	close(measuring)
	meter.Wait()
	r.settle()
	r.clear()
	close(stop)
	watching.Wait()
	r.control.hangUp()
	r.f.peakUsed, r.f.peakRSS = r.meter.peakUsed, r.meter.peakRSS
	r.f.overUsed, r.f.overRSS = r.meter.overUsed, r.meter.overRSS-r.inFlight
	r.f.atWorst = r.meter.worst.grown(s.fresh)
	if r.f.err != nil {
		r.f.err = fmt.Errorf("%s: %w\n%s", s.name, r.f.err, s.p.Tail())
	}
	return r.f
}

// words returns the words of a command as arguments.
func words(cmd string) []any {
	var args []any
	for _, w := range strings.Fields(cmd) {
		args = append(args, w)
	}
	return args
}
