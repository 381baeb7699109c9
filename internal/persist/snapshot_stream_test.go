package persist

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/keyspace"
	"godwit/internal/object"
	streams "godwit/internal/stream"
	"godwit/internal/testseed"
)

// streamRows calls add for everything that a part of a stream says. Without whole it leaves out
// what files of version 9 cannot tell.
func streamRows(p *streams.Part, whole bool, add func(format string, args ...any)) {
	switch p.Kind {
	case streams.PartEntries:
		p.EachEntry(func(it *streams.Iter) {
			text := it.ID.String()
			for range it.Fields() {
				name, value := it.Field()
				text += fmt.Sprintf(",%s=%s", name.Append(nil), value.Append(nil))
			}
			add("%s", text)
		})
	case streams.PartMeta:
		m := p.Meta()
		add("%d last %v groups %d", m.Len, m.LastID, m.Groups)
		if whole {
			add("deleted %v added %d nacked %d", m.MaxDeleted, m.Added, m.Nacked)
		}
		if whole && m.IDMP != nil {
			slices.SortFunc(m.Producers, func(a, b streams.Producer) int {
				return strings.Compare(a.PID, b.PID)
			})
			add("%v %v", *m.IDMP, m.Producers)
		}
	case streams.PartGroup:
		add("group %s %v %d", p.Group.Name, p.Group.LastID, p.Group.Pending)
		if whole {
			add("%d", p.Group.Read)
		}
	case streams.PartPending:
		p.EachPending(func(id streams.ID, owner *streams.ConsumerInfo, time, count int64) {
			name := ""
			if owner != nil {
				name = owner.Name
			}
			add("%v/%s/%d/%d", id, name, time, count)
		})
	case streams.PartConsumer:
		add("consumer %s %d %d", p.Consumer.Name, p.Consumer.Pending, p.Consumer.Seen)
		if whole {
			add("%d", p.Consumer.Active)
		}
	case streams.PartOwned, streams.PartNacked:
		p.EachID(func(id streams.ID) { add("%v", id) })
	case streams.PartEnd:
		add("end")
	}
}

// streamLimits makes small blocks.
var streamLimits = streams.Limits{NodeBytes: 200, NodeEntries: 8}

// stream changes a stream, or makes one. A stream may become empty and stays.
func (c *chaos) stream(db *keyspace.DB) {
	key := c.key()
	e := db.Lookup(key)
	if !e.Exists() {
		e = db.CreateStream(key).E
	}
	if e.Type() != object.Stream {
		return
	}
	s := db.Open(e).ChangingStream()
	for range 1 + c.rng.IntN(8) {
		c.changeStream(s)
	}
}

// someID returns the ID of an entry, or one beside it.
func (c *chaos) someID(s *streams.Stream) streams.ID {
	from := streams.ID{Ms: s.First().Ms + c.rng.Uint64N(max(s.LastID.Ms-s.First().Ms, 1))}
	if it := s.Range(from, streams.MaxID, false); it.Next() && c.rng.IntN(8) > 0 {
		return it.ID
	}
	return streams.ID{Ms: from.Ms, Seq: 1}
}

func (c *chaos) changeStream(s *streams.Stream) {
	switch n := c.rng.IntN(60); {
	case n < 24:
		if s.LastID.Ms > 1<<40 {
			return
		}
		id := streams.ID{Ms: s.LastID.Ms + 1 + c.rng.Uint64N(3), Seq: c.rng.Uint64N(2)}
		fields := [][]byte{[]byte("f"), c.elem()}
		if c.rng.IntN(4) == 0 {
			fields = append(fields, c.elem(), c.val())
		}
		s.Append(id, fields, streamLimits)
		if c.rng.IntN(10) == 0 && !c.old {
			s.UseIDMP(100, 3)
			s.Note(c.elem(), c.elem(), id, 0)
		}
	case n < 28:
		s.Delete(c.someID(s))
	case n == 28:
		s.Trim(streams.Trim{MaxLen: max(s.Len()-c.rng.IntN(20), 0), Approx: c.rng.IntN(2) == 0})
	case n == 29:
		s.Trim(streams.Trim{MaxLen: -1, MinID: streams.ID{Ms: s.First().Ms + c.rng.Uint64N(20)}})
	case n == 30:
		s.ClearIDMP()
		s.LastID.Ms += c.rng.Uint64N(3)
		s.Added += c.rng.Uint64N(3)
	default:
		c.changeGroup(s)
	}
}

