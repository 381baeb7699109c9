//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"godwit/internal/resp"
)

// The pubsub part has 50 connections of redis-benchmark publish to one channel, while one thread
// reads everything that arrives for the subscribers. An operation is one message published and
// delivered to every subscriber: the clock stops when the last of them has the last byte.
const pubsubMessage = 64 // bytes

// pubsubMost bounds the bytes for one subscriber. It is well below the 32 MB in a subscriber's
// output buffer at which servers close it.
const pubsubMost = 20e6

var pubsubSubscribers = []int{0, 1, 10, 100}

func (b *bench) pubsub(ctx context.Context) error {
	if !b.plan.has("pubsub") {
		return nil
	}
	t := b.report.compare("Pub/sub",
		fmt.Sprintf("PUBLISH of %d bytes by 50 clients, delivered to all subscribers.",
			pubsubMessage),
		[]string{"subscribers", "pipeline"}, measureCPU, measureOps)
	for _, subscribers := range pubsubSubscribers {
		for _, pipeline := range []int{1, 16} {
			var rate, cpu series
			err := b.eachRound(ctx, func(side int) error {
				r, c, err := b.publish(ctx, side, subscribers, pipeline)
				rate.add(side, r)
				cpu.add(side, c)
				return err
			})
			if err != nil {
				return err
			}
			t.row([]string{fmt.Sprint(subscribers), fmt.Sprint(pipeline)}, &cpu, &rate)
		}
	}
	return nil
}

// publish measures a fresh server: operations a second, and its CPU time for each in µs.
func (b *bench) publish(ctx context.Context, side, subscribers, pipeline int) (rate, cpu float64,
	err error) {
	s, err := b.start(ctx, side)
	if err != nil {
		return 0, 0, err
	}
	defer s.stop()
	ops := max(b.plan.leastOps, b.plan.ops("publish", pipeline)*4/(4+subscribers))
	message := strings.Repeat("x", pubsubMessage)
	frame := len(resp.AppendCommand(nil, "message", "channel", message))
	if subscribers > 0 {
		ops = min(ops, (pubsubMost-1)/frame)
	}
	d, err := newDrain(s.Addr, subscribers)
	if err != nil {
		return 0, 0, err
	}
	defer d.close()
	used, err := cpuDuring(s, func() error {
		begin := time.Now()
		done := make(chan error, 1)
		go func() { done <- d.run(ctx, ops*frame) }()
		_, err := tool(ctx, nil, "redis-benchmark", "-h", "127.0.0.1", "-p", strconv.Itoa(s.Port),
			"-c", "50", "-n", strconv.Itoa(ops),
			"-P", strconv.Itoa(pipeline), "-q", "publish", "channel", message)
		if err != nil {
			d.stop()
		}
		err = errors.Join(err, <-done)
		rate = float64(ops) / time.Since(begin).Seconds()
		return err
	})
	return rate, used.per(ops).all, err
}

// drain is a set of subscribers that one thread reads.
type drain struct {
	epfd  int
	files []*os.File // keep the descriptors open
	fds   []int
	ended chan struct{}
}

// newDrain connects and subscribes to "channel".
func newDrain(addr string, n int) (d *drain, err error) {
	d = &drain{ended: make(chan struct{})}
	if d.epfd, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		return nil, os.NewSyscallError("epoll_create1", err)
	}
	for range n {
		if err := d.subscribe(addr); err != nil {
			d.close()
			return nil, err
		}
	}
	return d, nil
}

func (d *drain) subscribe(addr string) error {
	c, err := net.Dial("tcp", addr)
	if err != nil {
		return err
	}
	defer c.Close()
	if _, err := c.Write(resp.AppendCommand(nil, "SUBSCRIBE", "channel")); err != nil {
		return err
	}
	const want = "*3\r\n$9\r\nsubscribe\r\n$7\r\nchannel\r\n:1\r\n"
	if err := expectReply(c, make([]byte, len(want)), want); err != nil {
		return err
	}
	f, err := c.(*net.TCPConn).File()
	if err != nil {
		return err
	}
	fd := int(f.Fd())
	d.files, d.fds = append(d.files, f), append(d.fds, fd)
	if err := unix.SetNonblock(fd, true); err != nil {
		return os.NewSyscallError("fcntl", err)
	}
	return os.NewSyscallError("epoll_ctl",
		unix.EpollCtl(d.epfd, unix.EPOLL_CTL_ADD, fd,
			&unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(fd)}))
}

// run reads until every subscriber has received each bytes.
func (d *drain) run(ctx context.Context, each int) error {
	left := map[int32]int{}
	for _, fd := range d.fds {
		left[int32(fd)] = each
	}
	buf := make([]byte, 256<<10)
	events := make([]unix.EpollEvent, 128)
	for len(left) > 0 {
		n, err := unix.EpollWait(d.epfd, events, 100)
		if err != nil && err != unix.EINTR {
			return os.NewSyscallError("epoll_wait", err)
		}
		select {
		case <-d.ended:
			return nil
		default:
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		for _, ev := range events[:max(n, 0)] {
			got, err := unix.Read(int(ev.Fd), buf)
			if got == 0 && err == nil {
				err = io.ErrUnexpectedEOF
			}
			if got <= 0 && err != unix.EAGAIN {
				return fmt.Errorf("a subscriber was closed with %d bytes missing: %w", left[ev.Fd],
					err)
			}
			if left[ev.Fd] -= max(got, 0); left[ev.Fd] <= 0 {
				delete(left, ev.Fd)
			}
		}
	}
	return nil
}

// stop ends run early.
func (d *drain) stop() { close(d.ended) }

func (d *drain) close() {
	unix.Close(d.epfd)
	for _, f := range d.files {
		f.Close()
	}
}
