package engine

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"godwit/internal/config"
	"godwit/internal/logging"
	"godwit/internal/resp"
	"godwit/internal/spec"
)

// fakeConn counts what the engine asks of a connection.
type fakeConn struct{ flushed, resumed, closed int }

func (f *fakeConn) Flush()                        { f.flushed++ }
func (f *fakeConn) Resume()                       { f.resumed++ }
func (f *fakeConn) Close()                        { f.closed++ }
func (f *fakeConn) Buffers() (in, inCap, out int) { return 0, 0, 0 }
func (f *fakeConn) HeapReplies() int              { return 0 }
func (f *fakeConn) Stage(n, _ int) []byte         { return make([]byte, n) }
func (f *fakeConn) StageInsert(int, []byte)       {}

// testCommand is an entry of a table with its handler.
type testCommand struct {
	*spec.Command
	run func(c *Ctx)
	sub []testCommand
}

func entry(name string, arity int, flags spec.Flag, run func(c *Ctx)) testCommand {
	return testCommand{Command: &spec.Command{Name: name, Arity: arity, Flags: flags,
		Group: spec.GroupGeneric, Since: "1.0.0", Summary: "-"}, run: run}
}

func tableOf(cmds []testCommand) *Table {
	var entries []*spec.Command
	handlers := Handlers{}
	for _, c := range cmds {
		entries = append(entries, c.Command)
		if c.run != nil {
			handlers[c.Name] = c.run
		}
		for _, s := range c.sub {
			c.Sub = append(c.Sub, s.Command)
			handlers[c.Name+"|"+s.Name] = s.run
		}
	}
	return NewTable(spec.NewTable(entries), handlers)
}

// testTable returns a table with a command of each kind that the gates tell apart.
func testTable(more ...testCommand) *Table {
	ok := func(c *Ctx) { c.OK() }
	box := entry("box", -2, 0, nil)
	box.sub = []testCommand{entry("one", 2, spec.Admin, ok), entry("two", 3, spec.Write, ok)}
	guarded := entry("guarded", 1, 0, ok)
	guarded.Protected = spec.ByDebugCommand
	doomed := entry("doomed", 2, spec.Write|spec.DenyOOM|spec.NoMulti, ok)
	doomed.Protected = spec.ByDebugCommand
	return tableOf(slices.Concat(more, blockingCommands(), nestingCommands(), []testCommand{
		entry("read", 2, spec.ReadOnly|spec.Fast, ok),
		entry("write", -2, spec.Write|spec.DenyOOM, ok),
		entry("login", -1, spec.NoAuth, func(c *Ctx) {
			c.Redact(1)
			c.OK()
		}),
		entry("spread", 1, spec.MayReplicate, ok), entry("plain", 1, 0, ok),
		entry("fail", 1, 0, func(c *Ctx) { c.Err("ERR failed") }),
		entry("reply", 2, 0, func(c *Ctx) {
			switch string(c.Args[1]) {
			case "on":
				c.Client.Reply = ReplyOn
				c.Writer = &c.Client.W
				c.OK()
			case "off":
				c.Client.Reply = ReplyOff
			case "skip":
				if c.Client.Reply != ReplyOff {
					c.Client.Reply = ReplySkipNext
				}
			}
		}),
		box, guarded, doomed,
	}))
}

// passTo makes the steady clock show the time.
func (f *fixture) passTo(ms int64) { f.e.start += ms - f.e.Steady() }

type fixture struct {
	t    *testing.T
	e    *Engine
	c    *Client
	conn *fakeConn
}

func newFixture(t *testing.T, settings string, more ...testCommand) *fixture {
	t.Helper()
	cfg, err := config.Parse("test", settings)
	if err != nil {
		t.Fatal(err)
	}
	f := &fixture{t: t, e: New(cfg, testTable(more...),
		Options{Log: logging.Discard(), Seed: 1}), conn: &fakeConn{}}
	f.e.Enter()
	t.Cleanup(f.e.Leave)
	f.c = f.client(f.conn)
	return f
}

func (f *fixture) client(conn Conn) *Client {
	c := f.e.NewClient(conn)
	c.Addr = fmt.Sprintf("127.0.0.1:%d", 1000+c.ID)
	return c
}

