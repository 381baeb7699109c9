package engine

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/config"
	"godwit/internal/keyspace"
	"godwit/internal/logging"
	"godwit/internal/pubsub"
)

func testEngine(t *testing.T) *Engine {
	t.Helper()
	return New(config.Default(), testTable(), Options{Log: logging.Discard(), Seed: 1})
}

func TestPublishWakesEachReceiverOnce(t *testing.T) {
	e := testEngine(t)
	e.Enter()
	conns := make([]*fakeConn, 3)
	for i := range conns {
		conns[i] = &fakeConn{}
		c := e.NewClient(conns[i])
		c.W.Proto = 2 + i%2
		e.Subscribe(c, pubsub.Channels, []byte("ch"))
		e.Subscribe(c, pubsub.Patterns, []byte("c*"))
	}
	for range 10 {
		require.Equal(t, 6, e.Publish(pubsub.Channels, []byte("ch"), []byte("hi")))
	}
	require.Zero(t, conns[0].flushed)
	e.Leave()
	e.Enter()
	defer e.Leave()
	i := 0
	e.Clients(func(c *Client) bool {
		require.Equal(t, 1, conns[i].flushed)
		one := "*3\r\n$7\r\nmessage\r\n$2\r\nch\r\n$2\r\nhi\r\n" +
			"*4\r\n$8\r\npmessage\r\n$2\r\nc*\r\n$2\r\nch\r\n$2\r\nhi\r\n"
		if c.W.Proto == 3 {
			one = strings.ReplaceAll(one, "*3\r", ">3\r")
			one = strings.ReplaceAll(one, "*4\r", ">4\r")
		}
		require.Equal(t, strings.Repeat(one, 10), string(c.W.Buf))
		i++
		return true
	})
}

func TestPublishHoldsTheOutputLimit(t *testing.T) {
	e := testEngine(t)
	e.Enter()
	defer e.Leave()
	conn := &fakeConn{}
	c := e.NewClient(conn)
	e.Cfg.OutputLimits[ClassPubSub] = config.OutputLimit{Hard: 1 << 20}
	e.Subscribe(c, pubsub.Channels, []byte("ch"))
	msg := make([]byte, 100<<10)
	for range 100 {
		e.Publish(pubsub.Channels, []byte("ch"), msg)
	}
	require.True(t, c.CloseASAP)
	require.Equal(t, 1, conn.closed)
	require.Less(t, len(c.W.Buf), 2<<20)
	require.EqualValues(t, 1, e.Stats.ClientOutBufLimit)
}

func TestPublishDoesNotAllocate(t *testing.T) {
	e := testEngine(t)
	e.Enter()
	defer e.Leave()
	var subs []*Client
	for range 10 {
		c := e.NewClient(&fakeConn{})
		c.W.Buf = make([]byte, 0, 1<<20)
		e.Subscribe(c, pubsub.Channels, []byte("ch"))
		e.Subscribe(c, pubsub.Patterns, []byte("c*"))
		subs = append(subs, c)
	}
	channel, msg := []byte("ch"), []byte("message")
	require.Zero(t, testing.AllocsPerRun(100, func() {
		e.Publish(pubsub.Channels, channel, msg)
		for _, c := range subs {
			c.W.Buf = c.W.Buf[:0]
		}
	}))
}

func TestEventClasses(t *testing.T) {
	require.Zero(t, eventClasses(config.NotifyAll))
	require.Equal(t, keyspace.EvString|keyspace.EvMiss,
		eventClasses(config.NotifyKeyevent|config.NotifyString|config.NotifyKeyMiss))
	all := eventClasses(config.NotifyAll | config.NotifyKeyspace)
	require.Equal(t, keyspace.EvNew-1-keyspace.EvMiss, all)
}

func TestForgottenClientsAreToldNothing(t *testing.T) {
	e := testEngine(t)
	e.Enter()
	defer e.Leave()
	conn := &fakeConn{}
	c := e.NewClient(conn)
	e.Subscribe(c, pubsub.Channels, []byte("ch"))
	e.Track(c, TrackingMode{Bcast: true}, 0, []string{"a", "b"})
	require.Equal(t, TrackingInfo{Clients: 1, Prefixes: 2}, e.TrackingInfo())
	e.Publish(pubsub.Channels, []byte("ch"), []byte("1"))
	e.keyInvalid([]byte("a1"), nil)
	e.Forget(c)
	require.Zero(t, e.Publish(pubsub.Channels, []byte("ch"), []byte("2")))
	require.Equal(t, TrackingInfo{}, e.TrackingInfo())
	e.Deliver()
	require.Zero(t, conn.flushed)
}
