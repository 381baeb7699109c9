package integration

import (
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
)

func TestInfo(t *testing.T) {
	everywhere(t, func(e *env) {
		c, ctx := e.c, e.ctx
		require.NoError(e, c.Set(ctx, "k", "v", time.Hour).Err())
		info, err := c.InfoMap(ctx).Result()
		require.NoError(e, err)
		for _, section := range []string{"Server", "Clients", "Memory", "Persistence", "Stats",
			"Replication", "CPU", "Cluster", "Keyspace"} {
			require.NotEmpty(e, info[section], section)
		}
		require.Equal(e, "8.0.6", info["Server"]["redis_version"])
		require.Equal(e, strconv.Itoa(e.shard.Pid), info["Server"]["process_id"])
		require.Equal(e, strconv.Itoa(e.shard.Port), info["Server"]["tcp_port"])
		require.Contains(e, info["Keyspace"][fmt.Sprintf("db%d", e.db)],
			"keys=1,expires=1,avg_ttl=")
		require.Equal(e, "master", info["Replication"]["role"])
		one, err := c.Info(ctx, "replication", "CPU").Result()
		require.NoError(e, err)
		require.True(e, strings.HasPrefix(one, "# Replication\r\n"), "%q", one)
		require.Contains(e, one, "# CPU\r\n")
		require.NotContains(e, one, "# Memory")
		stats, err := c.Info(ctx, "commandstats").Result()
		require.NoError(e, err)
		require.Contains(e, stats, "cmdstat_set:calls=")
		require.Equal(e, built.godwit,
			strings.Contains(c.Info(ctx, "server").Val(), "godwit_version:"))
	})
}

func TestCommandTable(t *testing.T) {
	everywhere(t, func(e *env) {
		c, ctx := e.c, e.ctx
		all, err := c.Command(ctx).Result()
		require.NoError(e, err)
		count, err := c.Do(ctx, "COMMAND", "COUNT").Int()
		require.NoError(e, err)
		require.Len(e, all, count)
		get := all["get"]
		require.NotNil(e, get)
		require.EqualValues(e, 2, get.Arity)
		require.ElementsMatch(e, []string{"readonly", "fast"}, get.Flags)
		require.ElementsMatch(e, []string{"@read", "@string", "@fast"}, get.ACLFlags)
		require.EqualValues(e, 1, get.FirstKeyPos)
		require.True(e, get.ReadOnly)

		names, err := c.CommandList(ctx, nil).Result()
		require.NoError(e, err)
		top := slices.DeleteFunc(slices.Clone(names), func(n string) bool {
			return strings.Contains(n, "|")
		})
		require.Len(e, top, count)
		bitmaps, err := c.CommandList(ctx, &redis.FilterBy{ACLCat: "bitmap"}).Result()
		require.NoError(e, err)
		require.Subset(e, bitmaps,
			[]string{"setbit", "getbit", "bitcount", "bitpos", "bitop", "bitfield", "bitfield_ro"})
		keys, err := c.CommandGetKeys(ctx, "MSET", "a", 1, "b", 2).Result()
		require.NoError(e, err)
		require.Equal(e, []string{"a", "b"}, keys)
		flags, err := c.CommandGetKeysAndFlags(ctx, "COPY", "a", "b").Result()
		require.NoError(e, err)
		require.Len(e, flags, 2)
		require.ElementsMatch(e, []string{"OW", "update"}, flags[1].Flags)

		docs := pairs(e, c.Do(ctx, "COMMAND", "DOCS", "set", "object").Val())
		set := pairs(e, docs["set"])
		for _, field := range []string{"summary", "since", "group", "complexity", "arguments"} {
			require.NotEmpty(e, set[field], field)
		}
		require.Contains(e, pairs(e, pairs(e, docs["object"])["subcommands"]), "object|encoding")
	})
}

// TestArity checks that every command and subcommand refuses to run with too few arguments, and
// with too many where their number is fixed.
func TestArity(t *testing.T) {
	everywhere(t, func(e *env) {
		names, err := e.c.CommandList(e.ctx, nil).Result()
		require.NoError(e, err)
		c := e.conn()
		for _, name := range names {
			v, err := c.Do(e.ctx, "COMMAND", "INFO", name).Slice()
			require.NoError(e, err, name)
			arity := int(v[0].([]any)[1].(int64))
			args := []any{}
			for word := range strings.SplitSeq(name, "|") {
				args = append(args, word)
			}
			given := len(args)
			least := max(arity, -arity)
			want := "ERR wrong number of arguments for '" + name + "' command"
			if name == "exec" {
				want = "EXECABORT Transaction discarded because of: wrong number of arguments " +
					"for 'exec' command"
			}
			if least > given {
				e.errs(c.Do(e.ctx, args...).Err(), want)
			}
			if arity > 0 {
				for len(args) <= arity {
					args = append(args, "x")
				}
				e.errs(c.Do(e.ctx, args...).Err(), want)
			}
		}
		require.NoError(e, c.Ping(e.ctx).Err())
	})
}

