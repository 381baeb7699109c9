package listpack

import (
	"bytes"
	"testing"

	"godwit/internal/resp/client"
	"godwit/internal/testseed"
	"godwit/internal/testserver"
)

// startRedis starts a Redis 8 of this test's own.
func startRedis(t *testing.T) *client.Client {
	t.Helper()
	return testserver.Redis.Start(t, "", "--rdbcompression", "no").Client(t)
}

// blob cuts the listpack out of a DUMP payload. Before it are the type and a length of 1, 2 or 5
// bytes, after it version and checksum.
func blob(t *testing.T, dump string) []byte {
	t.Helper()
	b := []byte(dump)[1 : len(dump)-10]
	switch b[0] >> 6 {
	case 0:
		return b[1:]
	case 1:
		return b[2:]
	default:
		return b[5:]
	}
}

// TestBytesOfRedis builds what redis-server builds and compares the bytes: a small hash, sorted set
// and list.
func TestBytesOfRedis(t *testing.T) {
	c := startRedis(t)
	r := testseed.Rand(t)
	do := func(args ...any) string {
		t.Helper()
		v, err := c.Do(args...)
		if err != nil || v.IsError() {
			t.Fatal(args, err, v)
		}
		return v.Str
	}
	do("CONFIG", "SET", "hash-max-listpack-value", "100000", "list-max-listpack-size", "1000")
	for range 100 {
		do("DEL", "h", "z")
		h, z := NewSlice(), NewSlice()
		for range r.IntN(40) + 1 {
			f, v := element(r), element(r)
			if r.IntN(20) == 0 {
				v = string(make([]byte, 4000+r.IntN(30_000)))
			}
			do("HSET", "h", f, v)
			if p := Find(h.B, First(h.B), []byte(f), 1); p != 0 {
				Replace(h, Next(h.B, p), []byte(v))
			} else {
				AppendPair(h, []byte(f), []byte(v))
			}
		}
		for i := range r.IntN(40) + 1 {
			do("ZADD", "z", i*i, "m"+string(rune('A'+i)))
			AppendPair(z, []byte("m"+string(rune('A'+i))), []byte("0"))
			ReplaceInt(z, Last(z.B), int64(i*i))
		}
		for key, s := range map[string]*Slice{"h": h, "z": z} {
			if got := blob(t, do("DUMP", key)); !bytes.Equal(got, s.B) {
				t.Fatalf("%s: redis-server has\n% x\nnot\n% x", key, got, s.B)
			}
		}
	}
	l := NewSlice()
	for range 50 {
		e := element(r)
		do("RPUSH", "l", e)
		Append(l, []byte(e))
	}
	// A list is a quicklist of nodes: behind the type, their number (1), and how the node is packed
	// (2), comes the listpack.
	if got := blob(t, do("DUMP", "l")[2:]); !bytes.Equal(got, l.B) {
		t.Fatalf("list: redis-server has\n% x\nnot\n% x", got, l.B)
	}
}
