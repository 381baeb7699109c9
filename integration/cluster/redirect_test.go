package cluster

import (
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/resp/client"
	"godwit/internal/slot"
	"godwit/internal/testserver"
)

// place is a slot of a cluster with its owner and another master.
type place struct {
	cluster      *testserver.Cluster
	slot         int
	owner, other *client.Client
	a, b         *testserver.Node // the same two
}

// placeOf returns where the keys with a tag are.
func placeOf(t *testing.T, c *testserver.Cluster, tag string) *place {
	t.Helper()
	p := &place{cluster: c, slot: slot.Of([]byte(tag))}
	var err error
	p.a, err = c.Owner(c.Nodes[0], p.slot)
	require.NoError(t, err)
	p.b = c.Master(0)
	if p.a == p.b {
		p.b = c.Master(1)
	}
	p.owner, p.other = p.a.Client(t), p.b.Client(t)
	return p
}

// say sends a command and wants the reply's text. "%s" in it stands for the slot.
func (p *place) say(t *testing.T, c *client.Client, want string, args ...any) {
	t.Helper()
	v, err := c.Do(args...)
	require.NoError(t, err)
	got := v.String()
	if v.Kind == client.Bulk || v.IsError() || v.Kind == client.Simple {
		got = v.Text()
	}
	require.Equal(t, want, got, "%v", args)
}

// moved returns the redirection to the owner, ask the one to the other.
func (p *place) moved() string { return fmt.Sprintf("MOVED %d %s", p.slot, p.a.Endpoint()) }
func (p *place) ask() string   { return fmt.Sprintf("ASK %d %s", p.slot, p.b.Endpoint()) }

const (
	crossSlot = "CROSSSLOT Keys in request don't hash to the same slot"
	tryAgain  = "TRYAGAIN Multiple keys request during rehashing of slot"
	discarded = "EXECABORT Transaction discarded because of previous errors."
)

// TestMoved asks nodes for keys that others have.
func TestMoved(t *testing.T) {
	each(t, func(t *testing.T, k testserver.Kind) {
		p := placeOf(t, common(t, k), "moved")
		p.say(t, p.owner, "OK", "SET", "moved", "v")
		for _, args := range [][]any{{"GET", "moved"}, {"SET", "moved", 1},
			{"DEL", "{moved}a", "moved"}, {"EVAL", "return 1", 1, "moved"},
			{"SSUBSCRIBE", "moved"}, {"SPUBLISH", "moved", "m"},
			{"BLPOP", "moved", 0}, {"XREAD", "STREAMS", "moved", 0}} {
			p.say(t, p.other, p.moved(), args...)
		}
		p.say(t, p.other, "OK", "MULTI")
		p.say(t, p.other, p.moved(), "GET", "moved")
		p.say(t, p.other, discarded, "EXEC")
		p.say(t, p.owner, "v", "GET", "moved")
		p.say(t, p.other, fmt.Sprintf("%d", p.slot), "CLUSTER", "KEYSLOT", "moved")
	})
}

// TestCrossSlot asks for keys of several slots at once.
func TestCrossSlot(t *testing.T) {
	each(t, func(t *testing.T, k testserver.Kind) {
		p := placeOf(t, common(t, k), "cross")
		for _, args := range [][]any{{"MSET", "cross", 1, "other", 2}, {"MGET", "other", "cross"},
			{"EVAL", "return 1", 2, "cross", "x"}, {"RENAME", "cross", "y"},
			{"SSUBSCRIBE", "cross", "z"}} {
			p.say(t, p.owner, crossSlot, args...)
		}
		p.say(t, p.owner, "OK", "MULTI")
		p.say(t, p.owner, crossSlot, "MGET", "cross", "other")
		p.say(t, p.owner, discarded, "EXEC")
		p.say(t, p.owner, "OK", "MSET", "{cross}1", 1, "{cross}2", 2)
		if k != testserver.Valkey9 { // which may have several databases
			p.say(t, p.owner, "ERR SELECT is not allowed in cluster mode", "SELECT", 1)
		}
		p.say(t, p.owner, "OK", "SELECT", 0)
	})
}

