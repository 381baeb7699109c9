package hostile

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// dropDeadlines deletes the keys of the current database that change with time: those with a
// deadline, and hashes with a field that has one.
const dropDeadlines = `local cursor = '0'
repeat
  local r = redis.call('SCAN', cursor, 'COUNT', 1000)
  cursor = r[1]
  for _, k in ipairs(r[2]) do
    if redis.call('PTTL', k) >= 0 then
      redis.call('DEL', k)
    elseif redis.call('TYPE', k).ok == 'hash' then
      for _, f in ipairs(redis.call('HKEYS', k)) do
        if redis.call('HPTTL', k, 'FIELDS', 1, f)[1] >= 0 then redis.call('DEL', k) break end
      end
    end
  end
until cursor == '0'`

// examine checks the data set while nobody else uses it. Its tables must add up, and it must be the
// same after a RELOAD and after a restart. It returns the server, which is a new process every
// other time.
func examine(t *testing.T, p *process, dir string, n uint64) *process {
	require.False(t, p.Ended(), "the server has ended")
	p.text(t, "CLIENT", "UNPAUSE")
	_, err := p.Do("FAILOVER", "ABORT") // one that waits for a replica holds writes back
	require.NoError(t, err)
	p.join(t)
	for _, kv := range [][2]string{{"maxmemory", "0"}, {"maxmemory-clients", "0"},
		{"appendonly", "no"}, {"proto-max-bulk-len", "512mb"}, {"save", ""}} {
		p.text(t, "CONFIG", "SET", kv[0], kv[1])
	}
	p.text(t, "DEBUG", "SET-ACTIVE-EXPIRE", "1")
	for db := range 16 {
		v, err := p.Do("EVAL", "redis.call('SELECT', ARGV[1]) "+dropDeadlines, "0", db)
		require.NoError(t, err)
		require.False(t, v.IsError(), v.Text())
	}
	require.Equal(t, "OK", p.text(t, "DEBUG", "CHECK"))
	digest, streams := p.text(t, "DEBUG", "DIGEST"), p.streams(t)
	require.Equal(t, "OK", p.text(t, "DEBUG", "RELOAD"))
	require.Equal(t, digest, p.text(t, "DEBUG", "DIGEST"), "after a reload")
	require.Equal(t, streams, p.streams(t), "after a reload")
	require.Equal(t, "OK", p.text(t, "DEBUG", "CHECK"))
	if n%2 == 1 {
		p.text(t, "CONFIG", "SET", "save", "3600 1")
		p.text(t, "SAVE")
		p.stop(t)
		p = start(t, dir, p.more)
		require.Equal(t, digest, p.text(t, "DEBUG", "DIGEST"), "after a restart")
		require.Equal(t, streams, p.streams(t), "after a restart")
	}
	if n%4 == 3 {
		p.text(t, "FLUSHALL")
		p.text(t, "FUNCTION", "FLUSH")
		require.Less(t, number(p.text(t, "INFO", "memory"), "used_memory"), int64(200<<20),
			"of an empty server")
	}
	p.text(t, "CONFIG", "SET", "maxmemory", memoryLimit)
	return p
}

// streams returns what there is to know of all streams, groups and pending entries included, which
// the digest leaves out. It leaves out how entries are laid out, and what goes by itself.
func (p *process) streams(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	c := p.Client(t)
	defer c.Close()
	for db := range 16 {
		_, err := c.Do("SELECT", db)
		require.NoError(t, err)
		var keys []string
		for cursor := "0"; ; {
			page, err := c.Do("SCAN", cursor, "COUNT", 1_000_000, "TYPE", "stream")
			require.NoError(t, err)
			keys = append(keys, page.Elems[1].Strings()...)
			if cursor = page.Elems[0].Text(); cursor == "0" {
				break
			}
		}
		slices.Sort(keys)
		for _, key := range keys {
			info, err := c.Do("XINFO", "STREAM", key, "FULL", "COUNT", 0)
			require.NoError(t, err)
			fmt.Fprintf(&b, "%d %q", db, key)
			for i := 0; i+1 < len(info.Elems); i += 2 {
				switch name := info.Elems[i].Text(); name {
				case "radix-tree-keys", "radix-tree-nodes", "pids-tracked", "iids-tracked":
				default:
					fmt.Fprintf(&b, " %s=%s", name, info.Elems[i+1])
				}
			}
			b.WriteByte('\n')
		}
	}
	return b.String()
}
