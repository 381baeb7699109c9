//go:build !linux

package vfs

// Sync is os.File's. On macOS that also empties the drive's own cache.
func (f osFile) Sync() error { return f.File.Sync() }

// Free returns -1: it is not known how many bytes are free.
func (osFS) Free(string) int64 { return -1 }
