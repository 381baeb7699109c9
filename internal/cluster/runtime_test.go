package cluster

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"godwit/internal/boottime"
	"godwit/internal/cluster/core"
	"godwit/internal/cluster/topology"
	"godwit/internal/logging"
	"godwit/internal/logging/loggingtest"
	"godwit/internal/slot"
	"godwit/internal/testserver"
)

// server is a Host without data: it plays the role that it is given.
type server struct {
	executor sync.Mutex

	mu    sync.Mutex
	self  topology.NodeID
	state *topology.State
	got   []string
}

func (s *server) Between(f func()) {
	s.executor.Lock()
	defer s.executor.Unlock()
	f()
}

func (s *server) Install(state *topology.State, self topology.NodeID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state, s.self = state, self
}

func (s *server) Local() core.Local {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := core.Local{Role: topology.Replica, Whole: true, Linked: true}
	if s.state == nil || s.state.Nodes[s.self] == nil {
		return l
	}
	shard := s.state.Shards[s.state.Nodes[s.self].Shard]
	l.Shard, l.Term = shard.ID, shard.Term
	if shard.Master == s.self {
		l.Role = topology.Master
	}
	return l
}

func (s *server) Deliver(to Audience, channel, message []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.got = append(s.got, fmt.Sprintf("%d %s %s", to, channel, message))
}

// installed returns the state that the server acts on.
func (s *server) installed() *topology.State {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state
}

func (s *server) messages() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.got...)
}

// member is a running node.
type member struct {
	*Runtime
	server
	o    Options
	port int
	logs *loggingtest.Buffer
}

func newID() string {
	b := make([]byte, 20)
	_, _ = rand.Read(b)
	return hex.EncodeToString(b)
}

// nodeTimeout is long for a machine on which others run: a node that does not run for a part of it,
// or waits for its disk, loses its leader, and requests are given up after two.
const nodeTimeout = 2 * time.Second

// launch starts a node on a free port, alone.
func launch(t testing.TB, change ...func(*Options)) *member {
	t.Helper()
	m := &member{logs: &loggingtest.Buffer{}}
	log, err := logging.New(logging.Options{Out: m.logs, Level: logging.Debug})
	require.NoError(t, err)
	m.port, err = testserver.Port() // which stays free while the node is down
	require.NoError(t, err)
	m.o = Options{Host: &m.server, Log: log, Timeout: nodeTimeout, Now: boottime.Now, NewID: newID,
		File: filepath.Join(t.TempDir(), "nodes.conf"), Secret: "s",
		About: topology.About{Address: topology.Address{Port: 1, BusPort: m.port}},
		Dial: func(ctx context.Context, addr string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "tcp", addr)
		}}
	for _, f := range change {
		f(&m.o)
	}
	m.start(t)
	return m
}

// start starts the node, or starts it again after Close.
func (m *member) start(t testing.TB) {
	t.Helper()
	ln, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", m.port))
	require.NoError(t, err)
	m.Runtime, err = Start(m.o)
	require.NoError(t, err)
	go m.Serve(ln)
	t.Cleanup(m.Close)
}

// eventually waits for a condition.
func eventually(t testing.TB, what string, f func() bool) {
	t.Helper()
	require.Eventually(t, f, 30*time.Second, time.Millisecond, "%s", what)
}

// await turns a call with a done function into one that waits.
func await(t testing.TB, call func(done func(string))) string {
	t.Helper()
	reply := make(chan string, 1)
	call(func(refusal string) { reply <- refusal })
	select {
	case text := <-reply:
		return text
	case <-time.After(30 * time.Second):
		t.Fatal("no answer")
		return ""
	}
}

func (m *member) meet(t testing.TB, other *member) string {
	t.Helper()
	return await(t, func(done func(string)) {
		m.Meet(topology.Address{IP: "127.0.0.1", Port: 1, BusPort: other.port}, done)
	})
}

// form starts n nodes and makes them one cluster in which the first has all slots.
func form(t testing.TB, n int, change ...func(*Options)) []*member {
	t.Helper()
	list := []*member{launch(t, change...)}
	for range n - 1 {
		list = append(list, launch(t, change...))
	}
	for _, m := range list[1:] {
		require.Empty(t, list[0].meet(t, m), "%s\n%s", list[0].logs, m.logs)
	}
	for _, m := range list {
		eventually(t, "all know all", func() bool {
			s := m.installed()
			return s != nil && len(s.Nodes) == n && m.Hears()
		})
	}
	return list
}

