//go:build linux

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"time"

	"godwit/internal/resp"
	"godwit/internal/resp/client"
	"godwit/internal/testserver"
)

// control is a connection for the occasional command. The measuring paths have writers and readers
// of their own: a SET and the check of its reply cost them 24 ns, the shared client 114 ns, and the
// server, on the same machine, only a few hundred. Neither allocates.
type control struct{ *client.Client }

func dial(addr string) (*control, error) {
	c, err := client.Dial("tcp", addr)
	if err != nil {
		return nil, err
	}
	c.Timeout = time.Minute
	return &control{c}, nil
}

// do sends one command and returns its reply as text, "" for a null bulk. An error reply is an
// error.
func (c *control) do(args ...string) (string, error) {
	if err := c.Send(resp.AppendCommand(nil, args...)); err != nil {
		return "", err
	}
	v, err := c.Receive()
	switch {
	case err != nil:
		return "", err
	case v.IsError():
		return "", fmt.Errorf("%s: %s", args[0], v.Text())
	case v.Elems != nil:
		return "", fmt.Errorf("%s: unexpected reply %s", args[0], v)
	}
	return v.Text(), nil
}

// infoNumber returns a number of INFO.
func infoNumber(c *control, section, field string) (float64, error) {
	info, err := c.do("INFO", section)
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseFloat(testserver.Info(info)[field], 64)
	if err != nil {
		err = fmt.Errorf("INFO %s: %s: %w", section, field, err)
	}
	return n, err
}

func dbsize(c *control) (int, error) {
	s, err := c.do("DBSIZE")
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(s)
}

const keyLen = len("key:") + 12

// appendKey appends key:%012d, the form of redis-benchmark's keys.
func appendKey(dst []byte, i int) []byte {
	dst = append(dst, "key:000000000000"...)
	for p := len(dst) - 1; i > 0; p-- {
		dst[p] = byte('0' + i%10)
		i /= 10
	}
	return dst
}

// request generates the i-th command of a stream. All replies of a stream must be the same bytes,
// so that checking them costs next to nothing.
type request struct {
	append func(dst []byte, i int) []byte
	reply  string
}

// setKeys returns requests that set key i to a value of size bytes that is not a number.
func setKeys(size int) request {
	value := bytes.Repeat([]byte{'x'}, size)
	head := fmt.Appendf(nil, "*3\r\n$3\r\nSET\r\n$%d\r\n", keyLen)
	tail := fmt.Appendf(nil, "\r\n$%d\r\n%s\r\n", size, value)
	return request{reply: "+OK\r\n", append: func(dst []byte, i int) []byte {
		return append(appendKey(append(dst, head...), i), tail...)
	}}
}

// setExpiringKeys returns the requests of setKeys, with deadlines spread over the second that
// begins at fromMs, Unix time in ms.
func setExpiringKeys(size int, fromMs int64) request {
	value := bytes.Repeat([]byte{'x'}, size)
	head := fmt.Appendf(nil, "*5\r\n$3\r\nSET\r\n$%d\r\n", keyLen)
	return request{reply: "+OK\r\n", append: func(dst []byte, i int) []byte {
		dst = appendKey(append(dst, head...), i)
		return fmt.Appendf(dst, "\r\n$%d\r\n%s\r\n$4\r\nPXAT\r\n$13\r\n%013d\r\n", size, value,
			fromMs+int64(i%1000))
	}}
}

// getMissing returns requests that look up keys that do not exist: this changes nothing, but
// advances a rehash.
func getMissing() request {
	cmd := resp.AppendCommand(nil, "GET", "no such key")
	return request{reply: "$-1\r\n", append: func(dst []byte, _ int) []byte {
		return append(dst, cmd...)
	}}
}

// pump sends requests from..to-1 through one connection as fast as the server takes them.
func pump(ctx context.Context, addr string, req request, from, to int) error {
	c, err := net.Dial("tcp", addr)
	if err != nil {
		return err
	}
	defer c.Close()
	stop := context.AfterFunc(ctx, func() { c.Close() })
	defer stop()
	sent := make(chan error, 1)
	go func() {
		err := writeRequests(c, req, from, to)
		if err != nil {
			c.Close() // the reader would wait for replies that never come
		}
		sent <- err
	}()
	err = newReplyReader(req.reply, 8<<10).read(c, to-from)
	if err != nil {
		c.Close()
	}
	werr := <-sent
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return errors.Join(err, werr)
}

func writeRequests(w io.Writer, req request, from, to int) error {
	const chunk = 64 << 10
	buf := make([]byte, 0, chunk+4096)
	for i := from; i < to; i++ {
		buf = req.append(buf, i)
		if len(buf) >= chunk || i == to-1 {
			if _, err := w.Write(buf); err != nil {
				return err
			}
			buf = buf[:0]
		}
	}
	return nil
}

// replyReader reads runs of one and the same reply.
type replyReader struct {
	want         string
	pattern, buf []byte
}

// newReplyReader returns a reader that reads up to about atOnce replies with one system call.
func newReplyReader(want string, atOnce int) *replyReader {
	return &replyReader{want: want, pattern: bytes.Repeat([]byte(want), atOnce+1),
		buf: make([]byte, atOnce*len(want))}
}

// read reads n replies and compares each of them.
func (r *replyReader) read(c io.Reader, n int) error {
	left, phase := n*len(r.want), 0
	for left > 0 {
		got, err := c.Read(r.buf[:min(left, len(r.buf))])
		if got > 0 && !bytes.Equal(r.buf[:got], r.pattern[phase:phase+got]) {
			return fmt.Errorf("a reply is not %q: %.120q", r.want, r.buf[:got])
		}
		left -= got
		phase = (phase + got) % len(r.want)
		if err != nil && left > 0 {
			return fmt.Errorf("%d bytes of replies missing: %w", left, err)
		}
	}
	return nil
}
