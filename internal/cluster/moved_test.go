package cluster

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/cluster/core"
	"godwit/internal/cluster/topology"
	"godwit/internal/testserver"
)

// move starts a node that was closed again, at another port.
func (m *member) move(t testing.TB) {
	t.Helper()
	port, err := testserver.Port()
	require.NoError(t, err)
	m.port, m.o.About.BusPort = port, port
	m.start(t)
}

// settled waits until all nodes know where all are, and have links to them.
func settled(t testing.TB, list []*member) {
	t.Helper()
	leader(t, list)
	for _, m := range list {
		for _, other := range list {
			id := other.Status().ID
			eventually(t, "the new address is known", func() bool {
				n := m.installed().Nodes[id]
				return n != nil && n.About.BusPort == other.port
			})
			eventually(t, "there is a link", func() bool {
				return m == other || m.bus.Linked(string(id)) != ""
			})
		}
	}
}

// TestMovedOne starts one node again at another port: the others learn where it is from itself.
func TestMovedOne(t *testing.T) {
	t.Parallel()
	list := form(t, 3)
	for _, m := range list {
		eventually(t, "voters", func() bool { return len(m.Status().Voters) == 3 })
	}
	at := leader(t, list)
	for _, i := range []int{(at + 1) % 3, at} {
		list[i].Close()
		list[i].move(t)
		settled(t, list)
	}
}

// TestMovedWithLeader starts the leader again at another port while a node is away, which comes
// back at another port too. Neither knows where the other is. The third one does, and tells.
func TestMovedWithLeader(t *testing.T) {
	t.Parallel()
	list := form(t, 3)
	for _, m := range list {
		eventually(t, "voters", func() bool { return len(m.Status().Voters) == 3 })
	}
	at := leader(t, list)
	moved, third, away := list[at], list[(at+1)%3], list[(at+2)%3]
	away.Close()
	moved.Close()
	moved.move(t)
	two := []*member{moved, third}
	settled(t, two)
	for leader(t, two) != 0 {
		third.Resign()
	}
	away.move(t)
	settled(t, list)
}

// TestMovedAll starts all nodes again at other ports. None can know where the others are, until
// they are told.
func TestMovedAll(t *testing.T) {
	t.Parallel()
	list := form(t, 3)
	for _, m := range list {
		eventually(t, "voters", func() bool { return len(m.Status().Voters) == 3 })
	}
	settled(t, list)
	for _, m := range list {
		m.Close()
	}
	for _, m := range list {
		m.move(t)
	}
	for _, m := range list {
		for _, other := range list {
			if m != other {
				require.Empty(t, m.meet(t, other))
			}
		}
	}
	settled(t, list)
}

// TestMetAgain meets a member that has moved, twice, before there is a majority that could learn
// where it is. Both are right.
func TestMetAgain(t *testing.T) {
	t.Parallel()
	list := form(t, 5)
	for _, m := range list {
		eventually(t, "voters", func() bool { return len(m.Status().Voters) == 5 })
	}
	for _, m := range list {
		m.Close()
	}
	list[0].move(t)
	list[1].move(t)
	require.Empty(t, list[0].meet(t, list[1]))
	id := list[1].Status().ID
	eventually(t, "there is a link", func() bool { return list[0].bus.Linked(string(id)) != "" })
	require.NotEqual(t, list[1].port, list[0].installed().Nodes[id].About.BusPort)
	require.Empty(t, list[0].meet(t, list[1]))
}

// TestMovedAndBack meets a member at an alias while there is no link to it. When nobody answers
// there any more, it is looked for at its own address again.
func TestMovedAndBack(t *testing.T) {
	t.Parallel()
	list := form(t, 2)
	settled(t, list)
	a, b := list[0], list[1]
	id, own := b.Status().ID, b.port
	b.Close()
	b.move(t)
	require.Empty(t, a.meet(t, b))
	eventually(t, "there is a link", func() bool { return a.bus.Linked(string(id)) != "" })
	settled(t, list)
	alias := b.port
	require.NotEqual(t, own, alias)
	b.Close()
	a.do(func(int64) {
		at := topology.Address{IP: "127.0.0.1", BusPort: own}
		a.Runtime.move([]core.Moved{{Node: id, At: at}})
	})
	b.start(t)
	eventually(t, "there is a link", func() bool { return a.bus.Linked(string(id)) != "" })
}

// TestToldInVain has a member say again and again that another one is where nobody is. It is
// looked for there once, for a while. CLUSTER MEET, which has been there, is believed at once.
func TestToldInVain(t *testing.T) {
	t.Parallel()
	list := form(t, 2)
	settled(t, list)
	a, b := list[0], list[1]
	id := b.Status().ID
	b.Close()
	port, err := testserver.Port()
	require.NoError(t, err)
	move := func(told bool) (times int) {
		done := make(chan bool)
		a.do(func(int64) {
			at := topology.Address{IP: "127.0.0.1", BusPort: port}
			a.Runtime.move([]core.Moved{{Node: id, At: at, Told: told}})
			done <- true
		})
		<-done
		return strings.Count(a.logs.String(), "has moved to")
	}
	times := 0
	eventually(t, "it is given up", func() bool {
		times = move(true)
		return strings.Contains(a.logs.String(), "is not reached at")
	})
	require.Equal(t, 1, max(times, move(true)))
	require.Equal(t, 2, move(false))
	b.start(t)
	eventually(t, "there is a link", func() bool { return a.bus.Linked(string(id)) != "" })
}

// TestAddressOfAnotherLife has a node that was started again leave its cluster and come back. Its
// address is what it was.
func TestAddressOfAnotherLife(t *testing.T) {
	t.Parallel()
	list := form(t, 3)
	m := list[2]
	ip := func() string { return list[0].installed().Nodes[m.Status().ID].About.IP }
	eventually(t, "an address", func() bool { return ip() == "127.0.0.1" })
	for _, hard := range []bool{false, true} {
		m.Close()
		m.start(t)
		settled(t, list)
		require.Empty(t, await(t, func(done func(string)) { m.Reset(hard, done) }))
		eventually(t, "it is alone", func() bool { return len(m.installed().Nodes) == 1 })
		require.Empty(t, list[0].meet(t, m))
		settled(t, list)
		require.Equal(t, "127.0.0.1", ip())
	}
}
