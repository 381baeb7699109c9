//go:build unix

package server

import (
	"net"
	"syscall"
)

// setBacklog changes the length of the queue of connections not yet accepted: listening again does that, and net has no option for it.
// A system that refuses keeps its own length.
func setBacklog(ln net.Listener, n int) {
	sc, ok := ln.(syscall.Conn)
	if !ok {
		return
	}
	if raw, err := sc.SyscallConn(); err == nil {
		_ = raw.Control(func(fd uintptr) { _ = syscall.Listen(int(fd), n) })
	}
}
