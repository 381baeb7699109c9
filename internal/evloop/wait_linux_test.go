package evloop

import (
	"os"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// inEachMode runs a test on a loop that gives its processor away and on one that keeps it.
func inEachMode(t *testing.T, test func(t *testing.T, l *Loop)) {
	for _, name := range []string{"gives", "keeps"} {
		t.Run(name, func(t *testing.T) {
			l := newLoop(t)
			if name == "keeps" {
				l.KeepProcessor(func() { go func() {}() })
			}
			test(t, l)
		})
	}
}

// makeBrisk feeds the loop until it takes the traffic for brisk.
func makeBrisk(t *testing.T, l *Loop) {
	t.Helper()
	for l.waiter.brisk < briskStreak {
		l.Wake()
		poll(t, l, -1)
		p := pair(t)
		must(t, l.Add(p[0], handlerFunc(func(uint32) {}), Readable))
		send(t, p[1], "x")
		poll(t, l, -1)
		must(t, l.Del(p[0]))
	}
}

// TestModes checks that traffic makes a loop brisk and silence makes it quiet, also if timers cut
// all waits short.
func TestModes(t *testing.T) {
	inEachMode(t, func(t *testing.T, l *Loop) {
		for range 3 {
			makeBrisk(t, l)
			for l.waiter.brisk > 0 {
				poll(t, l, 1)
			}
		}
	})
}

// TestWakeIsNeverLost checks that each item put before a Wake is found after a Poll that waits
// without limit, whether the loop is quiet or brisk. A lost wake-up hangs here.
func TestWakeIsNeverLost(t *testing.T) {
	inEachMode(t, func(t *testing.T, l *Loop) {
		const wakers, each = 4, 3000
		var queue atomic.Int64
		var wg sync.WaitGroup
		for w := range wakers {
			wg.Go(func() {
				for i := range each {
					queue.Add(1)
					l.Wake()
					if (i+w)%7 == 0 {
						runtime.Gosched()
					}
					switch i % 500 {
					case 0: // lets the loop fall asleep now and then
						time.Sleep(time.Millisecond)
					case 250: // and become quiet
						time.Sleep(briskLimit + 2*time.Millisecond)
					}
				}
			})
		}
		for left := int64(wakers * each); left > 0; {
			poll(t, l, -1)
			left -= queue.Swap(0)
		}
		wg.Wait()
	})
}

// TestWakeProtocol walks through every order in which the steps of one Poll and of two Wakes can
// happen. The steps are those of Loop.Wake, Loop.wait and Loop.Poll. In no order may the loop sleep
// for good while an item waits.
func TestWakeProtocol(t *testing.T) {
	seen := map[protocol]bool{}
	var walk func(s protocol)
	walk = func(s protocol) {
		if seen[s] {
			return
		}
		seen[s] = true
		moved := false
		for actor := range s.at {
			if next, ok := s.step(actor); ok {
				moved = true
				walk(next)
			}
		}
		if !moved && s.items > 0 {
			t.Fatalf("the loop sleeps with %d items: %+v", s.items, s)
		}
	}
	walk(protocol{})
	if len(seen) < 100 {
		t.Fatalf("only %d states", len(seen))
	}
}

// protocol is the state of the model: of the loop (actor 0) and of goroutines that wake it.
type protocol struct {
	at             [3]int
	items          int
	waking, asleep bool
	event          bool // the eventfd has an event
}

func (s protocol) step(actor int) (protocol, bool) {
	at := &s.at[actor]
	if actor > 0 {
		switch *at {
		case 0:
			s.items++
		case 1:
			if s.waking {
				*at = 3
			}
			s.waking = true
		case 2:
			s.event = s.event || s.asleep
		default:
			return s, false
		}
		*at++
		return s, true
	}
	switch *at {
	case 0:
		s.asleep = true
	case 1:
		if s.waking { // it only looks
			s.event = false
			*at = 2
		}
	case 2: // it waits
		if !s.event {
			return s, false
		}
		s.event = false
	case 3:
		s.asleep = false
	case 4:
		s.waking = false
	case 5:
		s.items = 0
	}
	*at = (*at + 1) % 6
	return s, true
}

// TestTimersWhileWaiting checks that timers are not early, and come at all, in both kinds of waits,
// with traffic in between and without.
func TestTimersWhileWaiting(t *testing.T) {
	inEachMode(t, func(t *testing.T, l *Loop) {
		for _, ms := range []int{1, 3, 7, 12, 30} {
			for _, brisk := range []bool{false, true} {
				if brisk {
					makeBrisk(t, l)
				}
				start, done := time.Now(), false
				l.After(ms, func() { done = true })
				l.After(ms+1, func() {})
				for !done {
					poll(t, l, -1)
				}
				if d := time.Since(start); d < time.Duration(ms)*time.Millisecond {
					t.Errorf("%d ms were over after %v", ms, d)
				}
			}
		}
	})
}

// TestStopTheWorldEndsRawWait checks that a wait which keeps its processor does not keep the
// collector waiting: the runtime's signal ends it.
func TestStopTheWorldEndsRawWait(t *testing.T) {
	l := newLoop(t)
	var waits, interrupted atomic.Int64
	var stop atomic.Bool
	done := make(chan struct{})
	go func() {
		defer close(done)
		for !stop.Load() {
			waits.Add(1)
			_, errno := epollWaitRaw(l.epfd, l.events, time.Minute)
			if errno == syscall.EINTR {
				interrupted.Add(1)
			}
		}
	}()
	for waits.Load() == 0 {
		runtime.Gosched()
	}
	for interrupted.Load() < 20 {
		runtime.GC() // would wait for a minute
	}
	stop.Store(true)
	l.asleep.Store(true)
	l.Wake()
	<-done
}

// TestOthersRunBesideBriskLoop keeps a loop brisk and checks that goroutines that wait for timers
// and in the runtime's poller go on meanwhile.
func TestOthersRunBesideBriskLoop(t *testing.T) {
	inEachMode(t, func(t *testing.T, l *Loop) {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(runtime.NumCPU() + 1))
		p := pair(t)
		must(t, unix.SetNonblock(p[1], false))
		must(t, l.Add(p[0], &echo{fd: p[0]}, Readable))
		r, w, err := os.Pipe()
		must(t, err)
		defer r.Close()
		defer w.Close()
		var others, stop atomic.Bool
		go func() {
			buf := make([]byte, 1)
			for range 50 {
				time.Sleep(time.Millisecond)
				if _, err := w.Write(buf); err != nil {
					t.Error(err)
				}
				if _, err := r.Read(buf); err != nil {
					t.Error(err)
				}
			}
			others.Store(true)
		}()
		pinged := make(chan struct{})
		go func() {
			defer close(pinged)
			runtime.LockOSThread()
			var buf [64]byte
			for !others.Load() {
				unix.Write(p[1], buf[:10])
				unix.Read(p[1], buf[:])
			}
			stop.Store(true)
			l.Wake()
		}()
		for !stop.Load() {
			poll(t, l, -1)
		}
		<-pinged
	})
}

