package object

import (
	"math/big"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"godwit/internal/testseed"
)

// TestSmallFloat compares numbers of short texts, their sums and what they are written as with
// big.Float's.
func TestSmallFloat(t *testing.T) {
	r := testseed.Rand(t)
	for range 200_000 {
		a, b := shortNumber(r), shortNumber(r)
		if r.IntN(4) == 0 { // nearly all of a is taken away
			b = "-" + a[:len(a)-r.IntN(2)]
		}
		x, y := sameAsLong(t, a), sameAsLong(t, b)
		if x.f != nil || y.f != nil {
			continue // too long
		}
		sum, ok := x.Add(y)
		want := new(big.Float).SetPrec(longDoublePrec).Add(x.float(), y.float())
		if !ok || sum.f != nil || sum.Cmp(LongDouble{f: want}) != 0 {
			t.Fatalf("%s + %s = %v, want %v", a, b, sum.float(), want)
		}
		sameText(t, sum)
		again, _ := sum.Add(x)
		want.Add(want, x.float())
		if again.Cmp(LongDouble{f: want}) != 0 {
			t.Fatalf("%s + %s + %s = %v, want %v", a, b, a, again.float(), want)
		}
		sameText(t, again)
		sameText(t, again.Neg())
	}
}

// shortNumber returns a decimal number of up to 40 digits, with up to 28 decimals.
func shortNumber(r *rand.Rand) string {
	text := strconv.FormatUint(r.Uint64()>>r.IntN(64), 10)
	switch r.IntN(4) {
	case 0:
		text = strconv.FormatUint(1<<r.IntN(64)+uint64(r.IntN(3)), 10)
	case 1:
		text += strconv.FormatUint(r.Uint64(), 10)
	case 2:
		text += strings.Repeat("0", r.IntN(4))
	}
	if decimals := r.IntN(29); decimals > 0 {
		text = strings.Repeat("0", max(decimals-len(text), 0)) + text
		text = text[:len(text)-decimals] + "." + text[len(text)-decimals:]
	}
	return []string{"", "", "-", "+"}[r.IntN(4)] + text
}

// sameAsLong reads the text both ways.
func sameAsLong(t *testing.T, text string) LongDouble {
	t.Helper()
	d, ok := ParseLongDouble([]byte(text))
	long, okLong := parseLong([]byte(strings.TrimLeft(text, "+-")), text[0] == '-')
	if strings.HasPrefix(text, "--") || strings.HasPrefix(text, "-+") {
		okLong = false
	}
	if ok != okLong || ok && d.Cmp(long) != 0 {
		t.Fatalf("%s is read as %v (%v), want %v (%v)", text, d.float(), ok, long.float(), okLong)
	}
	if ok {
		sameText(t, d)
	}
	return d
}

// sameText writes the number both ways.
func sameText(t *testing.T, d LongDouble) {
	t.Helper()
	got, want := d.Append(nil), LongDouble{f: d.float()}.Append(nil)
	if string(got) != string(want) {
		t.Fatalf("%v is written as %s, want %s", d.float(), got, want)
	}
}