// leader waits until one node leads and the others know it, and returns its index.
func leader(t testing.TB, list []*member) (at int) {
	t.Helper()
	eventually(t, "a leader", func() bool {
		at = -1
		for i, m := range list {
			if m.Status().Role == "leader" {
				at = i
			}
		}
		if at < 0 {
			return false
		}
		for _, m := range list {
			if !m.Hears() || m.Status().Leader != list[at].Status().ID {
				return false
			}
		}
		return true
	})
	return at
}

// logged waits for a line of a member's log.
func logged(t testing.TB, m *member, text string) {
	t.Helper()
	eventually(t, text, func() bool { return strings.Contains(m.logs.String(), text) })
}

func without(list []*member, at int) []*member {
	return append(append([]*member(nil), list[:at]...), list[at+1:]...)
}

func TestAlone(t *testing.T) {
	t.Parallel()
	m := launch(t)
	eventually(t, "a state", func() bool { return m.installed() != nil && m.Hears() })
	eventually(t, "a lease", func() bool { return m.Lease() > boottime.Now() })
	id := m.Status().ID
	require.Contains(t, m.logs.String(), "No cluster configuration found, I'm "+string(id))
	m.Close()
	require.Zero(t, m.Lease())
	m.start(t)
	require.Equal(t, id, m.Status().ID)
	require.Contains(t, m.logs.String(), "Node configuration loaded, I'm "+string(id))
	eventually(t, "a lease", func() bool { return m.Lease() > boottime.Now() })
	_, err := Start(m.o)
	require.ErrorContains(t, err, "is already used by a different cluster node")
}

func TestThree(t *testing.T) {
	t.Parallel()
	list := form(t, 3)
	at := leader(t, list)
	for _, m := range list {
		eventually(t, "three voters", func() bool { return len(m.Status().Voters) == 3 })
		require.Equal(t, "127.0.0.1", m.installed().Nodes[m.Status().ID].About.IP)
		eventually(t, "links both ways", func() bool { return len(m.Links()) >= 4 })
	}

	slots := slot.SetOf(slot.Range{First: 0, Last: slot.Count - 1})
	m := list[(at+1)%3]
	add := func(m *member) string {
		return await(t, func(done func(string)) {
			m.Propose(topology.Op{Do: topology.AddSlots{Node: m.Status().ID, Slots: slots}}, done)
		})
	}
	require.Empty(t, add(m))
	require.Contains(t, add(m), "already busy")
	eventually(t, "a lease", func() bool { return m.Lease() > boottime.Now() })

	// The leader goes; the others go on, and it comes back from its file.
	old := list[at]
	id := old.Status().ID
	old.Close()
	rest := without(list, at)
	leader(t, rest)
	eventually(t, "it has failed", func() bool {
		n := m.installed().Nodes[id]
		return n != nil && n.Failed
	})
	logged(t, m, "Marking node "+string(id))
	old.start(t)
	leader(t, list)
	require.Equal(t, id, old.Status().ID)
	eventually(t, "it is back", func() bool { return !m.installed().Nodes[id].Failed })
	logged(t, m, "Clear FAIL state for node "+string(id))
}

// TestResign ends the leader in order: another one leads before it is gone.
func TestResign(t *testing.T) {
	t.Parallel()
	list := form(t, 3)
	eventually(t, "voters", func() bool { return len(list[0].Status().Voters) == 3 })
	at := leader(t, list)
	eventually(t, "it has resigned", func() bool {
		list[at].Resign() // within a second, unless the machine is too busy for that
		return list[at].Status().Role != "leader"
	})
}

// TestNoMajority ends two of three nodes: the third says that it hears of no majority, loses its
// lease, and goes on when one comes back.
func TestNoMajority(t *testing.T) {
	t.Parallel()
	list := form(t, 3)
	m := list[0]
	eventually(t, "voters", func() bool { return len(m.Status().Voters) == 3 })
	leader(t, list)
	list[1].Close()
	list[2].Close()
	eventually(t, "no majority", func() bool { return !m.Hears() })
	eventually(t, "no lease", func() bool { return m.Lease() < boottime.Now() })
	logged(t, m, "does not hear of a majority")
	list[1].start(t)
	eventually(t, "a majority", m.Hears)
	logged(t, m, "hears of a majority of the cluster's voters again")
}

