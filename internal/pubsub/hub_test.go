package pubsub

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/scan"
	"godwit/internal/testseed"
)

// model is a hub in the simplest form: who has subscribed to what.
type model map[SubscriptionKind]map[string]map[int]bool

func (m model) add(k SubscriptionKind, name string, id int) bool {
	if m[k][name][id] {
		return false
	}
	if m[k][name] == nil {
		m[k][name] = map[int]bool{}
	}
	m[k][name][id] = true
	return true
}

func (m model) del(k SubscriptionKind, name string, id int) bool {
	if !m[k][name][id] {
		return false
	}
	if delete(m[k][name], id); len(m[k][name]) == 0 {
		delete(m[k], name)
	}
	return true
}

func (m model) of(k SubscriptionKind, id int) (names []string) {
	for name, ids := range m[k] {
		if ids[id] {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// check walks the whole hub: every position points back.
func (h *Hub[O]) check(t *testing.T, subs []*Sub[O]) {
	t.Helper()
	members, active, topics := 0, 0, int64(0)
	for k := range kinds {
		for name, topic := range h.topics[k] {
			topics += topic.bytes(k)
			require.Equal(t, name, topic.Name)
			require.NotEmpty(t, topic.members)
			for i, m := range topic.members {
				require.Same(t, topic, m.sub.lists[k][m.slot].topic)
				require.Equal(t, i, m.sub.lists[k][m.slot].at)
				members++
			}
		}
	}
	for _, s := range subs {
		bytes := 0
		for k := range kinds {
			for i, p := range s.lists[k] {
				require.Same(t, s, p.topic.members[p.at].sub)
				require.Equal(t, i, s.find(k, p.topic))
				bytes += placeBytes + len(p.topic.Name)
				members--
			}
			if s.index[k] != nil {
				require.Len(t, s.index[k], len(s.lists[k]))
			}
		}
		require.Equal(t, bytes, s.Bytes())
		if s.Total() > 0 {
			active++
		}
	}
	require.Zero(t, members)
	require.Equal(t, topics, h.Bytes())
	require.Equal(t, active, h.Subscribers())
	patterns := 0
	for begin, list := range h.patterns.values {
		require.NotEmpty(t, *list)
		for _, p := range *list {
			require.Equal(t, begin, literal(p.Name))
			patterns++
		}
	}
	require.Equal(t, h.Count(Patterns), patterns)
}

func TestHubAgainstModel(t *testing.T) {
	rng := testseed.Rand(t)
	var h Hub[int]
	m := model{Channels: {}, Patterns: {}, Shards: {}}
	subs := make([]*Sub[int], 20)
	for i := range subs {
		subs[i] = &Sub[int]{Owner: i}
	}
	long := strings.Repeat("x", 70)
	parts := []string{"a", "b", "*", "?", "[ab]", `\*`, "news.", long, ""}
	name := func() string {
		return parts[rng.IntN(len(parts))] + parts[rng.IntN(len(parts))] +
			parts[rng.IntN(len(parts))]
	}
	for i := range 20000 {
		s, k, n := subs[rng.IntN(len(subs))], SubscriptionKind(rng.IntN(int(kinds))), name()
		switch r := rng.IntN(100); {
		case r < 55:
			require.Equal(t, m.add(k, n, s.Owner), h.Subscribe(s, k, []byte(n)))
		case r < 99:
			require.Equal(t, m.del(k, n, s.Owner), h.Unsubscribe(s, k, []byte(n)))
		default:
			for k := range kinds {
				for _, n := range m.of(k, s.Owner) {
					m.del(k, n, s.Owner)
				}
			}
			h.Leave(s)
			require.Zero(t, s.Total())
		}
		if i%500 == 0 {
			h.check(t, subs)
			for _, s := range subs {
				for k := range kinds {
					names := s.Names(k)
					slices.Sort(names)
					require.ElementsMatch(t, m.of(k, s.Owner), names)
				}
			}
		}
		matchesModel(t, &h, m, k, n)
	}
	for _, s := range subs {
		h.Leave(s)
	}
	h.check(t, subs)
	require.Zero(t, h.Count(Channels)+h.Count(Patterns)+h.Count(Shards))
	require.Zero(t, h.patterns.lengths)
}

// matchesModel compares the receivers of one message with the model.
func matchesModel(t *testing.T, h *Hub[int], m model, k SubscriptionKind, name string) {
	t.Helper()
	var got []int
	if topic := h.Topic(k, []byte(name)); topic != nil {
		topic.Each(func(id int) { got = append(got, id) })
	}
	require.ElementsMatch(t, slices.Collect(maps.Keys(m[k][name])), got)
	var want, found []string
	for p := range m[Patterns] {
		if scan.Match([]byte(p), []byte(name), false) {
			want = append(want, p)
		}
	}
	h.Match([]byte(name), func(topic *Topic[int]) { found = append(found, topic.Name) })
	require.ElementsMatch(t, want, found)
}

func TestPatternsOutsideTheChannelAreNotLookedAt(t *testing.T) {
	var h Hub[int]
	s := &Sub[int]{Owner: 1}
	for i := range 10000 {
		h.Subscribe(s, Patterns, fmt.Appendf(nil, "user:%d:*", i))
	}
	looked := 0
	h.patterns.prefixesOf([]byte("user:77:login"), func(list *[]*Topic[int]) {
		looked += len(*list)
	})
	require.LessOrEqual(t, looked, 2)
}

func TestTable(t *testing.T) {
	var tab Table
	require.Nil(t, tab.Any())
	for id := range uint64(30) {
		tab.Remember([]byte("k"), id)
		tab.Remember([]byte("k"), id)
		require.Equal(t, int(id)+1, tab.Items())
	}
	tab.Remember([]byte("other"), 3)
	require.Equal(t, 2, tab.Len())
	var ids []uint64
	tab.Take([]byte("k"), func(id uint64) { ids = append(ids, id) })
	slices.Sort(ids)
	require.Len(t, slices.Compact(ids), 30)
	require.Equal(t, 1, tab.Items())
	tab.Take([]byte("k"), func(uint64) { t.Error("told twice") })
	require.Equal(t, "other", string(tab.Any()))
	tab.Take([]byte("other"), func(uint64) {})
	require.Zero(t, tab.Len()+tab.Items())
	require.Zero(t, tab.Bytes())
}

func TestBroadcast(t *testing.T) {
	var b Broadcast[string]
	long := strings.Repeat("p", 100)
	b.Add("ann", "")
	b.Add("bob", "user:")
	b.Add("cid", "user:")
	b.Add("cid", long)
	b.Changed([]byte("user:2"), "ann")
	b.Changed([]byte("user:1"), "bob")
	b.Changed([]byte("user:2"), "bob")
	b.Changed([]byte(long[1:]), "ann")
	require.True(t, b.Pending())
	got := map[string]string{}
	flush := func() {
		b.Flush(func(clients []string, keys []string, by func(string) string) {
			for _, c := range clients {
				for _, k := range keys {
					got[c] += k[:min(len(k), 8)] + "<" + by(k) + " "
				}
			}
		})
	}
	flush()
	require.Equal(t,
		map[string]string{"ann": "pppppppp<ann user:1<bob user:2<bob ",
			"bob": "user:1<bob user:2<bob ", "cid": "user:1<bob user:2<bob "}, got)
	require.False(t, b.Pending())
	clear(got)
	b.Remove("bob", "user:")
	b.Remove("ann", "")
	b.Changed([]byte("user:2"), "ann")
	b.Remove("cid", "user:")
	b.Changed([]byte(long), "ann")
	flush()
	require.Equal(t, map[string]string{"cid": "pppppppp<ann "}, got)
	b.Remove("cid", long)
	require.Zero(t, b.Len())
	require.Zero(t, b.index.lengths)
}
