package evloop

import (
	"bytes"
	"errors"
	"math/rand"
	"os"
	"runtime"
	"slices"
	"syscall"
	"testing"
	"time"

	"godwit/internal/testseed"

	"golang.org/x/sys/unix"
)

type handlerFunc func(events uint32)

func (f handlerFunc) Ready(events uint32) { f(events) }

func newLoop(t testing.TB) *Loop {
	t.Helper()
	l, err := New()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return l
}

// pair returns two connected non-blocking sockets. The test closes them, unless it has done so
// itself and set the number to -1.
func pair(t testing.TB) *[2]int {
	t.Helper()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC,
		0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, fd := range fds {
			if fd >= 0 {
				unix.Close(fd)
			}
		}
	})
	return &fds
}

func poll(t testing.TB, l *Loop, timeoutMs int) int {
	t.Helper()
	n, err := l.Poll(time.Duration(timeoutMs) * time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func send(t testing.TB, fd int, s string) {
	t.Helper()
	if n, errno := Write(fd, []byte(s)); n != len(s) || errno != 0 {
		t.Fatalf("write: %d %v", n, errno)
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestReadableWritableHangup(t *testing.T) {
	l, p := newLoop(t), pair(t)
	var got uint32
	h := handlerFunc(func(ev uint32) { got = ev })
	must(t, l.Add(p[0], h, Readable|PeerClosed))
	if n := poll(t, l, 0); n != 0 {
		t.Fatalf("%d calls with nothing to read", n)
	}
	send(t, p[1], "x")
	for range 2 { // level-triggered: again until it is read
		if got = 0; poll(t, l, -1) != 1 || got != Readable {
			t.Fatalf("events %x", got)
		}
	}
	must(t, l.Mod(p[0], Writable))
	if got = 0; poll(t, l, -1) != 1 || got != Writable {
		t.Fatalf("events %x", got)
	}
	must(t, l.Mod(p[0], 0))
	if n := poll(t, l, 0); n != 0 {
		t.Fatalf("%d calls with nothing watched", n)
	}
	must(t, l.Mod(p[0], Readable|PeerClosed))
	unix.Close(p[1])
	p[1] = -1
	if got = 0; poll(t, l, -1) != 1 ||
		got&(Readable|PeerClosed|Hangup) != Readable|PeerClosed|Hangup {
		t.Fatalf("events %x", got)
	}
	must(t, l.Del(p[0]))
	if n := poll(t, l, 0); n != 0 || l.Len() != 0 {
		t.Fatalf("%d calls after Del", n)
	}
}

func TestEdgeTriggered(t *testing.T) {
	l, p := newLoop(t), pair(t)
	calls := 0
	must(t, l.Add(p[0], handlerFunc(func(uint32) { calls++ }), Readable|EdgeTriggered))
	send(t, p[1], "x")
	poll(t, l, -1)
	if poll(t, l, 0); calls != 1 {
		t.Errorf("%d calls for one arrival", calls)
	}
}

// TestPollWithinPoll makes descriptors ready edge-triggered, and polls again in the handler of
// whichever comes first. The inner Poll must deliver the events that wait in the outer one, once.
func TestPollWithinPoll(t *testing.T) {
	l := newLoop(t)
	const each = 100
	calls, first := map[int]int{}, true
	var late []*[2]int
	add := func(h func()) *[2]int {
		p := pair(t)
		must(t, l.Add(p[0], handlerFunc(func(uint32) { calls[p[0]]++; h() }),
			Readable|EdgeTriggered))
		return p
	}
	for range each {
		late = append(late, add(func() {}))
	}
	for range each {
		p := add(func() {
			if !first {
				return
			}
			first = false
			for _, p := range late {
				send(t, p[1], "x")
			}
			poll(t, l, 0)
			if len(calls) < each {
				t.Errorf("the inner Poll left %d of %d to the outer one", each-len(calls), each)
			}
		})
		send(t, p[1], "x")
	}
	poll(t, l, -1)
	for poll(t, l, 0) > 0 {
	}
	if len(calls) != 2*each {
		t.Errorf("%d of %d descriptors were reported", len(calls), 2*each)
	}
}

func TestErrors(t *testing.T) {
	l, p := newLoop(t), pair(t)
	h := handlerFunc(func(uint32) {})
	check := func(err, want error) {
		t.Helper()
		var sys *os.SyscallError
		if !errors.Is(err, want) || !errors.As(err, &sys) || sys.Syscall != "epoll_ctl" {
			t.Errorf("%v, want %v", err, want)
		}
	}
	check(l.Add(-1, h, Readable), unix.EBADF)
	check(l.Add(1<<20-1, h, Readable), unix.EBADF)
	check(l.Add(p[0], nil, Readable), unix.EBADF)
	must(t, l.Add(p[0], h, Readable))
	check(l.Add(p[0], h, Readable), unix.EEXIST)
	check(l.Mod(p[1], Readable), unix.ENOENT)
	check(l.Del(p[1]), unix.ENOENT)
	check(l.Del(1<<30), unix.ENOENT)
	check(l.Del(-1), unix.ENOENT)
	if l.Len() != 1 {
		t.Errorf("%d descriptors", l.Len())
	}
	f, err := os.CreateTemp(t.TempDir(), "")
	must(t, err)
	defer f.Close()
	check(l.Add(int(f.Fd()), h, Readable), unix.EPERM)
	must(t, l.Close())
	must(t, l.Close())
}

// TestDelDuringDispatch makes two descriptors ready in one batch. The handler of whichever comes
// first removes the other.
func TestDelDuringDispatch(t *testing.T) {
	l, a, b := newLoop(t), pair(t), pair(t)
	calls := 0
	remove := func(other int) Handler {
		return handlerFunc(func(uint32) { calls++; must(t, l.Del(other)) })
	}
	must(t, l.Add(a[0], remove(b[0]), Readable))
	must(t, l.Add(b[0], remove(a[0]), Readable))
	send(t, a[1], "x")
	send(t, b[1], "x")
	if n := poll(t, l, -1); n != 1 || calls != 1 || l.Len() != 1 {
		t.Errorf("%d calls, %d descriptors", calls, l.Len())
	}
}

// TestStaleEventDoesNotReachReusedDescriptor does the same, but closes the other descriptor, whose
// number at once belongs to a new one.
func TestStaleEventDoesNotReachReusedDescriptor(t *testing.T) {
	l, a, b := newLoop(t), pair(t), pair(t)
	wrong, first := 0, true
	replace := func(other *[2]int) Handler {
		return handlerFunc(func(uint32) {
			if !first {
				return
			}
			first = false
			fresh := pair(t)
			must(t, l.Del(other[0]))
			// Dup3 closes the number and gives it to the fresh socket in one step.
			must(t, unix.Dup3(fresh[0], other[0], unix.O_CLOEXEC))
			must(t, l.Add(other[0], handlerFunc(func(uint32) { wrong++ }), Readable))
		})
	}
	must(t, l.Add(a[0], replace(b), Readable))
	must(t, l.Add(b[0], replace(a), Readable))
	send(t, a[1], "x")
	send(t, b[1], "x")
	if n := poll(t, l, -1); n != 1 || wrong != 0 || first {
		t.Errorf("%d calls, %d of them to the wrong handler", n, wrong)
	}
}

func TestManyDescriptors(t *testing.T) {
	rnd := rand.New(rand.NewSource(int64(testseed.New(t))))
	l := newLoop(t)
	const n = 300 // more than one batch at first
	got := make([]int, n)
	var peers []int
	for i := range n {
		p := pair(t)
		must(t, l.Add(p[0], handlerFunc(func(uint32) {
			var b [64]byte
			k, errno := Read(p[0], b[:])
			if errno != 0 {
				t.Errorf("read: %v", errno)
			}
			got[i] += k
		}), Readable))
		peers = append(peers, p[1])
	}
	want := make([]int, n)
	for range 20 {
		sent := 0
		for i, fd := range peers {
			if rnd.Intn(3) > 0 {
				send(t, fd, "abc")
				want[i] += 3
				sent++
			}
		}
		for sent > 0 {
			sent -= poll(t, l, -1)
		}
		if sent != 0 || !slices.Equal(got, want) {
			t.Fatalf("%d too few, got %v want %v", sent, got, want)
		}
	}
	if l.Len() != n {
		t.Errorf("%d descriptors", l.Len())
	}
}

func TestWakesCoalesce(t *testing.T) {
	l := newLoop(t)
	for range 100 {
		l.Wake()
	}
	if n := poll(t, l, -1); n != 0 {
		t.Errorf("%d calls", n)
	}
	after := false
	l.After(20, func() { after = true })
	for !after {
		poll(t, l, -1) // a wake-up left over would end one of these early, at most
	}
	p := pair(t)
	must(t, l.Add(p[0], handlerFunc(func(uint32) {}), Readable))
	send(t, p[1], "x")
	l.Wake()
	if n := poll(t, l, -1); n != 1 {
		t.Errorf("%d calls, want the handler's beside the wake-up", n)
	}
}

// TestTimers checks order, rounding, stopping, and that a call cannot starve the loop, with a clock
// of the test's own.
func TestTimers(t *testing.T) {
	var ts timers
	var now time.Duration
	clock := func() time.Duration { return now }
	var order []string
	say := func(s string) func() { return func() { order = append(order, s) } }
	const ms = time.Millisecond
	expect := func(calls int, want ...string) {
		t.Helper()
		order = nil
		if n := ts.run(clock); n != calls || !slices.Equal(order, want) {
			t.Fatalf("at %v: %d calls: %q, want %q", now, n, order, want)
		}
	}
	if _, ok := ts.wait(now); ok {
		t.Error("a wait without a timer")
	}
	ts.add(now, 30*ms, 0, say("30"))
	ts.add(now, 10*ms, 0, say("10"))
	ts.add(now, 10*ms, 0, say("10 second"))
	ts.add(now, -5, 0, func() {
		say("past")()
		ts.add(now, 0, 0, say("from past"))
	})
	stopped := ts.add(now, 5*ms, 0, say("stopped"))
	stopped.Stop()
	stopped.Stop()
	expect(1, "past")
	expect(1, "from past")
	expect(0)
	now = 10*ms - 1
	if w, ok := ts.wait(now); w != 1 || !ok {
		t.Errorf("wait %d %v", w, ok)
	}
	expect(0)
	now = 40 * ms
	expect(3, "10", "10 second", "30")
	if _, ok := ts.wait(now); ok || len(ts.list) != 0 {
		t.Errorf("%d timers left", len(ts.list))
	}

	var every *Timer
	calls := 0
	every = ts.add(now, 2*ms, 2*ms, func() {
		say("every")()
		if calls++; calls == 3 {
			every.Stop()
		}
	})
	now += 2 * ms
	expect(1, "every")
	now += 7 * ms // two were missed
	expect(1, "every")
	if w, _ := ts.wait(now); w != time.Millisecond {
		t.Errorf("wait %v, want 1ms: it keeps its phase", w)
	}
	now += 1 * ms
	expect(1, "every")
	now += 100 * ms
	expect(0)
}

func TestLoopRunsTimers(t *testing.T) {
	l := newLoop(t)
	start := time.Now()
	calls := 0
	timer := l.Every(0, func() { calls++ })
	done := false
	l.After(20, func() { done = true })
	for !done || calls < 3 {
		poll(t, l, -1)
	}
	if d := time.Since(start); d < 20*time.Millisecond {
		t.Errorf("20 ms over after %v", d)
	}
	timer.Stop()
	if calls = 0; poll(t, l, 5) != 0 || calls != 0 {
		t.Error("called after Stop")
	}
}

func TestPollTimesOut(t *testing.T) {
	l := newLoop(t)
	start := time.Now()
	for time.Since(start) < 15*time.Millisecond { // a signal of the runtime's may end one early
		if n := poll(t, l, 15); n != 0 {
			t.Errorf("%d calls", n)
		}
	}
}

func TestReadWriteErrors(t *testing.T) {
	p := pair(t)
	buf := make([]byte, 1<<16)
	if n, errno := Read(p[0], buf); n != 0 || errno != syscall.EAGAIN {
		t.Errorf("nothing to read: %d %v", n, errno)
	}
	var errno syscall.Errno
	total := 0
	for errno == 0 {
		var n int
		n, errno = Write(p[1], buf)
		total += n
	}
	if errno != syscall.EAGAIN || total == 0 {
		t.Errorf("full: %v after %d", errno, total)
	}
	if n, errno := Write(p[0], nil); n != 0 || errno != 0 {
		t.Errorf("nothing to write: %d %v", n, errno)
	}
	unix.Close(p[1])
	p[1] = -1
	if _, errno := Write(p[0], buf); errno != syscall.EPIPE {
		t.Errorf("closed peer: %v", errno)
	}
	for errno = 0; errno == 0; {
		var n int
		if n, errno = Read(p[0], buf); n == 0 {
			break
		}
	}
	if errno != 0 {
		t.Errorf("end of stream: %v", errno)
	}
	if _, errno := Read(-1, buf); errno != syscall.EBADF {
		t.Errorf("no descriptor: %v", errno)
	}
}

func TestWritev(t *testing.T) {
	p := pair(t)
	var bufs [][]byte
	var want []byte
	for i := range 100 {
		b := bytes.Repeat([]byte{byte(i)}, i%4)
		bufs = append(bufs, b)
		if len(want) < 1000 {
			want = append(want, b...)
		}
	}
	got := make([]byte, 1000)
	n, errno := Writev(p[1], bufs)
	if errno != 0 || n == 0 || n >= len(want) {
		t.Fatalf("%d of %d, %v: 64 buffers are the limit", n, len(want), errno)
	}
	if k, _ := Read(p[0], got); !bytes.Equal(got[:k], want[:n]) {
		t.Errorf("%d bytes differ", k)
	}
	if n, errno := Writev(p[1], [][]byte{nil, {}}); n != 0 || errno != 0 {
		t.Errorf("empty: %d %v", n, errno)
	}
	if _, errno := Writev(-1, bufs); errno != syscall.EBADF {
		t.Errorf("%v", errno)
	}
}

// echo is a handler like a server's. Nothing in a turn may allocate.
type echo struct {
	fd  int
	buf [64]byte
}

func (e *echo) Ready(uint32) {
	if n, errno := Read(e.fd, e.buf[:]); errno == 0 {
		Writev(e.fd, [][]byte{e.buf[:n/2], e.buf[n/2 : n]})
	}
}

func TestNoAllocations(t *testing.T) {
	l, p := newLoop(t), pair(t)
	must(t, l.Add(p[0], &echo{fd: p[0]}, Readable))
	l.Every(1, func() {})
	var back [64]byte
	if n := testing.AllocsPerRun(200, func() {
		Write(p[1], back[:10])
		l.Wake()
		l.Poll(-1)
		Read(p[1], back[:])
	}); n != 0 {
		t.Errorf("%v allocations a turn", n)
	}
}

func BenchmarkTurn(b *testing.B) {
	l, p := newLoop(b), pair(b)
	must(b, l.Add(p[0], &echo{fd: p[0]}, Readable))
	var back [64]byte
	b.ReportAllocs()
	for b.Loop() {
		Write(p[1], back[:10])
		l.Poll(-1)
		Read(p[1], back[:])
	}
}

func BenchmarkWaitReady(b *testing.B) {
	l, p := newLoop(b), pair(b)
	must(b, l.Add(p[0], &echo{fd: p[0]}, Readable))
	send(b, p[1], "x")
	b.Run("raw", func(b *testing.B) {
		for b.Loop() {
			epollWaitNow(l.epfd, l.events)
		}
	})
	b.Run("poll", func(b *testing.B) {
		for b.Loop() {
			if n, err := l.wait(-1); n != 1 || err != nil {
				b.Fatal(n, err)
			}
		}
	})
}

func BenchmarkReadNothing(b *testing.B) {
	p := pair(b)
	buf := make([]byte, 64)
	b.Run("Read", func(b *testing.B) {
		for b.Loop() {
			Read(p[0], buf)
		}
	})
	b.Run("unix.Read", func(b *testing.B) {
		for b.Loop() {
			unix.Read(p[0], buf)
		}
	})
}

// BenchmarkPingPong runs the peer in another thread, so each turn blocks.
func BenchmarkPingPong(b *testing.B) {
	for _, locked := range []bool{false, true} {
		name := map[bool]string{false: "free", true: "locked"}[locked]
		b.Run(name, func(b *testing.B) {
			l, p := newLoop(b), pair(b)
			must(b, unix.SetNonblock(p[1], false))
			must(b, l.Add(p[0], &echo{fd: p[0]}, Readable))
			done := make(chan struct{})
			go func() {
				defer close(done)
				runtime.LockOSThread()
				var buf [64]byte
				for range b.N {
					unix.Write(p[1], buf[:10])
					unix.Read(p[1], buf[:])
				}
			}()
			if locked {
				runtime.LockOSThread()
				defer runtime.UnlockOSThread()
			}
			b.ResetTimer()
			for n := 0; n < b.N; {
				n += poll(b, l, -1)
			}
			<-done
		})
	}
}
