package diff

import "testing"

func TestDecode(t *testing.T) {
	for in, want := range map[string]string{
		"+OK\r\n": "+OK", "-ERR x\r\n": "(error) ERR x", "$-1\r\n": "(nil)", "*-1\r\n": "(nil)",
		"_\r\n": "(nil)", "*2\r\n*1\r\n:1\r\n$3\r\na b\r\n": `[[(integer) 1], "a b"]`,
		"%1\r\n+a\r\n~1\r\n,1.5\r\n":  "map[+a, set[(double) 1.5]]",
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
