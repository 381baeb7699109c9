package rdb

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/keyspace"
	"godwit/internal/object"
	"godwit/internal/stream"
)

// fillStream makes a random stream with groups under the key, which must be absent. newer says to
// use what only Redis 8.6 and 8.8 know.
func fillStream(db *keyspace.DB, key []byte, rng *rand.Rand, newer bool) {
	s := db.CreateStream(key).ChangingStream()
	lim := stream.Limits{NodeBytes: 50 + rng.IntN(1000), NodeEntries: 1 + rng.IntN(120)}
	id := stream.ID{Ms: rng.Uint64N(1 << 41), Seq: rng.Uint64N(3)}
	names := [][]byte{randomText(rng, 10), randomText(rng, 30), []byte("f"), []byte("7")}
	var ids []stream.ID
	for range rng.IntN(1 << rng.IntN(10)) {
		if rng.IntN(2) == 0 {
			id = stream.ID{Ms: id.Ms + rng.Uint64N(1<<rng.IntN(34)), Seq: id.Seq}
		}
		id, _ = stream.ID{Ms: id.Ms, Seq: id.Seq + rng.Uint64N(3)}.Next()
		var fields [][]byte
		for i := range 1 + rng.IntN(3) {
			fields = append(fields, names[(i+rng.IntN(8)/7)%4], randomText(rng, 40))
		}
		s.Append(id, fields, lim)
		ids = append(ids, id)
	}
	for _, id := range ids {
		if rng.IntN(6) == 0 {
			s.Delete(id)
		}
	}
	if rng.IntN(4) == 0 {
		s.Trim(stream.Trim{MaxLen: rng.IntN(len(ids) + 1)})
	}
	if rng.IntN(4) == 0 {
		s.LastID.Ms += 5
		s.Added += 3
	}
	for i := range rng.IntN(4) {
		fillGroup(s, fmt.Appendf(nil, "group:%d", i), rng, ids, newer)
	}
	if newer && rng.IntN(2) == 0 {
		s.UseIDMP(1+rng.Int64N(86400), 1+rng.IntN(5)).Duplicate = rng.Int64N(5)
		for range min(rng.IntN(20), len(ids)) {
			s.Note(fmt.Appendf(nil, "p%d", rng.IntN(4)), fmt.Append(nil, rng.IntN(1000)),
				ids[rng.IntN(len(ids))], 0)
		}
	}
}

// fillGroup adds a random group to a stream that has had the IDs.
func fillGroup(s *stream.Stream, name []byte, rng *rand.Rand, ids []stream.ID, newer bool) {
	last := stream.ID{}
	if len(ids) > 0 && rng.IntN(3) > 0 {
		last = ids[rng.IntN(len(ids))]
	}
	g := s.CreateGroup(name, last, rng.Int64N(int64(s.Added)+2)-1)
	var owners []*stream.Consumer
	for i := range rng.IntN(4) {
		c := g.CreateConsumer(fmt.Appendf(nil, "c%d", i), testNow+rng.Int64N(1000))
		if rng.IntN(2) == 0 {
			c.Active = c.Seen - rng.Int64N(10)
		}
		owners = append(owners, c)
	}
	for _, id := range ids {
		if len(owners) > 0 && rng.IntN(3) > 0 {
			g.Set(stream.Pending{ID: id, Owner: owners[rng.IntN(len(owners))],
				Time: testNow - rng.Int64N(1000), Count: rng.Int64N(1 << rng.IntN(40))})
		}
	}
	if newer && len(ids) > 0 {
		for range rng.IntN(1 << rng.IntN(9)) {
			g.Nack(ids[rng.IntN(len(ids))], rng.Int64N(3))
		}
	}
}

// streamText returns all that a stream holds, in the form of redisServer.streamText.
func streamText(s *stream.Stream) string {
	var b strings.Builder
	fmt.Fprintf(&b, "last %v deleted %v added %d\n", s.LastID, s.MaxDeleted, s.Added)
	for it := s.Range(stream.ID{}, stream.MaxID, false); it.Next(); {
		fmt.Fprint(&b, it.ID)
		for range it.Fields() {
			name, value := it.Field()
			fmt.Fprintf(&b, " %q %q", name.Append(nil), value.Append(nil))
		}
		b.WriteByte('\n')
	}
	for _, g := range s.Groups() {
		fmt.Fprintf(&b, "group %q last %v read %d\n", g.Name, g.LastID, g.Read)
		for it := g.Range(stream.ID{}, stream.MaxID); it.Next(); {
			owner := ""
			if it.Owner != nil {
				owner = it.Owner.Name
			}
			fmt.Fprintf(&b, "%v %q at %d times %d\n", it.ID, owner, it.Time, it.Count)
		}
		for _, c := range g.Consumers() {
			fmt.Fprintf(&b, "consumer %q seen %d active %d\n", c.Name, c.Seen, c.Active)
			for it := g.Owned(c, stream.ID{}, stream.MaxID); it.Next(); {
				fmt.Fprintf(&b, "%v\n", it.ID)
			}
		}
		if g.Nacked() > 0 {
			b.WriteString(nackedText(s, g))
		}
	}
	if m := s.IDMP(); m != nil {
		p := s.Producers()
		slices.SortFunc(p, func(a, b stream.Producer) int { return strings.Compare(a.PID, b.PID) })
		fmt.Fprintf(&b, "%+v %v\n", *m, p)
	}
	return b.String()
}

// nackedText returns what is NACKed, in its order.
func nackedText(s *stream.Stream, g *stream.Group) string {
	text := "nacked"
	s.EachPart(func(p *stream.Part) bool {
		if p.Kind == stream.PartNacked && p.Group.Name == g.Name {
			p.EachID(func(id stream.ID) { text += " " + id.String() })
		}
		return true
	})
	return text + "\n"
}

// streamAt returns the stream under a key, checked.
func streamAt(t testing.TB, db *keyspace.DB, key string) *stream.Stream {
	x := new(object.Edit)
	x.Reset(db.Heap(), db.Peek([]byte(key)), nil)
	require.NoError(t, x.Stream().Check())
	return x.Stream()
}
