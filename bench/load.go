//go:build linux

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// replyTimeout bounds the wait for one reply, so that a hung server fails the run and does not hang
// it.
const replyTimeout = 30 * time.Second

// blockingConn is a TCP connection whose reads and writes block their thread in the kernel: nothing
// of Go's poller or scheduler stands between a reply and its reader.
type blockingConn struct{ fd int }

func dialBlocking(addr string) (*blockingConn, error) {
	tcp, err := net.ResolveTCPAddr("tcp4", addr)
	if err != nil {
		return nil, err
	}
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("socket: %w", err)
	}
	tv := unix.NsecToTimeval(int64(replyTimeout))
	err = errors.Join(
		unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1),
		unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &tv),
		unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_SNDTIMEO, &tv),
		unix.Connect(fd, &unix.SockaddrInet4{Port: tcp.Port, Addr: [4]byte(tcp.IP.To4())}))
	if err != nil {
		unix.Close(fd)
		return nil, fmt.Errorf("connect to %s: %w", addr, err)
	}
	return &blockingConn{fd: fd}, nil
}

func (c *blockingConn) Close() { unix.Close(c.fd) }

func (c *blockingConn) Read(p []byte) (int, error) {
	for {
		n, err := unix.Read(c.fd, p)
		switch {
		case err == unix.EINTR:
			continue
		case err != nil:
			return 0, fmt.Errorf("read: %w", err)
		case n == 0:
			return 0, io.ErrUnexpectedEOF
		}
		return n, nil
	}
}

func (c *blockingConn) Write(p []byte) (int, error) {
	done := 0
	for done < len(p) {
		n, err := unix.Write(c.fd, p[done:])
		if err != nil && err != unix.EINTR {
			return done, fmt.Errorf("write: %w", err)
		}
		done += max(n, 0)
	}
	return done, nil
}

// threadSleep sleeps in the kernel; a signal may cut it short.
func threadSleep(d time.Duration) {
	if d > 0 {
		ts := unix.NsecToTimespec(int64(d))
		_ = unix.Nanosleep(&ts, nil)
	}
}

// background runs f on a thread of its own with the lowest priority. So the load yields to the
// server and to the probe where cores are few: the probe must see the server wait for its own work,
// not for a core that the load generator holds. The thread is not unlocked, because its priority
// cannot be raised again without privileges. It ends with f.
func background(f func() error) <-chan error {
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		if err := unix.Setpriority(unix.PRIO_PROCESS, unix.Gettid(), 19); err != nil {
			done <- fmt.Errorf("setpriority: %w", err)
			return
		}
		done <- f()
	}()
	return done
}

// paced sends requests at a fixed mean rate (a second) in batches of 16 on one connection. It waits
// for the replies of each batch and ends when next has no more keys.
func paced(ctx context.Context, addr string, req request, rate int, next func() (int, bool)) error {
	const batch = 16
	c, err := dialBlocking(addr)
	if err != nil {
		return err
	}
	defer c.Close()
	buf := make([]byte, 0, 4096)
	replies := newReplyReader(req.reply, batch)
	start, sent := time.Now(), 0
	for more := true; more && ctx.Err() == nil; {
		due := time.Duration(float64(sent+batch) / float64(rate) * float64(time.Second))
		threadSleep(time.Until(start.Add(due)))
		n := 0
		buf = buf[:0]
		for n < batch && more {
			var i int
			if i, more = next(); more {
				buf = req.append(buf, i)
				n++
			}
		}
		if _, err := c.Write(buf); err != nil {
			return err
		}
		if err := replies.read(c, n); err != nil {
			return err
		}
		sent += n
	}
	return ctx.Err()
}

// pacedInserts inserts the keys from..to-1 through two connections.
func pacedInserts(ctx context.Context, addr string, req request, rate, from, to int) error {
	worker := func(w int) <-chan error {
		i := from + w - 2
		return background(func() error {
			return paced(ctx, addr, req, rate/2, func() (int, bool) { i += 2; return i, i < to })
		})
	}
	a, b := worker(0), worker(1)
	return errors.Join(<-a, <-b)
}

// pacedOverwrites writes random keys below keys through two connections for a while.
func pacedOverwrites(ctx context.Context, addr string, req request, rate, keys int,
	window time.Duration) error {
	end := time.Now().Add(window)
	worker := func(w uint64) <-chan error {
		rnd := rand.New(rand.NewPCG(1, w))
		return background(func() error {
			return paced(ctx, addr, req, rate/2, func() (int, bool) {
				return rnd.IntN(keys), time.Now().Before(end)
			})
		})
	}
	a, b := worker(0), worker(1)
	return errors.Join(<-a, <-b)
}

// moderateLoad keeps eight connections busy with a SET and a GET each millisecond until the
// returned function is called.
func moderateLoad(ctx context.Context, addr string, keys, valueSize int) (stop func() error) {
	const conns = 8
	ctx, cancel := context.WithCancel(ctx)
	var workers [conns]<-chan error
	set := setKeys(valueSize)
	for w := range workers {
		rnd := rand.New(rand.NewPCG(3, uint64(w)))
		workers[w] = background(func() error {
			return setAndGet(ctx, addr, set, rnd, keys, valueSize)
		})
	}
	return func() error {
		cancel()
		var errs []error
		for _, w := range workers {
			errs = append(errs, <-w)
		}
		return errors.Join(errs...)
	}
}

func setAndGet(ctx context.Context, addr string, set request, rnd *rand.Rand, keys,
	valueSize int) error {
	c, err := dialBlocking(addr)
	if err != nil {
		return err
	}
	defer c.Close()
	reply := make([]byte, len(fmt.Sprintf("%s$%d\r\n\r\n", set.reply, valueSize))+valueSize)
	var buf []byte
	for ctx.Err() == nil {
		buf = set.append(buf[:0], rnd.IntN(keys))
		buf = fmt.Appendf(buf, "*2\r\n$3\r\nGET\r\n$%d\r\n", keyLen)
		buf = append(appendKey(buf, rnd.IntN(keys)), "\r\n"...)
		if _, err := c.Write(buf); err != nil {
			return err
		}
		if _, err := io.ReadFull(c, reply); err != nil {
			return err
		}
		if !bytes.HasPrefix(reply, []byte(set.reply)) {
			return fmt.Errorf("unexpected reply %.80q", reply)
		}
		threadSleep(time.Millisecond)
	}
	return nil
}
