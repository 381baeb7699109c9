package evloop

import (
	"errors"
	"os"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// maxEvents bounds how many events one Poll fetches. epoll serves the rest next time, in turn, so
// none starves.
const maxEvents = 4096

// Loop is one epoll instance with its handlers and timers. All methods except Wake belong to the
// goroutine that calls Poll.
type Loop struct {
	epfd   int
	wakefd int
	closed bool
	waiter waiter

	// Wake sets waking, then writes to wakefd if asleep. Poll sets asleep, then blocks unless
	// waking. Whatever the order, one of the two sees the other's flag. So no wake-up is lost, and
	// waking a busy loop costs no system call.
	waking atomic.Bool
	asleep atomic.Bool

	slots  []slot // by descriptor
	count  int
	events []unix.EpollEvent // of wait
	queue  []unix.EpollEvent // those of events that are still to be delivered

	timers timers
	start  time.Time
	polled time.Duration // since start, at the begin of the last Poll
	waited time.Duration // in blocking waits, in all
}

// slot is what the loop knows of a descriptor. gen counts the Adds of that number. Events carry it
// through the kernel, so an event of an earlier owner is recognised.
type slot struct {
	h   Handler
	gen uint32
}

// New opens an epoll instance and an eventfd. Errors name the system call.
func New() (*Loop, error) {
	epfd, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, os.NewSyscallError("epoll_create1", err)
	}
	wakefd, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err != nil {
		unix.Close(epfd)
		return nil, os.NewSyscallError("eventfd", err)
	}
	l := &Loop{epfd: epfd, wakefd: wakefd, events: newEvents(), start: time.Now()}
	// Edge-triggered: each write makes one event, and the counter never has to be read.
	ev := unix.EpollEvent{Events: unix.EPOLLIN | unix.EPOLLET, Fd: int32(wakefd)}
	if err := unix.EpollCtl(epfd, unix.EPOLL_CTL_ADD, wakefd, &ev); err != nil {
		unix.Close(wakefd)
		unix.Close(epfd)
		return nil, os.NewSyscallError("epoll_ctl", err)
	}
	if err := l.openWaiter(); err != nil {
		unix.Close(wakefd)
		unix.Close(epfd)
		return nil, err
	}
	return l, nil
}

func newEvents() []unix.EpollEvent { return make([]unix.EpollEvent, 128) }

// Close closes the loop's own descriptors, not those added to it. Whoever might call Wake must have
// stopped before.
func (l *Loop) Close() error {
	if l.closed {
		return nil
	}
	l.closed = true
	l.slots, l.count = nil, 0
	return errors.Join(
		l.closeWaiter(),
		os.NewSyscallError("close", unix.Close(l.epfd)),
		os.NewSyscallError("close", unix.Close(l.wakefd)))
}

// Len returns the number of descriptors in the loop.
func (l *Loop) Len() int { return l.count }

// Add watches fd for events and reports them to h. It is level-triggered unless EdgeTriggered is
// among events. Hangup and Error are always reported. fd must not be in the loop.
func (l *Loop) Add(fd int, h Handler, events uint32) error {
	if fd < 0 || h == nil {
		return os.NewSyscallError("epoll_ctl", unix.EBADF)
	}
	if fd >= len(l.slots) {
		grown := make([]slot, max(fd+1, 2*len(l.slots), 64))
		copy(grown, l.slots)
		l.slots = grown
	}
	s := &l.slots[fd]
	if s.h != nil {
		return os.NewSyscallError("epoll_ctl", unix.EEXIST)
	}
	ev := unix.EpollEvent{Events: events, Fd: int32(fd), Pad: int32(s.gen + 1)}
	if err := unix.EpollCtl(l.epfd, unix.EPOLL_CTL_ADD, fd, &ev); err != nil {
		return os.NewSyscallError("epoll_ctl", err)
	}
	s.gen++
	s.h = h
	l.count++
	return nil
}

// Mod changes what fd is watched for. With 0 only Hangup and Error remain.
func (l *Loop) Mod(fd int, events uint32) error {
	if !l.has(fd) {
		return os.NewSyscallError("epoll_ctl", unix.ENOENT)
	}
	ev := unix.EpollEvent{Events: events, Fd: int32(fd), Pad: int32(l.slots[fd].gen)}
	return os.NewSyscallError("epoll_ctl", ctl(l.epfd, unix.EPOLL_CTL_MOD, fd, &ev))
}

