package core

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.etcd.io/raft/v3/raftpb"
	"godwit/internal/cluster/topology"
	"godwit/internal/slot"
)

// memDisk is a Storage in memory.
type memDisk struct {
	saved Saved
	err   error
}

func (d *memDisk) Load() (Saved, error) { return d.saved, nil }

func (d *memDisk) Save(b Batch) error {
	if d.err != nil {
		return d.err
	}
	s := &d.saved
	if b.Reset {
		*s = Saved{}
	}
	for _, p := range []struct{ to, from *[]byte }{
		{&s.Meta, &b.Meta}, {&s.Hard, &b.Hard}, {&s.Snapshot, &b.Snapshot},
	} {
		if *p.from != nil {
			*p.to = *p.from
		}
	}
	var kept []Record
	for _, r := range s.Log {
		if r.Index > b.Drop && (len(b.Log) == 0 || r.Index < b.Log[0].Index) {
			kept = append(kept, r)
		}
	}
	s.Log = append(kept, b.Log...)
	return nil
}

// ids returns a source of ids.
func ids(first string) func() string {
	n := 0
	return func() string { n++; return fmt.Sprintf("%s%036x", first, n) }
}

// single starts a node and installs whatever it wants installed.
func single(t *testing.T, d Storage) *machine {
	t.Helper()
	s := &machine{t: t, now: 1 << 40}
	cfg := Config{Timeout: time.Second, Storage: d, NewID: ids("abcd"), SnapshotEvery: 8}
	cfg.About.Port = 7000
	n, err := New(s.now, cfg)
	require.NoError(t, err)
	s.Node = n
	s.carry()
	return s
}

type machine struct {
	*Node
	t   *testing.T
	now Time
	out []Message
}

// carry carries the output out.
func (s *machine) carry() {
	for {
		o := s.Output()
		if o.State == nil && len(o.Answers)+len(o.Messages) == 0 {
			return
		}
		s.out = append(s.out, o.Messages...)
		if o.State != nil {
			require.NoError(s.t, o.State.Check())
			sh := o.State.ShardOf(s.ID())
			s.SetLocal(Local{Role: topology.Master, Shard: sh.ID, Term: sh.Term, Whole: true})
			s.Installed(s.now, o.State)
		}
		for _, a := range o.Answers {
			a.Done(a.Refusal)
		}
	}
}

// run lets time pass.
func (s *machine) run(d time.Duration) {
	for end := s.now + int64(d); s.now < end; {
		s.now += int64(5 * time.Millisecond)
		s.Tick(s.now)
		s.carry()
	}
}

// propose returns the outcome of a proposal.
func (s *machine) propose(a topology.Action) string {
	s.t.Helper()
	result := "no answer"
	s.Propose(s.now, topology.Op{Do: a}, func(r string) { result = r })
	for i := 0; i < 600 && result == "no answer"; i++ {
		s.carry()
		s.run(5 * time.Millisecond)
	}
	return result
}

// TestAlone wants of a node alone that it serves its slots, keeps what it has agreed with itself
// over a restart, and compacts its log.
func TestAlone(t *testing.T) {
	d := &memDisk{}
	s := single(t, d)
	require.Equal(t, "leader", s.Status().Role)
	s.run(200 * time.Millisecond)
	require.Greater(t, s.Lease(), s.now)
	add := topology.AddSlots{Node: s.ID(), Slots: slot.SetOf(slot.Range{First: 0, Last: 99})}
	require.Empty(t, s.propose(add))
	require.Equal(t, "ERR Slot 0 is already busy", s.propose(add))
	for range 20 {
		require.Empty(t, s.propose(topology.Bump{Node: s.ID()}))
	}
	require.Less(t, len(d.saved.Log), 12)

	again := single(t, d)
	require.Equal(t, s.ID(), again.ID())
	again.run(900 * time.Millisecond)
	sh := again.State().ShardOf(again.ID())
	require.Equal(t, 100, sh.Slots.Len())
	require.Equal(t, again.ID(), sh.Master)
	require.Equal(t, uint64(2), sh.Boot)
	require.Greater(t, again.Lease(), again.now)
}

// TestLeaseEnds wants a lease to end when no time passes for the node.
func TestLeaseEnds(t *testing.T) {
	s := single(t, &memDisk{})
	s.run(200 * time.Millisecond)
	require.Less(t, s.Lease(), s.now+int64(time.Second)/2)
}

// TestDisk wants a node that cannot save to stop, with a reason, and without an answer that lies.
func TestDisk(t *testing.T) {
	d := &memDisk{}
	s := single(t, d)
	s.run(200 * time.Millisecond)
	d.err = errors.New("no space left on device")
	refusal := s.propose(topology.AddSlots{Node: s.ID(), Slots: slot.SetOf(slot.Range{})})
	require.Contains(t, refusal, "CLUSTERDOWN")
	require.Contains(t, refusal, "no space left on device")
	require.ErrorIs(t, s.Down(), d.err)
	require.Zero(t, s.Lease())
	require.Equal(t, "down", s.Status().Role)
	require.Contains(t, s.propose(topology.Bump{Node: s.ID()}), "CLUSTERDOWN")
	_, err := New(s.now, Config{Storage: d})
	require.ErrorIs(t, err, d.err)
}

