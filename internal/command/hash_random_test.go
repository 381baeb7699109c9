package command

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"godwit/internal/testseed"
	"godwit/internal/testserver"
)

var randomHashPatterns = strings.Split(strings.TrimSpace(`
HSET|HMSET {key} {val} {val} [ {val} {val} ] [ {val} {val} ] [ {val} ]
HSET {key} {val} {val} {small} {val} {small} {val}
HSET {key} {small} {val} {small} {val} {small} {val}
HSETNX {key} {val} {val}
HGET|HSTRLEN|HEXISTS {key} {val}
HMGET {key} {val} [ {small} ] [ {val} ]
HGETALL|HKEYS|HVALS|HLEN {key}
HDEL {key} {val} [ {small} ] [ {val} ] [ {small} ]
HDEL {key} {small} {small} {small} {small} {small}
HINCRBY {key} {val} {int}
HINCRBYFLOAT {key} {val} {float}
HRANDFIELD {key} 1000
HSCAN {key} 0 COUNT 1000 [ MATCH *|?|[0-9]* ]
HSCAN {key} {int} X
OBJECT ENCODING {key}
SET list x
DEL {key}
RENAME {key} {key}
COPY {key} {key} REPLACE
CONFIG SET hash-max-listpack-entries 0|3|8|512
CONFIG SET hash-max-listpack-value 4|20|64
`), "\n")

// unordered are the commands that reply in the order of a hash table.
var unordered = map[string]bool{"HGETALL": true, "HKEYS": true, "HVALS": true, "HSCAN": true,
	"HRANDFIELD": true}

// TestRandomHashesAgainstRedis does what TestRandomAgainstRedis does, for hashes in all encodings.
func TestRandomHashesAgainstRedis(t *testing.T) {
	redis, l, r := startPeer(t, testserver.Redis), newLocal(t), testseed.Rand(t)
	argv := func(args []string) (out [][]byte) {
		for _, a := range args {
			out = append(out, []byte(a))
		}
		return out
	}
	var history []string
	for i := range *countFlag / 2 {
		args := words(r, pick(r, randomHashPatterns...))
		if i%500 == 0 {
			args = []string{"FLUSHALL"}
		}
		if history = append(history, fmt.Sprintf("%q", args)); len(history) > 100 {
			history = history[1:]
		}
		want, got := cliLines(redis.do(t, argv(args)), 0), cliLines(l.do(t, argv(args)), 0)
		if unordered[args[0]] {
			want, got = sortedElements(want), sortedElements(got)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("after\n%s\ncommand %d: %q\ngot:  %q\nwant: %q", strings.Join(history, "\n"),
				i, args, got, want)
		}
	}
}

// sortedElements returns the elements of an array without their numbers, sorted.
func sortedElements(lines []string) []string {
	out := make([]string, len(lines))
	for i, l := range lines {
		if n := strings.LastIndex(l, ") "); n >= 0 && strings.Trim(l[:n], "0123456789) ") == "" {
			l = l[n+2:]
		}
		out[i] = l
	}
	slices.Sort(out)
	return out
}
