//go:build !linux

package engine

import "runtime"

func readResident() (rss, file int64) { return 0, 0 }

func systemMemory() int64 { return 0 }

func stopProcess() {}

func threadTimes() (user, sys float64) { return 0, 0 }

// OSName returns the system's name, for INFO.
func OSName() string { return runtime.GOOS + " " + runtime.GOARCH }
