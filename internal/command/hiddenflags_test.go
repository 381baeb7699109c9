package command

import (
	"crypto/sha1"
	"encoding/hex"
	"strconv"
	"strings"
	"testing"

	"godwit/internal/config"
	"godwit/internal/resp/client"
	"godwit/internal/spec"
	"godwit/internal/testserver"
)

// COMMAND does not show every flag, but the effect of a hidden flag is visible. These tests call
// each command in a situation that the flag decides, and compare the outcome with a live server's.

// party is a connection to a server, on which a test sets up situations.
type party interface {
	server
	// another opens another connection to the server.
	another(t testing.TB) party
	// call returns the first reply to a command. It reports false if the server holds the command
	// back, as CLIENT PAUSE does. admin is another connection.
	call(t testing.TB, argv [][]byte, admin party) (v client.Value, answered bool)
	close()
}

func (l *local) another(testing.TB) party { return l.join() }

func (l *local) close() {}

func (l *local) call(t testing.TB, argv [][]byte, _ party) (v client.Value, answered bool) {
	t.Helper()
	l.e.Enter()
	defer l.e.Leave()
	l.c.W.Buf = l.c.W.Buf[:0]
	if !l.e.Exec(l.c, argv) {
		return v, false
	}
	if len(l.c.W.Buf) > 0 {
		var err error
		if v, _, err = client.Parse(l.c.W.Buf); err != nil {
			t.Fatalf("%q: %v", argv, err)
		}
	}
	return v, true
}

// remoteParty is a party on a live server. It knows its client's ID.
type remoteParty struct {
	*remote
	id string
}

func (r *remote) party(t testing.TB) *remoteParty {
	t.Helper()
	c, err := r.s.Dial()
	if err != nil {
		t.Fatal(err)
	}
	p := &remoteParty{remote: &remote{c: c, s: r.s}}
	p.id = strconv.FormatInt(ok(t, p, "CLIENT ID").Int, 10)
	return p
}

func (r *remoteParty) another(t testing.TB) party { return r.party(t) }

func (r *remoteParty) close() { _ = r.c.Close() }

func (r *remoteParty) call(
	t testing.TB, argv [][]byte, admin party,
) (v client.Value, answered bool) {
	t.Helper()
	replies := make(chan client.Value, 1)
	go func() {
		defer close(replies)
		args := make([]any, len(argv))
		for i := range argv {
			args[i] = argv[i]
		}
		if v, err := r.c.Do(args...); err == nil { // Else the connection was closed.
			replies <- v
		}
	}()
	for {
		select {
		case v = <-replies:
			return v, true
		default:
		}
		line := admin.do(t, argvOf("CLIENT", "LIST", "ID", r.id)).Str
		_, flags, _ := strings.Cut(line, " flags=")
		if strings.Contains(strings.Split(flags, " ")[0], "b") { // It waits.
			return v, false
		}
	}
}

// situation is one in which a hidden flag decides the outcome of a command.
type situation struct {
	name  string
	begin func(t testing.TB, admin, c party)
	wrap  []string // The words in front of the command that make a call of it.
	// see returns the outcome of the command, given its first reply.
	see func(t testing.TB, c party, v client.Value) string
	end func(t testing.TB, admin party)
	// skip reports whether the command cannot be compared.
	skip func(cmd *spec.Command) bool
}

// ok runs a command that must succeed.
func ok(t testing.TB, p party, line string) client.Value {
	t.Helper()
	v := p.do(t, argvOf(strings.Fields(line)...))
	if v.IsError() {
		t.Fatalf("%s: %s", line, v.Str)
	}
	return v
}

// refusedWith returns a see function for errors that contain the words.
func refusedWith(words string) func(testing.TB, party, client.Value) string {
	return func(_ testing.TB, _ party, v client.Value) string {
		if v.IsError() && strings.Contains(v.Str, words) {
			return "refused"
		}
		return "allowed"
	}
}

var situations = []situation{
	{
		name:  "writes are paused", // MayReplicate
		begin: func(t testing.TB, admin, _ party) { ok(t, admin, "CLIENT PAUSE 1000000 WRITE") },
		see:   func(testing.TB, party, client.Value) string { return "answered" },
		end:   func(t testing.TB, admin party) { ok(t, admin, "CLIENT UNPAUSE") },
	},
	{
		name: "called by a read-only script", // MayReplicate
		wrap: []string{"EVAL_RO", "return redis.call(unpack(ARGV))", "0"},
		see:  refusedWith("Write commands are not allowed"),
	},
	{
		name:  "the client is a monitor", // MayReplicate
		begin: func(t testing.TB, _, c party) { ok(t, c, "MONITOR") },
		see:   refusedWith("interact with the keyspace"),
		// A second MONITOR has no reply.
		skip: func(cmd *spec.Command) bool { return cmd.Name == "monitor" },
	},
	{
		name:  "the client has subscribed", // WhileSubscribed
		begin: func(t testing.TB, _, c party) { ok(t, c, "SUBSCRIBE channel") },
		see:   refusedWith("are allowed in this context"),
	},
	{
		name:  "within MULTI", // InMulti, LeavesMulti
		begin: func(t testing.TB, _, c party) { ok(t, c, "MULTI") },
		see: func(_ testing.TB, _ party, v client.Value) string {
			if v.Str == "QUEUED" {
				return "queued"
			}
			return "not queued"
		},
	},
	{
		name: "within MULTI and without memory", // DenyOOM
		begin: func(t testing.TB, admin, c party) {
			ok(t, c, "MULTI")
			ok(t, admin, "CONFIG SET maxmemory 1")
		},
		see: refusedWith("OOM "),
		end: func(t testing.TB, admin party) { ok(t, admin, "CONFIG SET maxmemory 0") },
	},
	{
		name: "after CLIENT CACHING", // KeepsCaching
		begin: func(t testing.TB, admin, c party) {
			to := strconv.FormatInt(ok(t, admin, "CLIENT ID").Int, 10)
			ok(t, c, "CLIENT TRACKING ON OPTIN REDIRECT "+to)
			ok(t, c, "CLIENT CACHING YES")
		},
		see: func(t testing.TB, c party, _ client.Value) string {
			info := c.do(t, argvOf("CLIENT", "TRACKINGINFO"))
			if strings.Contains(info.String(), "caching-yes") {
				return "kept"
			}
			return "forgotten"
		},
		// After QUIT there is no connection to ask. After MONITOR its lines come first.
		skip: func(cmd *spec.Command) bool { return cmd.Name == "quit" || cmd.Name == "monitor" },
	},
}

