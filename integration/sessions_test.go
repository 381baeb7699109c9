package integration

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"godwit/internal/resp"
	"godwit/internal/resp/client"
)

// rewrite writes the sessions anew from the replies of the server under test, which should be
// redis-server then.
var rewrite = flag.Bool("rewrite", false, "write testdata/sessions from the server's replies")

// A file of testdata/sessions has sections. Each is a talk of several connections with one server:
// what they send, and everything that each of them receives.
//
//	# title              words in brackets: [godwit] is not for redis-server, [redis8] not for 7.0,
//	                     [io1] is for one I/O thread: more run what is resumed side by side
//	> a3 SUBSCRIBE x     connection a3 sends a command; a name that ends in 3 speaks RESP3
//	a3: push["subscribe" "x" 1]
//	> b PUBLISH x hi ;; PING    several commands in one write; the batch may end between them
//	> sleep 20ms
//	> close b
//	> list a3            flags, sub, psub, ssub, multi, redir of CLIENT LIST
//	> info tracking_clients pubsub_channels
//
// After each step stands what every connection has received, in order. A ~ before the name says
// that the connection receives it in any order. $b is the ID of connection b.
//
// With -rewrite and redis-server as the server under test (GODWIT_BIN), its answers are written to
// the files, so they hold what Redis does. Only sections marked [godwit] are written from the
// answers of Godwit.

// talk is one section of a file.
type talk struct {
	title string
	steps []talkStep
}

type talkStep struct {
	line    int
	command string
	want    []string
}

func readTalks(path string) ([]*talk, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var talks []*talk
	sc := bufio.NewScanner(bytes.NewReader(raw))
	for n := 1; sc.Scan(); n++ {
		line := sc.Text()
		if strings.HasPrefix(line, "# ") {
			talks = append(talks, &talk{title: line[2:]})
			continue
		}
		if line == "" {
			continue
		}
		if len(talks) == 0 {
			return nil, fmt.Errorf("%s:%d: no section yet", path, n)
		}
		t := talks[len(talks)-1]
		if strings.HasPrefix(line, "> ") {
			t.steps = append(t.steps, talkStep{line: n, command: line[2:]})
			continue
		}
		if len(t.steps) == 0 {
			return nil, fmt.Errorf("%s:%d: a reply before a command", path, n)
		}
		s := &t.steps[len(t.steps)-1]
		s.want = append(s.want, line)
	}
	return talks, sc.Err()
}

// stage is where a talk takes place.
type stage struct {
	t     *testing.T
	s     *server
	admin *client.Client
	conns map[string]*actor
	ids   map[string]int64 // of closed connections too
	now   string           // the command
}

// actor is one connection. A goroutine reads what it is sent.
type actor struct {
	*client.Client
	id   int64
	from chan string
}

func newStage(t *testing.T, s *server, admin *client.Client) *stage {
	st := &stage{t: t, s: s, admin: admin, conns: map[string]*actor{}, ids: map[string]int64{}}
	do(t, admin, "FLUSHALL")
	do(t, admin, "CONFIG", "SET", "notify-keyspace-events", "")
	do(t, admin, "CONFIG", "SET", "tracking-table-max-keys", 1000000)
	return st
}

func (st *stage) close() {
	for name := range st.conns {
		st.drop(name)
	}
	eventually(st.t, "the server has forgotten all connections", func() bool {
		return strings.Count(do(st.t, st.admin, "CLIENT", "LIST").Text(), "\n") == 1
	})
}

func (st *stage) drop(name string) {
	if a := st.conns[name]; a != nil {
		delete(st.conns, name)
		a.Close()
	}
}

func (st *stage) actor(name string) *actor {
	if a := st.conns[name]; a != nil {
		return a
	}
	c, err := client.Dial("tcp", st.s.Addr)
	require.NoError(st.t, err)
	if strings.HasSuffix(name, "3") {
		do(st.t, c, "HELLO", 3)
	}
	a := &actor{Client: c, id: do(st.t, c, "CLIENT", "ID").Int, from: make(chan string, 10000)}
	c.Timeout = 0
	st.conns[name], st.ids[name] = a, a.id
	go func() {
		for {
			v, err := c.Receive()
			if err != nil {
				a.from <- "closed"
				return
			}
			a.from <- render(v)
		}
	}()
	return a
}

