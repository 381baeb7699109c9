package stream

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/arena"
	"godwit/internal/testseed"
)

// groupModel is a group in Go's maps.
type groupModel struct {
	pending   map[ID]modelPending
	consumers map[string]bool
	places    int
}

// modelPending is a pending entry of the model. The owner is "" if it is NACKed.
type modelPending struct {
	owner       string
	time, count int64
	place       int
}

// groupLife is a stream with the groups that its model has.
type groupLife struct {
	t      *testing.T
	rng    *rand.Rand
	s      *Stream
	model  map[string]*groupModel
	spread uint64 // of IDs
	last   uint64
	gone   []dropped

	frozen *frozenGroups
	want   []string // of frozen
	got    []string
}

func newGroupLife(t *testing.T, rng *rand.Rand) *groupLife {
	return &groupLife{t: t, rng: rng, s: New(&Shared{A: arena.New()}),
		model: map[string]*groupModel{}, spread: 1 + rng.Uint64N(3000)}
}

// TestGroups holds groups, and walks over them as they were frozen, against maps.
func TestGroups(t *testing.T) {
	rng := testseed.Rand(t)
	for range 3 {
		l := newGroupLife(t, rng)
		for step := range 5000 {
			l.step()
			if step%1000 == 0 {
				l.check(l.s)
			}
		}
		l.check(l.s)
		l.clone()
		l.rebuild()
		l.end()
	}
}

func (l *groupLife) name() []byte { return fmt.Appendf(nil, "%d", l.rng.IntN(6)) }

func (l *groupLife) step() {
	if n := len(l.gone); n > 0 {
		l.free(l.gone[n-1], 1+l.rng.IntN(20))
	}
	name := string(l.name())
	g, m := l.s.Group([]byte(name)), l.model[name]
	require.Equal(l.t, m != nil, g != nil)
	if g == nil {
		l.s.CreateGroup([]byte(name), ID{1, 2}, 3)
		l.model[name] = &groupModel{map[ID]modelPending{}, map[string]bool{}, 0}
		return
	}
	if l.rng.IntN(2000) == 0 {
		l.s.DestroyGroup(g)
		l.gone = append(l.gone, g)
		delete(l.model, name)
		return
	}
	name = string(l.name())
	c := g.Consumer([]byte(name))
	require.Equal(l.t, m.consumers[name], c != nil)
	switch {
	case c == nil:
		g.CreateConsumer([]byte(name), 5)
		m.consumers[name] = true
		return
	case l.rng.IntN(1000) == 0:
		g.DeleteConsumer(c)
		l.gone = append(l.gone, c)
		delete(m.consumers, name)
		maps.DeleteFunc(m.pending, func(_ ID, p modelPending) bool { return p.owner == name })
		return
	}
	for range 1 + l.rng.IntN(20) {
		l.change(g, m, c)
	}
	l.freeze()
}

// id returns an ID, which is a new last one or lies among those that there were.
func (l *groupLife) id() ID {
	if l.rng.IntN(3) == 0 {
		l.last += l.rng.Uint64N(3)
	}
	if l.rng.IntN(500) == 0 {
		return []ID{{}, MaxID, {0, math.MaxUint64}, {math.MaxUint64, 0}}[l.rng.IntN(4)]
	}
	back := min(l.last, l.rng.Uint64N(l.spread))
	return ID{l.last - back, l.rng.Uint64N(3)}
}

func (l *groupLife) time() int64 {
	if l.rng.IntN(300) == 0 {
		return []int64{0, math.MinInt64, math.MaxInt64, -1}[l.rng.IntN(4)]
	}
	return int64(l.last)*7 + l.rng.Int64N(50)
}

func (l *groupLife) count() int64 {
	if l.rng.IntN(300) == 0 {
		return math.MaxInt64
	}
	return l.rng.Int64N(4)
}

