package vfs

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Locker is the part of FS that keeps two servers out of one folder.
type Locker interface {
	// Lock takes the lock on a folder, or on a file, which is created if needed. The lock is
	// advisory. It belongs to the process and ends with it, however that ends, or with Close. A
	// *LockedError says that another process has it. Any other error says that the file system has
	// no locks or that this one cannot be taken; then nothing is known about others.
	Lock(name string) (io.Closer, error)
}

// LockedError reports that another process holds a lock.
type LockedError struct {
	Name string
	PID  int // of the holder; 0: not known
	// Ending says that the holder has been killed or has ended, and is freeing its memory. If that
	// is much, it takes seconds. Its locks are released afterwards.
	Ending bool
}

// Error implements error.
func (e *LockedError) Error() string {
	if e.PID == 0 {
		return e.Name + " is locked by another process"
	}
	return fmt.Sprintf("%s is locked by the process with pid %d", e.Name, e.PID)
}

// Lock implements FS. The lock on a folder is known by name alone: Mem creates no file for it, and
// a power loss leaves none.
func (m *Mem) Lock(name string) (io.Closer, error) {
	name = filepath.Clean(name)
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.powered("lock", name); err != nil {
		return nil, err
	}
	if m.names[name] == nil {
		if err := m.folder("lock", name); err != nil {
			return nil, err
		}
	}
	if m.locks[name] != nil {
		return nil, &LockedError{Name: name, PID: os.Getpid()}
	}
	l := &memLock{m: m, name: name}
	m.locks[name] = l
	return l, nil
}

// memLock is a lock of a Mem.
type memLock struct {
	m    *Mem
	name string
}

// Close releases the lock. A second call is an error, as with a file.
func (l *memLock) Close() error {
	l.m.mu.Lock()
	defer l.m.mu.Unlock()
	if l.m.locks[l.name] != l {
		return &fs.PathError{Op: "unlock", Path: l.name, Err: fs.ErrClosed}
	}
	delete(l.m.locks, l.name)
	return nil
}

// Lock implements FS.
func (f faultyFS) Lock(name string) (io.Closer, error) {
	if _, err := f.plan.check(OpLock, name, 0); err != nil {
		return nil, &fs.PathError{Op: "lock", Path: name, Err: err}
	}
	return f.FS.Lock(name)
}

// held reports whether the error of a flock means that another process has the lock.
func held(err error) bool { return err == syscall.EWOULDBLOCK || err == syscall.EAGAIN }
