package listpack

import (
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"godwit/internal/testseed"

	"github.com/stretchr/testify/require"
)

// model is the plain counterpart of a listpack.
type model []string

func (m model) equal(t *testing.T, lp []byte) {
	t.Helper()
	if err := Validate(lp); err != nil {
		t.Fatalf("%v: % x", err, lp)
	}
	if Count(lp) != len(m) {
		t.Fatalf("count %d, want %d", Count(lp), len(m))
	}
	pos := First(lp)
	for i, want := range m {
		v := Get(lp, pos)
		if got := string(v.Append(nil)); got != want || v.Len() != len(want) ||
			!v.Equal([]byte(want)) {
			t.Fatalf("entry %d: %q, want %q", i, got, want)
		}
		if Seek(lp, i) != pos || Seek(lp, i-len(m)) != pos {
			t.Fatalf("Seek(%d) = %d, %d, want %d", i, Seek(lp, i), Seek(lp, i-len(m)), pos)
		}
		next := Next(lp, pos)
		if next != 0 && Prev(lp, next) != pos {
			t.Fatalf("Prev(%d) = %d, want %d", next, Prev(lp, next), pos)
		}
		if next == 0 && (i != len(m)-1 || Last(lp) != pos) {
			t.Fatalf("end at entry %d of %d", i, len(m))
		}
		pos = next
	}
	if Seek(lp, len(m)) != 0 || Seek(lp, -len(m)-1) != 0 {
		t.Fatal("Seek beyond the ends")
	}
}

func (m model) find(from int, s string, skip int) int {
	for i := from; i < len(m); i += skip + 1 {
		if m[i] == s {
			return i
		}
	}
	return -1
}

var edges = []int64{0, 127, 128, -1, 4095, 4096, -4096, -4097, math.MaxInt16, math.MaxInt16 + 1,
	math.MinInt16, math.MinInt16 - 1,
	1<<23 - 1, 1 << 23, -1 << 23, -1<<23 - 1, math.MaxInt32, math.MaxInt32 + 1, math.MinInt32,
	math.MinInt32 - 1, math.MaxInt64, math.MinInt64}

// element returns a random element: integers and strings at the borders of their forms, few enough
// to be found again.
func element(r *rand.Rand) string {
	switch r.IntN(4) {
	case 0:
		return strconv.FormatInt(edges[r.IntN(len(edges))], 10)
	case 1:
		return []string{"", "a", "-0", "007", "+1", " 1", "9223372036854775808",
			"-9223372036854775809"}[r.IntN(8)]
	case 2:
		b := make([]byte, []int{62, 63, 64, 125, 126, 127}[r.IntN(6)])
		return string(b)
	default:
		return strconv.Itoa(r.IntN(20))
	}
}

func TestAgainstModel(t *testing.T) {
	r := testseed.Rand(t)
	for range 20 {
		s := NewSlice()
		var m model
		for range 300 {
			m = step(t, r, s, m)
			m.equal(t, s.B)
		}
	}
}

func step(t *testing.T, r *rand.Rand, s *Slice, m model) model {
	e := element(r)
	n := len(m)
	switch op := r.IntN(10); {
	case op == 0:
		Prepend(s, []byte(e))
		return append(model{e}, m...)
	case op < 4 || n == 0:
		Append(s, []byte(e))
		return append(m, e)
	case op == 4:
		i := r.IntN(n)
		Insert(s, Seek(s.B, i), []byte(e))
		return append(m[:i:i], append(model{e}, m[i:]...)...)
	case op == 5:
		i := r.IntN(n)
		InsertPair(s, After(s.B, Seek(s.B, i)), []byte(e), []byte("x"))
		return append(m[:i+1:i+1], append(model{e, "x"}, m[i+1:]...)...)
	case op == 6:
		i := r.IntN(n)
		Replace(s, Seek(s.B, i), []byte(e))
		m[i] = e
	case op == 7:
		i, k := r.IntN(n), r.IntN(4)
		Delete(s, Seek(s.B, i), k)
		return append(m[:i:i], m[min(i+k, n):]...)
	case op == 8:
		i, v := r.IntN(n), edges[r.IntN(len(edges))]
		ReplaceInt(s, Seek(s.B, i), v)
		m[i] = strconv.FormatInt(v, 10)
	default:
		from, skip := r.IntN(n), r.IntN(3)
		want := 0
		if i := m.find(from, e, skip); i >= 0 {
			want = Seek(s.B, i)
		}
		if got := Find(s.B, Seek(s.B, from), []byte(e), skip); got != want {
			t.Fatalf("Find(%q) from %d by %d: %d, want %d", e, from, skip+1, got, want)
		}
	}
	return m
}

func TestLongStrings(t *testing.T) {
	s := NewSlice()
	var m model
	for _, n := range []int{4095, 4096, 16375, 16376, 16377, 16378, 16379, 2097145, 2097146,
		2097147} {
		e := string(make([]byte, n))
		Append(s, []byte(e))
		if got := EncodedSize([]byte(e)); got != After(s.B, Last(s.B))-Last(s.B) {
			t.Fatalf("EncodedSize of %d bytes: %d", n, got)
		}
		m = append(m, e)
	}
	m.equal(t, s.B)
}

