package soak

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"
)

// stallPeriod is the time between two looks at the CPU time that the processes did not get.
const stallPeriod = 25 * time.Millisecond

// delays hold how long each thread of a process has been ready to run without a CPU since it began,
// as the system counts it.
type delays map[string]time.Duration

// readDelays returns the delays of the process's threads. It leaves out a thread that ends
// meanwhile.
func readDelays(pid int) delays {
	d := delays{}
	files, _ := filepath.Glob("/proc/" + strconv.Itoa(pid) + "/task/*/schedstat")
	for _, name := range files {
		text, err := os.ReadFile(name)
		if fields := strings.Fields(string(text)); err == nil && len(fields) == 3 {
			ns, _ := strconv.ParseInt(fields[1], 10, 64)
			d[name] = time.Duration(ns)
		}
	}
	return d
}

// since returns the longest that a thread has waited since the earlier look. Threads wait at the
// same time, so their sum would excuse more than there was.
func (d delays) since(earlier delays) (longest time.Duration) {
	for name, total := range d {
		longest = max(longest, total-earlier[name])
	}
	return longest
}

// stolen returns how long a hypervisor has kept a CPU from this machine.
func stolen() time.Duration {
	text, _ := os.ReadFile("/proc/stat")
	line, _, _ := strings.Cut(string(text), "\n")
	fields := strings.Fields(line)
	if len(fields) < 9 {
		return 0
	}
	ticks, _ := strconv.ParseInt(fields[8], 10, 64)
	return time.Duration(ticks) * 10 * time.Millisecond
}

// look holds the counters at a moment.
type look struct {
	at           time.Time
	server, test delays
	stolen       time.Duration
}

// stalls tells how much of a wait the machine caused, because a thread of the server or of the test
// was ready and had no CPU. Without it, a test on a busy machine measures the machine.
type stalls struct {
	pid  int
	mu   sync.Mutex
	past []look
}

func (s *stalls) look() look {
	return look{at: time.Now(), server: readDelays(s.pid), test: readDelays(os.Getpid()),
		stolen: stolen()}
}

// watch looks again and again until stop is closed.
func (s *stalls) watch(stop <-chan struct{}) {
	for {
		now := s.look()
		s.mu.Lock()
		s.past = append(s.past, now)
		if n := len(s.past); n > 2000 { // 50 s: longer than any wait that is measured
			s.past = append([]look(nil), s.past[n-1000:]...)
		}
		s.mu.Unlock()
		select {
		case <-stop:
			return
		case <-time.After(stallPeriod):
		}
	}
}

// since returns the machine's part of a wait that began at start and ends now. Its error is at most
// what was lost in the stallPeriod before the start.
func (s *stalls) since(start time.Time) time.Duration {
	s.mu.Lock()
	var before look
	for i := len(s.past) - 1; i >= 0; i-- {
		before = s.past[i]
		if before.at.Before(start) {
			break
		}
	}
	s.mu.Unlock()
	now := s.look()
	if before.at.IsZero() {
		before = now
	}
	return now.server.since(before.server) + now.test.since(before.test) +
		now.stolen - before.stolen
}
