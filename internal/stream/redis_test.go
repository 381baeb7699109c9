package stream

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/arena"
	"godwit/internal/testseed"
	"godwit/internal/testserver"
)

// dumped reads lengths and strings of a DUMP payload that is not compressed.
type dumped struct{ b []byte }

func (d *dumped) length() (n int) {
	switch c := d.b[0]; {
	case c < 0x40:
		n, d.b = int(c), d.b[1:]
	case c < 0x80:
		n, d.b = int(c&63)<<8|int(d.b[1]), d.b[2:]
	default:
		n, d.b = int(binary.BigEndian.Uint32(d.b[1:])), d.b[5:]
	}
	return n
}

func (d *dumped) string() []byte {
	n := d.length()
	s := d.b[:n]
	d.b = d.b[n:]
	return s
}

// TestNodesOfRedis adds the same entries to a stream of Redis and to one of ours. As long as
// nothing is deleted, their nodes are the same, byte for byte. Then a builder takes over what Redis
// has after deletions.
func TestNodesOfRedis(t *testing.T) {
	c := testserver.Redis.Start(t, "", "--rdbcompression", "no", "--stream-node-max-bytes", "0",
		"--stream-node-max-entries", "7").Client(t)
	do := func(args ...any) string {
		t.Helper()
		v, err := c.Do(args...)
		require.NoError(t, err)
		require.False(t, v.IsError(), "%v: %v", args, v)
		return v.Str
	}
	nodes := func() (masters []ID, lps [][]byte) {
		d := dumped{[]byte(do("DUMP", "s"))[1:]}
		for range d.length() {
			masters = append(masters, IDOf(d.string()))
			lps = append(lps, d.string())
		}
		return masters, lps
	}
	m := &entryModel{t: t, rng: testseed.Rand(t), sh: &Shared{A: arena.New()},
		lim: Limits{NodeEntries: 7}, short: true}
	m.s = New(m.sh)
	for range 500 {
		n := len(m.m)
		if m.add(); len(m.m) == n {
			break
		}
		e := m.m[n]
		args := []any{"XADD", "s", e.id.String()}
		for _, f := range e.fields {
			args = append(args, f)
		}
		do(args...)
	}
	masters, lps := nodes()
	require.Equal(t, m.s.Nodes(), len(masters))
	m.s.EachPart(func(p *Part) bool {
		if p.Kind == PartEntries {
			lp, master := p.AppendListpack(nil)
			require.Equal(t, masters[0], master)
			require.Equal(t, lps[0], lp)
			masters, lps = masters[1:], lps[1:]
		}
		return true
	})
	for range len(m.m) / 2 {
		id := m.someID()
		m.del(id)
		do("XDEL", "s", id.String())
	}
	b := NewBuilder(m.lim)
	masters, lps = nodes()
	for i := range masters {
		require.NoError(t, b.Listpack(masters[i], lps[i]))
	}
	require.Equal(t, m.m, builtOf(t, b))
}
