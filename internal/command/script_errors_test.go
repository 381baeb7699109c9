package command

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/testserver"
)

// errorCounts returns what INFO says of errors.
func errorCounts(t *testing.T, s server) (counts []string) {
	for field, v := range info(t, s, "everything") {
		if at := strings.Index(v, "rejected_calls="); at >= 0 && field != "cmdstat_info" {
			counts = append(counts, field+" "+v[at:])
		} else if strings.HasPrefix(field, "errorstat_") || field == "total_error_replies" {
			counts = append(counts, field+" "+v)
		}
	}
	slices.Sort(counts)
	return counts
}

// TestScriptErrorCounts checks that errors in scripts are counted as by Redis 8: once each, by the
// command that makes them or by the script that replies them.
func TestScriptErrorCounts(t *testing.T) {
	redis, l := startPeer(t, testserver.Redis), newLocal(t)
	for _, src := range []string{
		"return redis.call('incr', 'str')", "redis.pcall('get') return 1",
		"return {redis.pcall('incr', 'str'), redis.pcall('get'), {err='MY x'}, {err='OUR y'}}",
		"return {{err='MY x'}, {{redis.pcall('nosuch')}}}", "return {err=''}",
		"local ok, e = pcall(redis.call, 'incr', 'str') error(e)", "error({err='MY x'})",
		"redis.setresp(3) return {map={a={err='A b'}, b={err='C d'}}}", "error('boom')",
		"return redis.error_reply('MY x')", "return redis.error_reply('x')", "redis.call()",
		"return {err=('LONG'):rep(10) .. ' x'}", "return {{{err='A\\r\\nb c'}}}",
		"local e = redis.pcall('get') e.ignore_error_stats_update = nil return {e, e}",
	} {
		var counts [2][]string
		for i, s := range []server{redis, l} {
			s.do(t, argvOf("set", "str", "x"))
			s.do(t, argvOf("config", "resetstat"))
			s.do(t, argvOf("eval", src, "0"))
			s.do(t, argvOf("eval_ro", src, "0"))
			counts[i] = errorCounts(t, s)
		}
		require.Equal(t, counts[0], counts[1], src)
	}
}

// TestErrorCountsAreCopies checks that the code of an error outlives the request that it quotes.
func TestErrorCountsAreCopies(t *testing.T) {
	l := newLocal(t)
	argv := argvOf("eval", "return {{err=ARGV[1]}}", "0", "QUOTED text")
	l.do(t, argv)
	copy(argv[3], "XXXXXXXXXXX")
	require.Equal(t, "count=1", info(t, l, "errorstats")["errorstat_QUOTED"])
}
