package integration

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/resp/client"
	"godwit/internal/testserver"
)

// farFuture is a deadline that no test lives to see, unix ms.
const farFuture = 1893456000000

// dataset makes every type in every encoding, small and large, with access times if the policy
// keeps them, in two databases. With timed, fields of hashes have deadlines.
func dataset(t *testing.T, c *client.Client, timed bool) {
	t.Helper()
	long := strings.Repeat("compress me ", 20)
	for _, db := range []int{0, 9} {
		do(t, c, "SELECT", db)
		for _, args := range [][]any{
			{"SET", "s:int", 12345}, {"SET", "s:long", long}, {"SET", "s:binary", "\x00\xff\r\n"},
			{"SET", "s:ttl", "v", "PXAT", farFuture}, {"APPEND", "s:raw", "abc"},
			{"SETBIT", "s:bits", 70000, 1}, {"PFADD", "hll", "a", "b", "c"},
			{"GEOADD", "geo", 13.361389, 38.115556, "Palermo"},
			{"SADD", "set:listpack", "a", "b", 1}, {"SADD", "set:ints", 1, 2, 1 << 40},
			{"ZADD", "z:inf", "inf", "a", "-inf", "b", 0.1, "c", "1e300", "d"},
			{"RPUSH", "l:plain", strings.Repeat("long", 5000), "x"}, {"HSET", "h:empty", "", ""},
			{"HSET", "h:ints", 1, -1, 70000, 1 << 40, "x", long},
		} {
			do(t, c, args...)
		}
		for _, n := range []int{3, 2000} {
			for i := range n {
				v := fmt.Sprintf("element:%d", i)
				c.Queue("RPUSH", fmt.Sprint("l:", n), v)
				c.Queue("SADD", fmt.Sprint("set:", n), v)
				c.Queue("SADD", fmt.Sprint("ints:", n), i*i)
				c.Queue("ZADD", fmt.Sprint("z:", n), float64(i)/7, v)
				c.Queue("HSET", fmt.Sprint("h:", n), v, strings.Repeat("x", i%100))
				if timed {
					c.Queue("HSET", fmt.Sprint("ht:", n), v, i)
				}
			}
			answers, err := c.Pipeline()
			require.NoError(t, err)
			for _, v := range answers {
				require.False(t, v.IsError(), v)
			}
			if timed {
				do(t, c, "HPEXPIREAT", fmt.Sprint("ht:", n), farFuture, "FIELDS", 1, "element:1")
				do(t, c, "HPEXPIREAT", fmt.Sprint("ht:", n), farFuture+n, "FIELDS", 1, "element:0")
			}
		}
		do(t, c, "PEXPIREAT", "h:2000", farFuture)
		streams(t, c)
	}
	do(t, c, "SELECT", 0)
	do(t, c, "FUNCTION", "LOAD", "REPLACE",
		"#!lua name=lib\nredis.register_function('f', function() return 1 end)")
}

// contentOf returns all that the databases of dataset hold, as commands tell it.
func contentOf(t *testing.T, c *client.Client, timed bool) map[string]string {
	t.Helper()
	m := map[string]string{}
	for _, db := range []int{0, 9} {
		do(t, c, "SELECT", db)
		for _, key := range do(t, c, "KEYS", "*").Strings() {
			var v any
			switch kind := do(t, c, "TYPE", key).Text(); kind {
			case "string":
				v = do(t, c, "GET", key).Text()
			case "list":
				v = do(t, c, "LRANGE", key, 0, -1).Strings()
			case "set":
				v = toSet(do(t, c, "SMEMBERS", key).Strings(), 1)
			case "zset":
				list := do(t, c, "ZRANGE", key, 0, -1, "WITHSCORES").Strings()
				for i := 1; i < len(list); i += 2 { // versions print them differently
					score, err := strconv.ParseFloat(list[i], 64)
					require.NoError(t, err)
					list[i] = strconv.FormatFloat(score, 'g', -1, 64)
				}
				v = list
			case "hash":
				v = toSet(do(t, c, "HGETALL", key).Strings(), 2)
				if timed {
					v = fmt.Sprint(v, do(t, c, "HPEXPIRETIME", key, "FIELDS", 3, "element:0",
						"element:1", "element:2"))
				}
			case "stream":
				v = streamContent(t, c, key, timed)
			default:
				t.Fatalf("%s is a %s", key, kind)
			}
			m[fmt.Sprint(db, " ", key)] = fmt.Sprint(do(t, c, "PEXPIRETIME", key).Int, " ", v)
		}
	}
	do(t, c, "SELECT", 0)
	m["functions"] = ""
	if v := do(t, c, "FUNCTION", "LIST"); len(v.Elems) > 0 {
		m["functions"] = fmt.Sprint(do(t, c, "FCALL", "f", 0))
	}
	return m
}