// run returns the reply to a command, which it splits at blanks, or "(postponed)" if the command
// did not run.
func (f *fixture) run(c *Client, line string) string {
	f.t.Helper()
	var argv [][]byte
	for _, w := range strings.Split(line, " ") {
		argv = append(argv, []byte(w))
	}
	done := f.e.Exec(c, argv)
	out := string(c.W.Buf)
	c.W.Buf = c.W.Buf[:0]
	if !done {
		if out != "" {
			f.t.Errorf("%s: postponed and answered %q", line, out)
		}
		return "(postponed)"
	}
	return strings.TrimSuffix(out, "\r\n")
}

func (f *fixture) expect(c *Client, line, want string) {
	f.t.Helper()
	if got := f.run(c, line); got != want {
		f.t.Errorf("%s: %q, want %q", line, got, want)
	}
}

func TestGates(t *testing.T) {
	f := newFixture(t, "")
	for line, want := range map[string]string{
		"read k": "+OK", "READ k": "+OK", "write k v w": "+OK", "box ONE": "+OK",
		"BOX two x": "+OK",
		"read":      "-ERR wrong number of arguments for 'read' command",
		"read a b":  "-ERR wrong number of arguments for 'read' command",
		"write":     "-ERR wrong number of arguments for 'write' command",
		"box":       "-ERR wrong number of arguments for 'box' command",
		"box one x": "-ERR wrong number of arguments for 'box|one' command",
		"box two":   "-ERR wrong number of arguments for 'box|two' command",
		"box three": "-ERR unknown subcommand 'three'. Try BOX HELP.",
		"box|one":   "-ERR unknown command 'box|one', with args beginning with: ",
		"nosuch a":  "-ERR unknown command 'nosuch', with args beginning with: 'a' ",
		strings.Repeat("n", 65): "-ERR unknown command '" + strings.Repeat("n", 65) +
			"', with args beginning with: ",
		"guarded": "-" + ErrDebugNotAllowed,
		"fail":    "-ERR failed",
	} {
		f.expect(f.c, line, want)
	}
}

func TestGateCounters(t *testing.T) {
	f := newFixture(t, "")
	for range 3 {
		f.run(f.c, "read")
		f.run(f.c, "fail")
		f.run(f.c, "read k")
		f.run(f.c, "nosuch")
	}
	read, fail := f.e.CommandStats(f.e.Table().Get("read")),
		f.e.CommandStats(f.e.Table().Get("fail"))
	if read.Calls != 3 || read.Rejected != 3 || read.Failed != 0 || fail.Calls != 3 ||
		fail.Failed != 3 {
		t.Errorf("read %d calls, %d rejected, %d failed; fail %d calls, %d failed", read.Calls,
			read.Rejected, read.Failed, fail.Calls, fail.Failed)
	}
	n := int64(0)
	f.e.ErrorStats(func(code string, count int64) {
		if code == "ERR" {
			n = count
		}
	})
	if n != 9 || f.e.Stats.ErrorReplies != 9 {
		t.Errorf("%d errors, %d by code, want 9", f.e.Stats.ErrorReplies, n)
	}
	if f.c.LastCmd != nil {
		t.Errorf("the last command is %s after an unknown one", f.c.LastCmd.Name)
	}
}

func TestNoAuth(t *testing.T) {
	f := newFixture(t, "requirepass secret")
	for line, want := range map[string]string{
		"read k": "-" + ErrNoAuth, "box one": "-" + ErrNoAuth, "login x": "+OK",
		// What is wrong with a command by itself is said first, as in Redis.
		"nosuch": "-ERR unknown command 'nosuch', with args beginning with: ",
		"read":   "-ERR wrong number of arguments for 'read' command",
	} {
		f.expect(f.c, line, want)
	}
	f.c.Authenticated = true
	f.expect(f.c, "read k", "+OK")
	f.e.ResetClient(f.c)
	f.expect(f.c, "read k", "-"+ErrNoAuth)
}

