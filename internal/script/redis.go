package script

import (
	"crypto/sha1"
	"encoding/hex"
	"strings"

	lua "github.com/yuin/gopher-lua"
)

// Options say how the server presents itself to scripts.
type Options struct {
	Version    string // REDIS_VERSION
	VersionNum int    // REDIS_VERSION_NUM, 0x00MMmmpp
}

// API returns the table redis of scripts.
func (s *State) API(o Options) *lua.LTable {
	t := s.L.NewTable()
	s.library(t, map[string]lua.LGFunction{
		"call":        func(L *lua.LState) int { return s.command(L, true) },
		"pcall":       func(L *lua.LState) int { return s.command(L, false) },
		"error_reply": s.errorReply, "status_reply": s.statusReply, "sha1hex": s.sha1hex,
		"log": s.log, "setresp": s.setresp,
		"set_repl": s.setRepl, "acl_check_cmd": s.aclCheck,
		"replicate_commands": func(L *lua.LState) int { L.Push(lua.LTrue); return 1 },
		"breakpoint":         func(L *lua.LState) int { L.Push(lua.LFalse); return 1 },
		"debug":              func(*lua.LState) int { return 0 },
	})
	for name, n := range map[string]int{
		"LOG_DEBUG": LogDebug, "LOG_VERBOSE": LogVerbose, "LOG_NOTICE": LogNotice,
		"LOG_WARNING": LogWarning, "REPL_NONE": ReplNone, "REPL_AOF": ReplAOF,
		"REPL_SLAVE": ReplReplica, "REPL_REPLICA": ReplReplica, "REPL_ALL": ReplAll,
		"REDIS_VERSION_NUM": o.VersionNum,
	} {
		t.RawSetString(name, lua.LNumber(n))
	}
	t.RawSetString("REDIS_VERSION", lua.LString(o.Version))
	return t
}

// errorTable returns an error as scripts see it. The text includes the code, without '-'.
func (s *State) errorTable(msg string) *lua.LTable {
	t := s.L.CreateTable(0, 2)
	t.RawSetString("err", lua.LString(msg))
	return t
}

// refuse raises an error of a function in the table redis.
func (s *State) refuse(L *lua.LState, msg string) { s.throw(L, s.errorTable("ERR "+msg)) }

// args collects the arguments of redis.call into argv. The bytes are valid until the next call.
func (s *State) args(L *lua.LState, n int) bool {
	b, ends := s.argBuf[:0], s.argEnds[:0]
	for i := 1; i <= n; i++ {
		switch t := L.Get(i).(type) {
		case lua.LString:
			b = append(b, t...)
		case lua.LNumber:
			b = appendArgument(b, float64(t))
		default:
			return false
		}
		ends = append(ends, len(b))
	}
	argv := s.argv[:0]
	from := 0
	for _, end := range ends {
		argv = append(argv, b[from:end:end])
		from = end
	}
	s.argBuf, s.argEnds, s.argv = b, ends, argv
	if cap(b) > 1<<20 {
		s.argBuf = nil
	}
	return true
}

// command implements redis.call, or redis.pcall if raise is false.
func (s *State) command(L *lua.LState, raise bool) int {
	n := L.GetTop()
	var v lua.LValue
	switch {
	case n == 0:
		v = s.errorTable("ERR Please specify at least one argument for this redis lib call")
	case s.calling:
		v = s.errorTable("ERR luaRedisGenericCommand() recursive call detected. Are you doing " +
			"funny stuff with Lua debug hooks?")
	case !s.args(L, n):
		v = s.errorTable("ERR Lua redis lib command arguments must be strings or integers")
	default:
		reply, refused := s.serverCall()
		if s.stop != nil {
			s.left = 0
		}
		if refused == "" {
			s.grow(L, len(reply))
			d := decoder{s: s, b: reply}
			v = d.value()
			if !raise || reply[0] != '-' {
				L.Push(v)
				return 1
			}
			s.throw(L, v)
		}
		t := s.errorTable(refused)
		t.RawSetString("ignore_error_stats_update", lua.LTrue)
		v = t
	}
	if raise {
		s.throw(L, v)
	}
	L.Push(v)
	return 1
}

