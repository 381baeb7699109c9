package engine

import (
	"errors"
	"io"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// slowPeer is a client that is silent and reads a byte at a time, or nothing.
type slowPeer struct {
	Conn
	reads bool
	got   []byte
}

func (p *slowPeer) Talk() io.ReadWriter { return p }

func (p *slowPeer) Read([]byte) (int, error) { return 0, nil }

func (p *slowPeer) Write(b []byte) (int, error) {
	if !p.reads {
		return 0, os.ErrDeadlineExceeded
	}
	p.got = append(p.got, b[0])
	if len(b) > 1 {
		return 1, os.ErrDeadlineExceeded
	}
	return 1, nil
}

// TestConsole checks that a session that waits for its client, to write or to read, lets the server
// serve others, and what ends it.
func TestConsole(t *testing.T) {
	f := newFixture(t, "timeout 1000\n")
	p := &slowPeer{reads: true}
	f.c.Conn = p
	c, ok := f.e.Console(f.c).(*console)
	require.True(t, ok)
	_, err := c.Write([]byte("no script"))
	require.Equal(t, io.EOF, err, "nobody can be served: it does not wait")
	served := 0
	f.e.ServeOthers = func(*Client) bool { served++; return false }
	r := &runningScript{ScriptRun: ScriptRun{Debug: true}, caller: f.c, busy: true}
	f.e.script.run, p.got = r, nil
	n, err := c.Write([]byte("abcd"))
	require.NoError(t, err)
	require.Equal(t, 4, n)
	require.Equal(t, "abcd", string(p.got))
	require.Equal(t, 3, served)
	require.NoError(t, read(c))
	require.Equal(t, 4, served)
	c.used = time.Now().Add(-1001 * time.Second)
	require.Equal(t, io.EOF, read(c), "an idle client")

	p.reads = false
	f.e.ServeOthers = func(*Client) bool {
		require.Empty(t, f.e.KillScript(false))
		return false
	}
	_, err = c.Write([]byte("abcd"))
	require.Equal(t, errKilled, err)
	r.kill, r.wrote = false, true
	require.Equal(t, errUnkillable, f.e.KillScript(true))
	_, err = c.Write([]byte("abcd"))
	require.Equal(t, io.EOF, err, "the script has written, so that it goes on without the client")
	require.Equal(t, io.EOF, read(c))
	require.Equal(t, errUnkillable, f.e.KillScript(false))
	f.e.script.run = nil
}

func read(c *console) error {
	_, err := c.Read(make([]byte, 10))
	return err
}

// TestConsoleGone checks that any failure means that the client has gone.
func TestConsoleGone(t *testing.T) {
	f := newFixture(t, "")
	a, b := io.Pipe()
	require.NoError(t, a.CloseWithError(errors.New("reset")))
	require.NoError(t, b.Close())
	c := &console{e: f.e, conn: struct {
		io.Reader
		io.Writer
	}{a, b}}
	require.Equal(t, io.EOF, read(c))
	_, err := c.Write([]byte("x"))
	require.Equal(t, io.EOF, err)
}