func (l *groupLife) change(g *Group, m *groupModel, c *Consumer) {
	id := l.id()
	was, has := m.pending[id]
	switch op := l.rng.IntN(10); {
	case op < 4:
		p := Pending{ID: id, Owner: c, Time: l.time(), Count: l.count()}
		g.Set(p)
		m.pending[id] = modelPending{c.Name, p.Time, p.Count, 0}
	case op < 7:
		require.Equal(l.t, has, g.Ack(id))
		delete(m.pending, id)
	case op == 7 && l.rng.IntN(3) == 0:
		m.places++
		count := l.count()
		g.Nack(id, count)
		m.pending[id] = modelPending{"", 0, count, m.places}
	case op == 8:
		p, ok := g.Find(id)
		require.Equal(l.t, has, ok)
		if ok {
			require.Equal(l.t, was, modelOf(p, was.place))
		}
	case l.rng.IntN(40) == 0:
		l.checkOldest(g, m)
	case l.rng.IntN(60) == 0:
		l.walk(g, m, c)
	}
}

func modelOf(p Pending, place int) modelPending {
	m := modelPending{"", p.Time, p.Count, place}
	if p.Owner != nil {
		m.owner = p.Owner.Name
	}
	return m
}

// ids returns the model's IDs that a function accepts, sorted.
func (m *groupModel) ids(ok func(id ID, p modelPending) bool) (ids []ID) {
	for id, p := range m.pending {
		if ok(id, p) {
			ids = append(ids, id)
		}
	}
	slices.SortFunc(ids, ID.Compare)
	return ids
}

// walk walks a range, and changes the group meanwhile.
func (l *groupLife) walk(g *Group, m *groupModel, c *Consumer) {
	from, to := l.id(), l.id()
	all := l.rng.IntN(2) == 0
	want := m.ids(func(id ID, p modelPending) bool {
		return !id.Less(from) && !to.Less(id) && (all || p.owner == c.Name)
	})
	it := g.Owned(c, from, to)
	if all {
		it = g.Range(from, to)
	}
	change := l.rng.IntN(3)
	for it.Next() {
		require.NotEmpty(l.t, want)
		require.Equal(l.t, want[0], it.ID)
		require.Equal(l.t, m.pending[it.ID], modelOf(it.Pending, m.pending[it.ID].place))
		want = want[1:]
		switch {
		case change == 0:
			m.pending[it.ID] = modelPending{c.Name, it.Time + 1, it.Count, 0}
			g.Set(Pending{it.ID, c, it.Time + 1, it.Count})
		case change == 1 && l.rng.IntN(3) == 0:
			require.True(l.t, g.Ack(it.ID))
			delete(m.pending, it.ID)
		}
	}
	require.Empty(l.t, want)
}

// check compares a stream's groups with the model.
func (l *groupLife) check(s *Stream) {
	require.NoError(l.t, s.checkGroups())
	var got []string
	var p Part
	require.True(l.t, s.eachGroupPart(&p, func(p *Part) bool {
		got = append(got, textOf(p)...)
		return true
	}))
	require.Equal(l.t, l.text(), got)
	for name, m := range l.model {
		l.checkOldest(s.Group([]byte(name)), m)
	}
}

// checkOldest compares the oldest entry of a group and the bounds with the model.
func (l *groupLife) checkOldest(g *Group, m *groupModel) {
	p, ok := g.Oldest()
	require.Equal(l.t, len(m.pending) > 0, ok)
	if !ok {
		return
	}
	ids := m.ids(func(ID, modelPending) bool { return true })
	first, last := g.Bounds()
	require.Equal(l.t, []ID{ids[0], ids[len(ids)-1]}, []ID{first, last})
	require.Equal(l.t, p.ID, slices.MinFunc(ids, func(a, b ID) int {
		p, q := m.pending[a], m.pending[b]
		if p.owner == "" && q.owner == "" {
			return cmp.Compare(p.place, q.place)
		}
		return cmp.Or(cmp.Compare(min(1, len(p.owner)), min(1, len(q.owner))),
			cmp.Compare(p.time, q.time))
	}))
}