// toSet returns groups of n elements without their order.
func toSet(list []string, n int) map[string]bool {
	m := map[string]bool{}
	for i := 0; i < len(list); i += n {
		m[strings.Join(list[i:i+n], "=")] = true
	}
	return m
}

// filePeer is a server that files go to and come from.
type filePeer struct {
	name  string
	peer  testserver.Peer // "": the installed redis-server
	timed bool            // a file for it can tell the deadlines of fields
	write string          // the rdb-version that is written for it
	head  string          // of such a file
}

var filePeers = []filePeer{
	{"Redis 6", "", false, "9", "REDIS0009"}, // read by a later one
	{"Redis 7.0", "", false, "10", "REDIS0010"},
	{"Redis 8", testserver.Redis, true, "auto", "REDIS0012"},
	{"Redis 8, version 12", testserver.Redis, true, "12", "REDIS0012"},
	{"Valkey 8", testserver.Valkey, false, "11", "REDIS0011"}, // read by a later one
	{"Valkey 9", testserver.Valkey, true, "80", "VALKEY080"},
}

// start runs the server in the folder. It checks what it reads to the last byte.
func (o filePeer) start(t *testing.T, dir string, args ...string) *testserver.Server {
	t.Helper()
	args = append([]string{"--save", "", "--sanitize-dump-payload", "yes",
		"--enable-debug-command", "yes"}, args...)
	if o.peer == "" {
		return testserver.StartRedis(t, dir, args...)
	}
	return o.peer.Start(t, dir, args...)
}

// copyFiles copies the snapshot of one server, and the log as its manifest has it, to the folder of
// another.
func copyFiles(t *testing.T, from, to string) {
	t.Helper()
	const manifest = "appendonlydir/appendonly.aof.manifest"
	text, err := os.ReadFile(filepath.Join(from, manifest))
	require.NoError(t, err)
	names := []string{"dump.rdb", manifest}
	for line := range strings.Lines(string(text)) {
		if words := strings.Fields(line); words[5] != "h" { // which is history
			names = append(names, filepath.Join("appendonlydir", words[1]))
		}
	}
	for _, name := range names {
		copyFile(t, filepath.Join(from, name), filepath.Join(to, name))
	}
}

// payloads moves all keys by DUMP and RESTORE.
func payloads(t *testing.T, from, to *client.Client) {
	t.Helper()
	for _, db := range []int{0, 9} {
		do(t, from, "SELECT", db)
		do(t, to, "SELECT", db)
		for _, key := range do(t, from, "KEYS", "*").Strings() {
			deadline := max(do(t, from, "PEXPIRETIME", key).Int, 0)
			do(t, to, "RESTORE", key, deadline, do(t, from, "DUMP", key).Text(), "ABSTTL")
		}
	}
	do(t, from, "SELECT", 0)
	do(t, to, "SELECT", 0)
}

