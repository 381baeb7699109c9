package command

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"godwit/internal/object"
	"godwit/internal/testseed"
	"godwit/internal/testserver"
)

// listPatterns are patterns of random commands, in the notation of words.
var listPatterns = strings.Split(strings.TrimSpace(`
LPUSH|RPUSH {key} {val}
LPUSH|RPUSH {key} {val} {val} {val} [ {val} {val} {val} ]`+
	` [ {val} {val} {val} ] [ {val} {val} {val} ]
LPUSH|RPUSH {key} {letter} {letter} {letter} {letter} {letter} {letter}
LPUSHX|RPUSHX {key} {val} [ {val} ]
LPOP|RPOP {key}
LPOP|RPOP {key} {small}
LPOP|RPOP {key} [ {int} ] [ {int} ]
LLEN {key}
LINDEX {key} {int}
LINDEX {key} {small}
LSET {key} {int} {val}
LSET {key} {small} {val}
LINSERT {key} BEFORE|AFTER|X {letter} {val}
LINSERT {key} BEFORE|AFTER {val} {val}
LREM {key} 9223372036854775807|-9223372036854775807|1.5|x {letter}
LREM {key} {small} {val}
LRANGE {key} {int} {int}
LRANGE {key} 0 -1
LTRIM {key} {small} {int}
LTRIM {key} {int} {int}
LPOS {key} {letter} [ RANK 9223372036854775807|-9223372036854775807|1.5|x ]`+
	` [ COUNT {int} ] [ MAXLEN {int} ]
LPOS {key} {letter} [ RANK {small} ] [ COUNT {small} ] [ MAXLEN {small} ] [ X ]
LMOVE {key} {key} LEFT|RIGHT LEFT|RIGHT|X
RPOPLPUSH {key} {key}
LMPOP 1 {key} LEFT|RIGHT [ COUNT {small} ]
LMPOP {small} {key} [ {key} ] LEFT|RIGHT|X [ COUNT {int} ] [ X ]
SET {key} {val}
DEL {key}
RENAME {key} {key}
COPY {key} {key} REPLACE
EXISTS {key}
TYPE {key}
`), "\n")

var listKey = regexp.MustCompile(`ql_nodes:(\d+)`)

// nodes returns the number of nodes of the list at key. A listpack counts as one, a missing list as
// 0.
func (l *local) nodes(key string) int {
	l.e.Enter()
	defer l.e.Leave()
	db := l.e.KS.DB(0)
	e := db.Peek([]byte(key))
	if !e.Exists() || e.Type() != object.List {
		return 0
	}
	if q := object.AsList(db.Open(e)).Quicklist(); q != nil {
		if err := q.Check(); err != nil {
			panic(err)
		}
		return q.Nodes()
	}
	return 1
}

func redisNodes(t *testing.T, redis *remote, key string) int {
	object := fmt.Sprint(redis.do(t, split("DEBUG OBJECT "+key)))
	m := listKey.FindStringSubmatch(object)
	switch {
	case strings.Contains(object, "encoding:listpack"):
		return 1
	case m == nil:
		return 0
	}
	n, err := strconv.Atoi(m[1])
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func split(command string) (argv [][]byte) {
	for _, w := range strings.Fields(command) {
		argv = append(argv, []byte(w))
	}
	return argv
}

// listRound is one comparison under one setting.
type listRound struct {
	fill, depth, threshold int
	// nodes tells whether the numbers of nodes are compared. Under limits by size, those of 7.0
	// differ slightly.
	nodes bool
}

func TestRandomListsAgainstRedis(t *testing.T) {
	redis, l, r := startPeer(t, testserver.Redis), newLocal(t), testseed.Rand(t)
	for _, round := range []listRound{
		{-2, 0, 0, false}, {-2, 0, 0, false}, {-1, 1, 0, false}, {-1, 2, 40, false},
		{0, 0, 0, true}, {1, 0, 0, true}, {2, 0, 0, true}, {3, 1, 0, true}, {4, 2, 0, true},
		{8, 0, 20, false}, {128, 0, 0, true},
	} {
		both := func(command string) {
			redis.do(t, split(command))
			l.do(t, split(command))
		}
		both("FLUSHALL")
		both(fmt.Sprint("CONFIG SET list-max-listpack-size ", round.fill))
		both(fmt.Sprint("CONFIG SET list-compress-depth ", round.depth))
		redis.do(t, split(fmt.Sprint("DEBUG QUICKLIST-PACKED-THRESHOLD ", max(round.threshold, 0))))
		l.e.KS.Heap.SetPackedThreshold(round.threshold)
		compareLists(t, redis, l, r, round)
	}
}

func compareLists(t *testing.T, redis *remote, l *local, r *rand.Rand, round listRound) {
	var history []string
	for i := range *countFlag / 10 {
		args := words(r, pick(r, listPatterns...))
		argv := make([][]byte, len(args))
		for j, a := range args {
			argv[j] = []byte(a)
		}
		if history = append(history, fmt.Sprintf("%q", args)); len(history) > 100 {
			history = history[1:]
		}
		want := strings.Join(cliLines(redis.do(t, argv), 0), "\n")
		got := strings.Join(cliLines(l.do(t, argv), 0), "\n")
		if got != want {
			t.Fatalf("%+v\n%s\ncommand %d: %q\ngot:  %s\nwant: %s", round,
				strings.Join(history, "\n"), i, args, got, want)
		}
		if !round.nodes || len(args) < 2 {
			continue
		}
		for _, key := range []string{"a", "b", "list"} {
			if g, w := l.nodes(key), redisNodes(t, redis, key); g != w {
				t.Fatalf("%+v\n%s\ncommand %d: %q: %s has %d nodes, want %d", round,
					strings.Join(history, "\n"), i, args, key, g, w)
			}
		}
	}
}
