package diff

import (
	"slices"
	"testing"
)

// frames are complete replies of every kind.
var frames = []string{
	"+OK\r\n", "-ERR x\r\n", ":-12\r\n", "$-1\r\n", "$0\r\n\r\n", "$4\r\na\r\nb\r\n", "*-1\r\n", "*0\r\n", "*2\r\n*1\r\n:1\r\n$1\r\nx\r\n",
	"_\r\n", "#t\r\n", ",1.5\r\n", "(123456789012345678901234567890\r\n", "=7\r\ntxt:abc\r\n", "!5\r\nERR x\r\n", "~2\r\n+a\r\n+b\r\n",
	"%1\r\n+a\r\n*1\r\n:1\r\n", "|1\r\n+ttl\r\n:3\r\n+OK\r\n", ">2\r\n+message\r\n$1\r\nm\r\n",
}

func TestFrameEndAtEverySplit(t *testing.T) {
	var all []byte
	var ends []int
	for _, f := range frames {
		all = append(all, f...)
		ends = append(ends, len(all))
	}
	for cut := range len(all) + 1 {
		pos := 0
		for _, want := range ends {
			got, err := frameEnd(all[:cut], pos)
			if err != nil {
				t.Fatalf("cut %d, frame at %d: %v", cut, pos, err)
			}
			if cut < want {
				if got != -1 {
					t.Fatalf("cut %d, frame at %d: ends at %d, but only at %d is it complete", cut, pos, got, want)
				}
				break
			}
			if got != want {
				t.Fatalf("cut %d, frame at %d: ends at %d, want %d", cut, pos, got, want)
			}
			pos = got
		}
	}
}

func TestFrameEndRefusesWhatIsNotRESP(t *testing.T) {
	for _, bad := range []string{"x\r\n", "OK\n", "$-2\r\n", "$abc\r\n", "*\r\n", "$2\r\nabcd", "*99999999999\r\n", "\r\n"} {
		if end, err := frameEnd([]byte(bad), 0); err == nil {
			t.Errorf("%q: accepted, end %d", bad, end)
		}
	}
}

func TestDecode(t *testing.T) {
	for in, want := range map[string]string{
		"+OK\r\n": "+OK", "-ERR x\r\n": "(error) ERR x", "$-1\r\n": "(nil)", "*-1\r\n": "(nil)", "_\r\n": "(nil)",
		"*2\r\n*1\r\n:1\r\n$3\r\na b\r\n": `[[(integer) 1], "a b"]`, "%1\r\n+a\r\n~1\r\n,1.5\r\n": "map[+a, set[(double) 1.5]]",
		"|1\r\n+ttl\r\n:3\r\n+OK\r\n": "+OK",
	} {
		r, err := Decode([]byte(in))
		if err != nil || r.String() != want {
			t.Errorf("%q: %v %v, want %s", in, r, err, want)
		}
	}
	if _, err := Decode([]byte("+OK\r\n+")); err == nil {
		t.Error("bytes after the reply accepted")
	}
}

func FuzzFrameEnd(f *testing.F) {
	for _, s := range frames {
		f.Add([]byte(s))
	}
	f.Add([]byte("*1000000000\r\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		end, err := frameEnd(b, 0)
		if err != nil || end < 0 {
			return
		}
		if end > len(b) {
			t.Fatalf("end %d of %d bytes", end, len(b))
		}
		again, err := frameEnd(b[:end], 0)
		if err != nil || again != end {
			t.Fatalf("the frame alone ends at %d (%v), with what follows at %d", again, err, end)
		}
		if slices.Contains(b[:end], '>') { // decode allocates what an aggregate announces and has sent
			return
		}
		if _, pos := decode(b, 0); pos != end {
			t.Fatalf("decode ends at %d, frameEnd at %d", pos, end)
		}
	})
}