// textOf describes a part, a line each for what it has.
func textOf(p *Part) (lines []string) {
	switch p.Kind {
	case PartGroup:
		g := *p.Group
		g.Consumers = nil
		return []string{fmt.Sprintf("group %+v", g)}
	case PartConsumer:
		return []string{fmt.Sprintf("consumer %+v", *p.Consumer)}
	case PartPending:
		p.EachPending(func(id ID, owner *ConsumerInfo, time, count int64) {
			name := ""
			if owner != nil {
				name = owner.Name
			}
			lines = append(lines, fmt.Sprintf("%v of %q %d %d", id, name, time, count))
		})
	case PartOwned, PartNacked:
		p.EachID(func(id ID) { lines = append(lines, id.String()) })
	}
	if p.groupRows() != len(lines) {
		panic("a part has another number of rows than it says")
	}
	return lines
}

// text describes the model as textOf does.
func (l *groupLife) text() (lines []string) {
	for _, name := range slices.Sorted(maps.Keys(l.model)) {
		m := l.model[name]
		nacked := m.ids(func(_ ID, p modelPending) bool { return p.owner == "" })
		lines = append(lines, fmt.Sprintf("group %+v", GroupInfo{Name: name, LastID: ID{1, 2},
			Read: 3, Pending: len(m.pending), Nacked: len(nacked)}))
		for _, id := range m.ids(func(ID, modelPending) bool { return true }) {
			p := m.pending[id]
			lines = append(lines, fmt.Sprintf("%v of %q %d %d", id, p.owner, p.time, p.count))
		}
		for _, c := range slices.Sorted(maps.Keys(m.consumers)) {
			ids := m.ids(func(_ ID, p modelPending) bool { return p.owner == c })
			lines = append(lines, fmt.Sprintf("consumer %+v",
				ConsumerInfo{Name: c, Seen: 5, Active: NeverActive, Pending: len(ids)}))
			for _, id := range ids {
				lines = append(lines, id.String())
			}
		}
		slices.SortFunc(nacked, func(a, b ID) int {
			return cmp.Compare(m.pending[a].place, m.pending[b].place)
		})
		for _, id := range nacked {
			lines = append(lines, id.String())
		}
	}
	return lines
}

// freeze begins a walk over the groups as they are, or goes on with one.
func (l *groupLife) freeze() {
	if l.frozen == nil {
		if l.rng.IntN(50) == 0 {
			l.frozen = l.s.freezeGroups()
			l.want, l.got = append([]string{}, l.text()...), []string{}
		}
		return
	}
	n := l.rng.IntN(4)
	var p Part
	done := l.frozen.step(&n, &p, func(p *Part) { l.got = append(l.got, textOf(p)...) })
	if !done && l.rng.IntN(500) != 0 {
		return
	}
	require.Equal(l.t, l.want[:len(l.got):len(l.got)], l.got)
	require.Equal(l.t, len(l.want) == len(l.got), done)
	l.frozen.close()
	now, ever := l.frozen.copied()
	require.True(l.t, now <= ever)
	l.frozen = nil
}

// clone checks a copy in another arena, and frees it bit by bit.
func (l *groupLife) clone() {
	sh := &Shared{A: arena.New()}
	c := &Stream{sh: sh}
	l.s.cloneGroups(c)
	l.check(c)
	l.drain(c)
}

// rebuild checks what a Builder makes of the parts.
func (l *groupLife) rebuild() {
	var b Builder
	var p Part
	l.s.eachGroupPart(&p, func(p *Part) bool {
		switch p.Kind {
		case PartGroup:
			require.NoError(l.t, b.Group([]byte(p.Group.Name), p.Group.LastID, p.Group.Read))
		case PartPending:
			p.EachPending(func(id ID, _ *ConsumerInfo, time, count int64) {
				require.NoError(l.t, b.Pending(id, time, count))
			})
		case PartConsumer:
			c := p.Consumer
			require.NoError(l.t, b.Consumer([]byte(c.Name), c.Seen, c.Active))
		case PartOwned:
			p.EachID(func(id ID) { require.NoError(l.t, b.Owned(id)) })
		case PartNacked:
			p.EachID(func(id ID) { require.NoError(l.t, b.Nacked(id)) })
		}
		return true
	})
	require.NoError(l.t, b.finishGroups())
	s := &Stream{sh: &Shared{A: arena.New()}}
	b.buildGroups(s)
	l.check(s)
	l.drain(s)
}
