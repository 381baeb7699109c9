// Package vfs is the file system that persistence sees: two small interfaces, the real file system
// behind them (OS), and two more that show whether persistence keeps its promises.
//
//   - Mem is a file system in memory that knows what a power loss would leave of it. File.Sync
//     brings what was written to the disk. FS.SyncDir of a file's folder brings its name there, or
//     the removal of its name. Everything else may be lost, kept or torn.
//   - Faulty fails chosen operations of another FS: a disk that fills up in the middle of a write,
//     an fsync or a rename that does not work.
//
// Code that replaces files must do the following, and Mem holds it to that:
//
//  1. Write under a temporary name, then Sync. Else the name may lead to an empty or torn file.
//  2. Rename. It happens as a whole or not at all.
//  3. SyncDir, before anything else relies on the name. Changes of names that are not synced
//     survive in any combination.
//
// After a failed Sync nothing is known about the data written since the last good one. Another Sync
// that works does not bring it back: kernels drop what they could not write. Mem does so too when
// Faulty fails its Sync.
package vfs

import (
	"io"
	"io/fs"
	"os"
)

// File is an open file. It is as safe for concurrent use as *os.File.
type File interface {
	io.Reader
	io.Writer
	io.Closer
	io.Seeker
	// Sync returns when what was written to the file would survive a power loss. The file's name
	// may still be lost: see FS.SyncDir.
	Sync() error
	Truncate(size int64) error
}

// FS opens and names files. Errors are *fs.PathError or *os.LinkError around a system error, as
// package os returns them.
type FS interface {
	Locker
	// Open takes the flags of os.OpenFile.
	Open(name string, flag int, perm fs.FileMode) (File, error)
	// Rename replaces to if it exists, as a whole or not at all.
	Rename(from, to string) error
	// Remove removes a file, or a folder without entries.
	Remove(name string) error
	// SyncDir returns when all names created, changed and removed in the folder would survive a
	// power loss.
	SyncDir(dir string) error
	// ReadDir returns the entries sorted by name.
	ReadDir(dir string) ([]fs.DirEntry, error)
	MkdirAll(dir string, perm fs.FileMode) error
	Stat(name string) (fs.FileInfo, error)
}

// ReadFile returns what the file holds.
func ReadFile(fsys FS, name string) ([]byte, error) {
	f, err := fsys.Open(name, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}

// OS returns the operating system's file system.
func OS() FS { return osFS{} }

type osFS struct{}

func (osFS) Open(name string, flag int, perm fs.FileMode) (File, error) {
	f, err := os.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err // a nil *os.File in a File would not be nil
	}
	return osFile{f}, nil
}

func (osFS) Rename(from, to string) error              { return os.Rename(from, to) }
func (osFS) Remove(name string) error                  { return os.Remove(name) }
func (osFS) ReadDir(dir string) ([]fs.DirEntry, error) { return os.ReadDir(dir) }
func (osFS) Stat(name string) (fs.FileInfo, error)     { return os.Stat(name) }

func (osFS) MkdirAll(dir string, perm fs.FileMode) error { return os.MkdirAll(dir, perm) }

func (osFS) SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	err = d.Sync()
	if cerr := d.Close(); err == nil {
		err = cerr
	}
	return err
}

// osFile is an *os.File whose Sync is the cheapest one that keeps File's promise.
type osFile struct{ *os.File }
