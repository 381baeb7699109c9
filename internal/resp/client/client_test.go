package client

import (
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"godwit/internal/resp"
)

// echo serves one connection: it answers every command with the array of its arguments, and PUSH
// with a push message before that.
func echo(l net.Listener) error {
	conn, err := l.Accept()
	if err != nil {
		return err
	}
	defer conn.Close()
	var p resp.Parser
	w := resp.Writer{Proto: 3}
	buf := make([]byte, 0, 1<<16)
	for {
		n, err := conn.Read(buf[len(buf):cap(buf)])
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		buf = buf[:len(buf)+n]
		for {
			argv, used, err := p.Next(buf, &resp.Limits{Authenticated: true})
			if err != nil {
				return err
			}
			if argv == nil {
				break
			}
			if len(argv) > 0 && string(argv[0]) == "PUSH" {
				w.Push(1)
				w.BulkString("hello")
			}
			w.Array(len(argv))
			for _, a := range argv {
				w.Bulk(a)
			}
			buf = buf[:copy(buf, buf[used:])]
		}
		if _, err := conn.Write(w.Buf); err != nil {
			return err
		}
		w.Buf = w.Buf[:0]
	}
}

func TestClient(t *testing.T) {
	for _, network := range []string{"tcp", "unix"} {
		addr := "127.0.0.1:0"
		if network == "unix" {
			addr = filepath.Join(t.TempDir(), "s")
		}
		l, err := net.Listen(network, addr)
		if err != nil {
			t.Fatal(err)
		}
		served := make(chan error, 1)
		go func() { served <- echo(l) }()
		c, err := Dial(network, l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		exercise(t, c)
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		if err := <-served; err != nil {
			t.Error(err)
		}
		l.Close()
	}
}

func exercise(t *testing.T, c *Client) {
	v, err := c.Do("a", []byte("b"), 1, int64(-2), uint64(3), 1.5, true, false, uint8(9))
	if want := `array["a" "b" "1" "-2" "3" "1.5" "1" "0" "9"]`; err != nil || v.String() != want {
		t.Fatalf("%v, %v; want %s", v, err, want)
	}
	for i := range 5 {
		c.Queue("PUSH", i)
	}
	if _, err := c.Do("x"); err == nil {
		t.Fatal("Do went ahead with replies outstanding")
	}
	all, err := c.Pipeline()
	if err != nil || len(all) != 5 || all[4].Strings()[1] != "4" {
		t.Fatalf("%v, %v", all, err)
	}
	if err := c.Send([]byte("raw 'in line'\r\n")); err != nil {
		t.Fatal(err)
	}
	if v, err := c.Receive(); err != nil || v.String() != `array["raw" "in line"]` {
		t.Fatalf("%v, %v", v, err)
	}
}

// TestTimeout checks that a reply that has come in part when the time is over is read to its end
// later.
func TestTimeout(t *testing.T) {
	ours, theirs := net.Pipe()
	defer ours.Close()
	defer theirs.Close()
	c := New(ours)
	written := make(chan error, 2)
	write := func(s string) {
		_, err := io.WriteString(theirs, s)
		written <- err
	}
	go write("*2\r\n:1\r\n$3\r\nab")
	if err := c.fill(); err != nil { // without a deadline
		t.Fatal(err)
	}
	c.Timeout = time.Millisecond
	if _, err := c.ReceiveRaw(); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatal(err)
	}
	c.Timeout = time.Hour
	go write("c\r\n:7\r\n")
	if raw, err := c.ReceiveRaw(); err != nil || string(raw) != "*2\r\n:1\r\n$3\r\nabc\r\n" {
		t.Fatalf("%q, %v", raw, err)
	}
	if v, err := c.Receive(); err != nil || v.Int != 7 || c.Buffered() != 0 {
		t.Fatalf("%v, %v, %d bytes left", v, err, c.Buffered())
	}
	for range 2 {
		if err := <-written; err != nil {
			t.Error(err)
		}
	}
}

// dribble is a connection on which one byte arrives at a time. It notes its read deadlines.
type dribble struct {
	net.Conn
	from      io.Reader
	deadlines []time.Time
}

func (d *dribble) Read(b []byte) (int, error) { return d.from.Read(b[:min(len(b), 1)]) }

func (d *dribble) SetReadDeadline(at time.Time) error {
	d.deadlines = append(d.deadlines, at)
	return nil
}

// TestSlowReply checks that Timeout bounds the wait for a whole reply. A peer that sends it byte by
// byte gets no more time for that.
func TestSlowReply(t *testing.T) {
	replies := []string{"*2\r\n:1\r\n$3\r\nabc\r\n", "+OK\r\n", "%1\r\n+k\r\n_\r\n"}
	d := &dribble{from: strings.NewReader(strings.Join(replies, ""))}
	c := New(d)
	for i, want := range replies {
		if raw, err := c.ReceiveRaw(); err != nil || string(raw) != want {
			t.Fatalf("%q, %v", raw, err)
		}
		if len(d.deadlines) != i+1 || d.deadlines[i].IsZero() {
			t.Fatalf("%q: deadlines %v", want, d.deadlines)
		}
	}
	if _, err := c.ReceiveRaw(); err != io.EOF {
		t.Fatal(err)
	}
}

// TestMalformedStays checks that a connection with a malformed reply has no replies behind it.
func TestMalformedStays(t *testing.T) {
	for _, in := range []string{strings.Repeat("*1\r\n", maxDepth+3) + ":1\r\n", "?\r\n:1\r\n",
		"*1\r\n$x\r\n:1\r\n"} {
		c := New(&dribble{from: strings.NewReader(in)})
		for range 4 {
			if raw, err := c.ReceiveRaw(); !errors.Is(err, ErrReply) {
				t.Errorf("%.20q: %q, %v", in, raw, err)
			}
		}
	}
}

// TestMaxReply checks that a reply that claims to be long is given up at the limit.
func TestMaxReply(t *testing.T) {
	from := io.MultiReader(strings.NewReader("+OK\r\n$900000000\r\n"),
		strings.NewReader(strings.Repeat("x", 1<<20)))
	c := New(&dribble{from: from})
	c.MaxReply = 1000
	if raw, err := c.ReceiveRaw(); err != nil || string(raw) != "+OK\r\n" {
		t.Fatalf("%q, %v", raw, err)
	}
	for range 2 {
		if _, err := c.ReceiveRaw(); !errors.Is(err, ErrReply) {
			t.Fatal(err)
		}
	}
	if c.Buffered() > 2*c.MaxReply {
		t.Error(c.Buffered(), "bytes of a reply that is too long")
	}
}
