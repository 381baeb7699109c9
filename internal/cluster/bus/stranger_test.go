package bus

import (
	"bytes"
	"encoding/binary"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// dial opens a bare connection to a bus.
func dial(t *testing.T, e *end) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", e.addr)
	require.NoError(t, err)
	t.Cleanup(func() { conn.Close() })
	return conn
}

// ends waits until the other side closes the connection, and returns what it has sent.
func ends(t *testing.T, conn net.Conn) []byte {
	t.Helper()
	require.NoError(t, conn.SetReadDeadline(time.Now().Add(20*time.Second)))
	all, err := io.ReadAll(conn)
	require.NotErrorIs(t, err, net.ErrClosed)
	require.False(t, err != nil && strings.Contains(err.Error(), "timeout"), "still open")
	return all
}

func TestSecret(t *testing.T) {
	for _, secret := range []string{"other", ""} {
		a, b := start(t, 1, secret), start(t, 2, "s")
		a.SetPeers(map[string]string{id(2): b.addr})
		b.logged(t, "refused: it does not know our cluster-secret")
		a.logged(t, `it says: "cluster-secret differs"`)
		require.Empty(t, a.Links())
		require.NotZero(t, b.Stats().Refused)
	}
}

// TestReplay replays what a node has said to a bus, and says its own proof back to
// it: neither opens a link.
func TestReplay(t *testing.T) {
	b := start(t, 2, "s")
	record := func() (said []byte) {
		x, y := net.Pipe()
		go func() {
			var buf bytes.Buffer
			_, _ = answer(struct {
				io.Reader
				io.Writer
			}{io.TeeReader(y, &buf), y}, []byte("s"), &hello{node: id(2)},
				func(*hello) error { return nil })
			said = buf.Bytes()
			y.Close()
		}()
		_, err := call(x, []byte("s"), &hello{node: id(1)},
			func(*hello) error { return nil })
		require.NoError(t, err)
		_, _ = io.ReadAll(x)
		return said
	}
	conn := dial(t, b)
	_, err := conn.Write(record())
	require.NoError(t, err)
	require.Contains(t, string(ends(t, conn)), "cluster-secret differs")

	mirror := &talk{rw: nil, secret: []byte("s"), said: []byte("x")}
	caller, err := mirror.proof("caller")
	require.NoError(t, err)
	callee, err := mirror.proof("callee")
	require.NoError(t, err)
	require.NotEqual(t, caller, callee)
}

func TestStrangers(t *testing.T) {
	gossip := make([]byte, 2256)
	copy(gossip, "RCmb")
	huge := binary.BigEndian.AppendUint16([]byte(magic), frameVersion)
	huge = header{size: 1 << 30, kind: kindHello}.appendTo(huge)
	newer := binary.BigEndian.AppendUint16([]byte(magic), 77)
	for text, sent := range map[string][]byte{
		"it speaks Redis's gossip":                gossip,
		"it speaks TLS, and tls-cluster is no":    []byte("\x16\x03\x01\x00\xf4\x01"),
		"it is a client; clients use the other":   []byte("*1\r\n$4\r\nPING\r\n"),
		"it speaks HTTP":                          []byte("GET / HTTP/1.0\r\n\r\n"),
		`bus protocol: "\x00\x01\x02\x03"`:        {0, 1, 2, 3},
		"a frame of 1073741824 bytes, the limit ": huge,
		"it speaks version 77 of the cluster bus": newer,
	} {
		e := start(t, 1, "s") // one line a minute for each kind of error
		conn := dial(t, e)
		_, err := conn.Write(sent)
		require.NoError(t, err)
		e.logged(t, text)
		require.Empty(t, ends(t, conn), "a stranger is told nothing")
		require.EqualValues(t, 1, e.Stats().Refused)
	}
}

// TestSlow opens connections that say nothing: they end by themselves, and the log says so once.
func TestSlow(t *testing.T) {
	e := start(t, 1, "s", func(o *Options) { o.Timeout = time.Second / 2 })
	one, two := dial(t, e), dial(t, e)
	ends(t, one)
	ends(t, two)
	e.logged(t, "it did not finish the handshake in time")
	require.Equal(t, 1, strings.Count(e.logs.String(), "handshake in time"))
}

// TestCrowd has more strangers than there may be: the oldest goes, and a node gets in.
func TestCrowd(t *testing.T) {
	e := start(t, 1, "s", func(o *Options) { o.Timeout = time.Hour })
	first := dial(t, e)
	for range maxStrangers {
		dial(t, e)
	}
	ends(t, first)
	e.logged(t, "64 connections to the cluster bus have not proven")
	node := start(t, 2, "s")
	node.SetPeers(map[string]string{id(1): e.addr})
	node.linked(t, 1)
}

// TestLongMessage sends more than a message may have, without announcing it.
func TestLongMessage(t *testing.T) {
	a, b := start(t, 1, "s"), start(t, 2, "s")
	b.SetMessageLimit(100_000)
	a.SetPeers(map[string]string{id(2): b.addr})
	a.Send(id(2), bulk, make([]byte, 100_000))
	b.received(t, 1)
	a.Send(id(2), bulk, make([]byte, 100_001))
	b.logged(t, "message too long: more than 100000 bytes")
}

func TestOnlyLoopback(t *testing.T) {
	require.True(t, loopback("127.0.0.2") && loopback("::1") && loopback("::ffff:127.0.0.1"))
	require.False(t, loopback("10.0.0.1") || loopback("example.org") || loopback(""))
	a := start(t, 1, "")
	a.Visit("192.0.2.1:16379", control, nil)
	a.logged(t, "only loopback addresses are talked to")
}

// FuzzAnswer runs the challenge and the messages after it against any bytes: nothing panics, no
// memory is taken that the bytes do not account for, nothing is believed.
func FuzzAnswer(f *testing.F) {
	us := &hello{node: id(1)}
	var said bytes.Buffer
	_ = (&talk{rw: &said}).send(us)
	f.Add(said.Bytes())
	f.Add([]byte("RCmb"))
	f.Add(append(said.Bytes(), header{size: 32, kind: kindProof}.appendTo(nil)...))
	f.Fuzz(func(t *testing.T, in []byte) {
		rw := struct {
			io.Reader
			io.Writer
		}{bytes.NewReader(in), io.Discard}
		_, err := answer(rw, []byte("s"), us, func(*hello) error {
			t.Fatal("a stranger got in")
			return nil
		})
		require.Error(t, err)
		a := &assembler{r: bytes.NewReader(in), limit: func(Kind) int64 { return 1 << 20 }}
		for total := 0; ; {
			kind, msg, err := a.next()
			if err != nil {
				break
			}
			total += len(msg)
			require.GreaterOrEqual(t, kind, firstKind)
			require.LessOrEqual(t, total, len(in))
		}
		if h, err := decodeHello(in); err == nil {
			again, err := decodeHello(h.encode())
			require.NoError(t, err)
			require.Equal(t, h, again)
		}
	})
}
