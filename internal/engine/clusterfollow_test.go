package engine_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/cluster/topology"
	"godwit/internal/engine"
	"godwit/internal/resp"
	"godwit/internal/slot"
	"godwit/internal/upstream"
)

// following makes the member one that follows a shard with the slot of {a}, and returns the client
// that applies its stream.
func following(m *member) (stream *engine.Client, attempts *[]*engine.LinkAttempt) {
	attempts = new([]*engine.LinkAttempt)
	m.e.LinkMaster = func(a *engine.LinkAttempt) { *attempts = append(*attempts, a) }
	if !m.shard().Slots.Empty() {
		m.apply(topology.DelSlots{Node: nodeID(0), All: true})
		m.install()
	}
	require.Equal(m, "+OK", m.do(m.c, "cluster follow 10.0.0.1 7000 slotsrange 15495 15495 tls "+
		"auth2 user secret"))
	a := (*attempts)[0]
	a.Answered(upstream.Answer{Kind: upstream.Continue})
	stream = a.Attach(&quietConn{})
	require.NotNil(m, stream)
	return stream, attempts
}

// stream runs a command of a stream as a connection does.
func (m *member) stream(c *engine.Client, argv ...string) (ran bool) {
	text := resp.AppendCommand(nil, argv...)
	if !m.e.Exec(c, raw(argv)) {
		return false
	}
	m.e.Applied(c, text)
	m.e.SettleApplied()
	return true
}

func raw(argv []string) (args [][]byte) {
	for _, a := range argv {
		args = append(args, []byte(a))
	}
	return args
}

// TestFollow has a master follow a shard of another cluster: what it refuses meanwhile, what its
// replicas are told, and how it ends.
func TestFollow(t *testing.T) {
	require.Equal(t, 15495, slot.Of([]byte("a")))
	m := newMember(t, 2, nil)
	const follow = "cluster follow 10.0.0.1 7000 slotsrange 15495 15495"
	require.Contains(t, m.do(m.c, follow), "must be empty")
	require.Contains(t, m.do(m.c, "cluster follow no one"), "follows no other")
	require.Equal(t, "+OK", m.do(m.c, "set a 1"))
	m.apply(topology.DelSlots{Node: nodeID(0), All: true})
	m.install()
	require.Contains(t, m.do(m.c, follow), "must be empty")
	require.Equal(t, "+OK", m.do(m.c, "flushall"))
	c, attempts := following(m)
	hello := (*attempts)[0].Hello
	require.Equal(t, "user secret", hello.User+" "+hello.Password)
	require.Empty(t, hello.Peer)
	require.True(t, (*attempts)[0].Dial.TLS)

	require.False(t, m.e.LeaseHeld())
	require.Contains(t, m.do(m.c, "flushall"), "READONLY")
	require.Contains(t, m.do(m.c, "cluster addslots 1"), "follows a master of another cluster")
	require.Contains(t, m.do(m.c, "cluster follow 10.0.0.1 7000 slotsrange 1 1"), "another shard")
	require.Equal(t, "+TERM 1 0", m.say(m.client(), 1, 1))

	before := m.e.ReplOffset()
	require.True(t, m.stream(c, "SET", "a", "1"))
	require.Greater(t, m.e.ReplOffset(), before, "replicas get what came")
	require.Contains(t, m.do(m.c, "get a"), "CLUSTERDOWN")
	m.do(m.c, "readonly")
	require.Equal(t, "$1\r\n1", m.do(m.c, "get a"))
	require.Equal(t, "follows ", m.followed())

	require.Equal(t, "+OK", m.do(m.c, "cluster follow 10.0.0.2 7000 slotsrange 15495 15495"))
	require.Len(t, *attempts, 2, "the shard has another master")
	require.NotEmpty(t, (*attempts)[1].Hello.ID, "the copy goes on")
	(*attempts)[1].Failed(errors.New("no route"))
	require.Equal(t, "retries no route", m.followed())

	require.Equal(t, "+OK", m.do(m.c, "cluster follow no one"))
	require.True(t, m.e.LeaseHeld())
	m.apply(topology.AddSlots{Node: nodeID(0), Slots: slot.SetOf(slot.Range{First: 15495,
		Last: 15495})})
	m.install()
	require.Equal(t, 1, m.e.KS.DB(0).Len())
}

// followed returns what INFO says of the shard that is followed.
func (m *member) followed() string {
	f := m.e.Master().Followed()
	why, over := f.Fault()
	switch {
	case over:
		return "failed " + why
	case why != "":
		return "retries " + why
	}
	return "follows "
}

// TestFollowChecks has streams end that are not those of the shard.
func TestFollowChecks(t *testing.T) {
	for _, c := range []struct {
		argv []string
		ran  bool
		why  string
	}{
		{[]string{"SET", "b", "1"}, false, `Key "b" (set) is in slot 3300`},
		{[]string{"DEL", "a", "b"}, false, `Key "b" (del) is in slot 3300`},
		{[]string{"CLUSTER", "SETSLOT", "1", "STABLE"}, false, "changes its slots"},
		{[]string{"LPUSH", "a", "1"}, true, "has failed here: 'WRONGTYPE"},
		{[]string{"NONSENSE"}, true, "has failed here: 'ERR unknown command"},
	} {
		m := newMember(t, 1, nil)
		stream, attempts := following(m)
		require.True(t, m.stream(stream, "SET", "a", "1"))
		offset := m.e.ReplOffset()
		require.Equal(t, c.ran, m.stream(stream, c.argv...))
		require.Contains(t, m.followed(), c.why)
		require.Contains(t, m.followed(), "failed ")
		require.Equal(t, offset, m.e.ReplOffset(), "%q goes to no replica", c.argv)
		require.True(t, stream.CloseASAP)
		m.pass(5000)
		require.Len(t, *attempts, 1, "nobody tries again")
		require.Contains(t, m.do(m.c, "cluster follow 10.0.0.2 7000 slotsrange 15495 15495"),
			"End that first")
	}
}

// TestFollowerGetsSlots gives a slot to a node that follows a shard of another cluster. The copy
// would delete what is written to it.
func TestFollowerGetsSlots(t *testing.T) {
	m := newMember(t, 1, nil)
	m.other(77)
	stream, attempts := following(m)
	require.True(t, m.stream(stream, "SET", "a", "1"))
	m.change(topology.Move{Slots: slotSet(78), To: nodeID(0)})
	require.False(t, m.e.Follows())
	require.True(t, stream.CloseASAP)
	require.True(t, m.e.LeaseHeld())
	m.pass(5000)
	require.Len(t, *attempts, 1)
	require.Equal(t, 1, m.e.KS.DB(0).Len(), "what was copied stays")
}
