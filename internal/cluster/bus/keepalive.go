package bus

import (
	"net"
	"time"
)

// keepAlive has the kernel look whether the other side of a silent link is still there.
func keepAlive(conn *net.TCPConn, timeout time.Duration) {
	every := max(timeout, time.Second)
	_ = conn.SetKeepAliveConfig(net.KeepAliveConfig{Enable: true, Idle: every, Interval: every,
		Count: 2}) // an error leaves the link as it is
}
