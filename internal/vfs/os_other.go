//go:build !linux

package vfs

// Sync is os.File's, which asks macOS to empty the drive's own cache too.
func (f osFile) Sync() error { return f.File.Sync() }
