package resp

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"

	"godwit/internal/testseed"
)

// pieces is a Stage that gives room in pieces of random size.
type pieces struct {
	rnd      *rand.Rand
	b        []byte
	inserted int // times
}

func (p *pieces) Next(n, _ int) []byte {
	n = 1 + p.rnd.IntN(n)
	p.b = append(p.b, make([]byte, n)...)
	return p.b[len(p.b)-n:]
}

func (p *pieces) Insert(n int, b []byte) {
	p.b = slices.Insert(p.b, len(p.b)-n, b...)
	p.inserted++
}

// TestStage writes the same replies with and without a Stage. Some are put before others, which may
// be staged already.
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
		var marks []int
		for range 3000 {
			b := bytes.Repeat([]byte{byte('a' + rnd.IntN(26))}, rnd.IntN(1<<rnd.IntN(19)))
			switch rnd.IntN(9) {
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
				marks = append(marks, staged.Mark())
			case 8:
				if last := len(marks) - 1; last >= 0 {
					both(func(w *Writer) { w.Insert(marks[last], []byte("*1\r\n")) })
					marks = marks[:last]
				}
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
		if st.inserted == 0 {
			t.Error("nothing was put before what was staged")
		}
	}
}

// none is a Stage without memory.
type none struct{}

func (none) Next(_, _ int) []byte { return nil }
func (none) Insert(int, []byte)   {}

// TestStageRefused checks that a reply without memory is dropped.
func TestStageRefused(t *testing.T) {
	w := Writer{Stage: none{}}
	at := w.Mark()
	for range 100 {
		w.Bulk(make([]byte, 1<<20))
	}
	w.Insert(at, []byte("*100\r\n"))
	if len(w.Buf) > 2<<20 {
		t.Errorf("%d bytes of a reply that nobody gets", len(w.Buf))
	}
}
