package scan

import (
	"math/rand"
	"strconv"
	"strings"
	"testing"

	"godwit/internal/testseed"
)

func TestNextCursorOrder(t *testing.T) {
	var got []uint64
	for c := uint64(0); ; {
		got = append(got, c)
		if c = NextCursor(c, 7); c == 0 {
			break
		}
	}
	want := []uint64{0, 4, 2, 6, 1, 5, 3, 7}
	for i := range want {
		if len(got) != len(want) || got[i] != want[i] {
			t.Fatalf("order %v, want %v", got, want)
		}
	}
	if c := NextCursor(0, 0); c != 0 {
		t.Errorf("one bucket: next %d, want 0", c)
	}
	if c := NextCursor(^uint64(0), ^uint64(0)); c != 0 {
		t.Errorf("all ones: next %d, want 0", c)
	}
	if c := NextCursor(0xabc00, 7); c != 4 {
		t.Errorf("bits above the mask: next %d, want 4", c)
	}
}

// TestNextCursorSurvivesResizing checks that an element that stays is seen, whatever the table's
// size becomes between calls.
func TestNextCursorSurvivesResizing(t *testing.T) {
	rnd := rand.New(rand.NewSource(int64(testseed.New(t))))
	for range 500 {
		hashes := make(map[uint64]bool)
		for range 200 {
			hashes[rnd.Uint64()] = true
		}
		seen := make(map[uint64]bool)
		bitsOf := rnd.Intn(8)
		for c, steps := uint64(0), 0; ; steps++ {
			mask := uint64(1)<<bitsOf - 1
			for h := range hashes {
				if h&mask == c&mask {
					seen[h] = true
				}
			}
			if c = NextCursor(c, mask); c == 0 {
				break
			}
			if c&^mask != 0 {
				t.Fatalf("cursor %x beyond mask %x", c, mask)
			}
			if steps > 1<<12 {
				t.Fatalf("the walk does not end")
			}
			if rnd.Intn(4) == 0 {
				bitsOf = rnd.Intn(10)
			}
		}
		if len(seen) != len(hashes) {
			t.Fatalf("%d of %d seen", len(seen), len(hashes))
		}
	}
}

func TestParseCursor(t *testing.T) {
	const bad = "bad"
	// The verdicts are those of Redis 8; see TestAgainstRealServer.
	cases := map[string]string{
		"": bad, "0": "0", "1": "1", "010": "10", "+1": "1", "-0": "0",
		"-1": bad, "18446744073709551615": "18446744073709551615", "-01": "18446744073709551615",
		"-18446744073709551615": "1", "18446744073709551616": bad, "-9223372036854775808": bad,
		"-9223372036854775809": "9223372036854775807", "-1\x00": bad,
		"-18446744073709551616": bad, "99999999999999999999999999": bad,
		"184467440737095516150": bad, " -1": "18446744073709551615",
		" 1": "1", "1 ": bad, "1a": bad, "a": bad, "0x10": bad, "--1": bad,
		"+-1": bad, "-": bad, "+": bad, "+ 1": bad, "\t1": "1", "\n1": "1",
		"\v +1": "1", "1.0": bad,
		"1\x002": "1", "\x001": bad, "\x00": bad, "-\x00": bad, " ": bad,
	}
	for in, want := range cases {
		v, ok := ParseCursor([]byte(in))
		got := strconv.FormatUint(v, 10)
		if !ok {
			got = bad
		}
		if got != want {
			t.Errorf("ParseCursor(%q) = %s, want %s", in, got, want)
		}
	}
}

func FuzzParseCursor(f *testing.F) {
	for _, s := range []string{"0", "-1", "+12", "18446744073709551616", "007", " -07", "1\x00"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		v, ok := ParseCursor([]byte(s))
		digits, _, _ := strings.Cut(s, "\x00")
		digits = strings.TrimLeft(digits, " \t\n\v\f\r")
		neg := strings.HasPrefix(digits, "-")
		if neg || strings.HasPrefix(digits, "+") {
			digits = digits[1:]
		}
		want, err := strconv.ParseUint(digits, 10, 64)
		if neg {
			want = -want
		}
		s, _, _ = strings.Cut(s, "\x00")
		n, err2 := strconv.ParseInt(s, 10, 64)
		wantOK := err == nil && !(err2 == nil && n < 0 && strconv.FormatInt(n, 10) == s)
		if ok != wantOK || ok && v != want {
			t.Fatalf("ParseCursor(%q) = %d %v, want %d %v", s, v, ok, want, wantOK)
		}
	})
}
