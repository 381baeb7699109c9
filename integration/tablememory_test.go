package integration

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"godwit/internal/resp/client"
)

// tableRows is how many entries each table gets, tableNameSize how many bytes each name has.
const tableRows, tableNameSize = 5000, 100

func tableName(i int) string { return fmt.Sprint(i, strings.Repeat("x", tableNameSize)) }

// memoryTables are the tables of the server: how to fill each, and how to empty it.
var memoryTables = map[string]struct {
	fill, empty func(t *testing.T, c, other *client.Client)
}{
	"slow log": {
		func(t *testing.T, c, _ *client.Client) {
			do(t, c, "CONFIG", "SET", "slowlog-log-slower-than", 0, "slowlog-max-len", 2*tableRows)
			for i := range tableRows {
				do(t, c, "EXISTS", tableName(i))
			}
			do(t, c, "CONFIG", "SET", "slowlog-log-slower-than", -1)
		},
		func(t *testing.T, c, _ *client.Client) { do(t, c, "SLOWLOG", "RESET") },
	},
	"ACL log": {
		func(t *testing.T, c, other *client.Client) {
			do(t, c, "CONFIG", "SET", "acllog-max-len", tableRows)
			do(t, c, "ACL", "SETUSER", "nobody", "on", ">p", "+get")
			do(t, other, "AUTH", "nobody", "p")
			for i := range tableRows {
				v, err := other.Do("GET", tableName(i))
				require.NoError(t, err)
				require.True(t, v.IsError())
			}
		},
		func(t *testing.T, c, _ *client.Client) { do(t, c, "ACL", "LOG", "RESET") },
	},
	"channels": {
		func(t *testing.T, _, other *client.Client) {
			for i := range tableRows {
				do(t, other, "SUBSCRIBE", tableName(i))
			}
		},
		closeOther,
	},
	"patterns": {
		func(t *testing.T, _, other *client.Client) {
			for i := range tableRows {
				do(t, other, "PSUBSCRIBE", tableName(i)+"*")
			}
		},
		closeOther,
	},
	"watched keys": {
		func(t *testing.T, _, other *client.Client) {
			for i := range tableRows {
				do(t, other, "WATCH", tableName(i))
			}
		},
		closeOther,
	},
	"queued commands": {
		func(t *testing.T, _, other *client.Client) {
			do(t, other, "MULTI")
			for i := range tableRows {
				do(t, other, "GET", tableName(i))
			}
		},
		closeOther,
	},
	"awaited keys": {
		func(t *testing.T, _, other *client.Client) {
			args := []any{"BLPOP"}
			for i := range tableRows {
				args = append(args, tableName(i))
			}
			other.Queue(append(args, 0)...)
			require.NoError(t, other.Flush())
		},
		closeOther,
	},
}

// TestTablesCountAsUsedMemory fills each of the server's tables. Used memory must grow by at least
// what the table holds, and come back when it is empty.
func TestTablesCountAsUsedMemory(t *testing.T) {
	const tick = 20 * time.Millisecond
	s := startServer(t)
	for what, table := range memoryTables {
		t.Run(what, func(t *testing.T) {
			c, other := s.dial(t), s.dial(t)
			used := func() int64 { return memoryInfo(t, c, "used_memory") }
			do(t, c, "PING")
			before := used()
			table.fill(t, c, other)
			require.Eventually(t, func() bool {
				return used()-before >= tableRows*tableNameSize
			}, patience, tick, "%d", used()-before)
			require.Less(t, used()-before, int64(tableRows*(5*tableNameSize+250)))
			table.empty(t, c, other)
			require.Eventually(t, func() bool {
				return used()-before < tableRows*tableNameSize/4
			}, patience, tick, "%d", used()-before)
		})
	}
}

func closeOther(t *testing.T, _, other *client.Client) { require.NoError(t, other.Close()) }
