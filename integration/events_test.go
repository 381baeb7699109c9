package integration

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/resp/client"
	"godwit/internal/testseed"
)

// eventCommands are commands whose events are compared with those of redis-server. K is one of a
// few keys, so that types collide. V is a small value, M a member, N a small number. XREAD is left
// out: Redis looks each key up twice, and announces twice that it is missing.
var eventCommands = strings.Split(strings.TrimSpace(`
SET K V
SET K V EX 10000
SET K V KEEPTTL
SET K V NX
SET K V XX GET
SETNX K V
SETEX K 10000 V
PSETEX K 10000000 V
GETSET K V
GETDEL K
GETEX K
GETEX K EX 10000
GETEX K PERSIST
GETEX K PXAT 1
MSET K V K V
MSETNX K V K V
APPEND K V
SETRANGE K N V
SETRANGE K 0 ""
INCR K
DECRBY K N
INCRBYFLOAT K 1.5
GET K
MGET K K
STRLEN K
GETRANGE K 0 -1
SETBIT K N 1
GETBIT K N
BITCOUNT K
BITPOS K 1
BITOP AND K K K
BITOP NOT K K
BITFIELD K SET u8 0 N
BITFIELD K GET u8 0
BITFIELD K INCRBY u8 0 N OVERFLOW FAIL
BITFIELD_RO K GET u8 0
LCS K K
LPUSH K V V
RPUSH K V
LPUSHX K V
RPUSHX K V
LPOP K
RPOP K N
LPOP K 0
LINSERT K BEFORE V V
LSET K 0 V
LSET K N V
LREM K N V
LTRIM K N 3
LTRIM K 1 0
LTRIM K 0 -1
LRANGE K 0 -1
LLEN K
LINDEX K 0
LPOS K V
LMOVE K K LEFT RIGHT
RPOPLPUSH K K
LMPOP 2 K K LEFT COUNT 2
BLPOP K K 0.001
BLMOVE K K LEFT LEFT 0.001
BRPOPLPUSH K K 0.001
BLMPOP 0.001 1 K RIGHT
SADD K M M
SADD K 1 2 3
SREM K M M
SMOVE K K M
SPOP K 100
SPOP K 0
SMEMBERS K
SISMEMBER K M
SMISMEMBER K M M
SCARD K
SINTER K K
SUNION K K
SDIFF K K
SINTERCARD 2 K K
SINTERSTORE K K K
SUNIONSTORE K K K
SDIFFSTORE K K K
HSET K M V M V
HMSET K M V
HSETNX K M V
HGET K M
HMGET K M M
HGETALL K
HDEL K M M
HINCRBY K M N
HINCRBYFLOAT K M 1.5
HLEN K
HEXISTS K M
HSTRLEN K M
HKEYS K
ZADD K N M
ZADD K NX N M N M
ZADD K XX CH N M
ZADD K INCR N M
ZADD K GT INCR N M
ZINCRBY K N M
ZREM K M M
ZREMRANGEBYSCORE K 0 N
ZREMRANGEBYRANK K 0 1
ZREMRANGEBYLEX K - +
ZPOPMIN K
ZPOPMAX K 2
ZPOPMIN K 0
ZMPOP 2 K K MIN
BZPOPMIN K K 0.001
BZMPOP 0.001 1 K MAX
ZRANGE K 0 -1
ZRANGESTORE K K 0 1
ZRANGESTORE K K 5 1
ZUNIONSTORE K 2 K K
ZINTERSTORE K 2 K K
ZDIFFSTORE K 2 K K
ZSCORE K M
ZMSCORE K M M
ZRANK K M
ZCARD K
ZCOUNT K 0 N
ZUNION 2 K K
ZINTERCARD 2 K K
DEL K
DEL K K
UNLINK K K
EXISTS K K
TOUCH K K
TYPE K
TTL K
PTTL K
EXPIRETIME K
OBJECT ENCODING K
OBJECT REFCOUNT K
DUMP K
EXPIRE K 10000
EXPIRE K -1
EXPIRE K 0
EXPIRE K 10000 NX
EXPIRE K 50 GT
PEXPIREAT K 1
PERSIST K
RENAME K K
RENAMENX K K
COPY K K
COPY K K REPLACE
COPY K K DB 1 REPLACE
MOVE K 1
SORT K ALPHA
SORT K ALPHA STORE K
SORT K BY nosort GET # STORE K
SORT_RO K ALPHA
RESTORE K 0 "\x00\x03abc\n\x00\xb0\x95\x8f6$T-o"
RESTORE K 0 "\x00\x03abc\n\x00\xb0\x95\x8f6$T-o" REPLACE
RESTORE K 1 "\x00\x03abc\n\x00\xb0\x95\x8f6$T-o" REPLACE ABSTTL
SCAN 0
KEYS *
RANDOMKEY
SWAPDB 0 1
FLUSHDB
PFADD K V V
PFCOUNT K K
PFMERGE K K
GEOADD K N N M
GEODIST K M M
GEOSEARCHSTORE K K FROMLONLAT 1 1 BYRADIUS 1000 km
GEORADIUS K 1 1 1000 km STORE K
XADD K 99999999999999-* f V
XADD K 99999999999999-* f V g V
XADD K MAXLEN N 99999999999999-* f V
XADD K NOMKSTREAM MINID 99999999999999-N 99999999999999-* f V
XADD K 1-1 f V
XADD K MAXLEN ~ 0 99999999999999-* f V
XTRIM K MAXLEN N
XTRIM K MINID 99999999999999-N
XDEL K 99999999999999-N 99999999999999-N
XSETID K 99999999999999-N
XLEN K
XRANGE K - +
XGROUP CREATE K g 0 MKSTREAM
XGROUP CREATE K h $
XGROUP SETID K g 0
XGROUP DESTROY K g
XGROUP CREATECONSUMER K g M
XGROUP DELCONSUMER K g M
XREADGROUP GROUP g M COUNT 2 STREAMS K >
XREADGROUP GROUP g M NOACK STREAMS K >
XREADGROUP GROUP g M STREAMS K 0
XACK K g 99999999999999-N
XCLAIM K g M 0 99999999999999-N 99999999999999-N
XCLAIM K g M 0 99999999999999-N FORCE JUSTID
XAUTOCLAIM K g M 0 0
XPENDING K g
XINFO STREAM K
`), "\n")

