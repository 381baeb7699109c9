package crash

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"
)

// The operations of streams. All IDs are given: they begin with the time at which the generator
// was made, so that they are larger than those of its predecessors. An operation about a key or a
// group that is missing is refused.

// nextEntry returns an ID that is larger than those before.
func (g *generator) nextEntry() entryID {
	if g.firstEntry == 0 {
		g.firstEntry = time.Now().UnixMilli()
	}
	g.entries++
	return g.entry(g.entries)
}

func (g *generator) entry(n int64) entryID { return entryID{g.firstEntry + n/3, n % 3} }

// someEntries returns IDs of which many have been added lately.
func (g *generator) someEntries() (ids []entryID, texts []string) {
	for range 1 + g.rnd.IntN(6) {
		id := g.entry(max(0, g.entries-int64(g.rnd.IntN(40))))
		ids, texts = append(ids, id), append(texts, id.String())
	}
	return ids, texts
}

func (g *generator) stream() []*unit {
	k := g.key("st")
	switch g.rnd.IntN(16) {
	case 0:
		n := g.rnd.IntN(30)
		return one(func(s state) {
			if st := s.streamOf(k); st != nil {
				st.trim(n)
			}
		}, "XTRIM", k, "MAXLEN", strconv.Itoa(n))
	case 1, 2:
		ids, texts := g.someEntries()
		return one(func(s state) {
			if st := s.streamOf(k); st != nil {
				for _, id := range ids {
					st.remove(id)
				}
			}
		}, append([]string{"XDEL", k}, texts...)...)
	case 3, 4, 5, 6:
		return g.streamGroup(k)
	case 7, 8, 9, 10, 11:
		return g.streamPending(k)
	}
	id := g.nextEntry()
	args, fields := []string{"XADD", k}, g.elements(k)
	bound := math.MaxInt
	if g.rnd.IntN(8) == 0 {
		bound = g.rnd.IntN(200)
		args = append(args, "MAXLEN", strconv.Itoa(bound))
	}
	fields = append(fields, fields...)
	if g.rnd.IntN(2) == 0 {
		fields = []string{"field", g.text(), "other", g.text()}
	}
	return one(func(s state) {
		st := s.makeStream(k)
		st.add(id, fmt.Sprintf("%q", fields))
		st.trim(bound)
	}, slices.Concat(args, []string{id.String()}, fields)...)
}

// streamGroup makes, changes or deletes a group or a consumer.
func (g *generator) streamGroup(k string) []*unit {
	name, consumer := g.groupName(), g.consumerName()
	about := func(f func(st *stream, gr *group)) func(s state) {
		return func(s state) {
			if st, gr := s.groupOf(k, name); gr != nil {
				f(st, gr)
			}
		}
	}
	switch g.rnd.IntN(9) {
	case 0:
		return one(about(func(st *stream, _ *group) { delete(st.groups, name) }),
			"XGROUP", "DESTROY", k, name)
	case 1:
		return one(about(func(_ *stream, gr *group) { gr.last = entryID{} }),
			"XGROUP", "SETID", k, name, "0")
	case 2:
		return one(about(func(_ *stream, gr *group) { gr.consumers[consumer] = true }),
			"XGROUP", "CREATECONSUMER", k, name, consumer)
	case 3:
		return one(about(func(_ *stream, gr *group) { gr.drop(consumer) }),
			"XGROUP", "DELCONSUMER", k, name, consumer)
	}
	return one(func(s state) {
		st := s.makeStream(k)
		if st.groups[name] == nil {
			st.groups[name] = &group{entryID{}, map[string]bool{}, map[entryID]delivery{}}
		}
	}, "XGROUP", "CREATE", k, name, "0", "MKSTREAM")
}

func (g *generator) groupName() string { return "g" + strconv.Itoa(g.rnd.IntN(2)) }

func (g *generator) consumerName() string { return "c" + strconv.Itoa(g.rnd.IntN(3)) }