// TestBusy keeps the leader's executor for two node timeouts, as a script does: its lease goes
// on, and so do the others; states are reported as applied only once they have been installed.
func TestBusy(t *testing.T) {
	t.Parallel()
	list := form(t, 3)
	for _, m := range list { // no more entries come by themselves then: a lease would wait for them
		eventually(t, "voters", func() bool { return len(m.Status().Voters) == 3 })
	}
	at := leader(t, list)
	m, other := list[at], list[(at+1)%3]
	var before *topology.State
	for disturbed := true; disturbed; { // by an entry for which the lease waits
		eventually(t, "all is installed", func() bool {
			s := m.Status()
			return m.installed().Index == s.Commit && s.Commit == s.Applied
		})
		m.executor.Lock()
		var began int64
		before, began = m.installed(), boottime.Now()
		eventually(t, "the lease goes on", func() bool {
			disturbed = m.Status().Commit > before.Index
			return disturbed || m.Lease() > began+2*int64(nodeTimeout)
		})
		if disturbed {
			m.executor.Unlock()
		}
	}
	eventually(t, "it proposes", func() bool {
		return await(t, func(done func(string)) {
			other.Propose(topology.Op{Do: topology.Bump{Node: other.Status().ID}}, done)
		}) == ""
	})
	eventually(t, "the entry is here", func() bool { return m.Status().Applied > before.Index })
	require.Same(t, before, m.installed())
	m.executor.Unlock()
	eventually(t, "installed", func() bool { return m.installed().Index > before.Index })
}

func TestPublish(t *testing.T) {
	t.Parallel()
	list := form(t, 3)
	eventually(t, "links", func() bool { // what waits for one that does not open is dropped
		return len(list[0].Links()) >= 4
	})
	for i := range 100 {
		list[0].Broadcast(Everyone, []byte("news"), fmt.Appendf(nil, "%03d", i))
	}
	list[1].Broadcast(Shard, []byte("mine"), nil)
	eventually(t, "all of them", func() bool {
		return len(list[1].messages()) == 100 && len(list[2].messages()) == 100
	})
	require.IsIncreasing(t, list[1].messages())
	require.Equal(t, "0 news 000", list[2].messages()[0])
	require.Empty(t, list[0].messages(), "nobody else is in the shard")
	require.EqualValues(t, 200, list[0].Stats().Sent["publish"])
	require.EqualValues(t, 100, list[2].Stats().Received["publish"])
}

func TestWrongSecret(t *testing.T) {
	t.Parallel()
	soon := func(o *Options) { o.Timeout = time.Second } // MEET tries for two of these
	a, b := launch(t, soon), launch(t, soon, func(o *Options) { o.Secret = "another" })
	require.Contains(t, a.meet(t, b), "cluster-secret differs")
	logged(t, a, `"cluster-secret differs"`)
	logged(t, b, "it does not know our cluster-secret")
}

// failing is a Storage on a slow disk that fails from some moment on, as if it were full.
type failing struct {
	core.Saved
	full bool
}

var errFull = errors.New("no space left on device")

func (f *failing) Load() (core.Saved, error) { return f.Saved, nil }

func (f *failing) Save(core.Batch) error {
	time.Sleep(10 * time.Millisecond)
	if f.full {
		return errFull
	}
	return nil
}

// TestFull fills the leader's disk: it takes part no more, and says so; another one leads.
func TestFull(t *testing.T) {
	t.Parallel()
	disk := &failing{}
	first := true
	list := form(t, 3, func(o *Options) {
		if first {
			first, o.Storage = false, disk
		}
	})
	eventually(t, "voters", func() bool { return len(list[1].Status().Voters) == 3 })
	m := list[0]
	m.do(func(int64) { disk.full = true })
	refusal := await(t, func(done func(string)) {
		m.Propose(topology.Op{Do: topology.Bump{Node: m.Status().ID}}, done)
	})
	require.Contains(t, refusal, errFull.Error())
	eventually(t, "it is down", func() bool { return m.Status().Role == "down" })
	require.Zero(t, m.Lease())
	require.False(t, m.Hears())
	logged(t, m, "takes part in the cluster no more")
	leader(t, list[1:])
}

func TestRemoved(t *testing.T) {
	t.Parallel()
	list := form(t, 3)
	gone := list[2].Status().ID
	refusal := await(t, func(done func(string)) {
		list[0].Propose(topology.Op{Do: topology.Forget{Node: gone}}, done)
	})
	require.Empty(t, refusal)
	eventually(t, "it is alone", func() bool { return len(list[2].installed().Nodes) == 1 })
	require.NotEqual(t, list[0].installed().Cluster, list[2].installed().Cluster)
	require.Equal(t, gone, list[2].Status().ID)

	require.Empty(t, await(t, func(done func(string)) { list[1].Reset(true, done) }))
	eventually(t, "it is another", func() bool { return len(list[1].installed().Nodes) == 1 })
	require.True(t, strings.HasSuffix(list[1].String(), string(list[1].Status().ID)))
	require.Empty(t, list[0].meet(t, list[1]), "and may come back")
}
