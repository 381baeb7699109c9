//go:build unix && !linux

package vfs

import "os"

// systemHolder returns 0: this system does not tell who has a lock.
func systemHolder(*os.File) int { return 0 }

// ending returns false: this system does not tell whether a process is ending.
func ending(int) bool { return false }