// streamPending delivers, acknowledges, claims or NACKs entries.
func (g *generator) streamPending(k string) []*unit {
	name, consumer := g.groupName(), g.consumerName()
	ids, texts := g.someEntries()
	n := 1 + g.rnd.IntN(20)
	policy := []string{"KEEPREF", "DELREF", "ACKED"}[g.rnd.IntN(3)]
	counted := append([]string{"IDS", strconv.Itoa(len(ids))}, texts...)
	each := func(f func(st *stream, gr *group, id entryID)) func(s state) {
		return func(s state) {
			if st, gr := s.groupOf(k, name); gr != nil {
				for _, id := range ids {
					f(st, gr, id)
				}
			}
		}
	}
	ack := each(func(_ *stream, gr *group, id entryID) { delete(gr.pending, id) })
	switch g.rnd.IntN(10) {
	case 0, 1:
		return one(ack, append([]string{"XACK", k, name}, texts...)...)
	case 2:
		return one(each(func(st *stream, gr *group, id entryID) {
			if _, ok := gr.pending[id]; ok {
				delete(gr.pending, id)
				st.drop(id, policy)
			}
		}), append([]string{"XACKDEL", k, name, policy}, counted...)...)
	case 3, 4:
		return g.streamClaim(k)
	case 5:
		return g.streamNack(k)
	case 6:
		return one(func(s state) {
			if st := s.streamOf(k); st != nil {
				for _, id := range ids {
					st.drop(id, policy)
				}
			}
		}, append([]string{"XDELEX", k, policy}, counted...)...)
	}
	return one(func(s state) {
		if st, gr := s.groupOf(k, name); gr != nil {
			st.read(gr, consumer, n)
		}
	}, "XREADGROUP", "GROUP", name, consumer, "COUNT", strconv.Itoa(n), "STREAMS", k, ">")
}

// streamClaim claims entries by their IDs, or those that come next.
func (g *generator) streamClaim(k string) []*unit {
	name, consumer := g.groupName(), g.consumerName()
	ids, texts := g.someEntries()
	if g.rnd.IntN(2) == 0 {
		n := 1 + g.rnd.IntN(20)
		return one(func(s state) {
			if st, gr := s.groupOf(k, name); gr != nil {
				st.autoClaim(gr, consumer, ids[0], n)
			}
		}, "XAUTOCLAIM", k, name, consumer, "0", texts[0], "COUNT", strconv.Itoa(n))
	}
	justID := g.rnd.IntN(2) == 0
	args := append([]string{"XCLAIM", k, name, consumer, "0"}, texts...)
	if justID {
		args = append(args, "JUSTID")
	}
	return one(func(s state) {
		if st, gr := s.groupOf(k, name); gr != nil {
			gr.consumers[consumer] = true
			for _, id := range ids {
				st.claim(gr, id, consumer, !justID)
			}
		}
	}, args...)
}

// streamNack gives entries back, with or without those that are not pending.
func (g *generator) streamNack(k string) []*unit {
	name := g.groupName()
	ids, texts := g.someEntries()
	mode := []string{"SILENT", "FAIL", "FATAL"}[g.rnd.IntN(3)]
	args := append([]string{"XNACK", k, name, mode, "IDS", strconv.Itoa(len(ids))}, texts...)
	count, force := int64(-1), g.rnd.IntN(2) == 0
	if g.rnd.IntN(3) == 0 {
		count = g.rnd.Int64N(5)
		args = append(args, "RETRYCOUNT", strconv.FormatInt(count, 10))
	}
	if force {
		args = append(args, "FORCE")
	}
	return one(func(s state) {
		st, gr := s.groupOf(k, name)
		if gr == nil {
			return
		}
		for _, id := range ids {
			if _, there := st.find(id); gr.has(id) || force && there {
				gr.nack(id, mode, count)
			}
		}
	}, args...)
}
