package integration

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/resp/client"
	"godwit/internal/testseed"
)

// messageCommands are what the connections of TestMessagesAgainstRedis send. C is one of a few
// channels, P a pattern, K a key, I another connection's ID.
var messageCommands = strings.Split(strings.TrimSpace(`
SUBSCRIBE C
SUBSCRIBE C C
UNSUBSCRIBE C
PSUBSCRIBE P
PSUBSCRIBE P P
PUNSUBSCRIBE P
SSUBSCRIBE C
SUNSUBSCRIBE C
PUBLISH C hello
PUBLISH C world
SPUBLISH C hello
PUBLISH __redis__:invalidate x
PUBSUB NUMSUB C C
PUBSUB SHARDNUMSUB C
PUBSUB NUMPAT
RESET
HELLO 2
HELLO 3
HELLO 3
CLIENT TRACKING ON
CLIENT TRACKING ON NOLOOP
CLIENT TRACKING ON OPTIN
CLIENT TRACKING ON OPTOUT
CLIENT TRACKING ON BCAST
CLIENT TRACKING ON BCAST PREFIX k
CLIENT TRACKING ON BCAST NOLOOP PREFIX l PREFIX m
CLIENT TRACKING ON REDIRECT I
CLIENT TRACKING ON BCAST REDIRECT I
CLIENT TRACKING OFF
CLIENT CACHING YES
CLIENT CACHING NO
CLIENT TRACKINGINFO
GET K
GET K
GET K
MGET K K K
STRLEN K
EXISTS K
SUBSTR K 0 1
SET K a
SET K b
SET K c EX 100
MSET K a K b
APPEND K x
DEL K K
RENAME K K
COPY K K
EXPIRE K 100
PEXPIREAT K 1
INCR K
RPUSH K a
LPOP K
LRANGE K 0 -1
SINTERSTORE K K K
FLUSHDB
FLUSHALL
CONFIG SET notify-keyspace-events KEA
CONFIG SET notify-keyspace-events ""
`), "\n")

// ensemble holds the same connections to one server.
type ensemble struct {
	t     *testing.T
	addr  string
	conns []*client.Client
	ids   []int64
	names map[int64]string // of all connections ever opened
}

func newEnsemble(t *testing.T, addr string, n int) *ensemble {
	e := &ensemble{t: t, addr: addr, conns: make([]*client.Client, n), ids: make([]int64, n),
		names: map[int64]string{}}
	for i := range n {
		e.open(i)
	}
	return e
}

func (e *ensemble) open(i int) {
	e.t.Helper()
	c, err := client.Dial("tcp", e.addr)
	require.NoError(e.t, err)
	if i%2 == 1 {
		do(e.t, c, "HELLO", 3)
	}
	e.conns[i], e.ids[i] = c, do(e.t, c, "CLIENT", "ID").Int
	e.names[e.ids[i]] = fmt.Sprintf("$%d.%d", i, len(e.names))
}

// close replaces a connection once the server has noticed its end.
func (e *ensemble) close(i int) {
	e.conns[i].Close()
	probe, err := client.Dial("tcp", e.addr)
	require.NoError(e.t, err)
	defer probe.Close()
	eventually(e.t, "the connection is gone", func() bool {
		return do(e.t, probe, "CLIENT", "LIST", "ID", e.ids[i]).Text() == ""
	})
	e.open(i)
}

// heard reads what comes to a connection until its PING is answered.
func (e *ensemble) heard(i int, fence string) []string {
	e.t.Helper()
	e.conns[i].Queue("PING", fence)
	require.NoError(e.t, e.conns[i].Flush())
	var out []string
	for {
		v, err := e.conns[i].Receive()
		require.NoError(e.t, err)
		if v.Str == fence ||
			len(v.Elems) == 2 && v.Elems[0].Str == "pong" && v.Elems[1].Str == fence {
			return out
		}
		s := render(v)
		for id, name := range e.names {
			s = strings.ReplaceAll(s, fmt.Sprintf(`"tracking-redir-broken" %d]`, id),
				`"tracking-redir-broken" `+name)
			s = strings.ReplaceAll(s, fmt.Sprintf(`"redirect" %d `, id), `"redirect" `+name+" ")
		}
		if strings.Contains(s, `"proto"`) {
			s = "hello"
		}
		out = append(out, s)
	}
}

// step has one connection send commands in one write and returns what every connection hears.
func (e *ensemble) step(n, i int, commands []string) [][]string {
	e.t.Helper()
	for _, command := range commands {
		args, err := words(command)
		require.NoError(e.t, err)
		for j, a := range args {
			if b, ok := a.([]byte); ok && len(b) == 2 && b[0] == '$' {
				args[j] = e.ids[b[1]-'0']
			}
		}
		e.conns[i].Queue(args...)
	}
	out := make([][]string, len(e.conns))
	own := e.heard(i, fmt.Sprintf("fence %d", n)) // a broadcast may come before or after it
	for j := range e.conns {
		out[j] = e.heard(j, fmt.Sprintf("fence %d.%d", n, j))
	}
	out[i] = append(own, out[i]...)
	return out
}

// sortedEach returns what was heard, with the messages of patterns and events sorted.
func sortedEach(heard [][]string) string {
	for i := range heard {
		heard[i] = slices.Clone(heard[i])
		slices.Sort(heard[i])
	}
	return fmt.Sprintf("%q", heard)
}

func fillMessage(rng *rand.Rand, template string, conns int) string {
	words := strings.Split(template, " ")
	for i, w := range words {
		switch w {
		case "C":
			words[i] = []string{"a", "b", "ab", "__redis__:invalidate",
				"__keyevent@0__:set"}[rng.IntN(5)]
		case "P":
			words[i] = []string{"a*", "*", "?", "[ab]", "a", "__key*__:*"}[rng.IntN(6)]
		case "K":
			words[i] = []string{"k1", "k2", "l", "m", "n"}[rng.IntN(5)]
		case "I":
			words[i] = fmt.Sprintf("$%d", rng.IntN(conns))
		}
	}
	return strings.Join(words, " ")
}

// TestMessagesAgainstRedis has connections of both protocols subscribe, publish, track, read and
// write at random, on a server and on Redis 8. It compares everything that each of them hears.
func TestMessagesAgainstRedis(t *testing.T) {
	t.Parallel()
	godwitOnly(t)
	rng := testseed.Rand(t)
	const conns = 5
	ours, redis := newEnsemble(t, startServer(t, "--io-threads", "4").Addr, conns),
		newEnsemble(t, startNewest(t), conns)
	var history []string
	for n := range 4000 {
		i := rng.IntN(conns)
		if rng.IntN(100) == 0 {
			ours.close(i)
			redis.close(i)
			history = append(history, fmt.Sprintf("%d: closes", i))
			continue
		}
		commands := make([]string, 1+rng.IntN(3)*rng.IntN(2))
		for j := range commands {
			commands[j] = fillMessage(rng, messageCommands[rng.IntN(len(messageCommands))], conns)
		}
		history = append(history, fmt.Sprintf("%d: %s", i, strings.Join(commands, " ;; ")))
		got, want := ours.step(n, i, commands), redis.step(n, i, commands)
		if fmt.Sprint(got) == fmt.Sprint(want) {
			continue
		}
		if sortedEach(got) != sortedEach(want) {
			t.Fatalf("after\n%s\n got %q\nwant %q",
				strings.Join(history[max(0, len(history)-100):], "\n"), got, want)
		}
	}
}
