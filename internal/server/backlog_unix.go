//go:build unix

package server

import (
	"net"
	"syscall"
)

// setBacklog changes the length of the queue of connections not yet accepted. It listens again,
// because net has no option for it. If the system refuses, the length stays.
func setBacklog(ln net.Listener, n int) {
	sc, ok := ln.(syscall.Conn)
	if !ok {
		return
	}
	if raw, err := sc.SyscallConn(); err == nil {
		_ = raw.Control(func(fd uintptr) { _ = syscall.Listen(int(fd), n) })
	}
}