// TestScriptKeys runs scripts that take keys which they have not declared.
func TestScriptKeys(t *testing.T) {
	each(t, func(t *testing.T, k testserver.Kind) {
		p := placeOf(t, common(t, k), "script")
		p.say(t, p.owner, "OK", "SET", "{script}own", "v")
		p.say(t, p.owner, "v", "EVAL", "return redis.call('GET', '{script}own')", 1, "script")
		mine, foreign := p.b.ID, ""
		for i := 0; foreign == ""; i++ { // a key of the other node
			key := fmt.Sprint("foreign", i)
			n, err := p.cluster.Owner(p.a, slot.Of([]byte(key)))
			require.NoError(t, err)
			if n.ID == mine {
				foreign = key
			}
		}
		v, err := p.owner.Do("EVAL", "return redis.call('GET', ARGV[1])", 1, "script", foreign)
		require.NoError(t, err)
		require.True(t, v.IsError())
		require.Contains(t, v.Text(), "ttempted to access a non local key in a cluster node")
	})
}

// TestReadOnly reads from a replica.
func TestReadOnly(t *testing.T) {
	each(t, func(t *testing.T, k testserver.Kind) {
		c := common(t, k)
		p := placeOf(t, c, "readonly")
		p.say(t, p.owner, "OK", "SET", "readonly", "v")
		p.say(t, p.owner, "1", "WAIT", 1, 0)
		view, err := p.a.View()
		require.NoError(t, err)
		var replica *client.Client
		for _, l := range view {
			if l.Master == p.a.ID {
				replica = c.Node(l.ID).Client(t)
			}
		}
		require.NotNil(t, replica)
		p.say(t, replica, p.moved(), "GET", "readonly")
		p.say(t, replica, "OK", "READONLY")
		p.say(t, replica, "v", "GET", "readonly")
		p.say(t, replica, p.moved(), "SET", "readonly", "w")
		p.say(t, replica, `array["v"]`, "MGET", "readonly")
		p.say(t, replica, "OK", "MULTI")
		p.say(t, replica, "QUEUED", "GET", "readonly")
		p.say(t, replica, `array["v"]`, "EXEC")
		p.say(t, replica, "OK", "READWRITE")
		p.say(t, replica, p.moved(), "GET", "readonly")
	})
}

// TestAsk moves a slot as redis-cli does, by SETSLOT and MIGRATE, and asks both nodes at each step.
func TestAsk(t *testing.T) {
	each(t, func(t *testing.T, k testserver.Kind) {
		p := placeOf(t, common(t, k), "ask")
		p.say(t, p.owner, "OK", "MSET", "{ask}1", "one", "{ask}2", "two")
		p.say(t, p.owner, "2", "CLUSTER", "COUNTKEYSINSLOT", p.slot)
		p.say(t, p.other, "OK", "CLUSTER", "SETSLOT", p.slot, "IMPORTING", p.a.ID)
		p.say(t, p.owner, "OK", "CLUSTER", "SETSLOT", p.slot, "MIGRATING", p.b.ID)

		p.say(t, p.owner, "one", "GET", "{ask}1")
		p.say(t, p.owner, p.ask(), "GET", "{ask}new")
		p.say(t, p.owner, p.ask(), "MGET", "{ask}x", "{ask}y")
		p.say(t, p.owner, tryAgain, "MGET", "{ask}1", "{ask}new")
		p.say(t, p.other, p.moved(), "GET", "{ask}1")
		p.asking(t, "null", "GET", "{ask}new")
		p.asking(t, "OK", "SET", "{ask}new", "there")
		p.say(t, p.other, p.moved(), "GET", "{ask}new")
		p.asking(t, tryAgain, "MGET", "{ask}new", "{ask}1")
		p.asking(t, "0", "EXISTS", "{ask}none")
		if k != testserver.Valkey9 { // which says so when it executes
			p.say(t, p.owner, "OK", "MULTI")
			p.say(t, p.owner, p.ask(), "GET", "{ask}new")
			p.say(t, p.owner, discarded, "EXEC")
		}

		p.migrate(t, "{ask}1", "{ask}2")
		p.say(t, p.owner, p.ask(), "GET", "{ask}1")
		p.say(t, p.owner, p.ask(), "MGET", "{ask}1", "{ask}2")
		p.asking(t, `array["one" "there"]`, "MGET", "{ask}1", "{ask}new")
		p.finish(t)
		p.say(t, p.owner, "two", "GET", "{ask}2")
		p.say(t, p.other, p.moved(), "GET", "{ask}2")

		p.back(t, "{ask}1", "{ask}2", "{ask}new")
		p.say(t, p.owner, "there", "GET", "{ask}new")
		p.say(t, p.owner, "3", "DEL", "{ask}1", "{ask}2", "{ask}new")
	})
}