func TestProtectedCommands(t *testing.T) {
	for setting, want := range map[string][2]bool{ // remote, local
		"no": {false, false}, "local": {false, true}, "yes": {true, true},
	} {
		f := newFixture(t, "enable-debug-command "+setting)
		for i, local := range []bool{false, true} {
			f.c.Local = local
			if ok := f.run(f.c, "guarded") == "+OK"; ok != want[i] {
				t.Errorf("enable-debug-command %s, local %t: %t", setting, local, ok)
			}
		}
	}
}

func TestLogPassesAllGates(t *testing.T) {
	f := newFixture(t, "requirepass secret")
	f.c.Origin = OriginLog
	f.e.Pause(PauseByClient, f.e.Steady()+1e6, true)
	f.expect(f.c, "guarded", "+OK")
	f.expect(f.c, "write k", "+OK")
}

func TestMonitorsTouchNoKeys(t *testing.T) {
	f := newFixture(t, "")
	f.e.StartMonitor(f.c)
	for _, line := range []string{"read k", "write k", "spread"} {
		if got := f.run(f.c, line); got != "-"+ErrMonitorKeys {
			t.Errorf("%s: %q", line, got)
		}
	}
	if got := f.run(f.c, "plain"); !strings.HasPrefix(got, "+OK\r\n+") {
		t.Errorf("plain: %q", got)
	}
}

func TestReplyModes(t *testing.T) {
	f := newFixture(t, "")
	for i, s := range []struct{ line, want string }{
		{"reply skip", ""}, {"plain", ""}, {"plain", "+OK"},
		{"reply skip", ""}, {"reply skip", ""}, {"plain", ""}, {"plain", "+OK"},
		{"reply skip", ""}, {"nosuch", ""}, {"plain", "+OK"},
		{"reply off", ""}, {"plain", ""}, {"nosuch", ""}, {"read", ""}, {"reply skip", ""},
		{"plain", ""}, {"plain", ""}, {"reply on", "+OK"}, {"plain", "+OK"},
		{"reply skip", ""}, {"reply off", ""}, {"plain", ""}, {"reply on", "+OK"},
		{"reply skip", ""}, {"reply on", "+OK"}, {"plain", "+OK"},
	} {
		if got := f.run(f.c, s.line); got != s.want {
			t.Errorf("step %d, %s: %q, want %q", i, s.line, got, s.want)
		}
	}
	f.run(f.c, "reply off")
	f.e.ProtocolError(f.c, &resp.ProtocolError{}, nil)
	if len(f.c.W.Buf) != 0 || !f.c.CloseAfterReply {
		t.Errorf("protocol error with replies off: %q, close %t", f.c.W.Buf, f.c.CloseAfterReply)
	}
}

func TestPauseWrites(t *testing.T) {
	f := newFixture(t, "")
	f.e.Pause(PauseByClient, f.e.Steady()+1000, false)
	f.expect(f.c, "read k", "+OK")
	f.expect(f.c, "plain", "+OK")
	f.expect(f.c, "write", "-ERR wrong number of arguments for 'write' command")
	other := f.client(&fakeConn{})
	f.expect(f.c, "write k", "(postponed)")
	f.expect(other, "spread", "(postponed)")
	if !f.c.Postponed() || f.conn.resumed != 0 {
		t.Fatal("not held back")
	}
	f.e.Unpause(PauseByClient)
	if f.c.Postponed() || f.conn.resumed != 1 {
		t.Errorf("held back %t after the pause, resumed %d times", f.c.Postponed(), f.conn.resumed)
	}
	f.expect(f.c, "write k", "+OK")
	if st := f.e.CommandStats(f.e.Table().Get("write")); st.Calls != 1 || f.c.Commands != 4 {
		t.Errorf("%d calls, %d commands of the client: a postponed command counts when it runs",
			st.Calls, f.c.Commands)
	}
}

