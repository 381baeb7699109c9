package diff

import (
	"bytes"
	"path/filepath"
	"reflect"
	"testing"
	"time"
)

func TestCaseFileKeepsStreams(t *testing.T) {
	stream := []Cmd{
		{Client: 0, Args: [][]byte{[]byte("SET"), []byte("k"), []byte("")}},
		{Client: 1, Inline: true, Args: [][]byte{[]byte("get"), []byte("a b\x00\r\n\t\"'\\#\xff")}},
		{Client: 12, Raw: true, Args: [][]byte{[]byte("*1\r\n$4\r\nPING\r\n")}},
		{Client: 3, Sleep: 80 * time.Millisecond},
	}
	path := filepath.Join(t.TempDir(), "case.txt")
	if err := WriteCase(path, "two\nlines", stream); err != nil {
		t.Fatal(err)
	}
	got, err := ReadCase(path)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, stream) {
		t.Fatalf("read %v, wrote %v", got, stream)
	}
}

func TestCaseFileRefusesBadLines(t *testing.T) {
	for _, line := range []string{"SET k v", "c1", "cx GET k", `c1 GET "open`, `c1 GET "\x0"`,
		"c1 raw"} {
		if c, err := parseCase(line); err == nil {
			t.Errorf("%q: accepted as %v", line, c)
		}
	}
}

func TestWireForms(t *testing.T) {
	c := Cmd{Args: [][]byte{[]byte("SET"), []byte("k"), {}}}
	if got, want := string(c.Append(nil)), "*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$0\r\n\r\n"; got != want {
		t.Errorf("multibulk %q, want %q", got, want)
	}
	c.Inline = true
	if got, want := string(c.Append(nil)), "\"SET\" \"k\" \"\"\r\n"; got != want {
		t.Errorf("inline %q, want %q", got, want)
	}
}

func FuzzQuote(f *testing.F) {
	f.Add([]byte(""), []byte("a b"))
	f.Add([]byte("\\x00\"'"), []byte("\x00\xff\r\n"))
	f.Fuzz(func(t *testing.T, a, b []byte) {
		got, err := Unquote(Quote(a) + " " + Quote(b))
		if err != nil || len(got) != 2 || !bytes.Equal(got[0], a) || !bytes.Equal(got[1], b) {
			t.Fatalf("%q %q: %q %v", a, b, got, err)
		}
	})
}
