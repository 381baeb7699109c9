//go:build unix

package server

import "syscall"

// raiseDescriptors raises the soft limit of open descriptors to want, or as far as the system
// allows, and returns the new limit.
func raiseDescriptors(want uint64) (got uint64, err error) {
	var r syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &r); err != nil {
		return 0, err
	}
	have := uint64(r.Cur)
	if have >= want {
		return have, nil
	}
	// Only the privileged get past the hard limit; others take what is below it.
	high := r
	high.Cur, high.Max = rlimValue(want), max(r.Max, rlimValue(want))
	if err = syscall.Setrlimit(syscall.RLIMIT_NOFILE, &high); err == nil {
		return want, nil
	}
	if uint64(r.Max) > have {
		r.Cur = r.Max
		if syscall.Setrlimit(syscall.RLIMIT_NOFILE, &r) == nil {
			have = uint64(r.Max)
		}
	}
	return have, err
}
