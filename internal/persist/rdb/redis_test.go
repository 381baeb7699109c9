package rdb

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/object"
	"godwit/internal/resp/client"
	"godwit/internal/testserver"
)

var rewrite = flag.Bool("rewrite", false,
	"make the golden files again, with the redis-server that is installed")

// redisServer is a redis-server of the test's own.
type redisServer struct {
	*client.Client
	t   *testing.T
	dir string
}

// startRedis starts a server in the directory, "" for one of its own, whose dump.rdb it loads.
func startRedis(t *testing.T, dir string, args ...string) *redisServer {
	t.Helper()
	return startPeer(t, "", dir, args...)
}

// startPeer starts the peer's server in the same way, the installed redis-server for "".
func startPeer(t *testing.T, p testserver.Peer, dir string, args ...string) *redisServer {
	t.Helper()
	args = append([]string{"--enable-debug-command", "yes"}, args...)
	start := p.Start
	if p == "" {
		start = testserver.StartRedis
	}
	srv := start(t, dir, args...)
	return &redisServer{srv.Client(t), t, srv.Dir}
}

func (s *redisServer) do(args ...any) client.Value {
	s.t.Helper()
	v, err := s.Do(args...)
	require.NoError(s.t, err)
	require.False(s.t, v.IsError(), "%q: %v", args, v)
	return v
}

// image returns what database db of the server holds, in the form of the function of that name.
func (s *redisServer) image(db int) map[string]string {
	s.t.Helper()
	s.do("SELECT", db)
	m := map[string]string{}
	for _, key := range s.do("KEYS", "*").Strings() {
		deadline := max(s.do("PEXPIRETIME", key).Int, 0)
		kind := s.do("TYPE", key).Str
		m[key] = fmt.Sprint(kind, " ", deadline, " ", s.content(kind, key))
	}
	return m
}

func (s *redisServer) content(kind, key string) string {
	var out []string
	switch kind {
	case "string":
		return s.do("GET", key).Str
	case "stream":
		return s.streamText(key)
	case "list":
		out = s.do("LRANGE", key, 0, -1).Strings()
	case "set":
		out = s.do("SMEMBERS", key).Strings()
		slices.Sort(out)
	case "zset":
		for pair := range slices.Chunk(s.do("ZRANGE", key, 0, -1, "WITHSCORES").Strings(), 2) {
			score, ok := object.ParseScore([]byte(pair[1])) // 7.0 prints more digits
			require.True(s.t, ok)
			out = append(out, string(object.AppendScore([]byte(pair[0]), score+0)))
		}
	case "hash":
		for pair := range slices.Chunk(s.do("HGETALL", key).Strings(), 2) {
			out = append(out, fmt.Sprintf("%q %q 0", pair[0], pair[1]))
		}
		slices.Sort(out)
	}
	return fmt.Sprint(len(out), strings.Join(out, "\x00"))
}

// TestRedisLoads gives files of ours to redis-check-rdb and to redis-server, and reads the file
// that redis-server makes of it.
func TestRedisLoads(t *testing.T) {
	check := testserver.Program(t, "redis-check-rdb")
	seed, rng := newSeed(t)
	for _, depth := range []int{0, 1} {
		lim := redisLimits()
		lim.ListCompressDepth = depth
		ks := newKeyspace(t, lim, seed)
		fillAll(ks, rng, 300, false)
		dir := testserver.Dir(t)
		name := filepath.Join(dir, "dump.rdb")
		require.NoError(t, os.WriteFile(name, encodeAll(ks, depth == 0), 0o600))
		out, err := exec.Command(check, name).CombinedOutput()
		require.NoError(t, err, "%s", out)
		s := startRedis(t, dir)
		for i := range 3 {
			require.Equal(t, image(ks.DB(i)), s.image(i))
		}
		s.do("SAVE")
		b, err := os.ReadFile(name)
		require.NoError(t, err)
		back := newKeyspace(t, redisLimits(), seed)
		require.NoError(t, load(back, bytes.NewReader(b), ReadOptions{Workers: 1}))
		for i := range 3 {
			require.Equal(t, image(ks.DB(i)), image(back.DB(i)))
		}
	}
}

