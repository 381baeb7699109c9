//go:build !linux

package proctitle

// Take does nothing: on this system the command line stays as it is.
func Take() {}

// Set does nothing.
func Set(string) {}
