package diff

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"godwit/internal/freeport"
)

// ioTimeout bounds every read and write: a server that answers later than this,
// on loopback, to commands chosen to be cheap, does not answer.
const ioTimeout = 15 * time.Second

// Server is one side of the comparison: a child process, or an address that
// somebody else keeps alive.
type Server struct {
	Name string // "redis" or "godwit", for reports
	Addr string

	bin  string
	args []string
	dir  string
	cmd  *exec.Cmd
	done chan struct{} // closed when the child has ended
	err  error         // how it ended; valid after done
}

// StartServer runs a server binary on a free loopback port with persistence off
// and debug commands on. Both servers take redis-server's command line.
func StartServer(name, bin, dir string, extra ...string) (*Server, error) {
	s := &Server{Name: name, bin: bin, args: extra, dir: filepath.Join(dir, name)}
	if err := os.MkdirAll(s.dir, 0o755); err != nil {
		return nil, err
	}
	return s, s.start()
}

// AttachServer uses a server that is already running.
func AttachServer(name, addr string) *Server { return &Server{Name: name, Addr: addr} }

func (s *Server) start() error {
	var err error
	for range 3 { // another process may take the port between the probe and the start
		if err = s.startOnce(); err == nil {
			return nil
		}
	}
	return fmt.Errorf("%s: %w\n%s", s.Name, err, s.LogTail())
}

func (s *Server) startOnce() error {
	port, err := freeport.Port()
	if err != nil {
		return err
	}
	s.Addr = net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	args := append([]string{"--port", strconv.Itoa(port), "--bind", "127.0.0.1", "--save", "",
		"--appendonly", "no", "--dir", s.dir, "--enable-debug-command", "yes", "--loglevel", "notice"}, s.args...)
	log, err := os.OpenFile(s.logPath(), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	defer log.Close()
	s.cmd = exec.Command(s.bin, args...)
	s.cmd.Stdout, s.cmd.Stderr, s.cmd.Dir = log, log, s.dir
	if err := s.cmd.Start(); err != nil {
		return err
	}
	s.done = make(chan struct{})
	go func(cmd *exec.Cmd, done chan struct{}) {
		s.err = cmd.Wait()
		close(done)
	}(s.cmd, s.done)
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); {
		if c, err := Dial(s.Addr); err == nil {
			_, err = c.Do("PING")
			c.Close()
			if err == nil {
				return nil
			}
		}
		select {
		case <-s.done:
			return fmt.Errorf("ended at start: %v", s.err)
		case <-time.After(10 * time.Millisecond):
		}
	}
	s.Stop()
	return errors.New("does not answer PING 10 seconds after its start")
}

func (s *Server) logPath() string { return filepath.Join(s.dir, "log") }

// LogTail is the end of what the child wrote, for reports of its death.
func (s *Server) LogTail() string {
	b, err := os.ReadFile(s.logPath())
	if s.dir == "" || err != nil {
		return ""
	}
	return string(b[max(0, len(b)-4000):])
}

// Dead reports whether the child process has ended, and how. An attached
// server is never dead here: its connections fail instead.
func (s *Server) Dead() (error, bool) {
	if s.done == nil {
		return nil, false
	}
	select {
	case <-s.done:
		return fmt.Errorf("%s ended: %v", s.Name, s.err), true
	default:
		return nil, false
	}
}

// Revive starts the child again after its death.
func (s *Server) Revive() error {
	if _, dead := s.Dead(); dead {
		return s.start()
	}
	return nil
}

// Stop ends the child process; an attached server is left alone.
func (s *Server) Stop() {
	if s.cmd == nil || s.cmd.Process == nil {
		return
	}
	s.cmd.Process.Kill()
	<-s.done
}

// Conn is a connection that reads replies as raw frames.
type Conn struct {
	nc      net.Conn
	buf     []byte // bytes read; buf[pos:] are not consumed
	pos     int
	closed  bool
	Pushes  int // RESP3 push messages seen; they are no replies
	scratch []byte
	timeout time.Duration // of reads, where it is not ioTimeout
}

// Dial connects to a server.
func Dial(addr string) (*Conn, error) {
	nc, err := net.DialTimeout("tcp", addr, 5*time.Second)
	if err != nil {
		return nil, err
	}
	return &Conn{nc: nc}, nil
}

