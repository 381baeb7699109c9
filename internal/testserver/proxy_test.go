package testserver

import (
	"bytes"
	"io"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// echo starts a server that sends back what it gets.
func echo(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				_, _ = io.Copy(c, c)
				c.Close()
			}()
		}
	}()
	return l.Addr().String()
}

func dialProxy(t *testing.T, p *Proxy) net.Conn {
	c, err := net.Dial("tcp", p.Addr)
	require.NoError(t, err)
	t.Cleanup(func() { c.Close() })
	require.NoError(t, c.SetDeadline(time.Now().Add(Patience)))
	return c
}

// TestProxyCuts sends numbered bytes through cuts: what arrives is always a prefix of what was
// sent, and with the same seed the cut is at the same byte.
func TestProxyCuts(t *testing.T) {
	sent := bytes.Repeat([]byte("0123456789abcdef"), 1000)
	var first []int
	for range 2 {
		p, err := StartProxy(echo(t), 5)
		require.NoError(t, err)
		defer p.Close()
		var lengths []int
		for range 5 {
			c := dialProxy(t, p)
			_, err := c.Write([]byte("x"))
			require.NoError(t, err)
			_, err = io.ReadFull(c, make([]byte, 1))
			require.NoError(t, err)
			before, cuts := p.Passed(), p.Cuts()
			p.CutWithin(int64(len(sent)))
			_, err = c.Write(sent)
			require.NoError(t, err)
			got, _ := io.ReadAll(c) // ends with a reset or without
			require.True(t, bytes.HasPrefix(sent, got))
			require.Eventually(t, func() bool { return p.Cuts() == cuts+1 }, Patience,
				time.Millisecond)
			lengths = append(lengths, int(p.Passed()-before))
		}
		if first == nil {
			first = lengths
		}
		require.Equal(t, first, lengths)
	}
}

func TestProxyStallsAndRefuses(t *testing.T) {
	p, err := StartProxy(echo(t), 1)
	require.NoError(t, err)
	defer p.Close()
	c := dialProxy(t, p)
	p.Hold("127.0.0.2", true) // nobody
	hold := func(yes bool) { p.Hold("127.0.0.1", yes) }
	for _, stop := range []func(yes bool){p.Stall, hold} {
		stop(true)
		_, err = c.Write([]byte("x"))
		require.NoError(t, err)
		require.NoError(t, c.SetReadDeadline(time.Now().Add(20*time.Millisecond)))
		_, err = c.Read(make([]byte, 1))
		require.ErrorContains(t, err, "timeout")
		require.NoError(t, c.SetReadDeadline(time.Now().Add(Patience)))
		stop(false)
		_, err = io.ReadFull(c, make([]byte, 1))
		require.NoError(t, err)
	}

	p.Refuse(true)
	_, err = dialProxy(t, p).Read(make([]byte, 1))
	require.Error(t, err, "closed")
	require.Equal(t, 1, p.Links())
	p.Cut()
	_, err = c.Read(make([]byte, 1))
	require.Error(t, err)
	require.Equal(t, 1, p.Cuts())
}