// serverCall runs the command in argv.
func (s *State) serverCall() (reply []byte, refused string) {
	defer s.watch()
	s.calling = true
	reply, refused = s.caller.Call(s.argv, s.proto)
	s.calling = false
	return reply, refused
}

func (s *State) onlyString(L *lua.LState) (string, bool) {
	if L.GetTop() != 1 {
		return "", false
	}
	str, ok := L.Get(1).(lua.LString)
	return string(str), ok
}

func (s *State) errorReply(L *lua.LState) int {
	str, ok := s.onlyString(L)
	if !ok {
		L.Push(s.errorTable("ERR wrong number or type of arguments"))
		return 1
	}
	str = strings.TrimRight(strings.TrimPrefix(str, "-"), "\r\n")
	if !strings.Contains(str, " ") {
		str = "ERR " + str // every error has a code
	}
	L.Push(s.errorTable(str))
	return 1
}

func (s *State) statusReply(L *lua.LState) int {
	str, ok := s.onlyString(L)
	if !ok {
		L.Push(s.errorTable("ERR wrong number or type of arguments"))
		return 1
	}
	t := L.CreateTable(0, 1)
	t.RawSetString("ok", lua.LString(str))
	L.Push(t)
	return 1
}

func (s *State) sha1hex(L *lua.LState) int {
	if L.GetTop() != 1 {
		s.refuse(L, "wrong number of arguments")
	}
	str, _ := toString(L.Get(1))
	s.spend(L, len(str)>>6)
	L.Push(lua.LString(Digest([]byte(str))))
	return 1
}

// Digest returns the SHA-1 of a script as 40 hexadecimal characters.
func Digest(b []byte) string {
	sum := sha1.Sum(b)
	return hex.EncodeToString(sum[:])
}

func (s *State) log(L *lua.LState) int {
	n := L.GetTop()
	if n < 2 {
		s.refuse(L, "redis.log() requires two arguments or more.")
	}
	level, ok := toNumber(L.Get(1))
	if !ok {
		s.refuse(L, "First argument must be a number (log level).")
	}
	if level < LogDebug || level >= LogWarning+1 {
		s.refuse(L, "Invalid log level.")
	}
	var parts []string
	for i := 2; i <= n; i++ {
		if str, ok := toString(L.Get(i)); ok {
			parts = append(parts, str)
		}
	}
	s.caller.Log(int(level), strings.Join(parts, " "))
	return 0
}

func (s *State) setresp(L *lua.LState) int {
	if L.GetTop() != 1 {
		s.refuse(L, "redis.setresp() requires one argument.")
	}
	n, _ := toNumber(L.Get(1))
	if n = float64(int(n)); n != 2 && n != 3 {
		s.refuse(L, "RESP version must be 2 or 3.")
	}
	s.proto = int(n)
	return 0
}

func (s *State) setRepl(L *lua.LState) int {
	if L.GetTop() != 1 {
		s.refuse(L, "redis.set_repl() requires one argument.")
	}
	n, _ := toNumber(L.Get(1))
	if int(n)&^ReplAll != 0 {
		s.refuse(L, "Invalid replication flags. Use REPL_AOF, REPL_REPLICA, REPL_ALL or REPL_NONE.")
	}
	s.caller.SetRepl(int(n))
	return 0
}

func (s *State) aclCheck(L *lua.LState) int {
	n := L.GetTop()
	switch {
	case n == 0:
		s.refuse(L, "Please specify at least one argument for this redis lib call")
	case !s.args(L, n):
		s.refuse(L, "Lua redis lib command arguments must be strings or integers")
	}
	ok, known := s.caller.Allowed(s.argv)
	if !known {
		s.refuse(L, "Invalid command passed to redis.acl_check_cmd()")
	}
	L.Push(lua.LBool(ok))
	return 1
}
