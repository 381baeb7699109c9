//go:build !linux

package bus

import (
	"net"
	"time"
)

// tune makes a dead link be noticed by keepalive probes.
func tune(conn net.Conn, timeout time.Duration) {
	if tcp, ok := conn.(*net.TCPConn); ok {
		keepAlive(tcp, timeout)
	}
}
