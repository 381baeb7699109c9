package crash

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"godwit/internal/resp/client"
)

// stream is a stream in a plain model. It leaves out times, and how far groups lag behind.
type stream struct {
	entries          []entry
	last, maxDeleted entryID
	added            int64
	groups           map[string]*group
	producing        *producing // nil: no IDs are the server's
}

type entryID [2]int64

type entry struct {
	id     entryID
	fields string
}

// group is a consumer group. A NACKed entry has the owner "".
type group struct {
	last      entryID
	consumers map[string]bool
	pending   map[entryID]delivery
}

type delivery struct {
	owner string
	count int64
}

func (a entryID) compare(b entryID) int {
	return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1]))
}

func (a entryID) String() string { return fmt.Sprintf("%d-%d", a[0], a[1]) }

// streamOf returns the stream at the key, nil if there is none.
func (s state) streamOf(k string) *stream {
	if s[k] == nil {
		return nil
	}
	return s[k].stream
}

// makeStream returns the stream at the key, which it makes if it is missing.
func (s state) makeStream(k string) *stream {
	x := s.get(k, "stream")
	if x.stream == nil {
		x.stream = &stream{groups: map[string]*group{}}
	}
	return x.stream
}

// groupOf returns the stream at the key and its group, nil if one of them is missing.
func (s state) groupOf(k, name string) (*stream, *group) {
	st := s.streamOf(k)
	if st == nil {
		return nil, nil
	}
	return st, st.groups[name]
}

func (st *stream) clone() *stream {
	if st == nil {
		return nil
	}
	c := *st
	c.entries, c.groups = slices.Clone(st.entries), map[string]*group{}
	c.producing = st.producing.clone()
	for name, g := range st.groups {
		c.groups[name] = &group{g.last, maps.Clone(g.consumers), maps.Clone(g.pending)}
	}
	return &c
}

func (st *stream) find(id entryID) (at int, found bool) {
	return slices.BinarySearchFunc(st.entries, id,
		func(e entry, id entryID) int { return e.id.compare(id) })
}

func (st *stream) add(id entryID, fields string) {
	if id.compare(st.last) > 0 {
		st.entries = append(st.entries, entry{id, fields})
		st.last, st.added = id, st.added+1
	}
}

func (st *stream) trim(length int) {
	st.entries = st.entries[max(0, len(st.entries)-length):]
}

func (st *stream) remove(id entryID) {
	at, found := st.find(id)
	if !found {
		return
	}
	st.entries = slices.Delete(slices.Clone(st.entries), at, at+1)
	if id.compare(st.maxDeleted) > 0 {
		st.maxDeleted = id
	}
}

// drop deletes an entry as a policy for references says.
func (st *stream) drop(id entryID, policy string) {
	_, there := st.find(id)
	for _, g := range st.groups {
		switch {
		case policy == "DELREF":
			delete(g.pending, id)
		case policy == "ACKED" && there && (g.has(id) || id.compare(g.last) > 0):
			return
		}
	}
	st.remove(id)
}

func (g *group) has(id entryID) bool {
	_, ok := g.pending[id]
	return ok
}

// nack makes a pending entry, or a new one, NACKed.
func (g *group) nack(id entryID, mode string, count int64) {
	n := g.pending[id].count
	switch {
	case count >= 0:
		n = count
	case mode == "SILENT":
		n = max(0, n-1)
	case mode == "FATAL":
		n = math.MaxInt64
	}
	g.pending[id] = delivery{"", n}
}

// read delivers up to n new entries.
func (st *stream) read(g *group, consumer string, n int) {
	g.consumers[consumer] = true
	at, found := st.find(g.last)
	if found {
		at++
	}
	for _, e := range st.entries[at:min(len(st.entries), at+n)] {
		g.pending[e.id] = delivery{consumer, 1}
		g.last = e.id
	}
}

// claim makes the consumer the owner of a pending entry. One that is deleted is not pending any
// more.
func (st *stream) claim(g *group, id entryID, consumer string, counts bool) {
	d, ok := g.pending[id]
	if _, there := st.find(id); !ok || !there {
		delete(g.pending, id)
		return
	}
	if d.owner = consumer; counts && d.count < math.MaxInt64 {
		d.count++
	}
	g.pending[id] = d
}

// autoClaim claims up to n pending entries from the ID on.
func (st *stream) autoClaim(g *group, consumer string, from entryID, n int) {
	g.consumers[consumer] = true
	for _, id := range slices.SortedFunc(maps.Keys(g.pending), entryID.compare) {
		if n > 0 && id.compare(from) >= 0 {
			st.claim(g, id, consumer, true)
			n--
		}
	}
}

func (g *group) drop(consumer string) {
	delete(g.consumers, consumer)
	maps.DeleteFunc(g.pending, func(_ entryID, d delivery) bool { return d.owner == consumer })
}

// text renders the stream, in a fixed order.
func (st *stream) text() string {
	var b strings.Builder
	if st.producing != nil {
		return st.producing.text(st)
	}
	fmt.Fprintf(&b, "%v %v %d", st.last, st.maxDeleted, st.added)
	for _, e := range st.entries {
		fmt.Fprintf(&b, " %v=%s", e.id, e.fields)
	}
	for _, name := range slices.Sorted(maps.Keys(st.groups)) {
		g := st.groups[name]
		fmt.Fprintf(&b, " group %s %v %q", name, g.last, slices.Sorted(maps.Keys(g.consumers)))
		for _, id := range slices.SortedFunc(maps.Keys(g.pending), entryID.compare) {
			fmt.Fprintf(&b, " %v:%s:%d", id, g.pending[id].owner, g.pending[id].count)
		}
	}
	return b.String()
}

// readStream reads what text renders from the server.
func readStream(c *client.Client, key string, v *value) error {
	r, err := do(c, "XINFO", "STREAM", key, "FULL", "COUNT", 0)
	if err != nil {
		return err
	}
	st := &stream{groups: map[string]*group{}}
	id := func(v client.Value) (id entryID) {
		fmt.Sscanf(v.Text(), "%d-%d", &id[0], &id[1])
		return id
	}
	info := fieldsOf(r)
	st.last, st.maxDeleted = id(info["last-generated-id"]), id(info["max-deleted-entry-id"])
	st.added = info["entries-added"].Int
	for _, e := range info["entries"].Elems {
		st.entries = append(st.entries, entry{id(e.Elems[0]), fmt.Sprintf("%q",
			e.Elems[1].Strings())})
	}
	for _, e := range info["groups"].Elems {
		about := fieldsOf(e)
		g := &group{id(about["last-delivered-id"]), map[string]bool{}, map[entryID]delivery{}}
		for _, p := range about["pending"].Elems {
			g.pending[id(p.Elems[0])] = delivery{p.Elems[1].Text(), p.Elems[3].Int}
		}
		for _, p := range about["consumers"].Elems {
			g.consumers[fieldsOf(p)["name"].Text()] = true
		}
		st.groups[about["name"].Text()] = g
	}
	if isProducing(key) {
		st.producing = &producing{info["idmp-duration"].Int, info["idmp-maxsize"].Int,
			info["pids-tracked"].Int, info["iids-tracked"].Int, nil}
	}
	v.stream = st
	return nil
}

// fieldsOf returns the fields of a map in RESP2.
func fieldsOf(r client.Value) map[string]client.Value {
	m := map[string]client.Value{}
	for i := 0; i+1 < len(r.Elems); i += 2 {
		m[r.Elems[i].Text()] = r.Elems[i+1]
	}
	return m
}