func TestPauseAll(t *testing.T) {
	f := newFixture(t, "")
	now := f.e.Steady()
	f.e.Pause(PauseByClient, now+5000, true)
	f.e.Pause(PauseByClient, now+1000, false) // neither shorter nor weaker
	if until, all := f.e.PausedUntil(); until != now+5000 || !all {
		t.Errorf("paused until %d, all %t", until-now, all)
	}
	f.expect(f.c, "plain", "(postponed)")
	replica := f.client(nil)
	replica.Class = ClassReplica
	f.expect(replica, "plain", "+OK")
	f.passTo(now + 5000) // over: the next command notices
	other := f.client(nil)
	f.expect(other, "plain", "+OK")
	if f.c.Postponed() || f.conn.resumed != 1 {
		t.Error("the pause is over, the client still waits")
	}
	if until, _ := f.e.PausedUntil(); until != 0 {
		t.Error("still paused")
	}
	f.e.Pause(PauseByClient, f.e.Steady()+10, false)
	if until, all := f.e.PausedUntil(); until != f.e.Steady()+10 || all {
		t.Error("a new pause inherited the old one")
	}
}

func TestPauseSkipsReplyOnce(t *testing.T) {
	f := newFixture(t, "")
	f.run(f.c, "reply skip")
	f.e.Pause(PauseByClient, f.e.Steady()+1000, true)
	f.expect(f.c, "plain", "(postponed)")
	f.e.Unpause(PauseByClient)
	f.expect(f.c, "plain", "")
	f.expect(f.c, "plain", "+OK")
}

func TestForgetWhilePostponed(t *testing.T) {
	f := newFixture(t, "")
	f.e.Pause(PauseByClient, f.e.Steady()+1000, true)
	f.expect(f.c, "plain", "(postponed)")
	f.e.Forget(f.c)
	f.e.Forget(f.c)
	f.e.Unpause(PauseByClient)
	if f.conn.resumed != 0 || f.e.ClientCount() != 0 {
		t.Errorf("resumed %d times, %d clients", f.conn.resumed, f.e.ClientCount())
	}
}

func TestKill(t *testing.T) {
	f := newFixture(t, "")
	conn := &fakeConn{}
	other := f.client(conn)
	f.e.StartMonitor(other)
	f.e.Kill(other)
	if f.e.ClientCount() != 1 || !other.CloseASAP || other.Monitor || conn.closed != 1 {
		t.Errorf("%d clients, close ASAP %t, monitor %t, closed %d times", f.e.ClientCount(),
			other.CloseASAP, other.Monitor, conn.closed)
	}
	f.e.current = f.c
	f.e.Kill(f.c)
	f.e.current = nil
	if f.c.CloseASAP || !f.c.CloseAfterReply || f.conn.closed != 0 || f.e.ClientCount() != 1 {
		t.Error("the running client is to be closed behind its reply")
	}
}

func TestClientsInOrder(t *testing.T) {
	f := newFixture(t, "")
	all := []*Client{f.c}
	for range 5 {
		all = append(all, f.client(nil))
	}
	for _, i := range []int{3, 0, 3} { // the middle, the head, the tail
		f.e.Forget(all[i])
		all = slices.Delete(all, i, i+1)
	}
	var got []*Client
	f.e.Clients(func(c *Client) bool {
		got = append(got, c)
		return true
	})
	if !slices.Equal(got, all) || f.e.ClientCount() != 3 {
		t.Errorf("%d clients listed, %d counted, want 3", len(got), f.e.ClientCount())
	}
	f.e.Clients(func(c *Client) bool { // leaving while the list is walked
		f.e.Forget(c)
		return true
	})
	if f.e.ClientCount() != 0 || f.e.clients.head != nil || f.e.clients.tail != nil {
		t.Error("the list is not empty")
	}
}