// render returns a value on one line.
func render(v client.Value) string {
	switch {
	case v.IsError():
		return "error:" + v.Str
	case v.Kind == client.NullArray:
		return "nullarray"
	}
	return strings.ReplaceAll(v.String(), "\n", `\n`)
}

// step does what a line says and returns the answers that are known at once.
func (st *stage) step(t *testing.T, command string) []string {
	t.Helper()
	st.now = command
	verb, rest, _ := strings.Cut(strings.TrimPrefix(command, "~ "), " ")
	switch verb {
	case "sleep":
		d, err := time.ParseDuration(rest)
		require.NoError(t, err)
		time.Sleep(d)
	case "close":
		id := st.actor(rest).id
		st.drop(rest)
		eventually(t, "the server has noticed", func() bool {
			return do(t, st.admin, "CLIENT", "LIST", "ID", id).Text() == ""
		})
	case "list":
		return []string{"list: " + st.listed(rest)}
	case "info":
		text := do(t, st.admin, "INFO", "everything").Text()
		var out []string
		for _, name := range strings.Fields(rest) {
			out = append(out, "info: "+regexp.MustCompile(`(?m)^`+name+`:[^\r]*`).FindString(text))
		}
		return out
	default:
		var out []byte
		for _, one := range strings.Split(rest, " ;; ") {
			args, err := words(st.withIDs(one))
			require.NoError(t, err, command)
			argv := make([][]byte, len(args))
			for i, a := range args {
				argv[i] = client.Arg(a)
			}
			out = resp.AppendCommand(out, argv...)
		}
		require.NoError(t, st.actor(verb).Send(out))
	}
	return nil
}

var listFields = regexp.MustCompile(` (flags|sub|psub|ssub|multi|redir)=\S+`)

func (st *stage) listed(name string) string {
	line := do(st.t, st.admin, "CLIENT", "LIST", "ID", st.actor(name).id).Text()
	return st.named(strings.TrimSpace(strings.Join(listFields.FindAllString(line, -1), "")))
}

// withIDs replaces $name by the ID of the connection.
func (st *stage) withIDs(s string) string {
	return regexp.MustCompile(`\$\w+`).ReplaceAllStringFunc(s, func(m string) string {
		return strconv.FormatInt(st.actor(m[1:]).id, 10)
	})
}

// named replaces IDs by names.
func (st *stage) named(s string) string {
	if strings.Contains(s, `"proto"`) {
		return "the answer to HELLO"
	}
	asked := strings.Contains(st.now, "GETREDIR") || strings.Contains(st.now, "CLIENT ID")
	for name, n := range st.ids {
		id := strconv.FormatInt(n, 10)
		s = regexp.MustCompile(`(redirect" |redir=|redir-broken" )`+id+`\b`).ReplaceAllString(s,
			"${1}$$"+name)
		if asked && s == id {
			s = "$" + name
		}
	}
	return s
}

// gather collects what comes until nothing has come for a while.
func (st *stage) gather() []string {
	var out []string
	for idle := 0; idle < 3; idle++ {
		time.Sleep(10 * time.Millisecond)
		for _, name := range slices.Sorted(maps.Keys(st.conns)) {
			for len(st.conns[name].from) > 0 {
				out = append(out, name+": "+st.named(<-st.conns[name].from))
				idle = 0
			}
		}
	}
	slices.SortStableFunc(out, func(a, b string) int {
		x, _, _ := strings.Cut(a, ":")
		y, _, _ := strings.Cut(b, ":")
		return strings.Compare(x, y)
	})
	return out
}

// settle waits until the server has run what it does not reply to, or has blocked the client.
func (st *stage) settle(t *testing.T, command string) {
	t.Helper()
	name, rest, _ := strings.Cut(command, " ")
	if name == "sleep" || name == "close" {
		return
	}
	words := strings.Fields(strings.ToLower(rest[strings.LastIndex(rest, ";")+1:]))
	last := words[0]
	if last == "client" {
		last += "|" + words[1]
	}
	eventually(t, command+" runs", func() bool {
		list := do(t, st.admin, "CLIENT", "LIST", "ID", st.actor(name).id).Text()
		// The command before may have been the same.
		ran := strings.Contains(list, " cmd="+last+" ") && !mayBlock.MatchString(last)
		return ran || blockedClient.MatchString(list)
	})
}

