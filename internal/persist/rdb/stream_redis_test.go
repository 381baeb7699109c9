package rdb

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/object"
	"godwit/internal/resp/client"
	"godwit/internal/testserver"
)

// streamServers are the servers that write streams, and the versions of the files that are kept of
// them.
var streamServers = []struct {
	name string
	peer testserver.Peer
	to   Target
	op   byte
}{
	{"redis-7.0.15", "", Redis70, typeStream2},
	{"redis-8.0.6", testserver.Redis, Redis74, typeStream3},
	{"valkey-9.1.2", testserver.Valkey, ValkeyOwn, typeStream3},
}

// fields returns a reply of names and values as a map.
func fields(v client.Value) map[string]client.Value {
	m := map[string]client.Value{}
	for i := 0; i+1 < len(v.Elems); i += 2 {
		m[v.Elems[i].Str] = v.Elems[i+1]
	}
	return m
}

// streamText returns all that XINFO tells of a stream, in the form of the function of that name.
func (s *redisServer) streamText(key string) string {
	s.t.Helper()
	var b strings.Builder
	full := fields(s.do("XINFO", "STREAM", key, "FULL", "COUNT", 0))
	fmt.Fprintf(&b, "last %s deleted %s added %d\n", full["last-generated-id"].Str,
		full["max-deleted-entry-id"].Str, full["entries-added"].Int)
	for _, e := range full["entries"].Elems {
		b.WriteString(e.Elems[0].Str)
		for _, f := range e.Elems[1].Strings() {
			fmt.Fprintf(&b, " %q", f)
		}
		b.WriteByte('\n')
	}
	for _, g := range full["groups"].Elems {
		g := fields(g)
		read := int64(-1)
		if v := g["entries-read"]; !v.IsNull() {
			read = v.Int
		}
		fmt.Fprintf(&b, "group %q last %s read %d\n", g["name"].Str,
			g["last-delivered-id"].Str, read)
		for _, p := range g["pending"].Elems {
			fmt.Fprintf(&b, "%s %q at %d times %d\n", p.Elems[0].Str, p.Elems[1].Str,
				p.Elems[2].Int, p.Elems[3].Int)
		}
		for _, c := range g["consumers"].Elems {
			c := fields(c)
			active, ok := c["active-time"]
			if !ok {
				active = c["seen-time"]
			}
			fmt.Fprintf(&b, "consumer %q seen %d active %d\n", c["name"].Str, c["seen-time"].Int,
				active.Int)
			for _, p := range c["pending"].Elems {
				fmt.Fprintf(&b, "%s\n", p.Elems[0].Str)
			}
		}
	}
	return b.String()
}

// randomStream makes a random stream on the server.
func (s *redisServer) randomStream(key string, rng *rand.Rand) {
	s.do("CONFIG", "SET", "stream-node-max-entries", 1+rng.IntN(30))
	ms := rng.Int64N(1 << 41)
	var ids []any
	names := [][]byte{randomText(rng, 10), randomText(rng, 30), []byte("f"), []byte("7")}
	for range 1 + rng.IntN(1<<rng.IntN(8)) {
		ms += rng.Int64N(1 << rng.IntN(20))
		args := []any{"XADD", key, fmt.Sprint(ms, "-*")}
		for i := range 1 + rng.IntN(3) {
			args = append(args, names[(i+rng.IntN(8)/7)%4], randomText(rng, 50))
		}
		ids = append(ids, s.do(args...).Str)
	}
	for i := range rng.IntN(4) {
		group := fmt.Sprint("g", i)
		s.do("XGROUP", "CREATE", key, group, []any{0, "$", ids[rng.IntN(len(ids))]}[rng.IntN(3)])
		for range rng.IntN(6) {
			s.groupCommand(key, group, rng, ids)
		}
	}
	for _, id := range ids {
		if rng.IntN(8) == 0 {
			s.do("XDEL", key, id)
		}
	}
	switch id := ids[rng.IntN(len(ids))]; rng.IntN(6) {
	case 0:
		s.do("XTRIM", key, "MAXLEN", rng.IntN(len(ids)))
	case 1: // which leaves a node without entries if it is the last of one
		s.do("XDEL", key, id)
		s.do("XTRIM", key, "MINID", "=", id)
	}
	if rng.IntN(4) == 0 {
		s.do("XSETID", key, fmt.Sprint(ms+5, "-7"), "ENTRIESADDED", 10000, "MAXDELETEDID",
			fmt.Sprint(ms+4, "-0"))
	}
}

