package bus

import (
	"crypto/tls"
	"net"
	"time"

	"golang.org/x/sys/unix"
)

// unsentLimit bounds what the kernel takes of a link before it has sent it. What waits in our
// queues can still be overtaken by the control lane.
const unsentLimit = 128 << 10

// tune makes a dead link be noticed within half of the node timeout while something is to be sent.
func tune(conn net.Conn, timeout time.Duration) {
	if t, ok := conn.(*tls.Conn); ok {
		conn = t.NetConn()
	}
	tcp, ok := conn.(*net.TCPConn)
	if !ok {
		return
	}
	keepAlive(tcp, timeout)
	raw, err := tcp.SyscallConn()
	if err != nil {
		return
	}
	_ = raw.Control(func(fd uintptr) { // the link works without either
		_ = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT,
			int(max(timeout/2, 250*time.Millisecond).Milliseconds()))
		_ = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_NOTSENT_LOWAT, unsentLimit)
	})
}
