package evloop

import (
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Event bits, for Add, Mod and Ready.
const (
	Readable      uint32 = unix.EPOLLIN
	Writable      uint32 = unix.EPOLLOUT
	Hangup        uint32 = unix.EPOLLHUP
	PeerClosed    uint32 = unix.EPOLLRDHUP
	Error         uint32 = unix.EPOLLERR
	EdgeTriggered uint32 = 1 << 31 // EPOLLET; unix declares it for 32 bits, signed
)

// The functions below bypass entersyscall: for a call that cannot block, telling the scheduler
// costs more than it can save. Their pointers are to memory that the call itself keeps alive; the
// kernel keeps none.

// Read reads from a non-blocking socket by recvfrom. read would go through the file layer, and a
// GET without pipelining would cost 6 % more of the server's CPU time (the same holds for write and
// sendto). Either errno or n is 0. EAGAIN means that there is nothing yet. n = 0 with errno 0 is
// the end of the stream (or an empty buf). EINTR is retried. Read does not allocate.
func Read(fd int, buf []byte) (n int, errno syscall.Errno) {
	return rw(unix.SYS_RECVFROM, fd, unsafe.Pointer(unsafe.SliceData(buf)), len(buf))
}

// Write writes to a non-blocking socket as much as fits now, maybe less than buf. The error is
// EAGAIN when nothing fits. EINTR is retried. Write does not allocate. (A broken pipe raises no
// SIGPIPE that matters: the Go runtime ignores it except on descriptors 1 and 2.)
func Write(fd int, buf []byte) (n int, errno syscall.Errno) {
	return rw(unix.SYS_SENDTO, fd, unsafe.Pointer(unsafe.SliceData(buf)), len(buf))
}

func rw(trap uintptr, fd int, p unsafe.Pointer, size int) (int, syscall.Errno) {
	for {
		r, _, errno := syscall.RawSyscall6(trap, uintptr(fd), uintptr(p), uintptr(size), 0, 0, 0)
		if errno == 0 {
			return int(r), 0
		}
		if errno != syscall.EINTR {
			return 0, errno
		}
	}
}

// maxIovecs bounds the buffers of one Writev, so that their vector fits an array on the stack.
const maxIovecs = 64

// Writev writes the buffers in order, as Write would write their concatenation. It tries only the
// first 64 non-empty ones. It does not allocate.
func Writev(fd int, bufs [][]byte) (n int, errno syscall.Errno) {
	var iov [maxIovecs]unix.Iovec
	k := 0
	for _, b := range bufs {
		if len(b) == 0 {
			continue
		}
		if k == maxIovecs {
			break
		}
		iov[k].Base = &b[0]
		iov[k].SetLen(len(b))
		k++
	}
	if k == 0 {
		return 0, 0
	}
	return rw(unix.SYS_WRITEV, fd, unsafe.Pointer(&iov[0]), k)
}

// epollWaitNow fetches what is ready, without waiting.
func epollWaitNow(epfd int, events []unix.EpollEvent) (int, syscall.Errno) {
	r, _, errno := syscall.RawSyscall6(unix.SYS_EPOLL_PWAIT, uintptr(epfd),
		uintptr(unsafe.Pointer(unsafe.SliceData(events))), uintptr(len(events)), 0, 0, 0)
	return result(r, errno)
}

// epollWaitBlock waits. The scheduler is told, so other goroutines get the processor meanwhile.
func epollWaitBlock(epfd int, events []unix.EpollEvent, timeout time.Duration) (int,
	syscall.Errno) {
	p, n := unsafe.Pointer(unsafe.SliceData(events)), uintptr(len(events))
	if timeout > 0 && timeout < time.Millisecond {
		ts := unix.NsecToTimespec(int64(timeout))
		r, _, errno := syscall.Syscall6(unix.SYS_EPOLL_PWAIT2, uintptr(epfd), uintptr(p), n,
			uintptr(unsafe.Pointer(&ts)), 0, 0)
		if !unknown(errno) {
			return result(r, errno)
		}
	}
	r, _, errno := syscall.Syscall6(unix.SYS_EPOLL_PWAIT, uintptr(epfd), uintptr(p), n,
		uintptr(millis(timeout)), 0, 0)
	return result(r, errno)
}

// epollWaitRaw does what epollWaitBlock does, but keeps the processor. To stop the world, or to
// preempt the goroutine, the runtime sends the thread a signal, which ends the wait with EINTR.
func epollWaitRaw(epfd int, events []unix.EpollEvent, timeout time.Duration) (int,
	syscall.Errno) {
	p, n := unsafe.Pointer(unsafe.SliceData(events)), uintptr(len(events))
	if timeout > 0 && timeout < time.Millisecond {
		ts := unix.NsecToTimespec(int64(timeout))
		r, _, errno := syscall.RawSyscall6(unix.SYS_EPOLL_PWAIT2, uintptr(epfd), uintptr(p), n,
			uintptr(unsafe.Pointer(&ts)), 0, 0)
		if !unknown(errno) {
			return result(r, errno)
		}
	}
	r, _, errno := syscall.RawSyscall6(unix.SYS_EPOLL_PWAIT, uintptr(epfd), uintptr(p), n,
		uintptr(millis(timeout)), 0, 0)
	return result(r, errno)
}

// unknown reports whether the kernel lacks epoll_pwait2, as those before 5.11 do. There, waits
// below a millisecond are rounded up to one.
func unknown(errno syscall.Errno) bool { return errno == syscall.ENOSYS || errno == syscall.EPERM }

// millis rounds a timeout of epoll_pwait up to whole milliseconds.
func millis(timeout time.Duration) int {
	if timeout < 0 {
		return -1
	}
	return int((timeout + time.Millisecond - 1) / time.Millisecond)
}

func result(r uintptr, errno syscall.Errno) (int, syscall.Errno) {
	if errno != 0 {
		return 0, errno
	}
	return int(r), 0
}

// ctl calls epoll_ctl, which never blocks.
func ctl(epfd, op, fd int, ev *unix.EpollEvent) error {
	_, _, errno := syscall.RawSyscall6(unix.SYS_EPOLL_CTL, uintptr(epfd), uintptr(op), uintptr(fd),
		uintptr(unsafe.Pointer(ev)), 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}

// timerSet makes a timerfd ring once, d from now. It cannot fail for a timerfd and a positive d.
func timerSet(fd int, d time.Duration) {
	spec := unix.ItimerSpec{Value: unix.NsecToTimespec(int64(d))}
	syscall.RawSyscall6(unix.SYS_TIMERFD_SETTIME, uintptr(fd), 0, uintptr(unsafe.Pointer(&spec)), 0,
		0, 0)
}