// TestFilesFor writes files and payloads for other servers, which load them.
func TestFilesFor(t *testing.T) {
	godwitOnly(t)
	for _, o := range filePeers {
		t.Run(o.name, func(t *testing.T) {
			t.Parallel()
			s := startServer(t, with("--rdb-version", o.write, "--appendonly", "yes",
				"--appendfsync", "always")...)
			c := s.dial(t)
			dataset(t, c, true)
			do(t, c, "SAVE")
			saved := contentOf(t, c, o.timed)
			dropNewer(t, c, o) // only snapshots leave it out
			if o.write == "9" {
				do(t, c, "FUNCTION", "FLUSH")
			}
			rewriteAOF(t, c)
			do(t, c, "SET", "increment", "v")
			logged := contentOf(t, c, o.timed)
			dir := testserver.Dir(t)
			copyFiles(t, s.Dir, dir)
			checkFiles(t, dir, o)
			switch {
			case !o.timed:
				require.NoError(t, s.WaitLog("without their deadlines, of key \"ht:"))
			case o.write == "auto":
				require.NoError(t, s.WaitLog("The RDB file has version 12, because fields of 4 "+
					"hashes have deadlines"))
			}
			switch o.write {
			case "9":
				require.NoError(t, s.WaitLog("6 streams were written without the numbers of"))
			case "10":
				require.NoError(t, s.WaitLog("the groups of 4 streams were written without"))
			}
			if o.write == "9" { // which has no functions
				require.NoError(t, s.WaitLog("rdb-version 9: 1 libraries of functions were left"))
				saved["functions"] = ""
			}
			p := o.start(t, dir, "--appendonly", "yes")
			require.Equal(t, logged, contentOf(t, p.Client(t), o.timed))
			require.NoError(t, p.Stop())
			p = o.start(t, dir)
			pc := p.Client(t)
			require.Equal(t, saved, contentOf(t, pc, o.timed))

			do(t, pc, "FLUSHALL")
			do(t, pc, "FUNCTION", "FLUSH")
			do(t, c, "FUNCTION", "FLUSH")
			payloads(t, c, pc)
			require.Equal(t, contentOf(t, c, o.timed), contentOf(t, pc, o.timed))
		})
	}
}

// dropNewer deletes what raises the version of the log's base: hashes whose fields have deadlines,
// and streams whose consumers tell when they were active.
func dropNewer(t *testing.T, c *client.Client, o filePeer) {
	t.Helper()
	for _, db := range []int{9, 0} {
		do(t, c, "SELECT", db)
		if !o.timed {
			do(t, c, "DEL", "ht:3", "ht:2000")
		}
		switch o.write {
		case "9":
			do(t, c, "DEL", "events", "jobs", "log")
		case "10":
			do(t, c, "DEL", "events", "jobs")
		}
	}
}

// TestBaseIsWhole checks that the log's base keeps what the version of rdb-version cannot tell: a
// start must find what was there.
func TestBaseIsWhole(t *testing.T) {
	godwitOnly(t)
	for _, version := range []string{"9", "10", "11", "12", "80"} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			s := startServer(t, with("--rdb-version", version, "--appendonly", "yes",
				"--appendfsync", "always")...)
			c := s.dial(t)
			dataset(t, c, true)
			rewriteAOF(t, c)
			want := contentOf(t, c, true)
			s.Kill()
			again, err := s.Restart()
			require.NoError(t, err)
			t.Cleanup(func() { again.Finish(t) })
			require.Equal(t, want, contentOf(t, again.Client(t), true))
		})
	}
}

// checkFiles looks at the heads of the files in the folder, and for Redis 7.0 has its checkers look
// at all of them.
func checkFiles(t *testing.T, dir string, o filePeer) {
	t.Helper()
	for _, name := range []string{"dump.rdb", "appendonlydir/appendonly.aof.2.base.rdb"} {
		file, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err)
		require.Equal(t, o.head, string(file[:9]))
	}
	if o.peer != "" {
		return
	}
	checkAOF(t, dir)
	bin := testserver.Program(t, "redis-check-rdb")
	out, err := exec.Command(bin, filepath.Join(dir, "dump.rdb")).CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Contains(t, string(out), "RDB looks OK")
}

