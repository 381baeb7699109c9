package server

import (
	"io"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"godwit/internal/evloop"
)

// Talk implements engine.Talker. It is called in run, on the loop's goroutine.
func (c *fdConn) Talk() io.ReadWriter {
	if !c.q.empty() || len(c.reply) > 0 || c.gone || c.ending {
		return nil
	}
	c.unread = true // the loop's events may be about what is read here
	return fdTalk(c.fd)
}

// File implements filer.
func (c *fdConn) File() (*os.File, error) {
	fd, err := unix.FcntlInt(uintptr(c.fd), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), "client"), nil
}

type fdTalk int

// Read implements io.Reader.
func (t fdTalk) Read(b []byte) (int, error) {
	if err := t.wait(unix.POLLIN, talkPause); err != nil {
		return 0, err
	}
	n, errno := evloop.Read(int(t), b)
	switch {
	case n > 0, errno == syscall.EAGAIN, errno == syscall.EINTR:
		return n, nil
	case errno != 0:
		return 0, errno
	}
	return 0, io.EOF
}

// Write implements io.Writer.
func (t fdTalk) Write(b []byte) (n int, err error) {
	end := time.Now().Add(talkPause)
	for {
		m, errno := evloop.Write(int(t), b[n:])
		switch n += m; {
		case n == len(b):
			return n, nil
		case errno != 0 && errno != syscall.EAGAIN && errno != syscall.EINTR:
			return n, errno
		case time.Now().After(end):
			return n, os.ErrDeadlineExceeded
		}
		if err := t.wait(unix.POLLOUT, time.Until(end)); err != nil {
			return n, err
		}
	}
}

// wait waits for an event of the socket, or for some time.
func (t fdTalk) wait(events int16, pause time.Duration) error {
	_, err := unix.Poll([]unix.PollFd{{Fd: int32(t), Events: events}}, int(pause.Milliseconds()))
	if err == unix.EINTR {
		return nil
	}
	return err
}
