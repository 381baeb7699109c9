package logging

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"
)

func fixed() time.Time { return time.Date(2026, 11, 21, 4, 5, 6, 7*1e6+999, time.UTC) }

func TestLine(t *testing.T) {
	var out bytes.Buffer
	l, err := New(Options{Out: &out, Now: fixed, Pid: 4465})
	if err != nil {
		t.Fatal(err)
	}
	l.Debug("a %d", 1)
	l.Verbose("b")
	l.SetRole(Primary)
	l.Notice("Ready to accept connections %s", "tcp")
	l.SetRole(Replica)
	l.Warning("100%% of %q", "x")
	l.Warning("100%%")
	const want = "4465:C 21 Nov 2026 04:05:06.007 . a 1\n" +
		"4465:C 21 Nov 2026 04:05:06.007 - b\n" +
		"4465:M 21 Nov 2026 04:05:06.007 * Ready to accept connections tcp\n" +
		"4465:S 21 Nov 2026 04:05:06.007 # 100% of \"x\"\n" +
		"4465:S 21 Nov 2026 04:05:06.007 # 100%\n"
	if out.String() != want {
		t.Errorf("got\n%swant\n%s", out.String(), want)
	}
}

// TestFormats compares lines with those of Valkey 9.1. It leaves control bytes and bytes that are
// not UTF-8 as they are; here they are escaped.
func TestFormats(t *testing.T) {
	east := time.FixedZone("east", 90*60)
	for _, c := range []struct {
		format Format
		stamp  Stamp
		want   string
	}{
		{Legacy, StampISO8601, `7:M 2026-11-21T04:05:06.007+01:30 # a"b\c\nd = \x01\xff`},
		{Legacy, StampMilliseconds, `7:M 1795228506007 # a"b\c\nd = \x01\xff`},
		{Logfmt, StampLegacy, `pid=7 role=primary timestamp="21 Nov 2026 04:05:06.007" ` +
			`level=warning message="a'b\c d = \x01\xff"`},
		{JSON, StampISO8601, `{"pid":7,"role":"primary",` +
			`"timestamp":"2026-11-21T04:05:06.007+01:30","level":"warning",` +
			`"message":"a\"b\\c\nd = \u0001\ufffd"}`},
	} {
		var out bytes.Buffer
		l, err := New(Options{Out: &out, Pid: 7, Role: Primary, Now: func() time.Time {
			return time.Date(2026, 11, 21, 4, 5, 6, 7e6, east)
		}})
		if err != nil {
			t.Fatal(err)
		}
		l.SetFormat(c.format, c.stamp)
		l.Warning("%s", "a\"b\\c\nd = \x01\xff")
		if got := strings.ReplaceAll(out.String(), "\ufffd", `\ufffd`); got != c.want+"\n" {
			t.Errorf("got\n%swant\n%s", got, c.want)
		}
		if c.format == JSON && !json.Valid(out.Bytes()) {
			t.Errorf("no JSON: %s", out.String())
		}
	}
}

func FuzzJSONLine(f *testing.F) {
	f.Add("a\"b\\c\x00\xff\u2028")
	f.Fuzz(func(t *testing.T, msg string) {
		var out bytes.Buffer
		l, _ := New(Options{Out: &out, Format: JSON})
		l.Warning("%s", msg)
		var line struct{ Message string }
		if err := json.Unmarshal(out.Bytes(), &line); err != nil ||
			utf8.ValidString(msg) && line.Message != msg {
			t.Errorf("%q became %s: %v", msg, out.String(), err)
		}
	})
}

func TestLevels(t *testing.T) {
	for level := Debug; level <= Nothing; level++ {
		var out bytes.Buffer
		l, _ := New(Options{Out: &out, Level: Warning})
		l.SetLevel(level)
		for v := Debug; v <= Nothing; v++ {
			l.Log(v, "x")
			if l.Enabled(v) != (v >= level && v != Nothing) {
				t.Errorf("level %d, line %d: Enabled is %t", level, v, l.Enabled(v))
			}
		}
		if got, want := strings.Count(out.String(), "\n"), int(Nothing-level); got != want {
			t.Errorf("level %d: %d lines, want %d", level, got, want)
		}
	}
}

