package boottime

import "golang.org/x/sys/unix"

// Now returns the clock's reading in nanoseconds. It takes a system call.
func Now() int64 {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &ts); err != nil {
		panic("CLOCK_BOOTTIME cannot be read: " + err.Error()) // the kernel is older than 2.6.39
	}
	return ts.Nano()
}
