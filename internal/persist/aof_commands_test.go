package persist_test

import (
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/command"
	"godwit/internal/config"
	"godwit/internal/engine"
	"godwit/internal/logging"
	"godwit/internal/object"
	"godwit/internal/persist"
	"godwit/internal/persist/rdb"
	"godwit/internal/resp"
	"godwit/internal/testseed"
)

// server is an engine without sockets.
type server struct {
	t testing.TB
	e *engine.Engine
	c *engine.Client

	ids int // of entries of streams so far
}

func newServer(t testing.TB) *server {
	log, err := logging.New(logging.Options{Out: io.Discard})
	require.NoError(t, err)
	e := engine.New(config.Default(), command.Table(), engine.Options{Log: log})
	return &server{t: t, e: e, c: e.LogClient()}
}

// do runs a command and returns its reply.
func (s *server) do(args ...any) string {
	var argv [][]byte
	for _, a := range args {
		argv = append(argv, fmt.Append(nil, a))
	}
	return s.run(argv)
}

func (s *server) run(argv [][]byte) string {
	s.e.Enter()
	defer s.e.Leave()
	s.c.W.Buf = s.c.W.Buf[:0]
	s.e.Exec(s.c, argv)
	require.False(s.t, strings.HasPrefix(string(s.c.W.Buf), "-"), "%q: %s", argv, s.c.W.Buf)
	return string(s.c.W.Buf)
}

// replay runs a log.
func (s *server) replay(text []byte) {
	var p resp.Parser
	for len(text) > 0 {
		argv, n, err := p.Next(text, &resp.Limits{MaxBulk: 1 << 30, Authenticated: true})
		require.NoError(s.t, err)
		require.NotZero(s.t, n, "torn: %q", text)
		s.run(argv)
		text = text[n:]
	}
}

// memory is a persist.Dest.
type memory struct{ b []byte }

func (m *memory) Write(p []byte) error {
	m.b = append(m.b, p...)
	return nil
}
func (m *memory) WriteString(f *object.FrozenString) error {
	return rdb.Pieces(f, make([]byte, 100), m.Write)
}
func (m *memory) Commit() error { return nil }
func (m *memory) Abort()        {}

// changeAny changes one key of any type at random.
func changeAny(s *server, rnd *rand.Rand) {
	s.do("SELECT", rnd.IntN(2))
	// Few elements stay packed; numbers become integers, and some values are large.
	el := func() string {
		if rnd.IntN(20) == 0 {
			return strings.Repeat("x", rnd.IntN(300))
		}
		return fmt.Sprint(rnd.IntN(2000) - 500)
	}
	k := func(kind string) string { return fmt.Sprint(kind, 1<<rnd.IntN(4)) }
	switch rnd.IntN(13) {
	case 0:
		s.do("SET", k("str"), el())
		switch rnd.IntN(4) {
		case 0:
			s.do("SETRANGE", k("str"), rnd.IntN(300), el())
		case 1:
			s.do("BITFIELD", k("str"), "SET", "i40", rnd.IntN(3000), rnd.IntN(1000))
		case 2:
			s.do("SETBIT", k("str"), rnd.IntN(3000), rnd.IntN(2))
		}
	case 1, 2:
		s.do("RPUSH", k("list"), el(), el())
	case 3:
		s.do("LPOP", k("list"))
	case 4:
		s.do("SADD", k("set"), el(), el())
	case 5:
		s.do("ZADD", k("zset"), rnd.NormFloat64()*1e3, el())
	case 6:
		s.do("HSET", k("hash"), rnd.IntN(700), el())
	case 7:
		s.do("HPEXPIREAT", k("hash"), 4_000_000_000_000+rnd.IntN(1000), "FIELDS", 1,
			rnd.IntN(700))
	case 8:
		s.do("BF.ADD", k("bloom"), el())
	case 9:
		kinds := []string{"str", "list", "set", "zset", "hash", "bloom", "cuckoo", "topk"}
		s.do("PEXPIREAT", k(kinds[rnd.IntN(8)]), 4_000_000_000_000+rnd.IntN(1000))
	case 10:
		s.do("CF.ADDNX", k("cuckoo"), el())
		s.do("CMS.INCRBY", "cms", el(), 1)
		s.do("TOPK.ADD", "topk1", el())
		s.do("TDIGEST.ADD", "tdigest", rnd.IntN(1000))
	default:
		changeStream(s, rnd, k("stream"), el())
	}
}

// TestCommandFormat makes a data set of everything, writes it as commands while it changes, and
// replays them.
func TestCommandFormat(t *testing.T) {
	rnd := testseed.Rand(t)
	s := newServer(t)
	for db := range 2 {
		s.do("SELECT", db)
		s.do("CMS.INITBYDIM", "cms", 2000, 5)
		s.do("TOPK.RESERVE", "topk1", 20)
		s.do("TDIGEST.CREATE", "tdigest")
	}
	change := func() { changeAny(s, rnd) }
	for round := range 3 {
		for range 10000 {
			change()
		}
		want, streams := s.do("DEBUG", "DIGEST"), s.streams()
		dest := &memory{}
		sn := persist.Start(s.e.KS, persist.NewCommandFormat(s.e.KS.Heap, int64(round%2)),
			persist.NewQueue(dest, nil),
			persist.Options{LongString: 50})
		for range 20 {
			sn.Slice(1, false)
			for range 20 {
				change()
			}
		}
		require.NoError(t, sn.Run())
		text := dest.b
		if round == 1 {
			require.Equal(t, "#TS:", string(text[:4]))
			text = text[strings.IndexByte(string(text), '\n')+1:]
		}
		back := newServer(t)
		back.replay(text)
		require.Equal(t, want, back.do("DEBUG", "DIGEST"))
		require.Equal(t, streams, back.streams())
	}
}