func TestEscaping(t *testing.T) {
	var out bytes.Buffer
	l, _ := New(Options{Out: &out})
	l.Warning("%s", "a\nb\r\t\x00\x1b[31m\x7f\xff é 世\u009b\u2028 \"q\" \\")
	if got, want := out.String(), `a\nb\r\t\x00\x1b[31m\x7f\xff é 世\xc2\x9b`+"\u2028"+` "q" \`+
		"\n"; !strings.HasSuffix(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestFileIsReopened(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	var out bytes.Buffer
	l, err := New(Options{File: path, Out: &out})
	if err != nil {
		t.Fatal(err)
	}
	l.Notice("one")
	if err := os.Rename(path, path+".1"); err != nil {
		t.Fatal(err)
	}
	l.Notice("two")
	l.Notice("three")
	rotated, _ := os.ReadFile(path + ".1")
	fresh, _ := os.ReadFile(path)
	if strings.Count(string(rotated), "\n") != 1 || strings.Count(string(fresh), "\n") != 2 ||
		out.Len() != 0 {
		t.Errorf("rotated %q, new %q, standard output %q", rotated, fresh, out.String())
	}
}

func TestUnwritableFile(t *testing.T) {
	dir := t.TempDir()
	for path, want := range map[string]string{
		filepath.Join(dir, "no", "log"): "Can't open the log file: No such file or directory",
		dir:                             "Can't open the log file: Is a directory",
	} {
		if _, err := New(Options{File: path}); err == nil || err.Error() != want {
			t.Errorf("%s: got %v, want %s", path, err, want)
		}
	}
}

func TestConcurrentLinesStayWhole(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	l, err := New(Options{File: path})
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for i := range 100 {
				l.SetLevel(Level(i % 2))
				l.Notice("line %d of %d", i, g)
			}
		})
	}
	wg.Wait()
	data, _ := os.ReadFile(path)
	line := regexp.MustCompile(`^\d+:C \d\d \w{3} \d{4} \d\d:\d\d:\d\d\.\d{3} \* line \d+ of \d$`)
	lines := strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
	if len(lines) != 400 {
		t.Errorf("%d lines", len(lines))
	}
	for _, s := range lines {
		if !line.MatchString(s) {
			t.Errorf("broken line %q", s)
		}
	}
}

type fakeSink struct{ lines []string }

func (f *fakeSink) write(v Level, line string) {
	f.lines = append(f.lines, fmt.Sprint(int(v), " ", line))
}
func (f *fakeSink) close() {}

func TestSyslog(t *testing.T) {
	var out bytes.Buffer
	s := &fakeSink{}
	l, err := New(
		Options{Out: &out, Level: Notice, Syslog: true, Ident: "godwit-test", Facility: "local3"})
	if err != nil {
		t.Fatal(err)
	}
	l.syslog = s
	l.Verbose("no")
	l.Warning("a\nb")
	if len(s.lines) != 1 || s.lines[0] != `3 a\nb` || strings.Count(out.String(), "\n") != 1 {
		t.Errorf("system log %q, standard output %q", s.lines, out.String())
	}
	l.Close()
	l.Warning("after")
	if len(s.lines) != 1 {
		t.Error("a line went to a closed system log")
	}
	if _, err := New(Options{Syslog: true, Facility: "local9"}); err == nil {
		t.Error("an unknown facility must be refused")
	}
}

func TestQuietLinesCostNothing(t *testing.T) {
	l := Discard()
	if n := testing.AllocsPerRun(100, func() { l.Debug("x") }); n != 0 {
		t.Errorf("%v allocations", n)
	}
	l, _ = New(Options{Out: &bytes.Buffer{}, Level: Notice})
	if n := testing.AllocsPerRun(100, func() { l.Verbose("x") }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestOSError(t *testing.T) {
	_, err := os.Open("/nonexistent/file")
	if got := OSError(fmt.Errorf("open: %w", err)); got != "No such file or directory" {
		t.Errorf("got %q", got)
	}
	if got := OSError(fmt.Errorf("own words")); got != "own words" {
		t.Errorf("got %q", got)
	}
}
