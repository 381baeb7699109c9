package persist_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/object"
	"godwit/internal/persist"
	"godwit/internal/stream"
)

// changeStream changes a stream or its group at random.
func changeStream(s *server, rnd *rand.Rand, key, value string) {
	id := func() string { return fmt.Sprint(max(s.ids-rnd.IntN(300), 0), "-1") }
	if s.do("EXISTS", key) == ":0\r\n" {
		s.do("XGROUP", "CREATE", key, "g", 0, "MKSTREAM")
	}
	consumer := fmt.Sprint("c", rnd.IntN(3))
	switch rnd.IntN(14) {
	case 0:
		s.do("XDEL", key, id(), id())
	case 1:
		s.do("XTRIM", key, "MAXLEN", 300)
	case 2:
		s.do("XACK", key, "g", id(), id())
	case 3:
		mode := []string{"SILENT", "FAIL", "FATAL"}[rnd.IntN(3)]
		s.do("XNACK", key, "g", mode, "IDS", 3, id(), id(), id(), "FORCE")
	case 4:
		s.do("XGROUP", "CREATECONSUMER", key, "g", fmt.Sprint("idle", rnd.IntN(9)))
	case 5:
		s.do("XGROUP", "DELCONSUMER", key, "g", fmt.Sprint("c", rnd.IntN(30)))
	case 6:
		s.do("XCLAIM", key, "g", consumer, 0, id(), id(), "TIME", rnd.IntN(1000), "FORCE")
	case 7, 8:
		s.do("XREADGROUP", "GROUP", "g", consumer, "COUNT", 5, "STREAMS", key, ">")
	case 9:
		s.do("XADD", "idmp", "IDMP", consumer, value+"i", "*", "f", value)
	default:
		s.ids++
		s.do("XADD", key, fmt.Sprint(s.ids, "-1"), "f", value, value, "v")
	}
}

// streams returns all that streams hold, except what a log of commands does not tell: the times of
// consumers, and counts of producers.
func (s *server) streams() (rows []string) {
	add := func(format string, args ...any) { rows = append(rows, fmt.Sprintf(format, args...)) }
	for _, key := range []string{"stream1", "stream2", "stream4", "stream8", "idmp"} {
		for i := range 2 {
			e := s.e.KS.DB(i).Peek([]byte(key))
			if !e.Exists() {
				continue
			}
			var x object.Edit
			x.Reset(s.e.KS.Heap, e, nil)
			m := x.Stream().Meta()
			add("%d %s: %d to %v, deleted %v, added %d", i, key, m.Len, m.LastID, m.MaxDeleted,
				m.Added)
			addGroups(x.Stream(), add)
			slices.SortFunc(m.Producers, func(a, b stream.Producer) int {
				return strings.Compare(a.PID, b.PID)
			})
			for _, p := range m.Producers {
				add("producer %s: %v", p.PID, p.Records)
			}
		}
	}
	return rows
}

// addGroups calls add for all that is kept of groups.
func addGroups(s *stream.Stream, add func(format string, args ...any)) {
	s.EachPart(func(p *stream.Part) bool {
		switch p.Kind {
		case stream.PartGroup:
			add("group %s: %v %d", p.Group.Name, p.Group.LastID, p.Group.Read)
		case stream.PartPending:
			p.EachPending(func(id stream.ID, owner *stream.ConsumerInfo, time, count int64) {
				if owner != nil {
					add("%v: %s %d %d", id, owner.Name, time, count)
				} else {
					add("%v: %d", id, count)
				}
			})
		case stream.PartConsumer:
			add("consumer %s: %d", p.Consumer.Name, p.Consumer.Pending)
		case stream.PartNacked:
			p.EachID(func(id stream.ID) { add("%v", id) })
		}
		return true
	})
}

// TestGoneInLogs looks at entries that are not in the stream. Those that were pending nevertheless
// stay so through a log of commands. A client's wish to make some pending does nothing, also in a
// log: as Redis, the server logs XNACK as it came.
func TestGoneInLogs(t *testing.T) {
	s := newServer(t)
	for i := range 4 {
		s.do("XADD", "stream1", fmt.Sprint(i+1, "-1"), "f", "v")
	}
	s.do("XGROUP", "CREATE", "stream1", "g", 0)
	s.do("XREADGROUP", "GROUP", "g", "c", "COUNT", 3, "STREAMS", "stream1", ">")
	s.do("XNACK", "stream1", "g", "FAIL", "IDS", 2, "3-1", "2-1")
	s.do("XDEL", "stream1", "1-1", "2-1", "4-1")
	want := s.streams()
	s.do("XNACK", "stream1", "g", "FAIL", "IDS", 3, "2-1", "4-1", "9-9", "FORCE")
	require.Equal(t, want, s.streams())
	for _, alone := range []bool{false, true} {
		if alone { // the group has no consumer that could claim what is NACKed
			s.do("XGROUP", "DELCONSUMER", "stream1", "g", "c")
		}
		dest := &memory{}
		require.NoError(t, persist.Start(s.e.KS, persist.NewCommandFormat(s.e.KS.Heap, 0),
			persist.NewQueue(dest, nil), persist.Options{}).Run())
		back := newServer(t)
		back.replay(dest.b)
		require.Equal(t, s.streams(), back.streams())
	}
}
