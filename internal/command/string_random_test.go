package command

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"godwit/internal/testseed"
	"godwit/internal/testserver"
)

var countFlag = flag.Int("commands", 30000,
	"commands that the random comparison with redis-server runs")

func pick[T any](r *rand.Rand, from ...T) T { return from[r.IntN(len(from))] }

// words makes the arguments of one random command from a pattern. The pattern is a list of words
// separated by spaces. {name} is a random argument of that sort, [ … ] is left out half of the
// time, and a|b is a choice.
func words(r *rand.Rand, pattern string) []string { return wordsOf(r, pattern, randomArg) }

// wordsOf does what words does, with other sorts of arguments.
func wordsOf(r *rand.Rand, pattern string, arg func(r *rand.Rand, kind string) string) []string {
	var out []string
	fields := strings.Fields(pattern)
	for i := 0; i < len(fields); i++ {
		f := fields[i]
		switch f {
		case "[":
			if r.IntN(2) == 0 {
				for depth := 1; depth > 0; {
					i++
					depth += strings.Count(fields[i], "[") - strings.Count(fields[i], "]")
				}
			}
			continue
		case "]":
			continue
		}
		f = pick(r, strings.Split(f, "|")...)
		if kind, ok := strings.CutPrefix(f, "{"); ok {
			f = arg(r, strings.TrimSuffix(kind, "}"))
		}
		out = append(out, f)
	}
	return out
}

func randomArg(r *rand.Rand, kind string) string {
	switch kind {
	case "key":
		return pick(r, "a", "b", "c", "d", "list", "list2")
	case "val":
		return pick(r, "", "x", "hello", "10", "-5", "3.5", "007", "9223372036854775807",
			"-9223372036854775808",
			strings.Repeat("ab", 22), strings.Repeat("ab", 23), strings.Repeat("\xff", 12),
			"\x00\x01\x80", "ohmytext", "mynewtext",
			string(rune('a'+r.IntN(5))), strings.Repeat("\xff\x00", r.IntN(60)),
			fmt.Sprint(r.IntN(1000)))
	case "letter":
		return pick(r, "a", "b", "c", "10", "x")
	case "int":
		return pick(r, "0", "1", "-1", "2", "-2", "7", "-7", "100", "-100", "9223372036854775807",
			"-9223372036854775808", "x", "", "1.5", " 1", "+1", fmt.Sprint(r.IntN(200)-100))
	case "small":
		return pick(r, "0", "1", "3", "7", "8", "9", "-1", "x", "70", fmt.Sprint(r.IntN(200)))
	case "bit":
		return pick(r, "0", "1", "1", "2", "x")
	case "type":
		return pick(r, "u8", "i8", "u1", "i1", "u63", "i64", "u4", "i5", "u64", "i65", "i0", "x8",
			"u", fmt.Sprintf("u%d", 1+r.IntN(63)), fmt.Sprintf("i%d", 1+r.IntN(64)))
	case "off":
		return pick(r, "0", "1", "#0", "#1", "#2", "5", "17", "-1", "#-1", "x", "#",
			fmt.Sprint(r.IntN(150)))
	case "time":
		return pick(r, "100000", "4102444800", "4102444800000", "0", "-1", "x",
			"9223372036854775807", "9223372036854776", "9223372036854775")
	case "float":
		return pick(r, "0.1", "0.2", "1e3", "-1.5", "3", "1e-10", "x", "inf", "nan", "0x10", "1e17",
			"123456789.123456789", "1.", ".5", "-0", "1e400", "1e5000",
			fmt.Sprint(r.NormFloat64()*1000))
	}
	panic(kind)
}

var randomPatterns = strings.Split(strings.TrimSpace(`
GET {key}
SET {key} {val} [ NX|XX ] [ GET ] [ EX|PX|EXAT|PXAT {time} ] [ KEEPTTL ]
SET {key} {val}
SET {key} {val} GET|NX|XX|EX|KEEPTTL|BAD [ NX|XX|GET ]
GETEX {key} [ EX|PX|EXAT|PXAT {time} ] [ PERSIST ]
GETDEL {key}
GETSET {key} {val}
SETNX {key} {val}
SETEX|PSETEX {key} {time} {val}
MSET {key} {val} [ {key} {val} ] [ {key} ]
MSETNX {key} {val} [ {key} {val} ] [ {key} ]
MGET {key} [ {key} ] [ {key} ]
APPEND {key} {val}
STRLEN {key}
GETRANGE|SUBSTR {key} {int} {int}
SETRANGE {key} {small} {val}
INCR|DECR {key}
INCRBY|DECRBY {key} {int}
INCRBYFLOAT {key} {float}
LCS {key} {key} [ LEN ] [ IDX ] [ MINMATCHLEN {small} ] [ WITHMATCHLEN ]
LCS {key} {key} [ LEN|IDX ]
SETBIT {key} {small} {bit}
GETBIT {key} {small}
BITCOUNT {key} [ {int} {int} [ BYTE|BIT|X ] ]
BITCOUNT {key} [ {small} {small} [ BYTE|BIT ] ]
BITPOS {key} {bit} [ {int} [ {int} [ BYTE|BIT|X ] ] ]
BITPOS {key} {bit} [ {small} [ {small} [ BYTE|BIT ] ] ]
BITOP AND|OR|XOR|NOT|BAD {key} {key} [ {key} ] [ {key} ]
BITFIELD|BITFIELD_RO {key} GET {type} {off} [ GET {type} {off} ]
BITFIELD {key} [ OVERFLOW WRAP|SAT|X ] SET|INCRBY {type} {off} {int} [ GET {type} {off} ]
BITFIELD {key} SET u1 2000 0 OVERFLOW FAIL SET|INCRBY {type} {off} {int} [ GET {type} {off} ]
BITFIELD {key} [ OVERFLOW WRAP|SAT ] INCRBY {type} {off} {int}`+
	` [ OVERFLOW SAT ] SET {type} {off} {int}
BITFIELD|BITFIELD_RO {key} [ GET|SET|OVERFLOW ] [ {type} ] [ {off} ]
DEL {key}
OBJECT ENCODING {key}
PEXPIRETIME {key}
`), "\n")

// TestRandomAgainstRedis runs the same random commands here and on redis-server, and compares every
// reply. Relative times are too long to matter.
func TestRandomAgainstRedis(t *testing.T) {
	redis, l, r := startPeer(t, testserver.Redis), newLocal(t), testseed.Rand(t)
	var history []string
	for i := range *countFlag {
		args := words(r, pick(r, randomPatterns...))
		if i%500 == 0 {
			args = []string{"FLUSHALL"}
		}
		argv := make([][]byte, len(args))
		for j, a := range args {
			argv[j] = []byte(a)
		}
		if history = append(history, fmt.Sprintf("%q", args)); len(history) > 100 {
			history = history[1:]
		}
		want := strings.Join(cliLines(redis.do(t, argv), 0), "\n")
		got := strings.Join(cliLines(l.do(t, argv), 0), "\n")
		if got != want && !(args[0] == "PEXPIRETIME" && len(got) == len(want)) {
			t.Fatalf("after\n%s\ncommand %d: %q\ngot:  %s\nwant: %s", strings.Join(history, "\n"),
				i, args, got, want)
		}
	}
}