// groupCommand runs a random command of a group.
func (s *redisServer) groupCommand(key, group string, rng *rand.Rand, ids []any) {
	consumer := fmt.Sprint("c", rng.IntN(3))
	id := ids[rng.IntN(len(ids))]
	switch rng.IntN(6) {
	case 0:
		s.do("XGROUP", "CREATECONSUMER", key, group, consumer)
	case 1:
		s.do("XCLAIM", key, group, consumer, 0, id, "TIME", 5, "RETRYCOUNT", rng.Int64(), "FORCE",
			"JUSTID")
	case 2:
		s.do("XACK", key, group, id)
	case 3:
		s.do("XGROUP", "SETID", key, group, id)
	default:
		s.do("XREADGROUP", "GROUP", group, consumer, "COUNT", 1+rng.IntN(50), "STREAMS", key, ">")
	}
}

// TestStreamsOfRedis gives streams of other servers to ours, and ours of them back.
func TestStreamsOfRedis(t *testing.T) {
	for _, o := range streamServers {
		t.Run(o.name, func(t *testing.T) {
			s := startPeer(t, o.peer, "")
			seed, rng := newSeed(t)
			ks := newKeyspace(t, redisLimits(), seed)
			same := 0
			for i := range 60 {
				key := fmt.Sprint("k", i)
				s.randomStream(key, rng)
				theirs := []byte(s.do("DUMP", key).Str)
				require.Equal(t, o.op, theirs[0])
				v, err := Restore(theirs, ReadOptions{})
				require.NoError(t, err)
				require.NoError(t, Insert(ks.DB(0), []byte(key), &v, NoAccess()))
				want := s.streamText(key)
				require.Equal(t, want, streamText(streamAt(t, ks.DB(0), key)))
				e := Encoder{Target: o.to, Compress: rng.IntN(2) == 0}
				Dump(&e, ks.Heap, ks.DB(0).Peek([]byte(key)))
				require.Equal(t, o.op, e.B[0])
				s.do("RESTORE", key, 0, e.B, "REPLACE")
				require.Equal(t, want, s.streamText(key))
				if bytes.Equal(theirs, e.B) {
					same++
				}
			}
			require.NotZero(t, same) // whose nodes have not shrunk
		})
	}
}

// TestServersLoadStreams gives files of ours to other servers, and payloads of all versions that
// they read.
func TestServersLoadStreams(t *testing.T) {
	for _, o := range streamServers {
		t.Run(o.name, func(t *testing.T) {
			seed, rng := newSeed(t)
			ks := newKeyspace(t, redisLimits(), seed)
			for i := range 30 {
				fillStream(ks.DB(0), fmt.Appendf(nil, "k%d", i), rng, false)
			}
			dir := testserver.Dir(t)
			b := encodeFor(ks, true, o.to)
			require.NoError(t, os.WriteFile(filepath.Join(dir, "dump.rdb"), b, 0o600))
			s := startPeer(t, o.peer, dir)
			back := newKeyspace(t, redisLimits(), seed)
			require.NoError(t, load(back, bytes.NewReader(b), ReadOptions{}))
			require.Equal(t, image(back.DB(0)), s.image(0))
			for key := range image(ks.DB(0)) {
				for target := Redis5; target <= o.to; target++ {
					if target > Redis74 && o.peer != testserver.Valkey ||
						target == Redis74 && o.peer == testserver.Valkey {
						continue
					}
					e := Encoder{Target: target}
					Dump(&e, ks.Heap, ks.DB(0).Peek([]byte(key)))
					s.do("RESTORE", "r", 0, e.B, "REPLACE")
					db := newKeyspace(t, redisLimits(), seed).DB(0)
					v, err := Restore(e.B, ReadOptions{})
					require.NoError(t, err)
					require.NoError(t, Insert(db, []byte("r"), &v, NoAccess()))
					require.Equal(t, streamText(streamAt(t, db, "r")), s.streamText("r"), target)
				}
			}
		})
	}
}

// TestGoldenStreams reads files with streams that other servers wrote.
func TestGoldenStreams(t *testing.T) {
	for _, o := range streamServers {
		name := "testdata/streams-" + o.name
		if *rewrite {
			s := startPeer(t, o.peer, "")
			_, rng := newSeed(t)
			for i := range 12 {
				s.randomStream(fmt.Sprint("k", i), rng)
			}
			s.do("XGROUP", "CREATE", "empty", "g", "$", "MKSTREAM")
			s.do("SAVE")
			b, err := os.ReadFile(filepath.Join(s.dir, "dump.rdb"))
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(name+".rdb", b, 0o600))
			require.NoError(t, os.WriteFile(name+".txt", []byte(listing(s.image(0))), 0o600))
		}
		b, err := os.ReadFile(name + ".rdb")
		require.NoError(t, err)
		want, err := os.ReadFile(name + ".txt")
		require.NoError(t, err)
		ks := newKeyspace(t, redisLimits(), 1)
		require.NoError(t, load(ks, bytes.NewReader(b), ReadOptions{}))
		require.Equal(t, string(want), listing(image(ks.DB(0))))
		require.Equal(t, object.Stream, ks.DB(0).Peek([]byte("empty")).Type())
	}
}