// Close drops the connection.
func (c *Conn) Close() {
	if c != nil {
		c.nc.Close()
	}
}

// Send writes request bytes.
func (c *Conn) Send(b []byte) error {
	if c.closed {
		return io.EOF
	}
	c.nc.SetWriteDeadline(time.Now().Add(ioTimeout))
	_, err := c.nc.Write(b)
	if err != nil && !isTimeout(err) {
		// The peer has closed. What it sent before that is still to be read.
		return nil
	}
	return err
}

func isTimeout(err error) bool {
	var ne net.Error
	return errors.As(err, &ne) && ne.Timeout()
}

// Batch reads n replies. raw holds all of them one after the other and ends the
// end of each; fewer than n mean that the connection was closed. Both are valid
// until the next call.
func (c *Conn) Batch(n int, ends []int) (raw []byte, _ []int, err error) {
	c.buf = append(c.buf[:0], c.buf[c.pos:]...)
	c.pos = 0
	ends = ends[:0]
	for len(ends) < n {
		end, err := frameEnd(c.buf, c.pos)
		if err != nil {
			return c.buf, ends, err
		}
		if end >= 0 && c.buf[c.pos] == '>' && !c.subscribeReply() {
			c.buf = append(c.buf[:c.pos], c.buf[end:]...)
			c.Pushes++
			continue
		}
		if end >= 0 {
			c.pos = end
			ends = append(ends, end)
			continue
		}
		if err := c.fill(); err != nil {
			if errors.Is(err, io.EOF) {
				break
			}
			return c.buf, ends, err
		}
	}
	return c.buf[:c.pos], ends, nil
}

// subscribeReply reports whether the push at the read position confirms a
// (un)subscription, which is the reply to a command and not a message.
func (c *Conn) subscribeReply() bool {
	head := c.buf[c.pos:min(len(c.buf), c.pos+40)]
	return bytes.Contains(head, []byte("subscribe\r\n"))
}

var errNoReply = errors.New("no reply")

// fill reads more bytes; io.EOF when the peer has closed in whatever way.
func (c *Conn) fill() error {
	if c.closed {
		return io.EOF
	}
	if len(c.buf) == cap(c.buf) {
		c.buf = append(make([]byte, 0, max(64<<10, 2*cap(c.buf))), c.buf...)
	}
	timeout := cmp.Or(c.timeout, ioTimeout)
	c.nc.SetReadDeadline(time.Now().Add(timeout))
	n, err := c.nc.Read(c.buf[len(c.buf):cap(c.buf)])
	c.buf = c.buf[:len(c.buf)+n]
	switch {
	case n > 0:
		return nil
	case isTimeout(err):
		return fmt.Errorf("%w in %v", errNoReply, timeout)
	}
	c.closed = true
	return io.EOF
}

// ReadAll reads until the peer closes: the bytes a protocol error leaves behind.
func (c *Conn) ReadAll() ([]byte, error) {
	for {
		if err := c.fill(); errors.Is(err, io.EOF) {
			return c.buf[c.pos:], nil
		} else if err != nil {
			return c.buf[c.pos:], err
		}
	}
}

// Do sends one command and reads its reply.
func (c *Conn) Do(args ...string) (Reply, error) {
	cmd := Cmd{Args: make([][]byte, len(args))}
	for i, a := range args {
		cmd.Args[i] = []byte(a)
	}
	rs, err := c.DoAll([]Cmd{cmd})
	if err != nil {
		return Reply{}, fmt.Errorf("%s: %w", args[0], err)
	}
	return rs[0], nil
}

// DoAll pipelines commands and decodes their replies.
func (c *Conn) DoAll(cmds []Cmd) ([]Reply, error) {
	c.scratch = c.scratch[:0]
	for _, cmd := range cmds {
		c.scratch = cmd.Append(c.scratch)
	}
	if err := c.Send(c.scratch); err != nil {
		return nil, err
	}
	raw, ends, err := c.Batch(len(cmds), nil)
	if err != nil {
		return nil, err
	}
	if len(ends) < len(cmds) {
		return nil, io.EOF
	}
	out := make([]Reply, len(cmds))
	pos := 0
	for i := range out {
		out[i], pos = decode(raw, pos)
	}
	return out, nil
}