// changeGroup changes a group of the stream, or makes or destroys one.
func (c *chaos) changeGroup(s *streams.Stream) {
	name := fmt.Appendf(nil, "g%d", c.rng.IntN(3))
	g := s.Group(name)
	if g == nil {
		g = s.CreateGroup(name, streams.ID{}, c.rng.Int64N(int64(s.Added)+2)-1)
	}
	who := fmt.Appendf(nil, "c%d", c.rng.IntN(4))
	owner := g.Consumer(who)
	if owner == nil {
		owner = g.CreateConsumer(who, c.rng.Int64N(1000))
	}
	switch n := c.rng.IntN(60); {
	case n == 0:
		s.DestroyGroup(g)
		for !g.Drain(50) {
		}
	case n == 1:
		g.DeleteConsumer(owner)
		for !owner.Drain(50) {
		}
	case n < 30: // delivers
		it := s.Range(g.LastID, streams.MaxID, false)
		for range c.rng.IntN(10) {
			if !it.Next() {
				break
			}
			g.Set(streams.Pending{ID: it.ID, Owner: owner, Time: c.rng.Int64N(1000), Count: 1})
			g.LastID = it.ID
		}
		owner.Active = c.rng.Int64N(1000)
	case n < 40:
		g.Ack(c.someID(s))
	case n < 50: // claims
		it := g.Range(c.someID(s), streams.MaxID)
		for range c.rng.IntN(10) {
			if !it.Next() {
				break
			}
			g.Set(streams.Pending{ID: it.ID, Owner: owner, Time: c.rng.Int64N(1000),
				Count: it.Count + 1})
		}
	case n < 58 && !c.old:
		g.Nack(c.someID(s), c.rng.Int64N(4))
	default:
		g.LastID, g.Read = c.someID(s), streams.ReadUnknown
	}
}

// TestStreamChanges checks that the chaos really makes streams of many blocks with groups.
func TestStreamChanges(t *testing.T) {
	c := newChaos(t, 5, 40)
	db := c.ks.DB(0)
	blocks, pending, nacked, producers := 0, 0, 0, 0
	for range 2000 {
		c.stream(db)
		if e := db.Lookup(c.key()); e.Exists() {
			s := db.Open(e).Stream()
			require.NoError(t, s.Check())
			m := s.Meta()
			blocks, nacked = max(blocks, m.Nodes), max(nacked, m.Nacked)
			producers = max(producers, len(m.Producers))
			for _, g := range s.Groups() {
				pending = max(pending, g.Pending())
			}
		}
	}
	require.Greater(t, blocks, 20)
	require.Greater(t, pending, 20)
	require.Greater(t, nacked, 5)
	require.Greater(t, producers, 1)
	c.empty()
}

// TestStreamGrowth checks that a snapshot holds only a small part of a large stream while entries
// are deleted and acknowledged all over it.
func TestStreamGrowth(t *testing.T) {
	rng := testseed.Rand(t)
	const n = 50000
	ks := newKeyspace(rng, redisLimits())
	db := ks.DB(0)
	s := db.CreateStream([]byte("s")).ChangingStream()
	lim := streams.Limits{NodeBytes: 4096, NodeEntries: 100}
	g := s.CreateGroup([]byte("g"), streams.ID{Ms: n}, n)
	c := g.CreateConsumer([]byte("c"), 1)
	for i := range uint64(n) {
		id := streams.ID{Ms: i + 1}
		s.Append(id, [][]byte{[]byte("f"), fmt.Appendf(nil, "value:%d", i)}, lim)
		g.Set(streams.Pending{ID: id, Owner: c, Time: 1, Count: 1})
	}
	want := contents(ks)
	dest := &memDest{}
	w := Start(ks, &plainFormat{ks}, NewQueue(dest, nil), Options{})
	size, most := ks.A.Used(), int64(0)
	for range 2000 {
		s := db.Open(db.Lookup([]byte("s"))).ChangingStream()
		s.Delete(streams.ID{Ms: 1 + rng.Uint64N(n)})
		s.Groups()[0].Ack(streams.ID{Ms: 1 + rng.Uint64N(n)})
		most = max(most, w.Progress().Buffered)
	}
	t.Logf("held %d of %d bytes", most, size)
	require.Less(t, most, size/8)
	require.NoError(t, w.Run())
	got, err := decodePlain(dest.b.Bytes())
	require.NoError(t, err)
	require.Equal(t, want, got)
}
