package server

import (
	"bufio"
	"net"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// TestWhoIsAnsweredFirst checks that clients of one loop are written to in Redis's order. Whoever
// acts comes before those who are told of it, but after a client that is served what it has waited
// for. On unix sockets, what is written can be read at once: when the second of two replies can be
// read, so can the first.
func TestWhoIsAnsweredFirst(t *testing.T) {
	r := start(t, way{}, "")
	ln, err := net.Listen("unix", filepath.Join(t.TempDir(), "s"))
	if err != nil {
		t.Fatal(err)
	}
	r.srv.Add(ln)
	for _, c := range []struct {
		name, prepare, act string
		otherFirst         bool
	}{
		{name: "unblock", prepare: "take k 0", act: "unblock ID"},
		{name: "unblock with an error", prepare: "take k 0", act: "unblockerror ID"},
		{name: "publish", prepare: "listen x", act: "tell x"},
		{name: "publish to a shard channel", prepare: "listenshard x", act: "tellshard x"},
		{name: "a write with tracking", prepare: "track x", act: "set seen 1"},
		{name: "flush with tracking", prepare: "track x", act: "flush x"},
		{name: "serve who waits", prepare: "take k 0", act: "give k", otherFirst: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			for range 50 {
				actor, other := dialRaw(t, ln), dialRaw(t, ln)
				id := other.ask("id")[1:]
				if strings.HasPrefix(c.prepare, "take") {
					other.send(c.prepare)
					r.eventually("it waits", func() bool { return r.blocked() == 1 })
				} else {
					other.ask(c.prepare)
				}
				if strings.HasPrefix(c.prepare, "track") {
					other.ask("see seen")
				}
				actor.send(strings.ReplaceAll(c.act, "ID", id))
				first, second := actor, other
				if c.otherFirst {
					first, second = other, actor
				}
				second.await()
				if !first.ready() {
					t.Fatal("the other order")
				}
				actor.Close()
				other.Close()
				r.eventually("both are gone", func() bool { return r.clients() == 0 })
			}
		})
	}
}

// rawConn is a connection that can tell whether there is something to read.
type rawConn struct {
	t *testing.T
	*net.UnixConn
	in *bufio.Reader
}

func dialRaw(t *testing.T, ln net.Listener) *rawConn {
	t.Helper()
	nc, err := net.Dial("unix", ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { nc.Close() })
	return &rawConn{t, nc.(*net.UnixConn), bufio.NewReader(nc)}
}

func (c *rawConn) send(line string) {
	c.t.Helper()
	if _, err := c.Write([]byte(line + "\r\n")); err != nil {
		c.t.Fatal(err)
	}
}

// ask sends a command and returns the line that it replies.
func (c *rawConn) ask(line string) string {
	c.t.Helper()
	c.send(line)
	reply, err := c.in.ReadString('\n')
	if err != nil {
		c.t.Fatal(err)
	}
	return strings.TrimSpace(reply)
}

// await waits for something to read, or the end.
func (c *rawConn) await() { _, _ = c.in.Peek(1) }

// ready reports whether there is something to read, or the end, without waiting.
func (c *rawConn) ready() (ready bool) {
	sc, err := c.SyscallConn()
	if err != nil {
		c.t.Fatal(err)
	}
	err = sc.Control(func(fd uintptr) {
		_, _, errno := unix.Recvfrom(int(fd), make([]byte, 1), unix.MSG_PEEK|unix.MSG_DONTWAIT)
		ready = errno != syscall.EAGAIN
	})
	if err != nil {
		c.t.Fatal(err)
	}
	return ready
}
