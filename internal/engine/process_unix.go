//go:build unix

package engine

import "golang.org/x/sys/unix"

// usage returns the CPU time in seconds that getrusage reports for who.
func usage(who int) (user, sys float64) {
	var ru unix.Rusage
	if unix.Getrusage(who, &ru) != nil {
		return 0, 0
	}
	return float64(ru.Utime.Nano()) / 1e9, float64(ru.Stime.Nano()) / 1e9
}

func processTimes() (user, sys float64) { return usage(unix.RUSAGE_SELF) }

func childTimes() (user, sys float64) { return usage(unix.RUSAGE_CHILDREN) }
