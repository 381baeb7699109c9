package rdb

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/keyspace"
	"godwit/internal/stream"
)

// commandsOf returns the commands that recreate a key.
func commandsOf(t *testing.T, db *keyspace.DB, key string) (list [][]string) {
	var c Commands
	c.Record(db.Heap(), db.Peek([]byte(key)))
	b := string(c.B)
	number := func(kind byte) int {
		require.Equal(t, kind, b[0])
		line, rest, _ := strings.Cut(b[1:], "\r\n")
		n, err := strconv.Atoi(line)
		require.NoError(t, err)
		b = rest
		return n
	}
	for b != "" {
		var argv []string
		for range number('*') {
			n := number('$')
			argv = append(argv, b[:n])
			require.Equal(t, "\r\n", b[n:n+2])
			b = b[n+2:]
		}
		list = append(list, argv)
	}
	return list
}

// TestStreamCommands looks at the commands that recreate streams.
func TestStreamCommands(t *testing.T) {
	ks := newKeyspace(t, redisLimits(), 1)
	db := ks.DB(0)
	lim := stream.Limits{NodeBytes: 4096, NodeEntries: 100}
	id := func(n int) stream.ID { return stream.ID{Ms: uint64(n), Seq: 1} }
	s := db.CreateStream([]byte("k")).ChangingStream()
	for i := range 5 {
		s.Append(id(i+1), [][]byte{[]byte("f"), []byte("12"), []byte("g"), nil}, lim)
	}
	s.Delete(id(2))
	g := s.CreateGroup([]byte("g"), id(3), -1)
	c, _ := g.CreateConsumer([]byte("c"), 1), g.CreateConsumer([]byte("idle"), 1)
	g.Set(stream.Pending{ID: id(1), Owner: c, Time: 77, Count: 2})
	for _, n := range []int{4, 1, 3, 5} {
		g.Nack(id(n), int64(n)/3)
	}
	g.Set(stream.Pending{ID: id(1), Owner: c, Time: 77, Count: 2})
	s.UseIDMP(5, 6)
	s.Note([]byte("p"), []byte("gone"), id(2), 0)
	s.Note([]byte("p"), []byte("there"), id(3), 0)
	require.Equal(t, []string{
		"XADD k 1-1 f 12 g ", "XADD k 3-1 f 12 g ", "XADD k 4-1 f 12 g ", "XADD k 5-1 f 12 g ",
		"XSETID k 5-1 ENTRIESADDED 5 MAXDELETEDID 2-1",
		"XGROUP CREATE k g 3-1 ENTRIESREAD -1",
		"XCLAIM k g c 0 1-1 TIME 77 RETRYCOUNT 2 FORCE JUSTID",
		"XCLAIM k g c 0 3-1 TIME 0 RETRYCOUNT 1 FORCE JUSTID",
		"XCLAIM k g c 0 4-1 TIME 0 RETRYCOUNT 1 FORCE JUSTID",
		"XCLAIM k g c 0 5-1 TIME 0 RETRYCOUNT 1 FORCE JUSTID",
		"XGROUP CREATECONSUMER k g c", "XGROUP CREATECONSUMER k g idle",
		"XNACK k g FAIL IDS 3 4-1 3-1 5-1",
		"XCFGSET k IDMP-DURATION 5 IDMP-MAXSIZE 6",
		"XIDMPRECORD k p there 3-1",
	}, joined(commandsOf(t, db, "k")))
	s = db.CreateStream([]byte("nobody's")).ChangingStream()
	g = s.CreateGroup([]byte("g"), id(3), 0)
	g.CreateConsumer([]byte("x"), 1)
	g.Nack(id(7), 2)
	require.Equal(t, []string{"XCLAIM nobody's g xx 0 7-1 TIME 0 RETRYCOUNT 2 FORCE JUSTID",
		"XGROUP CREATECONSUMER nobody's g x", "XNACK nobody's g FAIL IDS 1 7-1",
		"XGROUP DELCONSUMER nobody's g xx"}, joined(commandsOf(t, db, "nobody's"))[3:])
	db.CreateStream([]byte("empty"))
	db.CreateStream([]byte("own")).ChangingStream().UseIDMP(100, 100)
	require.Equal(t, "XCFGSET own IDMP-DURATION 100 IDMP-MAXSIZE 100",
		joined(commandsOf(t, db, "own"))[2])
	require.Equal(t, []string{"XADD empty MAXLEN 0 0-1 x y",
		"XSETID empty 0-0 ENTRIESADDED 0 MAXDELETEDID 0-0"}, joined(commandsOf(t, db, "empty")))
}

func joined(list [][]string) (lines []string) {
	for _, argv := range list {
		lines = append(lines, strings.Join(argv, " "))
	}
	return lines
}

// TestRedisRunsStreamCommands recreates streams in other servers. Only pending entries that are not
// in the stream, and the times of consumers, are lost there.
func TestRedisRunsStreamCommands(t *testing.T) {
	times := regexp.MustCompile(`seen \d+ active -?\d+`)
	for _, o := range streamServers {
		t.Run(o.name, func(t *testing.T) {
			s := startPeer(t, o.peer, "")
			seed, rng := newSeed(t)
			ks := newKeyspace(t, redisLimits(), seed)
			for i := range 40 {
				key := fmt.Sprint("k", i)
				fillStream(ks.DB(0), []byte(key), rng, false)
				for _, argv := range commandsOf(t, ks.DB(0), key) {
					args := make([]any, len(argv))
					for i, a := range argv {
						args[i] = a
					}
					s.do(args...)
				}
				st := streamAt(t, ks.DB(0), key)
				ackGone(st)
				require.Equal(t, times.ReplaceAllString(streamText(st), ""),
					times.ReplaceAllString(s.streamText(key), ""))
			}
		})
	}
}

// ackGone acknowledges what is pending and not in the stream.
func ackGone(s *stream.Stream) {
	for _, g := range s.Groups() {
		var gone []stream.ID
		for it := g.Range(stream.ID{}, stream.MaxID); it.Next(); {
			if !s.Contains(it.ID) {
				gone = append(gone, it.ID)
			}
		}
		for _, id := range gone {
			g.Ack(id)
		}
	}
}