// asking sends a command to the importing node.
func (p *place) asking(t *testing.T, want string, args ...any) {
	t.Helper()
	p.say(t, p.other, "OK", "ASKING")
	p.say(t, p.other, want, args...)
}

// migrating keeps two nodes from moving keys to each other at the same time: a server does nothing
// else until MIGRATE is answered, so each would wait for the other until the time is up.
var migrating sync.Mutex

// migrate moves keys from the owner to the other node.
func (p *place) migrate(t *testing.T, keys ...string) {
	t.Helper()
	if len(keys) == 0 {
		return
	}
	host, port := p.b.HostPort()
	args := []any{"MIGRATE", host, port, "", 0, 5000, "KEYS"}
	for _, key := range keys {
		args = append(args, key)
	}
	migrating.Lock()
	defer migrating.Unlock()
	p.say(t, p.owner, "OK", args...)
}

// migrateAll moves the keys of the slot one by one.
func (p *place) migrateAll(t *testing.T) {
	t.Helper()
	for {
		v, err := p.owner.Do("CLUSTER", "GETKEYSINSLOT", p.slot, 10)
		require.NoError(t, err)
		if len(v.Elems) == 0 {
			return
		}
		for _, key := range v.Strings() {
			p.migrate(t, key)
		}
	}
}

// finish gives the slot to the other node, which is the owner from then on.
func (p *place) finish(t *testing.T) {
	t.Helper()
	p.say(t, p.other, "OK", "CLUSTER", "SETSLOT", p.slot, "NODE", p.b.ID)
	p.say(t, p.owner, "OK", "CLUSTER", "SETSLOT", p.slot, "NODE", p.b.ID)
	require.NoError(t, p.cluster.WaitOwner(p.slot, p.b, p.a, p.b))
	p.a, p.b, p.owner, p.other = p.b, p.a, p.other, p.owner
}

// back moves the slot with its keys to the other node.
func (p *place) back(t *testing.T, keys ...string) {
	t.Helper()
	p.say(t, p.other, "OK", "CLUSTER", "SETSLOT", p.slot, "IMPORTING", p.a.ID)
	p.say(t, p.owner, "OK", "CLUSTER", "SETSLOT", p.slot, "MIGRATING", p.b.ID)
	p.migrate(t, keys...)
	p.finish(t)
	require.NoError(t, p.cluster.WaitOwner(p.slot, p.a, p.cluster.Nodes...))
}

// TestStable takes a move back before it has begun.
func TestStable(t *testing.T) {
	each(t, func(t *testing.T, k testserver.Kind) {
		p := placeOf(t, common(t, k), "stable")
		p.say(t, p.other, "OK", "CLUSTER", "SETSLOT", p.slot, "IMPORTING", p.a.ID)
		p.say(t, p.owner, "OK", "CLUSTER", "SETSLOT", p.slot, "MIGRATING", p.b.ID)
		view, err := p.a.View()
		require.NoError(t, err)
		require.Equal(t, ">"+p.b.ID, view.Find(p.a.ID).Moving[p.slot])
		view, err = p.b.View()
		require.NoError(t, err)
		require.Equal(t, "<"+p.a.ID, view.Find(p.b.ID).Moving[p.slot])
		p.say(t, p.owner, p.ask(), "GET", "stable")
		p.say(t, p.owner, "OK", "CLUSTER", "SETSLOT", p.slot, "STABLE")
		p.say(t, p.other, "OK", "CLUSTER", "SETSLOT", p.slot, "STABLE")
		p.say(t, p.owner, "null", "GET", "stable")
		p.asking(t, p.moved(), "GET", "stable")

	})
}
