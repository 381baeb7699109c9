package integration

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"godwit/internal/resp"
	"godwit/internal/resp/client"
)

// rewrite writes the transcripts anew from the replies of the server under test, which should be
// redis-server. Sections that it cannot answer stay as they are.
var rewrite = flag.Bool("rewrite", false,
	"write the replies of the server under test into testdata/commands")

// A transcript is a file of sections. Each runs on an empty database:
//
//	# title            words in brackets: [godwit] is not for redis-server
//	> SET k "a\x00"    a command, quoted as inline commands are
//	>~ KEYS *          the same; the elements of the reply come in any order
//	simple:OK          its reply as package client renders it
//	2: map[...]        its reply in one version of the protocol only
type transcript struct {
	path     string
	sections []*section
}

type section struct {
	title  string
	steps  []*step
	godwit bool
}

type step struct {
	line      int
	command   string
	unordered bool
	want      [4]string // by protocol version
}

func readTranscript(path string) (*transcript, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	tr := &transcript{path: path}
	var sec *section
	var st *step
	sc := bufio.NewScanner(bytes.NewReader(raw))
	sc.Buffer(nil, 1<<20)
	for n := 1; sc.Scan(); n++ {
		line := sc.Text()
		switch {
		case line == "":
		case strings.HasPrefix(line, "# "):
			sec = &section{title: line[2:], godwit: strings.Contains(line, "[godwit]")}
			tr.sections = append(tr.sections, sec)
		case sec == nil:
			return nil, fmt.Errorf("%s:%d: no section yet", path, n)
		case strings.HasPrefix(line, "> "):
			st = &step{line: n, command: line[2:]}
			sec.steps = append(sec.steps, st)
		case strings.HasPrefix(line, ">~ "):
			st = &step{line: n, command: line[3:], unordered: true}
			sec.steps = append(sec.steps, st)
		case len(sec.steps) == 0:
			return nil, fmt.Errorf("%s:%d: a reply before a command", path, n)
		case strings.HasPrefix(line, "2: "):
			st.want[2] = line[3:]
		case strings.HasPrefix(line, "3: "):
			st.want[3] = line[3:]
		default:
			st.want[2], st.want[3] = line, line
		}
	}
	return tr, sc.Err()
}

func (tr *transcript) write() error {
	var b bytes.Buffer
	for i, sec := range tr.sections {
		if i > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "# %s\n", sec.title)
		for _, st := range sec.steps {
			mark := ">"
			if st.unordered {
				mark = ">~"
			}
			fmt.Fprintf(&b, "%s %s\n", mark, st.command)
			if st.want[2] == st.want[3] {
				fmt.Fprintln(&b, st.want[2])
			} else {
				fmt.Fprintf(&b, "2: %s\n3: %s\n", st.want[2], st.want[3])
			}
		}
	}
	return os.WriteFile(tr.path, b.Bytes(), 0o644)
}

// words splits a command as the server splits an inline command.
func words(line string) ([]any, error) {
	var p resp.Parser
	argv, _, err := p.Next([]byte(line+"\r\n"),
		&resp.Limits{MaxBulk: 1 << 20, MaxMultibulk: 1 << 20, MaxInline: 1 << 20,
			Authenticated: true})
	if err != nil {
		return nil, err
	}
	out := make([]any, len(argv))
	for i, a := range argv {
		out[i] = bytes.Clone(a)
	}
	return out, nil
}

// ask runs one command through go-redis and renders the reply. Every type stays as it came.
func (st *step) ask(e *env, c *redis.Conn) string {
	args, err := words(st.command)
	if err != nil {
		e.Fatalf("line %d: %v", st.line, err)
	}
	raw, err := c.DoRaw(e.ctx, args...).Result()
	if err != nil {
		e.Fatalf("line %d: %s: %v", st.line, st.command, err)
	}
	v, _, err := client.Parse(raw)
	if err != nil {
		e.Fatalf("line %d: %s: reply %q: %v", st.line, st.command, raw, err)
	}
	if st.unordered {
		slices.SortFunc(v.Elems, func(a, b client.Value) int {
			return strings.Compare(a.String(), b.String())
		})
	}
	return v.String()
}

func TestTranscripts(t *testing.T) {
	files, err := filepath.Glob("testdata/commands/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no transcripts", err)
	}
	for _, path := range files {
		tr, err := readTranscript(path)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txt"), func(t *testing.T) {
			if *rewrite {
				t.Cleanup(func() {
					if err := tr.write(); err != nil {
						t.Error(err)
					}
				})
			}
			everywhere(t, tr.run)
		})
	}
}

func (tr *transcript) run(e *env) {
	for _, sec := range tr.sections {
		e.Run(sec.title, func(t *testing.T) {
			if sec.godwit {
				godwitOnly(t)
			}
			c := e.c.Conn()
			defer c.Close()
			if err := c.FlushDB(e.ctx).Err(); err != nil {
				t.Fatal(err)
			}
			for _, st := range sec.steps {
				got := st.ask(e, c)
				if *rewrite && !sec.godwit {
					st.want[e.proto] = got
				} else if !st.accepts(got, st.want[e.proto]) {
					t.Errorf("%s:%d: %s\n got %s\nwant %s", tr.path, st.line, st.command, got,
						st.want[e.proto])
				}
			}
		})
	}
}

// accepts compares a reply with the expected one. A TTL counts down on a slow machine, so it may be
// some seconds less.
func (st *step) accepts(got, want string) bool {
	if got == want {
		return true
	}
	if !strings.HasPrefix(st.command, "TTL ") {
		return false
	}
	g, err1 := strconv.Atoi(got)
	w, err2 := strconv.Atoi(want)
	return err1 == nil && err2 == nil && w > 20 && g < w && g > w-20
}
