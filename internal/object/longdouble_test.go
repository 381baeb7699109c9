package object

import (
	"math"
	"strings"
	"testing"

	"godwit/internal/strtod"
)

// FuzzParseLongDouble checks that every text that is taken for a number is written back as one that
// reads the same to 17 decimals, and that plain decimal numbers agree with strtod.
func FuzzParseLongDouble(f *testing.F) {
	for _, s := range []string{"0", "-0", "1.5", "1e3", "0x1p-3", "inf", "-Infinity", "nan", ".5",
		"5.", "1e4932", "1e-4950", "0x", "+1", "1e+-1", "9.e9",
		"1" + strings.Repeat("7", 899) + "e-775"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		d, ok := ParseLongDouble(b)
		if !ok {
			return
		}
		if d.IsInf() {
			if _, ok := d.Add(d); ok {
				t.Fatalf("%q + itself is finite", b)
			}
			return
		}
		text := d.Append(nil)
		again, ok := ParseLongDouble(text)
		if !ok || string(again.Append(nil)) != string(text) {
			t.Fatalf("%q is written as %q, which is %q", b, text, again.Append(nil))
		}
		want, err := strtod.ParseFloat(string(b))
		if err != nil {
			return
		}
		if got, _ := d.float().Float64(); got != want && math.Abs(got-want) > math.Abs(want)*1e-15 {
			t.Fatalf("%q: got %v, want %v", b, got, want)
		}
		if sum, ok := d.Add(d.Neg()); !ok || string(sum.Append(nil)) != "0" {
			t.Fatalf("%q minus itself is not 0", b)
		}
	})
}