var (
	mayBlock      = regexp.MustCompile(`^(b[lrz][a-z]+|xread(group)?)$`)
	blockedClient = regexp.MustCompile(` flags=\w*b`)
)

// expect compares what comes with the wanted lines.
func (st *stage) expect(t *testing.T, s *talkStep) {
	t.Helper()
	if len(s.want) == 0 {
		st.settle(t, strings.TrimPrefix(s.command, "~ "))
	}
	var got []string
	for _, line := range s.want {
		name, _, _ := strings.Cut(line, ": ")
		select {
		case v := <-st.actor(name).from:
			got = append(got, name+": "+st.named(v))
		case <-time.After(patience / 3):
			got = append(got, name+": nothing")
		}
	}
	if strings.HasPrefix(s.command, "~ ") {
		slices.Sort(got)
	}
	require.Equal(t, strings.Join(s.want, "\n"), strings.Join(got, "\n"), "line %d: > %s", s.line,
		s.command)
}

func (tk *talk) run(t *testing.T, s *server, admin *client.Client) {
	st := newStage(t, s, admin)
	defer st.close()
	rewriting := *rewrite && strings.Contains(tk.title, "[godwit]") == built.godwit
	for i := range tk.steps {
		step := &tk.steps[i]
		now := st.step(t, step.command)
		switch {
		case rewriting:
			step.want = append(now, st.gather()...)
			if strings.HasPrefix(step.command, "~ ") {
				slices.Sort(step.want)
			}
		case now != nil:
			require.Equal(t, step.want, now, "line %d: > %s", step.line, step.command)
		default:
			st.expect(t, step)
		}
	}
	if !rewriting {
		require.Empty(t, st.gather(), "left over in %q", tk.title)
	}
}

func TestSessions(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/sessions/*.txt")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, threads := range []string{"1", "4"} {
		if threads == "4" && *rewrite {
			continue
		}
		t.Run("io-threads "+threads, func(t *testing.T) {
			t.Parallel()
			s := startServer(t, "--io-threads", threads)
			admin := s.dial(t)
			transactions := !do(t, admin, "COMMAND", "INFO", "MULTI").Elems[0].IsNull()
			old := !built.godwit && strings.Contains(do(t, admin, "INFO", "server").Text(),
				"redis_version:7.0.")
			for _, file := range files {
				if strings.Contains(file, "transactions") && !transactions {
					continue
				}
				talks, err := readTalks(file)
				require.NoError(t, err)
				for _, tk := range talks {
					if strings.Contains(tk.title, "[godwit]") && !built.godwit ||
						strings.Contains(tk.title, "[redis8]") && old ||
						strings.Contains(tk.title, "[io1]") && threads != "1" {
						continue
					}
					t.Run(tk.title, func(t *testing.T) { tk.run(t, s, admin) })
				}
				if *rewrite {
					writeTalks(t, file, talks)
				}
			}
		})
	}
}

func writeTalks(t *testing.T, file string, talks []*talk) {
	var b strings.Builder
	for i, tk := range talks {
		if i > 0 {
			b.WriteString("\n")
		}
		b.WriteString("# " + tk.title + "\n")
		for _, s := range tk.steps {
			b.WriteString("> " + s.command + "\n")
			for _, w := range s.want {
				b.WriteString(w + "\n")
			}
		}
	}
	require.NoError(t, os.WriteFile(file, []byte(b.String()), 0o644))
}

// words splits a line as the server splits an inline command.
func words(line string) ([]any, error) {
	var p resp.Parser
	limits := resp.Limits{MaxBulk: 1 << 20, MaxMultibulk: 1 << 20, MaxInline: 1 << 20,
		Authenticated: true}
	argv, _, err := p.Next([]byte(line+"\r\n"), &limits)
	if err != nil {
		return nil, err
	}
	out := make([]any, len(argv))
	for i, a := range argv {
		out[i] = bytes.Clone(a)
	}
	return out, nil
}