// increments runs commands that only some servers have, for their logs.
func increments(t *testing.T, c *client.Client, o filePeer) {
	t.Helper()
	do(t, c, "SET", "increment", "v", "PXAT", farFuture)
	for _, args := range [][]any{
		{"XADD", "events", "MAXLEN", "~", 150, "2000-*", "a", "b"},
		{"XREADGROUP", "GROUP", "g1", "late", "COUNT", 3, "STREAMS", "events", "jobs", ">", ">"},
		{"XREADGROUP", "GROUP", "g2", "late", "NOACK", "STREAMS", "jobs", ">"},
		{"XCLAIM", "jobs", "g1", "thief", 0, "111-1", "RETRYCOUNT", 9},
		{"XAUTOCLAIM", "jobs", "g1", "thief", 0, 0, "COUNT", 5}, {"XACK", "jobs", "g1", "110-1"},
		{"XAUTOCLAIM", "events", "g1", "busy", 0, 0},
		{"XDEL", "log", "5-1"}, {"XSETID", "log", "3000-0", "ENTRIESADDED", 5000},
		{"XGROUP", "SETID", "jobs", "g2", "$"}, {"XGROUP", "DELCONSUMER", "events", "g2", "busy"},
	} {
		do(t, c, args...)
	}
	if !o.timed {
		return
	}
	for _, args := range [][]any{
		{"HSET", "i", "element:0", 0, "element:1", 1, "element:2", 2, "gone", 3, "kept", 4},
		{"HPEXPIREAT", "i", farFuture, "FIELDS", 1, "element:0"},
		{"HSETEX", "i", "PXAT", farFuture + 1, "FIELDS", 1, "element:1", "one"},
		{"HGETEX", "i", "PXAT", farFuture + 2, "FIELDS", 1, "element:2"},
		{"HGETEX", "i", "PERSIST", "FIELDS", 1, "element:0"},
		{"HEXPIRE", "i", 0, "FIELDS", 1, "gone"}, {"HGETDEL", "i", "FIELDS", 1, "kept"},
		{"HSETEX", "i2", "FNX", "KEEPTTL", "FIELDS", 1, "f", "v"},
	} {
		do(t, c, args...)
	}
	if o.peer == testserver.Valkey {
		do(t, c, "MSETEX", 2, "m1", "a", "m2", "b", "NX", "PXAT", farFuture)
		do(t, c, "SET", "m1", "c", "IFEQ", "a")
		do(t, c, "DELIFEQ", "m2", "b")
	}
}

// TestFilesFrom loads the files and payloads of other servers, access times among them.
func TestFilesFrom(t *testing.T) {
	godwitOnly(t)
	bin, err := serverBinary()
	require.NoError(t, err)
	for i, o := range []filePeer{filePeers[1], filePeers[2], filePeers[5]} {
		t.Run(o.name, func(t *testing.T) {
			t.Parallel()
			policy := []string{"allkeys-lru", "allkeys-lfu", "volatile-lru"}[i]
			dir := testserver.Dir(t)
			p := o.start(t, dir, "--appendonly", "yes", "--maxmemory-policy", policy)
			pc := p.Client(t)
			dataset(t, pc, o.timed)
			do(t, pc, "SAVE")
			saved := contentOf(t, pc, o.timed)
			rewriteAOF(t, pc)
			increments(t, pc, o)
			want := contentOf(t, pc, o.timed)
			digests := []any{"DEBUG", "DIGEST-VALUE", "h:3", "h:2000", "ht:3", "ht:2000", "l:2000",
				"set:2000", "i"}
			wantDigests := do(t, pc, digests...)

			fresh := startServer(t, debugging...)
			fc := fresh.dial(t)
			do(t, fc, "FUNCTION", "RESTORE", do(t, pc, "FUNCTION", "DUMP").Text())
			payloads(t, pc, fc)
			require.Equal(t, want, contentOf(t, fc, o.timed))

			require.NoError(t, p.Stop())
			own := t.TempDir()
			copyFiles(t, dir, own)
			for _, check := range [][]string{{"--check-rdb", "dump.rdb"},
				{"--check-aof", "appendonlydir/appendonly.aof.manifest"}} {
				cmd := exec.Command(bin, check...)
				cmd.Dir = own
				out, err := cmd.CombinedOutput()
				require.NoError(t, err, "%s", out)
			}
			s := startServer(t, with("--appendonly", "yes", "--dir", own)...)
			c := s.dial(t)
			require.Equal(t, want, contentOf(t, c, o.timed))
			if o.peer != testserver.Valkey { // which digests no deadlines of fields
				require.Equal(t, wantDigests, do(t, c, digests...))
			}
			s.stop(t)
			s = startServer(t, with("--dir", own)...)
			require.Equal(t, saved, contentOf(t, s.dial(t), o.timed))
		})
	}
}
