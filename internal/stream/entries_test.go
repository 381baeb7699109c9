package stream

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/arena"
	"godwit/internal/listpack"
	"godwit/internal/testseed"
)

// modelEntry is an entry of the model: names and values in turn.
type modelEntry struct {
	id     ID
	fields []string
}

// entryModel is a stream and its plain counterpart.
type entryModel struct {
	t   testing.TB
	rng *rand.Rand
	sh  *Shared
	s   *Stream
	m   []modelEntry
	lim Limits

	short bool // no value of more than a block

	last, maxDeleted ID
	added            uint64

	f             *Frozen
	given, frozen []modelEntry // by f, and what it is to give
	parts         []PartKind
}

var (
	shapesOfTest = [][]string{{"temperature", "humidity", "pressure"}, {"a"}, {"a", "b"},
		{"b", "a"}, {"12", "", "x"}, {strings.Repeat("n", 200), "é"}}
	limitsOfTest = []Limits{{4096, 100}, {0, 0}, {200, 0}, {0, 3}, {1, 1}, {1000, 10},
		{1 << 30, 1 << 30}}
)

func (m *entryModel) value() string {
	switch m.rng.IntN(8) {
	case 0:
		return strings.Repeat("v", m.rng.IntN(100))
	case 1:
		return strconv.FormatInt(int64(m.rng.Uint64())>>m.rng.IntN(64), 10)
	case 2:
		long := []int{70000, 62, 63, 64, 4095, 4096}
		if m.short {
			long = long[1:]
		}
		return []string{"", "-0", "007", "9223372036854775808", "-9223372036854775808", "+1",
			strings.Repeat("w", long[m.rng.IntN(len(long))])}[m.rng.IntN(7)]
	default:
		return strconv.Itoa(m.rng.IntN(5000) - 100)
	}
}

func (m *entryModel) entry() (fields []string) {
	names := shapesOfTest[0]
	switch m.rng.IntN(10) {
	case 0:
		names = nil
		for range 1 + m.rng.IntN(3) {
			names = append(names, strconv.Itoa(m.rng.IntN(60)))
		}
	case 1, 2, 3:
		names = shapesOfTest[m.rng.IntN(len(shapesOfTest))]
	}
	for _, n := range names {
		fields = append(fields, n, m.value())
	}
	return fields
}

// nextID is some ID behind the last one.
func (m *entryModel) nextID() ID {
	id := m.last
	switch m.rng.IntN(5) {
	case 0:
		id.Seq++
	case 1:
		id = ID{id.Ms + 1 + m.rng.Uint64N(300), 0}
	case 2:
		id.Seq += 1 + m.rng.Uint64N(1000)
	case 3:
		id = ID{id.Ms + 1 + m.rng.Uint64N(1<<m.rng.IntN(30)), m.rng.Uint64()>>m.rng.IntN(64) | 1}
	default:
		id = ID{id.Ms + m.rng.Uint64N(2), id.Seq + 1}
	}
	return id
}

func (m *entryModel) add() {
	id, fields := m.nextID(), m.entry()
	if !m.last.Less(id) {
		return // the number was the largest
	}
	args := make([][]byte, len(fields))
	for i, f := range fields {
		args[i] = []byte(f)
	}
	m.s.Append(id, args, m.lim)
	m.m = append(m.m, modelEntry{id, fields})
	m.last = id
	m.added++
}

// at returns where an ID is in the model, or would be.
func (m *entryModel) at(id ID) (int, bool) {
	return slices.BinarySearchFunc(m.m, id, func(e modelEntry, id ID) int {
		return e.id.Compare(id)
	})
}

// someID is an ID in the stream or near one.
func (m *entryModel) someID() ID {
	if len(m.m) == 0 || m.rng.IntN(10) == 0 {
		return ID{m.rng.Uint64N(m.last.Ms + 2), m.rng.Uint64N(3)}
	}
	id := m.m[m.rng.IntN(len(m.m))].id
	if m.rng.IntN(5) == 0 {
		if n, ok := id.Next(); ok {
			return n
		}
	}
	return id
}

func (m *entryModel) del(id ID) {
	at, has := m.at(id)
	require.Equal(m.t, has, m.s.Contains(id))
	require.Equal(m.t, has, m.s.Delete(id))
	require.False(m.t, m.s.Contains(id))
	if has {
		m.m = slices.Delete(m.m, at, at+1)
		if m.maxDeleted.Less(id) {
			m.maxDeleted = id
		}
	}
}

