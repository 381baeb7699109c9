//go:build !unix

package raftlog

import "os"

// lock leaves locking to bbolt.
func lock(*os.File) error { return nil }

func held(error) bool { return false }
