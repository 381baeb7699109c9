package command

import (
	"bytes"
	"math/bits"
	"math/rand/v2"
	"strconv"
	"testing"

	"godwit/internal/testseed"
)

func bitAt(b []byte, i int64) byte { return b[i>>3] >> (7 - uint(i&7)) & 1 }

func randomBytes(r *rand.Rand, n int) []byte {
	b := make([]byte, n)
	fill := pick(r, 0, 1, 2)
	for i := range b {
		switch {
		case fill == 0 || r.IntN(20) == 0:
			b[i] = byte(r.Uint32())
		case fill == 1:
			b[i] = 0xff
		}
	}
	return b
}

func TestCountAndFindModel(t *testing.T) {
	r := testseed.Rand(t)
	for range 3000 {
		b := randomBytes(r, 1+r.IntN(100))
		n := int64(len(b)) * 8
		first := r.Int64N(n)
		last := first + r.Int64N(n-first)
		count := int64(0)
		at := [2]int64{-1, -1}
		for i := last; i >= first; i-- {
			count += int64(bitAt(b, i))
			at[bitAt(b, i)] = i
		}
		if got := countBitRange(b, first, last); got != count {
			t.Fatalf("%x [%d, %d]: counted %d, want %d", b, first, last, got, count)
		}
		for bit := range byte(2) {
			if got := firstBitRange(b, bit, first, last); got != at[bit] {
				t.Fatalf("%x [%d, %d]: first %d at %d, want %d", b, first, last, bit, got, at[bit])
			}
		}
	}
}

func TestCombineModel(t *testing.T) {
	r := testseed.Rand(t)
	for range 400 {
		op := bitAnd + bitOperation(r.IntN(int(bitOne-bitAnd)+1))
		sources := make([][]byte, 2+r.IntN(4))
		if op == bitNot {
			sources = sources[:1]
		}
		n := 0
		for i := range sources {
			sources[i] = randomBytes(r,
				pick(r, 0, r.IntN(20), r.IntN(100), bitChunk-1+r.IntN(3), r.IntN(3*bitChunk)))
			n = max(n, len(sources[i]))
		}
		want := make([]byte, n)
		for i := range want {
			want[i] = combineByte(op, sources, i)
		}
		got := randomBytes(r, n) // The old content must not matter.
		combine(op, got, sources)
		if !bytes.Equal(got, want) {
			t.Fatalf("%s of %d sources differs", bitOperationNames[op], len(sources))
		}
	}
}

func combineByte(op bitOperation, sources [][]byte, i int) byte {
	at := func(s []byte) byte {
		if i < len(s) {
			return s[i]
		}
		return 0
	}
	first := at(sources[0])
	and, or, xor := first, first, first
	var others, twice byte
	seen := first
	for _, s := range sources[1:] {
		x := at(s)
		and, or, xor, others = and&x, or|x, xor^x, others|x
		twice |= seen & x
		seen |= x
	}
	return map[bitOperation]byte{
		bitAnd: and, bitOr: or, bitXor: xor, bitNot: ^first, bitDiff: first &^ others,
		bitDiff1: others &^ first, bitAndOr: first & others, bitOne: seen &^ twice,
	}[op]
}

func TestFieldModel(t *testing.T) {
	r := testseed.Rand(t)
	for range 20000 {
		b := randomBytes(r, 12+r.IntN(12))
		op := fieldOp{verb: fieldSet, signed: r.IntN(2) == 0, width: uint8(1 + r.IntN(63)),
			offset: r.Int64N(24)}
		var u uint64
		for i := range int64(op.width) {
			u = u<<1 | uint64(bitAt(b, op.offset+i))
		}
		want := int64(u)
		if op.signed {
			want = int64(u<<(64-op.width)) >> (64 - op.width)
		}
		if got := op.get(b); got != want {
			t.Fatalf("%x %+v: got %d, want %d", b, op, got, want)
		}
		n := int64(r.Uint64())
		after := bytes.Clone(b)
		op.set(after, n)
		for i := range int64(len(b)) * 8 {
			want := bitAt(b, i)
			if k := i - op.offset; k >= 0 && k < int64(op.width) {
				want = byte(n >> (int64(op.width) - 1 - k) & 1)
			}
			if bitAt(after, i) != want {
				t.Fatalf("%x %+v: bit %d wrong after set %d", b, op, i, n)
			}
		}
	}
}

// TestBigBitop covers the path that computes straight into the block that the key will own. The
// destination is among the sources.
func TestBigBitop(t *testing.T) {
	l, r := newLocal(t), testseed.Rand(t)
	a, b := randomBytes(r, 50_000), randomBytes(r, 70_000)
	l.exec([][]byte{[]byte("SET"), []byte("a"), a})
	l.exec([][]byte{[]byte("SET"), []byte("b"), b})
	for _, dst := range []string{"d", "a", "a"} {
		l.exec(argvOf("BITOP", "XOR", dst, "a", "b"))
	}
	// d = a^b, then a = a^b, then a = a^b^b = a with b's length.
	want := append(bytes.Clone(a), make([]byte, len(b)-len(a))...)
	if got := l.do(t, argvOf("GET", "a")).Str; got != string(want) {
		t.Error("a is not what two XORs leave")
	}
	n := 0
	for i := range want {
		n += bits.OnesCount8(want[i] ^ b[i])
	}
	if got := l.do(t, argvOf("BITCOUNT", "d")).Int; got != int64(n) {
		t.Errorf("counted %d, want %d", got, n)
	}
}

func BenchmarkBitop(b *testing.B) {
	for op := bitAnd; op <= bitOne; op++ {
		b.Run(bitOperationNames[op], func(b *testing.B) {
			dst := make([]byte, 1<<20)
			sources := [][]byte{make([]byte, 1<<20), make([]byte, 1<<20)}
			if op == bitNot {
				sources = sources[:1]
			}
			b.SetBytes(1 << 20)
			for b.Loop() {
				combine(op, dst, sources)
			}
		})
	}
}

func BenchmarkLCS(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	x, y := make([]byte, 10_000), make([]byte, 10_000)
	for i := range x {
		x[i], y[i] = "acgt"[r.IntN(4)], "acgt"[r.IntN(4)]
	}
	for b.Loop() {
		newLCSTable(x, y, true).sequence()
	}
}

func BenchmarkStrings(b *testing.B) {
	for _, args := range [][]string{{"GET", "k"},
		{"SET", "k", "0123456789012345678901234567890123456789"}, {"INCR", "n"},
		{"INCRBYFLOAT", "f", "0.1"}, {"SETBIT", "b", "7", "1"}} {
		b.Run(args[0], func(b *testing.B) {
			l := newLocal(b)
			argv := argvOf(args...)
			l.exec(argvOf("SET", "k", strconv.Itoa(1)))
			l.e.Enter()
			defer l.e.Leave()
			l.e.ExpectInput(100) // as a connection does
			b.ReportAllocs()
			for b.Loop() {
				l.c.W.Buf = l.c.W.Buf[:0]
				l.e.Exec(l.c, argv)
			}
		})
	}
}
