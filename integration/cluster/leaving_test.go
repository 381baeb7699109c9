package cluster

import (
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/resp/client"
	"godwit/internal/testserver"
)

// TestBlockedLeaves moves a slot away under a client that is blocked on a key of it.
func TestBlockedLeaves(t *testing.T) {
	each(t, func(t *testing.T, k testserver.Kind) {
		p := placeOf(t, common(t, k), "blocked")
		waiting := p.a.Client(t)
		waiting.Queue("BLPOP", "blocked", 0)
		require.NoError(t, waiting.Flush())
		eventually(t, func() bool {
			n, err := p.a.InfoInt("clients", "blocked_clients")
			return err == nil && n > 0
		}, "it waits")
		p.say(t, p.other, "OK", "CLUSTER", "SETSLOT", p.slot, "IMPORTING", p.a.ID)
		p.say(t, p.owner, "OK", "CLUSTER", "SETSLOT", p.slot, "MIGRATING", p.b.ID)
		p.finish(t)
		v, err := waiting.Receive()
		require.NoError(t, err)
		require.Equal(t, p.moved(), v.Text())
		p.back(t)
	})
}

// TestSubscribedLeaves moves a slot away under a client that has subscribed to a channel of it.
func TestSubscribedLeaves(t *testing.T) {
	each(t, func(t *testing.T, k testserver.Kind) {
		p := placeOf(t, common(t, k), "subscribed")
		sub := p.a.Client(t)
		v, err := sub.Do("SSUBSCRIBE", "subscribed")
		require.NoError(t, err)
		require.Equal(t, `array["ssubscribe" "subscribed" 1]`, v.String())
		p.say(t, p.owner, "1", "SPUBLISH", "subscribed", "m")
		message(t, sub, "smessage", "subscribed", "m")
		p.say(t, p.owner, `array["subscribed"]`, "PUBSUB", "SHARDCHANNELS", "subscribed")
		p.say(t, p.other, "OK", "CLUSTER", "SETSLOT", p.slot, "IMPORTING", p.a.ID)
		p.say(t, p.owner, "OK", "CLUSTER", "SETSLOT", p.slot, "MIGRATING", p.b.ID)
		p.finish(t)
		v, err = sub.Receive()
		require.NoError(t, err)
		require.Equal(t, `array["sunsubscribe" "subscribed" 0]`, v.String())
		p.back(t)
	})
}

// message wants the next message of a subscriber.
func message(t *testing.T, c *client.Client, want ...string) {
	t.Helper()
	v, err := c.Receive()
	require.NoError(t, err)
	require.Equal(t, want, v.Strings())
}

// TestPublish publishes on each node, which reaches the subscribers of all, and on the channels of
// a shard, which reaches those of its replicas too.
func TestPublish(t *testing.T) {
	each(t, func(t *testing.T, k testserver.Kind) {
		c := common(t, k)
		var subs []*client.Client
		for _, n := range c.Nodes {
			sub := n.Client(t)
			_, err := sub.Do("SUBSCRIBE", "everywhere")
			require.NoError(t, err)
			subs = append(subs, sub)
		}
		for _, n := range c.Nodes {
			v, err := n.Do("PUBLISH", "everywhere", n.ID)
			require.NoError(t, err)
			require.EqualValues(t, 1, v.Int, "its own subscriber")
			for _, sub := range subs {
				message(t, sub, "message", "everywhere", n.ID)
			}
		}
		p := placeOf(t, c, "shard")
		view, err := p.a.View()
		require.NoError(t, err)
		for _, l := range view {
			if l.Master != p.a.ID {
				continue
			}
			replica := c.Node(l.ID).Client(t)
			_, err := replica.Do("SSUBSCRIBE", "shard")
			require.NoError(t, err)
			p.say(t, p.owner, "0", "SPUBLISH", "shard", "m")
			message(t, replica, "smessage", "shard", "m")
		}
	})
}