func TestServerCommands(t *testing.T) {
	everywhere(t, func(e *env) {
		c, ctx := e.c, e.ctx
		now, err := c.Time(ctx).Result()
		require.NoError(e, err)
		require.InDelta(e, 0, time.Since(now).Seconds(), 60)
		saved, err := c.LastSave(ctx).Result()
		require.NoError(e, err)
		require.Less(e, time.Since(time.Unix(saved, 0)), time.Hour)
		require.NoError(e, c.Set(ctx, "k", strings.Repeat("x", 1000), 0).Err())
		size, err := c.MemoryUsage(ctx, "k").Result()
		require.NoError(e, err)
		require.Greater(e, size, int64(1000))
		require.Less(e, size, int64(1600))
		require.ErrorIs(e, c.MemoryUsage(ctx, "none").Err(), redis.Nil)
		memory := pairs(e, c.Do(ctx, "MEMORY", "STATS").Val())
		require.Positive(e, memory["total.allocated"])
		require.NotEmpty(e, c.Do(ctx, "MEMORY", "DOCTOR").Val())
		require.NotEmpty(e, c.Do(ctx, "LOLWUT").Val())
		require.NotEmpty(e, c.Do(ctx, "LOLWUT", "VERSION", 5).Val())
		object, err := c.DebugObject(ctx, "k").Result()
		require.NoError(e, err)
		require.Contains(e, object, "encoding:raw")
		require.NoError(e, c.Do(ctx, "DEBUG", "SLEEP", "0.001").Err())
		require.NoError(e, c.Do(ctx, "DEBUG", "POPULATE", 100, "p", 20).Err())
		require.EqualValues(e, 101, c.DBSize(ctx).Val())
		require.Len(e, c.Get(ctx, "p:7").Val(), 20)
	})
}

func TestConfigCommands(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	c, ctx := s.client(t), t.Context()
	got, err := c.ConfigGet(ctx, "*max-*").Result()
	require.NoError(t, err)
	require.Equal(t, "128", got["slowlog-max-len"])
	require.NoError(t, c.ConfigSet(ctx, "slowlog-max-len", "7").Err())
	require.NoError(t, c.Do(ctx, "CONFIG", "SET", "maxmemory", "1gb", "timeout", "33").Err())
	several := pairs(t, c.Do(ctx, "CONFIG", "GET", "maxmemory", "time*", "slowlog-max-*").Val())
	require.Equal(t,
		map[string]any{"maxmemory": "1073741824", "timeout": "33", "slowlog-max-len": "7"}, several)
	require.ErrorContains(t,
		c.Do(ctx, "CONFIG", "SET", "timeout", "44", "maxmemory-policy", "nonsense").Err(),
		"ERR CONFIG SET failed")
	require.Equal(t, "33", c.ConfigGet(ctx, "timeout").Val()["timeout"], "all or nothing")
	require.NoError(t, c.Set(ctx, "k", "v", 0).Err())
	require.Positive(t, infoInt(t, c, "total_commands_processed"))
	require.NoError(t, c.ConfigResetStat(ctx).Err())
	require.Less(t, infoInt(t, c, "total_commands_processed"), int64(5))
	require.EqualError(t, c.ConfigRewrite(ctx).Err(),
		"ERR The server is running without a config file")
}

func TestSlowLog(t *testing.T) {
	t.Parallel()
	s := startServer(t, "--slowlog-log-slower-than", "0", "--slowlog-max-len", "5")
	c, ctx := s.client(t), t.Context()
	require.NoError(t, c.SlowLogReset(ctx).Err())
	for i := range 10 {
		require.NoError(t, c.Set(ctx, fmt.Sprint("k", i), strings.Repeat("x", 500), 0).Err())
	}
	require.EqualValues(t, 5, c.SlowLogLen(ctx).Val())
	log, err := c.SlowLogGet(ctx, 3).Result()
	require.NoError(t, err)
	require.Len(t, log, 3)
	require.Equal(t, log[0].ID, log[1].ID+1)
	require.Equal(t, []string{"set", "k9", strings.Repeat("x", 128) + "... (372 more bytes)"},
		log[1].Args, "after SLOWLOG LEN")
	require.NotEmpty(t, log[0].ClientAddr)
	require.Len(t, c.SlowLogGet(ctx, -1).Val(), 5)
}

