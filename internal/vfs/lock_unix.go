//go:build unix

package vfs

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Lock uses flock. Unlike a lock by fcntl, it does not end when anybody in the process closes the
// file. Into a file, but not into a folder, it writes the process's pid.
func (osFS) Lock(name string) (io.Closer, error) {
	f, err := openLock(name)
	if err != nil {
		return nil, err
	}
	for {
		if err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != unix.EINTR {
			break
		}
	}
	if err == nil {
		if info, e := f.Stat(); e == nil && !info.IsDir() {
			note(f)
		}
		return f, nil
	}
	defer f.Close()
	if held(err) {
		pid := holder(f)
		return nil, &LockedError{Name: name, PID: pid, Ending: pid != 0 && ending(pid)}
	}
	return nil, &fs.PathError{Op: "flock", Path: name, Err: err}
}

// openLock opens what is to be locked: a folder, or a file. The file may belong to another user and
// be readable only.
func openLock(name string) (*os.File, error) {
	if info, err := os.Stat(name); err == nil && info.IsDir() {
		return os.Open(name)
	}
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o644)
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, unix.EROFS) {
		if r, e := os.Open(name); e == nil {
			return r, nil
		}
	}
	return f, err
}

// note writes the pid. If the disk is full the file stays empty; then a message lacks a number.
func note(f *os.File) {
	if f.Truncate(0) == nil {
		_, _ = f.WriteAt(strconv.AppendInt(nil, int64(os.Getpid()), 10), 0)
	}
}

// holder returns the pid of the process that has the lock on f, or 0 if it is unknown.
func holder(f *os.File) int {
	var text [20]byte
	n, _ := f.ReadAt(text[:], 0)
	if pid, err := strconv.Atoi(strings.TrimSpace(string(text[:n]))); err == nil {
		return pid
	}
	return systemHolder(f)
}