// TestDumpOfRedis compares payloads with those of redis-server, where both have the same order and
// encoding.
func TestDumpOfRedis(t *testing.T) {
	s := startRedis(t, "", "--rdbcompression", "no")
	seed, rng := newSeed(t)
	ks := newKeyspace(t, redisLimits(), seed)
	db := ks.DB(0)
	same := 0
	for i := range 400 {
		key := fmt.Append(nil, "k", i)
		fillKey(db, key,
			[]object.Type{object.String, object.List, object.Set, object.ZSet, object.Hash}[i%5],
			rng)
		stripDeadlines(db, key)
		en := db.Peek(key)
		var e Encoder
		Dump(&e, ks.Heap, en)
		require.Equal(t, Version, int(e.B[len(e.B)-10]))
		// It restores there, to the same value.
		s.do("RESTORE", key, 0, e.B)
		require.Equal(t, content(db, en), s.content(en.Type().String(), string(key)))
		theirs := []byte(s.do("DUMP", key).Str)
		v, err := Restore(theirs, ReadOptions{})
		require.NoError(t, err)
		require.NoError(t, Insert(ks.DB(1), key, &v, NoAccess()))
		require.Equal(t, content(db, en), content(ks.DB(1), ks.DB(1).Peek(key)))
		// Tables have an order of their own.
		if enc := en.Encoding(); enc != object.EncHashtable &&
			!(en.Type() == object.Set && enc.Base() == object.EncListpack) {
			require.Equal(t, theirs, e.B, "%s %s", en.Type(), enc)
			same++
		}
	}
	require.Greater(t, same, 100)
}

// golden are the commands that made testdata/redis-7.0.15.rdb.
//
//lint:table the lines of a script
const (
	golden = `SET string value
SET int8 -5
SET int16 -3000
SET int32 100000
SET int64 12345678901
SET empty ""
SETEX volatile 4000000000 later
SET long aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
SET 123 key
RPUSH list a b 3 -4 100000 aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
CONFIG SET list-max-listpack-size 2
RPUSH quicklist a b c d e f g 8 9
DEBUG QUICKLIST-PACKED-THRESHOLD 100B
RPUSH plain a b aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa c
CONFIG SET list-compress-depth 1
RPUSH compressed aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb ccccccccccccccccccccccc ddddddddddddddddddddddd e f g h
SADD intset16 1 2 3 -4
SADD intset32 1 2 100000
SADD intset64 1 2 12345678901
SADD set a b 3 cccc
ZADD zset 1 a 2.5 b -inf c inf d 1e100 e 3 3
HSET hash f v g 5 h 12345678901
CONFIG SET hash-max-listpack-entries 1 zset-max-listpack-entries 1
ZADD skiplist 1 a 2.5 b -inf c inf d 1e100 e 3 3
HSET hashtable f v g 5 h 12345678901 i aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
FUNCTION
SELECT 5
SET elsewhere 1`
)

// TestGolden reads a file that redis-server 7.0.15 wrote.
func TestGolden(t *testing.T) {
	const name = "testdata/redis-7.0.15"
	if *rewrite {
		makeGolden(t, name)
	}
	b, err := os.ReadFile(name + ".rdb")
	require.NoError(t, err)
	want, err := os.ReadFile(name + ".txt")
	require.NoError(t, err)
	ks := newKeyspace(t, redisLimits(), 1)
	require.NoError(t, load(ks, bytes.NewReader(b), ReadOptions{}))
	require.Equal(t, string(want), listing(image(ks.DB(0)))+listing(image(ks.DB(5))))
}

func listing(m map[string]string) string {
	var lines []string
	for k, v := range m {
		lines = append(lines, fmt.Sprintf("%q %q\n", k, v))
	}
	slices.Sort(lines)
	return strings.Join(lines, "")
}

func makeGolden(t *testing.T, name string) {
	s := startRedis(t, "")
	for line := range strings.Lines(golden) {
		var args []any
		for _, f := range strings.Fields(line) {
			args = append(args, strings.Trim(f, `"`))
		}
		if args[0] == "FUNCTION" {
			args = []any{"FUNCTION", "LOAD",
				"#!lua name=lib\nredis.register_function('f', function() return 1 end)"}
		}
		s.do(args...)
	}
	s.do("SAVE")
	b, err := os.ReadFile(filepath.Join(s.dir, "dump.rdb"))
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll("testdata", 0o755))
	require.NoError(t, os.WriteFile(name+".rdb", b, 0o600))
	text := listing(s.image(0)) + listing(s.image(5))
	require.NoError(t, os.WriteFile(name+".txt", []byte(text), 0o600))
}
