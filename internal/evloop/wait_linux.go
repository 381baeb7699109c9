package evloop

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// briskGap is the longest wait that still counts as brisk traffic.
	briskGap = 2 * time.Millisecond
	// briskStreak is how many brisk waits in a row make the loop brisk.
	briskStreak = 2
	// briskLimit is the longest wait of a brisk loop. Then it is quiet, and parks.
	briskLimit = 8 * time.Millisecond
	// passAfter is for how long a loop keeps its processor before another thread must look into the
	// runtime's poller.
	passAfter = 2 * time.Millisecond
	// alarmSlack is how much earlier than asked a quiet wait may end, so that waits for the same
	// deadline set the alarm once.
	alarmSlack = time.Millisecond
)

// waiter is how a loop waits: see the package comment.
type waiter struct {
	spawn  func()        // see KeepProcessor; nil: a brisk wait gives the processor away
	brisk  int           // brisk waits in a row, at most briskStreak
	silent time.Duration // for how long a brisk loop has waited in vain
	parked time.Duration // when the last park ended, since the loop's start
	passed bool          // spawn has been called since

	gate    *os.File // the epoll instance between the loop's and the runtime's
	gatefd  int
	raw     syscall.RawConn // of gate
	alarmfd int             // a timerfd in the loop's epoll instance
	alarm   time.Duration   // when it rings, since the loop's start; 0: never set

	look  func(uintptr) bool // fetch, made once
	n     int                // what fetch has fetched
	errno syscall.Errno
}

// openWaiter opens what quiet waits need.
func (l *Loop) openWaiter() (err error) {
	w := &l.waiter
	w.gatefd, w.alarmfd = -1, -1
	defer func() {
		if err != nil {
			_ = l.closeWaiter() // the first error says more
		}
	}()
	if w.alarmfd, err = unix.TimerfdCreate(unix.CLOCK_MONOTONIC,
		unix.TFD_NONBLOCK|unix.TFD_CLOEXEC); err != nil {
		return os.NewSyscallError("timerfd_create", err)
	}
	ev := unix.EpollEvent{Events: unix.EPOLLIN | unix.EPOLLET, Fd: int32(w.alarmfd)}
	if err = unix.EpollCtl(l.epfd, unix.EPOLL_CTL_ADD, w.alarmfd, &ev); err != nil {
		return os.NewSyscallError("epoll_ctl", err)
	}
	if w.gatefd, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		return os.NewSyscallError("epoll_create1", err)
	}
	if err = unix.EpollCtl(w.gatefd, unix.EPOLL_CTL_ADD, l.epfd, &unix.EpollEvent{}); err != nil {
		return os.NewSyscallError("epoll_ctl", err)
	}
	if err = unix.SetNonblock(w.gatefd, true); err != nil { // or the runtime would not poll it
		return os.NewSyscallError("fcntl", err)
	}
	w.gate = os.NewFile(uintptr(w.gatefd), "gate")
	if err = w.gate.SetReadDeadline(time.Time{}); err != nil {
		return fmt.Errorf("the Go runtime cannot poll an epoll instance: %w", err)
	}
	if w.raw, err = w.gate.SyscallConn(); err != nil {
		return err
	}
	w.look = l.fetch
	return nil
}

// closeWaiter closes what openWaiter has opened.
func (l *Loop) closeWaiter() error {
	var errs []error
	switch w := &l.waiter; {
	case w.gate != nil:
		errs = append(errs, w.gate.Close())
	case w.gatefd >= 0:
		errs = append(errs, os.NewSyscallError("close", unix.Close(w.gatefd)))
	}
	if fd := l.waiter.alarmfd; fd >= 0 {
		errs = append(errs, os.NewSyscallError("close", unix.Close(fd)))
	}
	return errors.Join(errs...)
}

// KeepProcessor makes the loop keep its processor (the Go scheduler's P) while it waits for brisk
// traffic. That is right only if the scheduler has one more for each such loop than the other
// goroutines can use. Otherwise they would wait for it too. Call it before the first Poll.
//
// spawn must start a goroutine that ends at once. A loop that becomes brisk calls it, and one that
// has not parked for passAfter, because it has work or waits below a millisecond: its thread has
// come from the runtime's poller and will not be back there for long. The monitor thread, which
// would look there in its place, may be asleep until somebody makes a system call. The thread that
// runs the goroutine waits there afterwards.
func (l *Loop) KeepProcessor(spawn func()) { l.waiter.spawn = spawn }