// TestPollerIsPassedOn checks that a loop which keeps its processor without being brisk, because it
// never waits or only for moments, makes another thread look into the runtime's poller: once after
// each park.
func TestPollerIsPassedOn(t *testing.T) {
	for _, wait := range []time.Duration{0, 50 * time.Microsecond} {
		l, passed := newLoop(t), 0
		l.KeepProcessor(func() { passed++ })
		turn := func() {
			t.Helper()
			_, err := l.Poll(wait)
			must(t, err)
		}
		for range 3 {
			for l.waiter.passed || l.waiter.parked == 0 {
				poll(t, l, 3) // parks
			}
			before := passed
			for end := time.Now().Add(10 * time.Second); passed == before; turn() {
				if time.Now().After(end) {
					t.Fatalf("waits of %v: the poller is not passed on", wait)
				}
			}
			for range 100 {
				turn()
			}
			if passed != before+1 {
				t.Errorf("waits of %v: passed on %d times after one park", wait, passed-before)
			}
		}
	}
}

// TestNewClosesWhatItOpened makes New fail at each of its descriptors.
func TestNewClosesWhatItOpened(t *testing.T) {
	open := func() (fds []string) {
		entries, err := os.ReadDir("/proc/self/fd")
		must(t, err)
		for _, e := range entries {
			fds = append(fds, e.Name())
		}
		return fds
	}
	newLoop(t) // the runtime's poller is open from here on
	before := open()
	var limit unix.Rlimit
	must(t, unix.Getrlimit(unix.RLIMIT_NOFILE, &limit))
	free, err := unix.Dup(0)
	must(t, err)
	must(t, unix.Close(free))
	failures := 0
	for room := range 10 {
		must(t, unix.Setrlimit(unix.RLIMIT_NOFILE,
			&unix.Rlimit{Cur: uint64(free + room), Max: limit.Max}))
		l, err := New()
		must(t, unix.Setrlimit(unix.RLIMIT_NOFILE, &limit))
		if err == nil {
			must(t, l.Close())
			break
		}
		failures++
		if after := open(); !slices.Equal(after, before) {
			t.Fatalf("with room for %d: %v, was %v", room, after, before)
		}
	}
	if failures < Descriptors {
		t.Fatalf("%d failures, New opens more", failures)
	}
}