// outcome returns the outcome of the command in the situation.
func (s *situation) outcome(t testing.TB, admin party, argv [][]byte) string {
	t.Helper()
	c := admin.another(t)
	defer c.close()
	if s.begin != nil {
		s.begin(t, admin, c)
	}
	if s.end != nil {
		defer s.end(t, admin)
	}
	v, answered := c.call(t, append(argvOf(s.wrap...), argv...), admin)
	if !answered {
		return "held"
	}
	return s.see(t, c, v)
}

// callOf returns a call of the command that satisfies its arity. Most handlers refuse it.
func callOf(cmd *spec.Command) [][]byte {
	argv := argvOf(strings.Split(cmd.FullName(), "|")...)
	n := cmd.Arity
	if n < 0 {
		n = max(-n, 1) + 1
	}
	for len(argv) < n {
		argv = append(argv, []byte("x"))
	}
	return argv
}

// TestHiddenFlagsRedis compares with Redis 8.
func TestHiddenFlagsRedis(t *testing.T) {
	p := testserver.Redis
	compareSituations(t, startPeer(t, p), p.TB)
}

func compareSituations(t *testing.T, r *remote, to func(testing.TB) testing.TB) {
	t.Helper()
	redis, own := r.party(t), newLocal(t)
	own.e.Cfg.EnableDebugCommand = config.GuardYes
	for i := range situations {
		s := &situations[i]
		t.Run(s.name, func(t *testing.T) {
			tb, compared := to(t), 0
			for _, cmd := range spec.New().All() {
				info := redis.do(t, argvOf("COMMAND", "INFO", cmd.FullName())).Elems[0]
				if !cmd.Runs() || info.IsNull() || info.Elems[1].Int != int64(cmd.Arity) ||
					cmd.Name == "sync" || cmd.Name == "psync" || // No reply.
					s.skip != nil && s.skip(cmd) {
					continue
				}
				compared++
				argv := callOf(cmd)
				want := s.outcome(t, redis, argv)
				if got := s.outcome(t, own, argv); got != want {
					tb.Errorf("%s: %s, in redis %s", cmd.FullName(), got, want)
				}
			}
			if compared < 200 {
				t.Errorf("only %d commands compared", compared)
			}
		})
	}
}

// TestPausedScripts checks that while writes are paused, scripts with the flag no-writes run.
// Others are held back.
func TestPausedScripts(t *testing.T) {
	p := testserver.Redis
	redis, own := startPeer(t, p).party(t), newLocal(t)
	const library = "#!lua name=l\nlocal f = function() return 1 end\n" +
		"redis.register_function('writes', f)\n" +
		"redis.register_function{function_name = 'reads', callback = f, flags = {'no-writes'}}"
	const reads = "#!lua flags=no-writes\nreturn 2"
	for _, call := range [][]string{
		{"EVAL", "return 1", "0"}, {"EVAL", "#!lua\nreturn 1", "0"}, {"EVAL", reads, "0"},
		{"EVAL", "#!lua flags=nonsense\nreturn 1", "0"}, {"EVAL", "#!nonsense", "0"},
		{"EVAL_RO", "return 1", "0"}, {"EVALSHA", strings.Repeat("f", 40), "0"},
		{"EVALSHA", sha1Hex(reads), "0"}, {"EVALSHA", sha1Hex(""), "0"},
		{"FCALL", "writes", "0"}, {"FCALL", "reads", "0"}, {"FCALL", "nonsense", "0"},
	} {
		var got [2]string
		for i, admin := range []party{own, redis} {
			admin.do(t, argvOf("FUNCTION", "LOAD", "REPLACE", library))
			admin.do(t, argvOf("SCRIPT", "LOAD", reads))
			admin.do(t, argvOf("SCRIPT", "LOAD", ""))
			got[i] = situations[0].outcome(t, admin, argvOf(call...))
		}
		if got[0] != got[1] {
			p.TB(t).Errorf("%q: %s, in redis %s", call, got[0], got[1])
		}
	}
}

func sha1Hex(s string) string {
	sum := sha1.Sum([]byte(s))
	return hex.EncodeToString(sum[:])
}
