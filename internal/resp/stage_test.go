package resp

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"

	"godwit/internal/testseed"
)

// pieces is a Stage that gives room in pieces of random size.
type pieces struct {
	rnd   *rand.Rand
	b     []byte
	whole bool // somebody has asked for a large Buf
}

func (p *pieces) Next(n, _ int) []byte {
	n = 1 + p.rnd.IntN(n)
	p.b = append(p.b, make([]byte, n)...)
	return p.b[len(p.b)-n:]
}

func (p *pieces) Fits(int) bool {
	p.whole = true
	return true
}

// TestStage writes the same replies with and without a Stage, between marks and insertions.
func TestStage(t *testing.T) {
	rnd := testseed.Rand(t)
	for proto := 2; proto <= 3; proto++ {
		st := &pieces{rnd: rnd}
		plain, staged := Writer{Proto: proto}, Writer{Proto: proto, Stage: st}
		both := func(f func(w *Writer)) {
			f(&plain)
			f(&staged)
		}
		longest := 0
		for range 3000 {
			b := bytes.Repeat([]byte{byte('a' + rnd.IntN(26))}, rnd.IntN(1<<rnd.IntN(19)))
			switch rnd.IntN(8) {
			case 0, 1:
				both(func(w *Writer) { w.Bulk(b) })
			case 2:
				both(func(w *Writer) { w.BulkString(string(b)) })
			case 3:
				both(func(w *Writer) { w.BulkInt(int64(len(b))) })
			case 4:
				both(func(w *Writer) { w.Double(float64(len(b)) / 3) })
			case 5:
				both(func(w *Writer) { w.Verbatim("txt", string(b)) })
			case 6:
				both((*Writer).Spill)
			case 7:
				both(func(w *Writer) {
					at := w.Mark()
					w.Bulk(b)
					w.Insert(at, []byte("*1\r\n"))
				})
			}
			longest = max(longest, len(staged.Buf))
			if plain.Size() != staged.Size() || len(staged.Buf) == 0 && staged.Staged > 0 {
				t.Fatalf("%d bytes, with a Stage %d of which %d are in Buf", plain.Size(),
					staged.Size(), len(staged.Buf))
			}
		}
		if got := append(st.b, staged.Buf...); !bytes.Equal(got, plain.Buf) {
			t.Fatalf("RESP%d: other bytes with a Stage", proto)
		}
		if longest > len(plain.Buf)/4 {
			t.Errorf("Buf grew to %d of %d bytes", longest, len(plain.Buf))
		}
	}
}

// TestStageMark checks that a marked reply stays whole, and that a reply without memory is dropped.
func TestStageMark(t *testing.T) {
	st := &pieces{rnd: testseed.Rand(t)}
	w := Writer{Stage: st}
	at := w.Mark()
	for range 100 {
		w.BulkString(strings.Repeat("x", 100_000))
	}
	if len(st.b) > 0 || !st.whole {
		t.Errorf("%d bytes staged; asked for memory: %v", len(st.b), st.whole)
	}
	w.Insert(at, []byte("*100\r\n"))
	w.Bulk(make([]byte, 16<<20))
	if len(st.b) < 26_000_000 {
		t.Errorf("%d bytes staged after the mark", len(st.b))
	}
}

// none is a Stage without memory.
type none struct{}

func (none) Next(_, _ int) []byte { return nil }
func (none) Fits(int) bool        { return false }

func TestStageRefused(t *testing.T) {
	w := Writer{Stage: none{}}
	for _, mark := range []bool{false, true} {
		if mark {
			w.Mark()
		}
		for range 100 {
			w.Bulk(make([]byte, 1<<20))
		}
		if len(w.Buf) > 2<<20 {
			t.Errorf("mark %v: %d bytes of a reply that nobody gets", mark, len(w.Buf))
		}
	}
}