// wait fetches ready events into l.events. It blocks only if there are none.
func (l *Loop) wait(timeout time.Duration) (n int, err error) {
	var errno syscall.Errno
	w := &l.waiter
	brisk := w.brisk == briskStreak
	if l.polled-w.parked >= passAfter {
		w.pass()
	}
	if timeout == 0 || brisk && w.spawn == nil {
		n, errno = epollWaitNow(l.epfd, l.events)
	}
	if n == 0 && timeout != 0 && errno == 0 {
		l.asleep.Store(true)
		switch {
		case l.waking.Load():
			n, errno = epollWaitNow(l.epfd, l.events)
		case brisk, timeout > 0 && timeout < time.Millisecond:
			n, errno = l.waitBrisk(timeout)
		default:
			n, errno = l.waitQuiet(timeout)
		}
		l.asleep.Store(false)
		l.waited += l.elapsed() - l.polled
	}
	if errno != 0 && errno != syscall.EINTR {
		return 0, fmt.Errorf("epoll_wait: %w", errno)
	}
	return n, nil
}

// waitBrisk waits in epoll_wait, for at most briskLimit. A wait that a signal ends says nothing of
// the traffic.
func (l *Loop) waitBrisk(timeout time.Duration) (n int, errno syscall.Errno) {
	w := &l.waiter
	limit := timeout
	if limit < 0 || limit > briskLimit {
		limit = briskLimit
	}
	if w.spawn != nil {
		n, errno = epollWaitRaw(l.epfd, l.events, limit)
	} else {
		n, errno = epollWaitBlock(l.epfd, l.events, limit)
	}
	switch {
	case n > 0:
		w.silent = 0
	case errno == 0:
		if w.silent += limit; w.silent >= briskLimit {
			w.brisk, w.silent = 0, 0
		}
	}
	return n, errno
}

// waitQuiet parks the goroutine until the loop's epoll instance is readable, and keeps count of how
// often that was soon.
func (l *Loop) waitQuiet(timeout time.Duration) (n int, errno syscall.Errno) {
	w := &l.waiter
	start := l.elapsed()
	if timeout > 0 {
		l.setAlarm(start, start+timeout)
	}
	n, errno = l.park()
	w.parked, w.passed = l.elapsed(), false
	if n == 0 || errno != 0 || w.parked-start > briskGap {
		w.brisk = 0
		return n, errno
	}
	if w.brisk++; w.brisk == briskStreak {
		w.pass()
	}
	return n, errno
}

// pass makes another thread look into the runtime's poller, once after each park.
func (w *waiter) pass() {
	if w.spawn != nil && !w.passed {
		w.passed = true
		w.spawn()
	}
}

// setAlarm makes the alarm ring at the given time, unless it rings just before.
func (l *Loop) setAlarm(now, at time.Duration) {
	w := &l.waiter
	if w.alarm > now && w.alarm <= at && w.alarm > at-alarmSlack {
		return
	}
	w.alarm = at
	timerSet(w.alarmfd, at-now)
}

// park parks the goroutine in the runtime's poller until the loop's epoll instance is readable. The
// gate watches it only meanwhile. EPOLL_CTL_MOD switches that on and off in constant time, whereas
// EPOLL_CTL_ADD looks for cycles among all descriptors of the loop.
func (l *Loop) park() (int, syscall.Errno) {
	w := &l.waiter
	ev := unix.EpollEvent{Events: unix.EPOLLIN | unix.EPOLLET}
	err := ctl(w.gatefd, unix.EPOLL_CTL_MOD, l.epfd, &ev)
	if err == nil {
		err = w.raw.Read(w.look)
		ev.Events = 0
		err = errors.Join(err, ctl(w.gatefd, unix.EPOLL_CTL_MOD, l.epfd, &ev))
	}
	if err != nil { // no such errors are known
		return epollWaitBlock(l.epfd, l.events, briskLimit)
	}
	return w.n, w.errno
}

// fetch fetches what is ready, and reports whether the wait is over.
func (l *Loop) fetch(uintptr) bool {
	w := &l.waiter
	w.n, w.errno = epollWaitNow(l.epfd, l.events)
	return w.n != 0 || w.errno != 0 || l.waking.Load()
}