// fillTemplate replaces the placeholders of a template.
func fillTemplate(rng *rand.Rand, template string) string {
	words := strings.Split(template, " ")
	for i, w := range words {
		switch w {
		case "K":
			words[i] = string('a' + rune(rng.IntN(4)))
		case "V":
			words[i] = []string{"1", "7", "text", "a"}[rng.IntN(4)]
		case "M":
			words[i] = []string{"m", "n", "o", "1", "2"}[rng.IntN(5)]
		case "N":
			words[i] = fmt.Sprint(rng.IntN(6))
		case "99999999999999-N":
			words[i] = fmt.Sprintf("99999999999999-%d", rng.IntN(30))
		}
	}
	return strings.Join(words, " ")
}

// listener receives all events of one server.
type listener struct {
	commands, events *client.Client
}

func listen(t *testing.T, addr, classes string) *listener {
	t.Helper()
	l := &listener{}
	for _, c := range []**client.Client{&l.commands, &l.events} {
		var err error
		*c, err = client.Dial("tcp", addr)
		require.NoError(t, err)
		t.Cleanup(func() { (*c).Close() })
	}
	do(t, l.commands, "CONFIG", "SET", "notify-keyspace-events", classes)
	do(t, l.events, "PSUBSCRIBE", "__key*")
	do(t, l.events, "SUBSCRIBE", "fence")
	return l
}

// run executes a batch of commands and returns the events of each.
func (l *listener) run(t *testing.T, batch []string) (replies []string, events [][]string) {
	t.Helper()
	for _, command := range batch {
		args, err := words(command)
		require.NoError(t, err)
		l.commands.Queue(args...)
		l.commands.Queue("PUBLISH", "fence", "")
	}
	list, err := l.commands.Pipeline()
	require.NoError(t, err)
	for i := range batch {
		replies = append(replies, list[2*i].String())
		var seen []string
		for {
			v, err := l.events.Receive()
			require.NoError(t, err)
			s := v.Strings()
			if s[0] == "message" {
				break
			}
			seen = append(seen, s[2]+" "+s[3])
		}
		events = append(events, seen)
	}
	return replies, events
}

// known reports whether the server under test has the command.
func (l *listener) known(t *testing.T, command string) bool {
	name, _, _ := strings.Cut(command, " ")
	return !do(t, l.commands, "COMMAND", "INFO", name).Elems[0].IsNull()
}

// TestKeyEventsAgainstRedis sends the same random commands to a server and to Redis 8. It
// compares the events of each command and their order.
func TestKeyEventsAgainstRedis(t *testing.T) {
	t.Parallel()
	godwitOnly(t)
	rng := testseed.Rand(t)
	ours := listen(t, startServer(t).Addr, "KEAmn")
	redis := listen(t, startNewest(t), "KEAmn")
	var templates []string
	for _, c := range eventCommands {
		if ours.known(t, c) {
			templates = append(templates, c)
		}
	}
	var history []string
	differ := map[string]bool{} // commands
	for round := 0; round < 200 && len(differ) < 10; round++ {
		batch := make([]string, 100)
		for i := range batch {
			batch[i] = fillTemplate(rng, templates[rng.IntN(len(templates))])
		}
		gotReplies, got := ours.run(t, batch)
		wantReplies, want := redis.run(t, batch)
		for i, command := range batch {
			history = append(history, command)
			name, _, _ := strings.Cut(command, " ")
			if fmt.Sprint(got[i]) != fmt.Sprint(want[i]) && !differ[name] {
				differ[name] = true
				t.Errorf("%s\n got %q, reply %s\nwant %q, reply %s\nafter\n%s", command, got[i],
					gotReplies[i], want[i], wantReplies[i],
					strings.Join(history[max(0, len(history)-8):], "\n"))
			}
		}
	}
}