// TestCorrupt wants a node with a log that cannot be right not to start.
func TestCorrupt(t *testing.T) {
	d := &memDisk{}
	s := single(t, d)
	for range 5 {
		require.Empty(t, s.propose(topology.Bump{Node: s.ID()}))
	}
	require.Greater(t, len(d.saved.Log), 3)
	for name, damage := range map[string]func(*Saved){
		"meta":     func(s *Saved) { s.Meta = []byte("{}") },
		"hard":     func(s *Saved) { s.Hard = []byte{0xff} },
		"snapshot": func(s *Saved) { s.Snapshot = s.Snapshot[:len(s.Snapshot)/2] },
		"none":     func(s *Saved) { s.Snapshot = nil },
		"gap":      func(s *Saved) { s.Log = append(s.Log[:1:1], s.Log[2:]...) },
		"tail":     func(s *Saved) { s.Log = s.Log[:1] },
		"entry": func(s *Saved) {
			s.Log = append(s.Log[:1:1], Record{s.Log[1].Index, []byte{1}})
		},
	} {
		saved := d.saved
		damage(&saved)
		_, err := New(s.now, Config{Storage: &memDisk{saved: saved}})
		require.ErrorIs(t, err, ErrCorrupt, name)
	}
}

// FuzzReceive wants no bytes to make a node panic.
func FuzzReceive(f *testing.F) {
	for _, s := range samples() {
		f.Add(s.encode(), true)
	}
	for _, m := range []*raftpb.Message{
		{Type: raftpb.MsgHeartbeat.Enum(), Commit: new(uint64(99))},
		{Type: raftpb.MsgApp.Enum(), Entries: []*raftpb.Entry{{Index: new(uint64(1))}}},
		{Type: raftpb.MsgSnap.Enum()},
	} {
		m.Term, m.From, m.To = new(uint64(9)), new(uint64(2)), new(uint64(1))
		f.Add(frame{kindRaft, "", &raftBody{2, 1, marshal(m)}}.encode(), true)
	}
	f.Fuzz(func(t *testing.T, b []byte, own bool) {
		s := single(t, &memDisk{})
		if fr, err := decode(b); err == nil && own {
			fr.cluster = s.meta.Cluster // what a member could send
			b = fr.encode()
		}
		_ = s.Receive(s.now, "stranger", b)
		s.run(50 * time.Millisecond)
	})
}

// TestRefusedAbout wants a node whose own words are refused not to fill the log with them.
func TestRefusedAbout(t *testing.T) {
	d := &memDisk{}
	s := single(t, d)
	s.run(200 * time.Millisecond)
	s.SetAbout(s.now, topology.About{Name: "no good"})
	before := s.State().Index
	s.run(3 * time.Second)
	require.LessOrEqual(t, s.State().Index, before+4)
	require.Greater(t, s.Lease(), s.now)
	s.SetAbout(s.now, topology.About{Name: "good"})
	s.run(2 * time.Second)
	require.Equal(t, "good", s.State().Nodes[s.ID()].About.Name)
}

// TestMoved wants CLUSTER MEET to believe a member with another address only if it may have been
// started there: nobody answers at the old one, and it is not older than it is known to be.
func TestMoved(t *testing.T) {
	at := topology.Address{IP: "127.0.0.1", BusPort: 17000}
	other := topology.Address{IP: "127.0.0.1", BusPort: 17001}
	linked := false
	n := &Node{cfg: Config{Linked: func(topology.NodeID) (topology.Address, bool) {
		return at, linked
	}}}
	known := &topology.Node{ID: "a", Boot: 3, About: topology.About{Address: at}}
	says := func(boot uint64, a topology.Address) *about {
		return &about{node: "a", boot: boot, about: topology.About{Address: a}}
	}
	require.False(t, n.moved(at, known, says(4, at)), "it is where it was")
	require.True(t, n.moved(other, known, says(4, other)))
	require.True(t, n.moved(other, known, says(4, at)), "it has yet to learn its address")
	require.True(t, n.moved(other, known, says(3, other)))
	require.False(t, n.moved(other, known, says(2, other)), "a copy of old files")
	linked = true
	require.False(t, n.moved(other, known, says(4, other)), "a copy")
}

// TestDirected wants a node to go where another member says that the leader is, unless that member
// knows less than the node itself.
func TestDirected(t *testing.T) {
	at := topology.Address{IP: "127.0.0.1", Port: 7000, BusPort: 17000}
	told := func(index uint64, port int, linked bool) []Moved {
		n := &Node{cfg: Config{Linked: func(topology.NodeID) (topology.Address, bool) {
			return at, linked
		}}}
		n.state = &topology.State{Index: 7, Nodes: map[topology.NodeID]*topology.Node{
			"a": {ID: "a", About: topology.About{Address: at}}}}
		n.directed(&leadsBody{index, "a", at.IP, uint64(port)})
		return n.out.Moved
	}
	other := at
	other.BusPort = 17001
	require.Equal(t, []Moved{{Node: "a", At: other, Told: true}}, told(8, 17001, false))
	require.Empty(t, told(8, 17000, false), "that is known")
	require.Empty(t, told(6, 17001, false), "it was there once")
	require.Empty(t, told(8, 17001, true), "the link will tell")
}