func TestLatencyEvents(t *testing.T) {
	t.Parallel()
	s := startServer(t, "--latency-monitor-threshold", "150", "--enable-debug-command", "yes")
	c, ctx := s.client(t), t.Context()
	require.NoError(t, c.Do(ctx, "DEBUG", "SLEEP", "0.2").Err())
	events, err := c.Latency(ctx).Result()
	require.NoError(t, err)
	sleep := slices.IndexFunc(events, func(l redis.Latency) bool { return l.Name == "command" })
	require.GreaterOrEqual(t, sleep, 0, "%v", events)
	require.GreaterOrEqual(t, events[sleep].Max, 200*time.Millisecond)
	history, err := c.Do(ctx, "LATENCY", "HISTORY", "command").Slice()
	require.NoError(t, err)
	require.NotEmpty(t, history)
	require.Contains(t, c.Do(ctx, "LATENCY", "GRAPH", "command").Val(), "command - high ")
	require.NotEmpty(t, c.Do(ctx, "LATENCY", "DOCTOR").Val())
	histogram := pairs(t, c.Do(ctx, "LATENCY", "HISTOGRAM", "debug").Val())
	require.EqualValues(t, 1, pairs(t, histogram["debug"])["calls"])
	require.NoError(t, c.LatencyReset(ctx).Err())
	require.Empty(t, c.Latency(ctx).Val())
}

func TestMonitor(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	m := s.dial(t) // not go-redis, whose MONITOR races with its own pool
	require.Equal(t, "OK", do(t, m, "MONITOR").Text())
	require.NoError(t, s.client(t).Set(t.Context(), "key\x00", "a \"quoted\"\n value", 0).Err())
	for {
		line, err := m.Receive()
		require.NoError(t, err)
		if strings.Contains(line.Text(), "key") {
			require.Regexp(t,
				`^\d+\.\d{6} \[0 127\.0\.0\.1:\d+\] "set" "key\\x00" "a \\"quoted\\"\\n value"$`,
				line.Text())
			return
		}
	}
}

// TestDebugGuard checks that DEBUG is refused unless the configuration allows it.
func TestDebugGuard(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	require.ErrorContains(t, s.client(t).Do(t.Context(), "DEBUG", "SLEEP", 0).Err(),
		"ERR DEBUG command not allowed.")
	s = startServer(t, "--enable-debug-command", "local")
	require.NoError(t, s.client(t).Do(t.Context(), "DEBUG", "SLEEP", 0).Err())
}

// TestShutdown checks that SHUTDOWN never answers, that the process exits with 0, and that the port
// is free.
func TestShutdown(t *testing.T) {
	t.Parallel()
	for _, mode := range [][]any{{}, {"NOSAVE"}, {"NOSAVE", "NOW", "FORCE"}} {
		s := startServer(t)
		c := s.dial(t)
		_, err := c.Do(append([]any{"SHUTDOWN"}, mode...)...)
		require.Error(t, err, "no reply but the end of the connection")
		require.Zero(t, s.Exited(t))
		require.Contains(t, s.Output(), "User requested shutdown...")
		l, err := net.Listen("tcp", s.Addr)
		require.NoError(t, err)
		l.Close()
	}
}

func TestEviction(t *testing.T) {
	t.Parallel()
	const value = 4096
	for _, policy := range []string{"allkeys-lru", "allkeys-lfu", "allkeys-random", "volatile-lru",
		"volatile-lfu", "volatile-random", "volatile-ttl"} {
		t.Run(policy, func(t *testing.T) {
			s := startServer(t, "--maxmemory-policy", policy)
			c, ctx := s.client(t), t.Context()
			limit := infoInt(t, c, "used_memory") + 4<<20
			require.NoError(t, c.ConfigSet(ctx, "maxmemory", fmt.Sprint(limit)).Err())
			var ttl time.Duration
			if strings.HasPrefix(policy, "volatile") {
				ttl = time.Hour
				require.NoError(t, c.Set(ctx, "keep", "v", 0).Err())
			}
			for i := range 4000 {
				require.NoError(t,
					c.Set(ctx, fmt.Sprint("k", i), strings.Repeat("x", value), ttl).Err())
			}
			require.Positive(t, infoInt(t, c, "evicted_keys"))
			require.Less(t, c.DBSize(ctx).Val(), int64(4<<20/value+10))
			require.Greater(t, c.DBSize(ctx).Val(), int64(2<<20/value))
			if ttl > 0 {
				require.Equal(t, "v", c.Get(ctx, "keep").Val(), "it has no deadline")
			}
		})
	}
	t.Run("noeviction", func(t *testing.T) {
		s := startServer(t)
		c, ctx := s.client(t), t.Context()
		require.NoError(t, c.Set(ctx, "k", "v", 0).Err())
		require.NoError(t, c.ConfigSet(ctx, "maxmemory", "1").Err())
		const oom = "OOM command not allowed when used memory > 'maxmemory'."
		require.EqualError(t, c.Set(ctx, "k", "w", 0).Err(), oom)
		require.EqualError(t, c.Append(ctx, "k", "w").Err(), oom)
		require.Equal(t, "v", c.Get(ctx, "k").Val())
		require.EqualValues(t, 1, c.Del(ctx, "k").Val())
		require.NoError(t, c.ConfigSet(ctx, "maxmemory", "0").Err())
		require.NoError(t, c.Set(ctx, "k", "w", 0).Err())
	})
}