// trim compares an exact trim; an approximate one must remove some of what that would.
func (m *entryModel) trim() {
	t := Trim{MaxLen: -1, MinID: m.someID(), Approx: m.rng.IntN(2) == 0}
	if m.rng.IntN(2) == 0 {
		t.MaxLen = max(len(m.m)-m.rng.IntN(200), 0)
	}
	if m.rng.IntN(2) == 0 {
		t.Limit = 1 + m.rng.IntN(100)
	}
	if m.rng.IntN(2) == 0 {
		t.Refs = RefsHold
		m.hold()
	}
	var gone []modelEntry
	left := []modelEntry{}
	for i, e := range m.m {
		over := e.id.Less(t.MinID)
		if t.MaxLen >= 0 {
			over = len(m.m)-len(gone) > t.MaxLen
		}
		if !over || t.Refs == RefsHold && heldID(e.id) || t.Limit > 0 && len(gone) == t.Limit {
			left = append(left, m.m[i])
		} else {
			gone = append(gone, m.m[i])
		}
	}
	n := m.s.Trim(t)
	if t.Refs == RefsHold {
		g := m.s.Groups()[0]
		m.s.DestroyGroup(g)
		require.True(m.t, g.Drain(math.MaxInt))
	}
	if !t.Approx {
		require.Equal(m.t, len(gone), n)
		m.m = left
		return
	}
	require.LessOrEqual(m.t, n, len(gone))
	gone = gone[:n]
	m.m = slices.DeleteFunc(m.m, func(e modelEntry) bool {
		return len(gone) > 0 && !gone[len(gone)-1].id.Less(e.id) &&
			slices.ContainsFunc(gone, func(g modelEntry) bool { return g.id == e.id })
	})
	m.approximate(&t)
}

// heldID reports whether hold makes the entry pending.
func heldID(id ID) bool { return (id.Ms^id.Seq)%3 == 0 }

// hold makes a group that has entries pending.
func (m *entryModel) hold() {
	g := m.s.CreateGroup([]byte("holds"), MaxID, ReadUnknown)
	c := g.CreateConsumer([]byte("c"), 1)
	for _, e := range m.m {
		if heldID(e.id) {
			g.Set(Pending{ID: e.id, Owner: c})
		}
	}
}

// approximate checks that an approximate trim has left no block that it should have removed.
func (m *entryModel) approximate(t *Trim) {
	p, ok := m.s.entries.head()
	if !ok || t.Limit > 0 || t.Refs == RefsHold {
		return
	}
	d := m.s.entries.at(p)
	if t.MaxLen >= 0 {
		require.Less(m.t, m.s.n-d.live, max(t.MaxLen, 1))
	} else {
		require.False(m.t, lastOf(&d, m.s.entries.data(&d)).Less(t.MinID))
	}
}

// check compares the stream with the model.
func (m *entryModel) check() {
	require.NoError(m.t, m.s.Check())
	require.Equal(m.t, len(m.m), m.s.Len())
	require.Equal(m.t, [2]ID{m.last, m.maxDeleted}, [2]ID{m.s.LastID, m.s.MaxDeleted})
	require.Equal(m.t, m.added, m.s.Added)
	var first, last ID
	if len(m.m) > 0 {
		first, last = m.m[0].id, m.m[len(m.m)-1].id
	}
	require.Equal(m.t, first, m.s.First())
	require.Equal(m.t, last, m.s.Last())
	m.walk(ID{}, MaxID)
	for range 5 {
		m.walk(m.someID(), m.someID())
	}
}

func (m *entryModel) walk(from, to ID) {
	lo, _ := m.at(from)
	hi, has := m.at(to)
	if has {
		hi++
	}
	want := m.m[lo:max(lo, hi)]
	require.Equal(m.t, want, entriesOf(m.s.Range(from, to, false)))
	back := entriesOf(m.s.Range(from, to, true))
	slices.Reverse(back)
	require.Equal(m.t, want, back)
}

// entriesOf returns what a walk gives.
func entriesOf(it Iter) []modelEntry {
	list := []modelEntry{}
	for it.Next() {
		list = append(list, entryOf(&it))
	}
	return list
}

