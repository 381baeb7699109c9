package vfs

import (
	"io/fs"

	"golang.org/x/sys/unix"
)

// Sync uses fdatasync. It writes data and length, but not the time of the last change, which would
// cost a journal entry at every call.
func (f osFile) Sync() error {
	conn, err := f.SyscallConn()
	if err != nil {
		return &fs.PathError{Op: "fdatasync", Path: f.Name(), Err: err}
	}
	var serr error
	err = conn.Control(func(fd uintptr) {
		for {
			if serr = unix.Fdatasync(int(fd)); serr != unix.EINTR {
				return
			}
		}
	})
	if err == nil {
		err = serr
	}
	if err != nil {
		return &fs.PathError{Op: "fdatasync", Path: f.Name(), Err: err}
	}
	return nil
}

// Free returns the bytes that are free for this process where the folder is, -1 if that is not
// known.
func (osFS) Free(dir string) int64 {
	var s unix.Statfs_t
	if unix.Statfs(dir, &s) != nil {
		return -1
	}
	return int64(s.Bavail) * int64(s.Bsize)
}
