//go:build unix

package raftlog

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// lock takes the file for this process. bbolt takes the same lock again, through the same
// descriptor.
func lock(f *os.File) error {
	for {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

// held reports whether the error says that another process has the lock.
func held(err error) bool { return errors.Is(err, unix.EWOULDBLOCK) }
