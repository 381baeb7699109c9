//go:build !linux

package proctitle

// Take does nothing: the command line stays as it is on this system.
func Take() {}

// Set does nothing.
func Set(string) {}
