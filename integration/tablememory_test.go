package integration

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"godwit/internal/resp/client"
)

// TestTablesCountAsUsedMemory fills each of the server's tables, and looks whether used memory
// grows by what they hold at least, and is back when they are empty.
func TestTablesCountAsUsedMemory(t *testing.T) {
	const (
		n, size = 5000, 100
		tick    = 20 * time.Millisecond
	)
	name := func(i int) string { return fmt.Sprint(i, strings.Repeat("x", size)) }
	tables := map[string]struct {
		fill, empty func(t *testing.T, c, other *client.Client)
	}{
		"slow log": {
			func(t *testing.T, c, _ *client.Client) {
				do(t, c, "CONFIG", "SET", "slowlog-log-slower-than", 0, "slowlog-max-len", 2*n)
				for i := range n {
					do(t, c, "EXISTS", name(i))
				}
				do(t, c, "CONFIG", "SET", "slowlog-log-slower-than", -1)
			},
			func(t *testing.T, c, _ *client.Client) { do(t, c, "SLOWLOG", "RESET") },
		},
		"ACL log": {
			func(t *testing.T, c, other *client.Client) {
				do(t, c, "CONFIG", "SET", "acllog-max-len", n)
				do(t, c, "ACL", "SETUSER", "nobody", "on", ">p", "+get")
				do(t, other, "AUTH", "nobody", "p")
				for i := range n {
					v, err := other.Do("GET", name(i))
					require.NoError(t, err)
					require.True(t, v.IsError())
				}
			},
			func(t *testing.T, c, _ *client.Client) { do(t, c, "ACL", "LOG", "RESET") },
		},
		"channels": {
			func(t *testing.T, _, other *client.Client) {
				for i := range n {
					do(t, other, "SUBSCRIBE", name(i))
				}
			},
			closeOther,
		},
		"patterns": {
			func(t *testing.T, _, other *client.Client) {
				for i := range n {
					do(t, other, "PSUBSCRIBE", name(i)+"*")
				}
			},
			closeOther,
		},
		"watched keys": {
			func(t *testing.T, _, other *client.Client) {
				for i := range n {
					do(t, other, "WATCH", name(i))
				}
			},
			closeOther,
		},
		"queued commands": {
			func(t *testing.T, _, other *client.Client) {
				do(t, other, "MULTI")
				for i := range n {
					do(t, other, "GET", name(i))
				}
			},
			closeOther,
		},
		"awaited keys": {
			func(t *testing.T, _, other *client.Client) {
				args := []any{"BLPOP"}
				for i := range n {
					args = append(args, name(i))
				}
				other.Queue(append(args, 0)...)
				require.NoError(t, other.Flush())
			},
			closeOther,
		},
	}
	s := startServer(t)
	for what, table := range tables {
		t.Run(what, func(t *testing.T) {
			c, other := s.dial(t), s.dial(t)
			used := func() int64 { return memoryInfo(t, c, "used_memory") }
			do(t, c, "PING")
			before := used()
			table.fill(t, c, other)
			require.Eventually(t, func() bool {
				return used()-before >= n*size
			}, patience, tick, "%d", used()-before)
			require.Less(t, used()-before, int64(n*(5*size+200)))
			table.empty(t, c, other)
			require.Eventually(t, func() bool {
				return used()-before < n*size/4
			}, patience, tick, "%d", used()-before)
		})
	}
}

func closeOther(t *testing.T, _, other *client.Client) { require.NoError(t, other.Close()) }