// Del stops watching fd. Its handler hears nothing more, not even an event that the running Poll
// has already fetched. Call it before closing fd.
func (l *Loop) Del(fd int) error {
	if !l.has(fd) {
		return os.NewSyscallError("epoll_ctl", unix.ENOENT)
	}
	l.slots[fd].h = nil
	l.count--
	return os.NewSyscallError("epoll_ctl", ctl(l.epfd, unix.EPOLL_CTL_DEL, fd, &unix.EpollEvent{}))
}

func (l *Loop) has(fd int) bool { return fd >= 0 && fd < len(l.slots) && l.slots[fd].h != nil }

// Wake makes the running or the next Poll return soon. Any goroutine may call it, as often as it
// likes: until a Poll has seen the first call, the others cost one atomic load. What was written
// before Wake is visible to what runs after that Poll.
func (l *Loop) Wake() {
	if l.waking.Load() || l.waking.Swap(true) {
		return
	}
	if l.asleep.Load() {
		one := [8]byte{1}
		// The only failure is EAGAIN, a counter near 2^64, and then an event is pending.
		rw(unix.SYS_WRITE, l.wakefd, unsafe.Pointer(&one), len(one))
	}
}

// Poll waits until a descriptor is ready, a timer is due or Wake is called, for at most timeout (0:
// not at all, negative: without limit). Then it calls handlers and timers. It returns how many
// calls it made; a wake-up alone makes 0. Interruption by a signal is not an error.
//
// A handler may call Poll. The inner one first delivers what the outer one has still to deliver,
// and does not wait then: a busy script waits in the inner Poll for a command that may be among
// them (SCRIPT KILL), and events of edge-triggered descriptors are reported only once.
func (l *Loop) Poll(timeout time.Duration) (n int, err error) {
	l.polled = l.elapsed()
	if wait, ok := l.timers.wait(l.polled); ok && (timeout < 0 || wait < timeout) {
		timeout = wait
	}
	n = l.deliver()
	if n > 0 {
		timeout = 0
	}
	got, err := l.wait(timeout)
	if l.waking.Load() {
		// This comes before any handler: what a later Wake announces may be too late for this turn.
		l.waking.Store(false)
	}
	if err != nil {
		return n, err
	}
	l.queue = l.events[:got]
	if got == len(l.events) && got < maxEvents {
		l.events = make([]unix.EpollEvent, 2*got) // the queue keeps the old ones
	}
	return n + l.deliver() + l.timers.run(l.elapsed), nil
}

// deliver calls the handlers of the events in the queue and returns how many it called. A handler
// that polls empties the queue: the inner Poll may use its memory again.
func (l *Loop) deliver() (n int) {
	for len(l.queue) > 0 {
		ev := l.queue[0]
		l.queue = l.queue[1:]
		fd := int(ev.Fd)
		// A handler may have deleted fd, and even added another under its number. The eventfd has
		// no handler: its event has ended the wait and is done.
		if fd < len(l.slots) {
			if s := &l.slots[fd]; s.h != nil && s.gen == uint32(ev.Pad) {
				n++
				s.h.Ready(ev.Events)
			}
		}
	}
	return n
}

// Waited returns for how long the loop has slept in Poll so far.
func (l *Loop) Waited() time.Duration { return l.waited }

func (l *Loop) elapsed() time.Duration { return time.Since(l.start) }

// After calls fn from a Poll, once, ms milliseconds from now.
func (l *Loop) After(ms int, fn func()) *Timer {
	return l.timers.add(l.elapsed(), time.Duration(ms)*time.Millisecond, 0, fn)
}

// Every calls fn from Polls, each ms milliseconds (at least 1). A late loop skips the calls it
// missed instead of making them in a burst.
func (l *Loop) Every(ms int, fn func()) *Timer {
	d := time.Duration(max(ms, 1)) * time.Millisecond
	return l.timers.add(l.elapsed(), d, d, fn)
}
