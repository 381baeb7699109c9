package integration

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/resp/client"
)

// TestClaimWaits lets a consumer wait with XREADGROUP CLAIM until an entry that another one was
// delivered has been pending for long enough, and until it may be claimed earlier than that.
func TestClaimWaits(t *testing.T) {
	godwitOnly(t)
	everywhere(t, func(e *env) {
		run := func(args ...any) { require.NoError(e, e.c.Do(e.ctx, args...).Err()) }
		deliver := func(key string) {
			run("XADD", key, "1-1", "f", "v")
			run("XREADGROUP", "GROUP", "g", "other", "STREAMS", key, ">")
		}
		for name, c := range map[string]struct {
			least  any
			wake   func() // nil: only time does
			idle   int64
			before int64 // deliveries
		}{
			"the time passes": {50, nil, 50, 1},
			"it is NACKed": {1 << 40, func() {
				run("XNACK", "s", "g", "FAIL", "IDS", 1, "1-1")
			}, 50, 1},
			"it is said to have been idle": {100_000, func() {
				run("XCLAIM", "s", "g", "other", 0, "1-1", "IDLE", 200_000)
			}, 200_000, 2},
			"and not for long enough yet": {90_000, func() {
				run("XCLAIM", "s", "g", "other", 0, "1-1", "IDLE", 89_990, "JUSTID")
			}, 90_000, 1},
		} {
			e.c.Del(e.ctx, "s", "t")
			run("XGROUP", "CREATE", "s", "g", "$", "MKSTREAM")
			run("XGROUP", "CREATE", "t", "g", "$", "MKSTREAM")
			deliver("s")
			b := e.blocker()
			cmd := []any{"XREADGROUP", "GROUP", "g", "c", "CLAIM", c.least, "BLOCK", 0,
				"STREAMS", "s", "t", ">", ">"}
			if c.wake == nil { // its wait may be over before it can be seen
				b.Queue(cmd...)
				require.NoError(e, b.Flush(), name)
			} else {
				b.send(cmd...)
				c.wake()
			}
			v, err := b.Receive()
			require.NoError(e, err, name)
			entry := firstEntry(v)
			require.Equal(e, `"1-1"`, entry[0].String(), name)
			require.GreaterOrEqual(e, entry[2].Int, c.idle, name)
			require.Equal(e, c.before, entry[3].Int, name)
			b.Close()
		}
	})
}

// firstEntry returns the first entry of the first stream in a reply of XREADGROUP.
func firstEntry(v client.Value) []client.Value {
	if v.Kind == client.Array {
		v = v.Elems[0]
	}
	return v.Elems[1].Elems[0].Elems
}

// TestClaimWaitsForWhatComes lets consumers wait while nothing is pending. One is delivered what
// comes, and when it has not acknowledged that for long enough, the next one gets it.
func TestClaimWaitsForWhatComes(t *testing.T) {
	godwitOnly(t)
	everywhere(t, func(e *env) {
		run := func(args ...any) { require.NoError(e, e.c.Do(e.ctx, args...).Err()) }
		run("XGROUP", "CREATE", "s", "g", "$", "MKSTREAM")
		var bs []*blocker
		for _, name := range []string{"a", "b", "c"} {
			bs = append(bs, e.block("XREADGROUP", "GROUP", "g", name, "CLAIM", 30, "BLOCK", 0,
				"STREAMS", "s", ">"))
		}
		run("XADD", "s", "1-1", "f", "v")
		for n, b := range bs {
			v, err := b.Receive()
			require.NoError(e, err)
			require.Equal(e, int64(n), firstEntry(v)[3].Int)
			b.Close()
		}
		require.Equal(e, int64(3), e.c.Do(e.ctx, "XPENDING", "s", "g", "-", "+", 1, "c").
			Val().([]any)[0].([]any)[3])
	})
}

// TestClaimBehindGone claims entries that are behind thousands of others that a trimmed stream does
// not have any more. A command drops a thousand of those and leaves the rest to the next one. If it
// may block it goes on by itself. Without COUNT it drops all.
func TestClaimBehindGone(t *testing.T) {
	godwitOnly(t)
	everywhere(t, func(e *env) {
		b := e.blocker()
		claim := func(args ...any) client.Value {
			b.Queue(append([]any{"XREADGROUP", "GROUP", "g", "d", "CLAIM", 0}, args...)...)
			require.NoError(e, b.Flush())
			v, err := b.Receive()
			require.NoError(e, err)
			return v
		}
		pending := func() int64 { return e.c.XPending(e.ctx, "s", "g").Val().Count }
		fill := func() {
			e.c.Del(e.ctx, "s")
			require.NoError(e, e.c.Do(e.ctx, "EVAL", `for i = 1, 3503 do
	redis.call('XADD', 's', i .. '-1', 'f', 'v')
end
redis.call('XGROUP', 'CREATE', 's', 'g', 0)
redis.call('XREADGROUP', 'GROUP', 'g', 'c', 'STREAMS', 's', '>')
redis.call('XTRIM', 's', 'MAXLEN', 3)
return 1`, 0).Err())
		}
		fill()
		for _, left := range []int64{2503, 1503, 503} {
			require.True(e, claim("COUNT", 3, "STREAMS", "s", ">").IsNull())
			require.Equal(e, left, pending())
		}
		v := claim("COUNT", 3, "STREAMS", "s", ">")
		require.Equal(e, `"3501-1"`, firstEntry(v)[0].String())
		require.Equal(e, int64(3), pending())
		for _, args := range [][]any{{"BLOCK", 0, "COUNT", 1}, {"MAXCOUNT", 351}, {}} {
			fill()
			v := claim(append(args, "STREAMS", "s", ">")...)
			require.Equal(e, `"3501-1"`, firstEntry(v)[0].String())
			require.Equal(e, int64(3), pending())
		}
		// NACKed entries are due whatever time is asked for.
		fill()
		for from := 1; from <= 3503; from += 103 {
			args := []any{"XNACK", "s", "g", "FAIL", "IDS", 103}
			for i := range 103 {
				args = append(args, fmt.Sprint(from+i, "-1"))
			}
			require.NoError(e, e.c.Do(e.ctx, args...).Err())
		}
		b.Queue("XREADGROUP", "GROUP", "g", "d", "CLAIM", int64(math.MaxInt64), "BLOCK", 0,
			"COUNT", 1, "STREAMS", "s", ">")
		require.NoError(e, b.Flush())
		v, err := b.Receive()
		require.NoError(e, err)
		require.Equal(e, `"3501-1"`, firstEntry(v)[0].String())
		b.Close()
	})
}
