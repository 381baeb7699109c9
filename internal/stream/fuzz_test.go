package stream

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/arena"
	"godwit/internal/listpack"
)

// seedStream returns a stream of all kinds of entries, some of them deleted.
func seedStream(t testing.TB, lim Limits, n int) *Stream {
	m := &entryModel{t: t, rng: rand.New(rand.NewPCG(1, 2)), sh: &Shared{A: arena.New()}, lim: lim,
		short: true}
	m.s = New(m.sh)
	for range n {
		m.add()
	}
	for range n / 4 {
		m.del(m.someID())
	}
	t.Cleanup(m.sh.A.Close)
	t.Cleanup(func() { m.s.Drain(1 << 62) })
	return m.s
}

// FuzzListpack gives nodes to a builder, whose elements are lines of a text. What it takes is a
// valid stream that takes not much more memory than the node.
func FuzzListpack(f *testing.F) {
	seedStream(f, Limits{NodeEntries: 5}, 100).EachPart(func(p *Part) bool {
		if p.Kind == PartEntries {
			lp, master := p.AppendListpack(nil)
			var text []byte
			for pos := listpack.First(lp); pos != 0; pos = listpack.Next(lp, pos) {
				text = append(listpack.Get(lp, pos).Append(text), '\n')
			}
			f.Add(master.Ms, master.Seq, text)
		}
		return true
	})
	f.Fuzz(func(t *testing.T, ms, seq uint64, text []byte) {
		lp, n := listpack.Begin(nil), 0
		for line := range bytes.Lines(text) {
			lp = listpack.AppendEntry(lp, listpack.Str(bytes.TrimSuffix(line, []byte("\n"))))
			n++
		}
		lp = listpack.Seal(lp, 0, n)
		b := NewBuilder(Limits{4096, 100})
		if b.Listpack(ID{ms, seq}, lp) != nil {
			require.Error(t, b.Finish())
			return
		}
		require.NoError(t, b.Finish())
		size := 0
		for _, e := range b.blocks {
			size += len(e.b)
		}
		require.LessOrEqual(t, size, 8*len(lp))
		sh := &Shared{A: arena.New()}
		defer sh.A.Close()
		s := b.Build(sh)
		defer s.Drain(1 << 62)
		require.NoError(t, s.Check())
		list := entriesOf(s.Range(ID{}, MaxID, false))
		require.Len(t, list, b.Entries())
		s.EachPart(func(p *Part) bool {
			if p.Kind == PartEntries {
				n := len(partEntries(t, p))
				list = list[n:]
			}
			return true
		})
		require.Empty(t, list)
	})
}

// FuzzBlock checks blocks of any bytes. One that passes can be walked.
func FuzzBlock(f *testing.F) {
	s := seedStream(f, Limits{NodeEntries: 9}, 100)
	for p, ok := s.entries.head(); ok; p, ok = s.entries.next(p) {
		d := s.entries.at(p)
		f.Add(d.first.Ms, d.first.Seq, d.live, d.dead, s.entries.data(&d))
	}
	f.Fuzz(func(t *testing.T, ms, seq uint64, live, dead int, b []byte) {
		d := block{first: ID{ms, seq}, n: len(b), live: live, dead: dead}
		last, err := checkBlock(&d, b)
		if err != nil {
			return
		}
		p := Part{info: d, block: b}
		n, at := 0, ID{}
		p.EachEntry(func(it *Iter) {
			at = it.ID
			entryOf(it)
			n++
		})
		require.Equal(t, live, n)
		require.False(t, last.Less(at))
	})
}

// TestLongNames takes over a node with long names and many entries with short values. In blocks it
// is not much longer, whatever is between the entries.
func TestLongNames(t *testing.T) {
	for _, others := range []int{0, 1, 40} {
		var w nodeWriter
		w.lp = listpack.Begin(nil)
		w.int(5000)
		w.int(0)
		w.int(1)
		w.value(listpack.Str([]byte(strings.Repeat("n", 300_000))))
		w.int(0)
		for i := range int64(5000) {
			if others == 0 || i%int64(others+1) != 0 {
				for _, n := range []int64{nodeSame, i, 0, 7, 4} {
					w.int(n)
				}
				continue
			}
			for _, n := range []int64{0, i, 0, 1, i, 7, 6} {
				w.int(n)
			}
		}
		lp := listpack.Seal(w.lp, 0, w.n)
		require.NoError(t, listpack.Validate(lp))
		b := NewBuilder(Limits{4096, 100})
		require.NoError(t, b.Listpack(ID{1, 0}, lp))
		require.NoError(t, b.Finish())
		size := 0
		for _, e := range b.blocks {
			size += len(e.b)
		}
		require.Less(t, size, 2*len(lp))
		require.Equal(t, 5000, b.Entries())
		sh := &Shared{A: arena.New()}
		s := b.Build(sh)
		require.NoError(t, s.Check())
		s.Drain(1 << 62)
		sh.A.Close()
	}
}
