package command

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"godwit/internal/testseed"
	"godwit/internal/testserver"
)

// zsetWord makes an argument for a random command on sorted sets. There are few members, so that
// they collide. Some look like numbers, and some are too long for a listpack.
func zsetWord(r *rand.Rand, kind string) string {
	switch kind {
	case "key":
		return pick(r, "z1", "z2", "z3", "str", "none")
	case "member":
		return pick(r, "a", "b", "c", "", "10", "-5", "007", "1e3", "\x00\xff",
			strings.Repeat("m", 64), fmt.Sprint("m", r.IntN(300)), fmt.Sprint(r.IntN(30)))
	case "long":
		return strings.Repeat("l", 65+r.IntN(3))
	case "score":
		return pick(r, "0", "1", "-1", "2", "0.1", "3.3", "-0", "1e20", "inf", "-inf", "+Inf",
			"0x1p-3", "1e-320", "4611686018427387904", "9007199254740993",
			"nan", "x", "", " 1", "1 ", "1e400", fmt.Sprint(r.IntN(40)-20),
			fmt.Sprint(r.NormFloat64()))
	case "good":
		return pick(r, "1", "2", "1", "2", "0.5", "-3", "17", fmt.Sprint(r.IntN(20)),
			fmt.Sprint(r.Float64()))
	case "int":
		return pick(r, "0", "1", "-1", "2", "5", "-3", "100", "x", "", "9223372036854775807",
			"-9223372036854775807", "-9223372036854775808")
	case "bound":
		return pick(r, "", "(") + zsetWord(r, "score")
	case "lex":
		return pick(r, "-", "+", "[", "(", "[", "(", "x") + zsetWord(r, "member")
	case "limit":
		return pick(r, "0", "1", "3", "-1", "-2", "2")
	case "entries":
		return pick(r, "0", "1", "5", "128", "20")
	}
	panic(kind)
}

var zsetPatterns = strings.Split(strings.TrimSpace(`
ZADD {key} {good} {member}
ZADD {key} {good} {member} {good} {member} {good} {member} {good} {member}
ZADD {key} {good} {member} {good} {member} [ {good} {member} [ {score} {member} ] ]
ZADD {key} [ NX|XX ] [ GT|LT ] [ CH ] [ INCR ] {score} {member}
ZADD {key} [ NX|XX|xx ] [ GT|LT ] [ CH ] {good} {member} {good} {member}
ZADD {key} CH [ LT|GT ] {score} {member}
ZADD {key} INCR {score} {member}
ZADD {key} NX|XX|GT|LT|CH|INCR [ NX|XX|GT|LT|CH|INCR ] [ {score} ] {member}
ZADD {key} {good} {long}
ZINCRBY {key} {score} {member}
ZINCRBY {key} {good} {member}
ZREM {key} {member} [ {member} ] [ {member} ]
ZCARD {key}
ZSCORE {key} {member}
ZMSCORE {key} {member} [ {member} ]
ZRANGE {key} 0 -1 WITHSCORES
ZRANK|ZREVRANK {key} {member}
ZRANGE|ZREVRANGE {key} {int} {int} [ WITHSCORES ]
ZRANGEBYSCORE|ZREVRANGEBYSCORE {key} {bound} {bound} [ WITHSCORES ] [ LIMIT {limit} {limit} ]
ZRANGE {key} {bound} {bound} BYSCORE [ REV ] [ LIMIT {limit} {limit} ] WITHSCORES
ZRANGE {key} {int} {int} REV [ WITHSCORES ]
ZRANGESTORE {key} {key} {bound} {bound} BYSCORE [ REV ] [ LIMIT {limit} {limit} ]
ZRANGESTORE {key} {key} {int} {int}
ZCOUNT {key} {bound} {bound}
ZREMRANGEBYRANK {key} {int} 0|1|2|-3
ZREMRANGEBYSCORE {key} {bound} {good}
ZADD l 0 {member} 0 {member} 0 {member}
ZRANGEBYLEX|ZREVRANGEBYLEX l {lex} {lex} [ LIMIT {limit} {limit} ]
ZRANGE l {lex} {lex} BYLEX [ REV ] [ LIMIT {limit} {limit} ]
ZLEXCOUNT l {lex} {lex}
ZREMRANGEBYLEX l {lex} {lex}
ZUNION|ZINTER 2 {key} {key} [ WEIGHTS {good} {good} ] [ AGGREGATE SUM|MIN|MAX|x ] WITHSCORES
ZUNION|ZINTER 3 {key} {key} {key} [ WEIGHTS {score} {good} {good} ] [ AGGREGATE MIN ]
ZDIFF 1|2|3|x {key} {key} [ {key} ] [ WITHSCORES ]
ZUNIONSTORE|ZINTERSTORE {key} 2 {key} {key} [ WEIGHTS {good} {score} ] [ AGGREGATE SUM|MAX ]
ZDIFFSTORE {key} 2 {key} {key}
ZINTERCARD 2 {key} {key} [ LIMIT {limit} ]
ZPOPMIN|ZPOPMAX {key}
ZPOPMIN|ZPOPMAX {key} {int} [ x ]
ZPOPMIN|ZPOPMAX {key} 1|2|3
ZMPOP 1|2|3|x {key} {key} MIN|MAX|x [ COUNT {int} ]
ZMPOP 2 {key} {key} MIN|MAX [ COUNT 1|3 ]
ZRANDMEMBER {key} 0|100000|x [ WITHSCORES|x ]
ZSCAN {key} 0|x COUNT 100000 [ MATCH m*|*1* ]
OBJECT ENCODING {key}
CONFIG SET zset-max-listpack-entries {entries}
DEL {key}
SET str x
`), "\n")

// TestRandomZSetsAgainstRedis runs the same random commands here and on redis-server, and compares
// every reply in both versions of the protocol.
func TestRandomZSetsAgainstRedis(t *testing.T) {
	redis, l, r := startPeer(t, testserver.Redis), newLocal(t), testseed.Rand(t)
	var history []string
	for i := range *countFlag {
		args := wordsOf(r, pick(r, zsetPatterns...), zsetWord)
		if i%1000 == 0 {
			args = []string{"FLUSHALL"}
			redis.proto(t, 2+i/1000%2)
			l.proto(t, 2+i/1000%2)
		}
		argv := make([][]byte, len(args))
		for j, a := range args {
			argv[j] = []byte(a)
		}
		if history = append(history, fmt.Sprintf("%q", args)); len(history) > 100 {
			history = history[1:]
		}
		got, want := l.do(t, argv), redis.do(t, argv)
		a, b := cliLines(got, 0), cliLines(want, 0)
		if args[0] == "ZSCAN" || args[0] == "ZRANDMEMBER" {
			a, b = unnumbered(a), unnumbered(b)
		}
		if strings.Join(a, "\n") != strings.Join(b, "\n") {
			t.Fatalf("after\n%s\ncommand %d: %q\ngot:  %s\nwant: %s", strings.Join(history, "\n"),
				i, args, strings.Join(a, "\n"), strings.Join(b, "\n"))
		}
	}
}

var numbers = regexp.MustCompile(`^( *\d+\))* `)

// unnumbered returns the lines without their numbers, sorted. It is for replies without an order.
func unnumbered(lines []string) []string {
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = numbers.ReplaceAllString(l, "")
	}
	slices.Sort(out)
	return out
}
