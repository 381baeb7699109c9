package engine

import (
	"bytes"
	"os"
	"runtime"
	"strconv"

	"golang.org/x/sys/unix"
)

// readResident returns the process's resident memory in bytes and the part of it that is backed by
// files (the binary). It reads /proc/self/statm, and returns zeros if that fails.
func readResident() (rss, file int64) {
	b, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0, 0
	}
	page := int64(os.Getpagesize())
	f := bytes.Fields(b)
	if len(f) < 3 {
		return 0, 0
	}
	return page * atoi(f[1]), page * atoi(f[2])
}

func atoi(b []byte) int64 {
	n, _ := strconv.ParseInt(string(b), 10, 64) // 0 for what is no number
	return n
}

// systemMemory returns the machine's memory in bytes.
func systemMemory() int64 {
	var si unix.Sysinfo_t
	if unix.Sysinfo(&si) != nil {
		return 0
	}
	return int64(si.Totalram) * int64(si.Unit)
}

// stopProcess stops the process until it gets a SIGCONT. The thread sends itself the signal, so it
// does not go on a little further.
func stopProcess() {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	_ = unix.Tgkill(unix.Getpid(), unix.Gettid(), unix.SIGSTOP) // without it nothing stops
}

func threadTimes() (user, sys float64) { return usage(unix.RUSAGE_THREAD) }

// OSName returns what uname says, for INFO.
func OSName() string {
	var u unix.Utsname
	if unix.Uname(&u) != nil {
		return "Linux"
	}
	return unix.ByteSliceToString(u.Sysname[:]) + " " + unix.ByteSliceToString(u.Release[:]) + " " +
		unix.ByteSliceToString(u.Machine[:])
}