func entryOf(it *Iter) modelEntry {
	e := modelEntry{id: it.ID}
	size := it.Size()
	for range it.Fields() {
		name, value := it.Field()
		size -= name.Len() + value.Len()
		e.fields = append(e.fields, string(name.Append(nil)), string(value.Append(nil)))
	}
	if size != 0 {
		panic(fmt.Sprint("size of ", it.ID))
	}
	return e
}

// TestEntries holds a stream, and walks over it as it was frozen, against a model.
func TestEntries(t *testing.T) {
	rng := testseed.Rand(t)
	for i := range 3 * len(limitsOfTest) {
		a := arena.New()
		m := &entryModel{t: t, rng: rng, sh: &Shared{A: a}, lim: limitsOfTest[i%len(limitsOfTest)]}
		m.s, m.m = New(m.sh), []modelEntry{}
		for step := range 3000 {
			m.step()
			if step%100 == 0 {
				m.check()
			}
		}
		m.check()
		m.closeFrozen()
		m.copies()
		for !m.s.Drain(rng.IntN(100)) {
			continue
		}
		require.Zero(t, a.Used())
		require.Zero(t, m.sh.GoBytes)
		a.Close()
	}
}

func (m *entryModel) step() {
	switch op := m.rng.IntN(1000); {
	case op < 600:
		m.add()
	case op < 930:
		m.del(m.someID())
	case op < 945:
		m.trim()
	case op < 950:
		m.s.Defrag(uint64(m.rng.IntN(4)), m.rng.IntN(100))
	case op < 955 && m.f == nil:
		m.f, m.frozen, m.given, m.parts = m.s.Freeze(), slices.Clone(m.m), nil, nil
	case op < 960:
		m.takeBack()
	case m.f != nil:
		m.stepFrozen()
	}
}

// partEntries returns the entries of a part. Those of its listpack must be the same.
func partEntries(t testing.TB, p *Part) (list []modelEntry) {
	p.EachEntry(func(it *Iter) { list = append(list, entryOf(it)) })
	require.Equal(t, p.Rows(), len(list))
	lp, master := p.AppendListpack([]byte("before"))
	lp = lp[len("before"):]
	require.NoError(t, listpack.Validate(lp))
	b := NewBuilder(Limits{})
	require.NoError(t, b.Listpack(master, lp))
	require.Equal(t, list, builtOf(t, b))
	return list
}

// builtOf returns the entries of what a builder makes.
func builtOf(t testing.TB, b *Builder) []modelEntry {
	require.NoError(t, b.Finish())
	sh := &Shared{A: arena.New()}
	defer sh.A.Close()
	s := b.Build(sh)
	require.NoError(t, s.Check())
	require.Equal(t, b.Entries(), s.Len())
	n := 1 << 62
	defer s.Drain(n)
	return entriesOf(s.Range(ID{}, MaxID, false))
}

// copies compares copies of the stream with the model: a clone, and what builders make of its parts
// in any order.
func (m *entryModel) copies() {
	c := m.s.Clone(m.sh)
	was := m.s
	m.s = c
	m.check()
	m.s = was
	for !c.Drain(1) {
		continue
	}
	type node struct {
		master ID
		lp     []byte
	}
	var nodes []node
	parts := 0
	b := NewBuilder(m.lim)
	m.s.EachPart(func(p *Part) bool {
		if parts++; p.Kind == PartEntries {
			lp, master := p.AppendListpack(nil)
			nodes = append(nodes, node{master, lp})
		}
		return true
	})
	require.Equal(m.t, m.s.Parts(), parts)
	m.rng.Shuffle(len(nodes), func(i, j int) { nodes[i], nodes[j] = nodes[j], nodes[i] })
	for _, n := range nodes {
		require.NoError(m.t, b.Listpack(n.master, n.lp))
	}
	b.Meta(m.s.Meta())
	require.Equal(m.t, m.m, builtOf(m.t, b))
	if len(nodes) > 0 {
		n := nodes[m.rng.IntN(len(nodes))]
		b = NewBuilder(m.lim)
		require.NoError(m.t, b.Listpack(n.master, n.lp))
		require.NoError(m.t, b.Listpack(n.master, n.lp))
		require.ErrorIs(m.t, b.Finish(), ErrOrder)
	}
}
