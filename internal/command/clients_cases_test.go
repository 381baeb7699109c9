package command

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"godwit/internal/resp/client"
	"godwit/internal/testserver"
)

// talk holds the connections of a block marked [clients], by name.
type talk struct {
	s     server
	conns map[string]*guest
}

// guest is one connection of a talk.
type guest struct {
	talker
	id    string // of CLIENT ID
	waits bool   // it is blocked: nothing comes before "await"
}

// talker is a connection that is sent more than replies.
type talker interface {
	send(t testing.TB, argv [][]byte)
	received(t testing.TB) []client.Value // since it was last asked
	leave(t testing.TB)
}

func newTalk(s server) *talk { return &talk{s, map[string]*guest{}} }

// end closes all connections.
func (p *talk) end(t testing.TB) {
	for name := range p.conns {
		p.dismiss(t, name)
	}
}

// dismiss closes a connection and waits until the server has forgotten it.
func (p *talk) dismiss(t testing.TB, name string) {
	t.Helper()
	g := p.guest(t, name)
	g.leave(t)
	delete(p.conns, name)
	for until := time.Now().Add(testserver.Patience); p.listed(t, g) != ""; {
		if time.Now().After(until) {
			t.Fatalf("%s is still there", name)
		}
	}
}

// guest returns the connection with the name, which it opens at first.
func (p *talk) guest(t testing.TB, name string) *guest {
	t.Helper()
	if g := p.conns[name]; g != nil {
		return g
	}
	g := &guest{}
	g.talker = p.s.open(t)
	if strings.HasSuffix(name, "3") {
		g.send(t, argvOf("HELLO", "3"))
	}
	g.send(t, argvOf("CLIENT", "ID"))
	vs := g.received(t)
	g.id = strconv.FormatInt(vs[len(vs)-1].Int, 10)
	p.conns[name] = g
	return g
}

var listFields = regexp.MustCompile(`(flags|sub|psub|ssub|multi|redir)=\S+`)

// listed returns some fields of CLIENT LIST, without the flag of Unix sockets.
func (p *talk) listed(t testing.TB, g *guest) string {
	t.Helper()
	text := p.s.do(t, argvOf("CLIENT", "LIST", "ID", g.id)).Text()
	text = strings.Replace(text, "flags=U ", "flags=N ", 1)
	text = strings.Replace(text, "flags=PU ", "flags=P ", 1)
	return strings.Join(listFields.FindAllString(text, -1), " ")
}

// step runs a line of the block and returns what each connection has received.
func (p *talk) step(t *testing.T, file string, st *step) []string {
	t.Helper()
	name, rest, _ := strings.Cut(st.command, " ")
	switch name {
	case "close":
		p.dismiss(t, rest)
		return p.gather(t, "")
	case "topology":
		p.s.(interface {
			change(t testing.TB, words []string)
		}).change(t, strings.Fields(rest))
		return p.gather(t, "")
	case "list":
		return []string{p.listed(t, p.guest(t, rest))}
	case "info":
		text := p.s.do(t, argvOf("INFO", "everything")).Text()
		re := `(?m)^(` + strings.ReplaceAll(rest, " ", "|") + `):[^\r]*`
		return regexp.MustCompile(re).FindAllString(text, -1)
	}
	if name == "await" {
		p.guest(t, rest).waits = false
		return p.gather(t, rest)
	}
	name, waits := strings.CutSuffix(name, "&")
	for _, command := range strings.Split(rest, " ;; ") {
		p.guest(t, name).send(t, splitCommand(t, file, &step{line: st.line, command: command}))
	}
	if waits {
		p.guest(t, name).waits = true
		p.awaitBlocked(t, name)
		name = ""
	}
	lines := p.gather(t, name)
	if st.prompt == ">~ " {
		slices.Sort(lines)
	}
	return lines
}

// awaitBlocked waits until the server knows that the connection is blocked.
func (p *talk) awaitBlocked(t testing.TB, name string) {
	t.Helper()
	until := time.Now().Add(testserver.Patience)
	for !strings.Contains(p.listed(t, p.guest(t, name)), "flags=b") {
		if time.Now().After(until) {
			t.Fatalf("%s does not wait", name)
		}
	}
}

// gather returns what the connections have received, in the order of their names. It asks first the
// one that acts: when it has its reply the others have their messages.
func (p *talk) gather(t *testing.T, first string) []string {
	t.Helper()
	got := map[string][]string{}
	ask := func(name string) {
		for _, v := range p.conns[name].received(t) {
			text := v.String()
			if strings.Contains(text, `"proto"`) {
				text = "the answer to HELLO"
			}
			got[name] = append(got[name], name+": "+text)
		}
	}
	if first != "" {
		ask(first)
	}
	var names []string
	for name := range p.conns {
		if names = append(names, name); name != first && !p.conns[name].waits {
			ask(name)
		}
	}
	slices.Sort(names)
	var lines []string
	for _, name := range names {
		lines = append(lines, got[name]...)
	}
	return lines
}

func (l *local) open(testing.TB) talker { return &localTalker{local: l.join()} }

func (r *remote) open(t testing.TB) talker {
	t.Helper()
	c, err := r.s.Dial()
	if err != nil {
		t.Fatal(err)
	}
	return &remoteTalker{c: c}
}

// localTalker is a client of the engine.
type localTalker struct{ *local }

func (l *localTalker) send(_ testing.TB, argv [][]byte) {
	l.e.Enter()
	defer l.e.Leave()
	l.e.Exec(l.c, argv)
}

func (l *localTalker) received(t testing.TB) (vs []client.Value) {
	t.Helper()
	for raw := l.c.W.Buf; len(raw) > 0; {
		v, rest, err := client.Parse(raw)
		if err != nil {
			t.Fatalf("%v in %q", err, raw)
		}
		vs, raw = append(vs, v), rest
	}
	l.c.W.Buf = l.c.W.Buf[:0]
	return vs
}

func (l *localTalker) leave(testing.TB) {
	l.e.Enter()
	defer l.e.Leave()
	l.e.Forget(l.c)
}

// remoteTalker is a connection to a redis-server.
type remoteTalker struct{ c *client.Client }

func (r *remoteTalker) send(t testing.TB, argv [][]byte) {
	t.Helper()
	r.c.QueueArgs(argv...)
	if err := r.c.Flush(); err != nil {
		t.Fatal(err)
	}
}

// received sends a PING and returns what comes before the reply to it.
func (r *remoteTalker) received(t testing.TB) (vs []client.Value) {
	t.Helper()
	const mark = "the end of what came"
	r.send(t, argvOf("PING", mark))
	for {
		v, err := r.c.Receive()
		if err != nil {
			t.Fatal(err)
		}
		if v.Str == mark || len(v.Elems) == 2 && v.Elems[1].Str == mark {
			return vs
		}
		vs = append(vs, v)
	}
}

func (r *remoteTalker) leave(testing.TB) { r.c.Close() }