// TestManyEntries exceeds the largest count that the header can hold.
func TestManyEntries(t *testing.T) {
	one := NewSlice()
	Append(one, []byte("7"))
	s := NewSlice()
	raw := one.B[headerLen : len(one.B)-1]
	block := make([]byte, 0, len(raw)*65534)
	for range 65534 {
		block = append(block, raw...)
	}
	AppendRaw(s, block, 65534)
	for want := 65534; want < 65537; want++ {
		if err := Validate(s.B); err != nil || Count(s.B) != want {
			t.Fatal(err, Count(s.B), want)
		}
		if Seek(s.B, -1) != Last(s.B) || Seek(s.B, want) != 0 || Seek(s.B, -want) != headerLen {
			t.Fatal("Seek")
		}
		AppendInt(s, 7)
	}
	Delete(s, First(s.B), 10)
	if Count(s.B) != 65527 {
		t.Fatal(Count(s.B))
	}
	Truncate(s)
	if Count(s.B) != 0 || Validate(s.B) != nil {
		t.Fatal("Truncate")
	}
}

// FuzzValidate checks that what Validate accepts can be walked and changed.
func FuzzValidate(f *testing.F) {
	f.Add(Empty())
	s := NewSlice()
	r := rand.New(rand.NewPCG(1, 2))
	for range 30 {
		Append(s, []byte(element(r)))
	}
	f.Add(s.B)
	f.Add([]byte("\x0d\x00\x00\x00\x02\x00\x81a\x02\xc4\x00\x02\xff"))
	f.Add([]byte("\x0e\x00\x00\x00\x01\x00\xf0\x01\x00\x00\x00a\x06\xff"))
	f.Add([]byte("\x0b\x00\x00\x00\xff\xff\xf1\x01\x00\x03\xff"))
	f.Fuzz(func(t *testing.T, lp []byte) {
		if Validate(lp) != nil {
			return
		}
		var m model
		for p := First(lp); p != 0; p = Next(lp, p) {
			m = append(m, string(Get(lp, p).Append(nil)))
		}
		i := len(m)
		for p := Last(lp); p != 0; p = Prev(lp, p) {
			if i--; string(Get(lp, p).Append(nil)) != m[i] {
				t.Fatalf("backwards entry %d differs", i)
			}
		}
		if i != 0 {
			t.Fatalf("%d entries missing backwards", i)
		}
		change(t, &Slice{append([]byte(nil), lp...)}, m)
	})
}

func change(t *testing.T, s *Slice, m model) {
	for i := range min(len(m), 5) {
		if p := Find(s.B, First(s.B), []byte(m[i]), 0); p == 0 &&
			Get(s.B, Seek(s.B, i)).Equal([]byte(m[i])) {
			t.Fatalf("%q not found", m[i])
		}
	}
	Append(s, []byte("tail"))
	Prepend(s, []byte("-300"))
	if len(m) > 0 {
		Replace(s, Seek(s.B, 1), []byte("changed"))
		Delete(s, Seek(s.B, 0), 2)
	}
	if err := Validate(s.B); err != nil {
		t.Fatal(err)
	}
}

func TestValidateRefuses(t *testing.T) {
	s := NewSlice()
	for _, e := range []string{"abc", "12345", "-7", "99999999999"} {
		Append(s, []byte(e))
	}
	for n := range s.B {
		if Validate(s.B[:n]) == nil {
			t.Errorf("%d of %d bytes accepted", n, len(s.B))
		}
	}
	for _, i := range []int{0, 4, 6, 10, len(s.B) - 1} {
		b := append([]byte(nil), s.B...)
		if b[i] ^= 0x91; Validate(b) == nil {
			t.Errorf("flipped byte %d accepted: % x", i, b)
		}
	}
}

func BenchmarkFind(b *testing.B) {
	s := NewSlice()
	for i := range 64 {
		AppendPair(s, []byte("field:"+strconv.Itoa(1000+i)), []byte(strconv.Itoa(i*100)))
	}
	e := []byte("field:1063")
	b.ReportAllocs()
	for b.Loop() {
		if Find(s.B, First(s.B), e, 1) == 0 {
			b.Fatal("absent")
		}
	}
}

// TestBetween counts the entries between any two of a listpack with every kind of entry.
func TestBetween(t *testing.T) {
	s := NewSlice()
	for _, e := range []string{"1", "-5", "", "abc", strings.Repeat("x", 64), "300", "70000",
		strings.Repeat("y", 5000), "9223372036854775807", "8388607", "z"} {
		Append(s, []byte(e))
	}
	lp := s.Bytes()
	i := 0
	for from := First(lp); from != 0; from = Next(lp, from) {
		j := i
		for to := from; to != 0; to = Next(lp, to) {
			require.Equal(t, j-i, Between(lp, from, to))
			j++
		}
		i++
	}
	require.Equal(t, Count(lp), i)
}
