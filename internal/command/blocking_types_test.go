package command

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/object"
)

// makers create a value of each type at key k, for the types that a command can create.
var makers = map[object.Type]string{
	object.String: "SET k v", object.List: "RPUSH k 1 2 3 4 5 6 7 8 9",
	object.Set: "SADD k a", object.ZSet: "ZADD k 1 a 2 b 3 c 4 d 5 e 6 f",
	object.Hash: "HSET k f v", object.TypeBloom: "BF.ADD k x", object.TypeCuckoo: "CF.ADD k x",
	object.TypeCMS: "CMS.INITBYDIM k 9 2", object.TypeTopK: "TOPK.RESERVE k 3",
	object.TypeTDigest: "TDIGEST.CREATE k", object.Stream: "XADD k 1-1 f v",
}

// arrivals move the value at k of database 1 to a key that clients of database 0 wait for.
var arrivals = []struct{ name, commands, key string }{
	{"SWAPDB", "SWAPDB 0 1", "k"},
	{"SWAPDB back", "SWAPDB 1 0", "k"},
	{"SWAPDB twice", "SWAPDB 0 2; SWAPDB 1 0", "k"},
	{"MOVE", "MOVE k 0", "k"},
	{"RENAME", "RENAME k w; MOVE w 0", "w"},
	{"RENAME there", "MOVE k 0; SELECT 0; RENAMENX k w", "w"},
	{"COPY", "COPY k k DB 0", "k"},
	{"COPY over another type", "SELECT 0; HSET k f v; SELECT 1; COPY k k DB 0 REPLACE", "k"},
	{"in a transaction", "MULTI; SWAPDB 0 1; SWAPDB 0 1; SWAPDB 0 1; EXEC", "k"},
	{"by a script", "EVAL \"return redis.call('COPY','k','w','DB','0')\" 0", "w"},
}

// blockers are all commands that wait for a key, with the type that they wait for.
var blockers = []struct {
	command string
	t       object.Type
}{
	{"BLPOP $ 0", object.List}, {"BRPOP other $ 0", object.List},
	{"BLMOVE $ dst LEFT LEFT 0", object.List}, {"BRPOPLPUSH $ dst 0", object.List},
	{"BLMOVEM $ dst LEFT LEFT 0", object.List},
	{"BLMOVEM $ dst LEFT LEFT 0 EXACTLY 2 OBO", object.List},
	{"BLMPOP 0 1 $ LEFT", object.List}, {"BZPOPMIN $ 0", object.ZSet},
	{"BZPOPMAX other $ 0", object.ZSet}, {"BZMPOP 0 2 other $ MIN", object.ZSet},
	{"XREAD BLOCK 0 STREAMS $ 0", object.Stream},
	{"XREAD COUNT 1 BLOCK 0 STREAMS other $ 0 1-0", object.Stream},
}

// TestBlockedMeetEveryType lets values of every type arrive, in every way, at a key that clients
// wait for. Clients that wait for that type are served. The others go on waiting.
func TestBlockedMeetEveryType(t *testing.T) {
	for typ := range object.Type(object.NumTypes) {
		require.Equal(t, typ.String() != "", makers[typ] != "", "%d %s", typ, typ)
	}
	for typ, maker := range makers {
		for _, a := range arrivals {
			t.Run(typ.String()+" by "+a.name, func(t *testing.T) {
				meet(t, typ, maker, a.commands, a.key, false)
			})
		}
		t.Run(typ.String()+" by RESTORE", func(t *testing.T) { meet(t, typ, maker, "", "k", true) })
	}
}

func meet(t *testing.T, typ object.Type, maker, commands, key string, restore bool) {
	l := newLocal(t)
	type waiting struct {
		*local
		t object.Type
	}
	var here, elsewhere []waiting
	for db := range 2 {
		for _, b := range blockers {
			w := waiting{l.join(), b.t}
			w.line(t, "SELECT "+strconv.Itoa(2*db)) // Nothing that comes to database 2 stays there.
			w.exec(argvOf(strings.Fields(strings.ReplaceAll(b.command, "$", key))...))
			require.True(t, w.c.Waits(), b.command)
			if db == 0 {
				here = append(here, w)
			} else {
				elsewhere = append(elsewhere, w)
			}
		}
	}
	l.lines(t, "SELECT 1; "+maker)
	if restore {
		payload := run(t, l, "DUMP", "k").Str
		l.line(t, "SELECT 0")
		require.Equal(t, "OK", run(t, l, "RESTORE", "k", "0", payload).Str)
	} else {
		l.lines(t, commands)
	}
	for i, w := range here {
		require.Equal(t, w.t != typ, w.c.Waits(), "%s: %s", blockers[i].command, w.c.W.Buf)
	}
	for i, w := range elsewhere {
		require.True(t, w.c.Waits(), blockers[i].command)
	}
}