func TestMonitorFeed(t *testing.T) {
	f := newFixture(t, "slowlog-log-slower-than 0")
	conn := &fakeConn{}
	m := f.client(conn)
	f.e.StartMonitor(m)
	f.e.StartMonitor(m)
	f.run(f.c, "read \x00\"é")
	f.run(f.c, "box one") // administration is not shown
	f.run(f.c, "nosuch")
	f.run(f.c, "login secret")
	f.e.SelectDB(f.c, 3)
	f.c.Unix, f.c.Addr = true, "/tmp/s:0"
	f.run(f.c, "plain")
	var shown []string
	for _, line := range strings.Split(strings.TrimSuffix(string(m.W.Buf), "\r\n"), "\r\n") {
		_, after, _ := strings.Cut(line, " ")
		shown = append(shown, after)
	}
	want := []string{
		`[0 127.0.0.1:1001] "read" "\x00\"\xc3\xa9"`,
		`[0 127.0.0.1:1001] "login" "(redacted)"`,
		`[3 unix:/tmp/s] "plain"`,
	}
	f.e.Deliver()
	if !slices.Equal(shown, want) || conn.flushed != 1 {
		t.Errorf("shown %q, flushed %d times, want %q", shown, conn.flushed, want)
	}
	for i := range f.e.Slowlog.Len() {
		if args := f.e.Slowlog.At(i).Args; slices.Contains(args, "secret") {
			t.Errorf("the slow log shows %q", args)
		}
	}
	m.W.Buf, m.CloseAfterReply = nil, true
	f.run(f.c, "plain")
	if len(m.W.Buf) > 0 {
		t.Errorf("a monitor that has quit is shown %q", m.W.Buf)
	}
	f.e.ResetClient(m)
	f.run(f.c, "plain")
	f.e.Deliver()
	if conn.flushed != 1 {
		t.Error("a monitor after RESET")
	}
}

func TestHTTPIsRefused(t *testing.T) {
	for _, line := range []string{"POST / HTTP/1.1", "Host: a", "host:"} {
		f := newFixture(t, "")
		if got := f.run(f.c, line); got != "" || !f.c.CloseASAP {
			t.Errorf("%s: %q, close %t", line, got, f.c.CloseASAP)
		}
	}
	f := newFixture(t, "")
	if f.run(f.c, "POSTS x"); f.c.CloseASAP {
		t.Error("POSTS is no HTTP")
	}
}

func TestRename(t *testing.T) {
	f := newFixture(t, "")
	tab := f.e.Table()
	for _, r := range []struct{ from, to, want string }{
		{"nosuch", "x", "No such command in rename-command"},
		{"read", "write", "Target command name already exists"},
		{"read", "READ2", ""}, {"write", "", ""}, {"box", "crate", ""},
		{"read", "x", "No such command in rename-command"},
	} {
		got := ""
		if err := tab.Rename(r.from, r.to); err != nil {
			got = err.Error()
		}
		if got != r.want {
			t.Errorf("rename %s %q: %q, want %q", r.from, r.to, got, r.want)
		}
	}
	for line, want := range map[string]string{
		"read k":    "-ERR unknown command 'read', with args beginning with: 'k' ",
		"write k":   "-ERR unknown command 'write', with args beginning with: 'k' ",
		"read2 k":   "+OK",
		"read2":     "-ERR wrong number of arguments for 'read' command",
		"crate one": "+OK",
		"crate foo": "-ERR unknown subcommand 'foo'. Try CRATE HELP.",
		"box one":   "-ERR unknown command 'box', with args beginning with: 'one' ",
	} {
		f.expect(f.c, line, want)
	}
	if tab.Get("READ2") == nil || tab.Get("crate|one") == nil || tab.Get("write") != nil ||
		len(tab.List()) != 9+len(blockingCommands())+len(nestingCommands()) {
		t.Errorf("table after renaming: %d commands", len(tab.List()))
	}
}

// TestHandlers checks that each command has one handler, and each handler a command.
func TestHandlers(t *testing.T) {
	run := func(*Ctx) {}
	for what, handlers := range map[string][]Handlers{
		"none":          {{"box|one": run}},
		"for container": {{"plain": run, "box|one": run, "box": run}},
		"no command":    {{"plain": run, "box|one": run, "box|two": run}},
		"two":           {{"plain": run, "box|one": run}, {"plain": run}},
		"":              {{"plain": run}, {"box|one": run}},
	} {
		box := entry("box", -2, 0, nil)
		box.Sub = []*spec.Command{entry("one", 2, 0, nil).Command}
		table := spec.NewTable([]*spec.Command{entry("plain", 1, 0, nil).Command, box.Command})
		if got := panics(func() { NewTable(table, handlers...) }); got != (what != "") {
			t.Errorf("%q: refused %v", what, got)
		}
	}
}

func panics(fn func()) (did bool) {
	defer func() { did = recover() != nil }()
	fn()
	return false
}
