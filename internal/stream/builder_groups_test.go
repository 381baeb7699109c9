package stream

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/arena"
)

// TestBuilderGroups builds groups of rows that come in no order, and of broken ones. A word is a
// call: gg begins the group g, ca adds the consumer a, p1 a pending entry, o1 says that it is owned
// and n1 that it is NACKed.
func TestBuilderGroups(t *testing.T) {
	for calls, want := range map[string]error{
		"":                              nil,
		"gg p3 p1 p2 cb o3 o1 ca n2 gf": nil,
		"gg gg":                         ErrDuplicate,
		"gg ca cb ca":                   ErrDuplicate,
		"gg p1 p2 p1":                   ErrDuplicate,
		"gg p1 ca o1 o1":                ErrDuplicate,
		"gg p1 n1 n1":                   ErrDuplicate,
		"gg p1 ca o1 cb o1":             ErrOwners,
		"gg p1 ca":                      ErrOwners,
		"gg p1 ca o1 n1":                ErrOwners,
		"gg p1 gh ca":                   ErrOwners,
		"gg p1 ca o1 o2":                ErrUnknown,
		"gg n1":                         ErrUnknown,
		"p1":                            ErrUnknown,
		"ca":                            ErrUnknown,
		"n1":                            ErrUnknown,
		"gg p1 o1":                      ErrUnknown,
	} {
		b := NewBuilder(Limits{})
		for _, call := range strings.Fields(calls) {
			name := []byte(call[1:])
			id := ID{uint64(name[0] - '0'), 7}
			switch call[0] {
			case 'g':
				b.Group(name, ID{9, 7}, 4)
			case 'c':
				b.Consumer(name, 1, 2)
			case 'p':
				b.Pending(id, 50, 1)
			case 'o':
				b.Owned(id)
			case 'n':
				b.Nacked(id)
			}
		}
		if require.ErrorIs(t, b.Finish(), want, calls); want == nil {
			checkBuilt(t, b)
		}
	}
}

func checkBuilt(t *testing.T, b *Builder) {
	sh := &Shared{A: arena.New()}
	s := b.Build(sh)
	require.NoError(t, s.Check())
	if g := s.Group([]byte("g")); g != nil {
		all := []ID{{1, 7}, {2, 7}, {3, 7}}
		require.Equal(t, all, pendingIDs(g.Range(ID{}, MaxID)))
		owned := g.Owned(g.Consumer([]byte("b")), ID{}, MaxID)
		require.Equal(t, []ID{all[0], all[2]}, pendingIDs(owned))
		oldest, _ := g.Oldest()
		require.Equal(t, Pending{ID: all[1], Count: 1}, oldest)
		g.Nack(all[0], 5)
		require.NoError(t, s.Check())
	}
	for !s.Drain(1) {
	}
	require.Zero(t, sh.A.Used())
	require.Zero(t, sh.GoBytes)
}

func pendingIDs(it PendingIter) (ids []ID) {
	for it.Next() {
		ids = append(ids, it.ID)
	}
	return ids
}

// TestBuilderProducers builds producers that come in no order, and broken ones.
func TestBuilderProducers(t *testing.T) {
	records := []Record{{"x", ID{1, 1}}, {"y", ID{2, 1}}, {"z", ID{3, 1}}}
	build := func(p ...Producer) (*Stream, error) {
		b := NewBuilder(Limits{})
		b.Meta(&Meta{IDMP: &IDMP{Duration: 5, MaxSize: 2, Added: 8, Duplicate: 3}, Producers: p})
		if err := b.Finish(); err != nil {
			return nil, err
		}
		return b.Build(&Shared{A: arena.New()}), nil
	}
	_, err := build(Producer{"a", records}, Producer{"a", records})
	require.ErrorIs(t, err, ErrDuplicate)
	_, err = build(Producer{"a", append(slices.Clone(records), records[0])})
	require.ErrorIs(t, err, ErrDuplicate)

	s, err := build(Producer{"b", records}, Producer{"c", nil}, Producer{"a", records[:1]})
	require.NoError(t, err)
	require.NoError(t, s.Check())
	require.Equal(t, IDMP{5, 2, 8, 3}, *s.IDMP())
	_, n := s.Tracked()
	require.Equal(t, []Producer{{"a", records[:1]}, {"b", records[1:]}}, s.Producers(),
		"the newest two")
	require.Equal(t, 3, n)
	for !s.Drain(1) {
	}
	require.Zero(t, s.sh.GoBytes)
}
