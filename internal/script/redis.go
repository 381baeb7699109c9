package script

import (
	"crypto/sha1"
	"encoding/hex"
	"strings"

	"godwit/internal/lua"
)

// Options say how the server presents itself to scripts.
type Options struct {
	Version    string // REDIS_VERSION
	VersionNum int    // REDIS_VERSION_NUM, 0x00MMmmpp
}

// entry is a field of a library table.
type entry struct {
	name string
	fn   func(t *lua.Thread) int
	n    int // if fn is nil
}

// set adds the entries to a table.
func set(t *lua.Table, entries ...entry) {
	for _, e := range entries {
		v := lua.Int(e.n)
		if e.fn != nil {
			v = lua.NativeValue(&lua.Native{Name: e.name, Fn: e.fn})
		}
		t.SetString(e.name, v)
	}
}

// API returns the table redis of scripts.
func (s *State) API(o Options) *lua.Table {
	t := lua.NewTable(0, 0)
	set(t, entry{name: "call", fn: s.call}, entry{name: "pcall", fn: s.pcall})
	s.logAPI(t, o)
	set(t, entry{name: "setresp", fn: s.setresp},
		entry{name: "sha1hex", fn: s.sha1hex},
		entry{name: "error_reply", fn: s.errorReply},
		entry{name: "status_reply", fn: s.statusReply},
		entry{name: "set_repl", fn: s.setRepl},
		entry{name: "REPL_NONE", n: ReplNone}, entry{name: "REPL_AOF", n: ReplAOF},
		entry{name: "REPL_SLAVE", n: ReplReplica}, entry{name: "REPL_REPLICA", n: ReplReplica},
		entry{name: "REPL_ALL", n: ReplAll},
		entry{name: "acl_check_cmd", fn: s.aclCheck})
	return t
}

// logAPI adds the fields that code has while it is being loaded, too.
func (s *State) logAPI(t *lua.Table, o Options) {
	set(t, entry{name: "log", fn: s.log},
		entry{name: "LOG_DEBUG", n: LogDebug}, entry{name: "LOG_VERBOSE", n: LogVerbose},
		entry{name: "LOG_NOTICE", n: LogNotice}, entry{name: "LOG_WARNING", n: LogWarning},
		entry{name: "REDIS_VERSION_NUM", n: o.VersionNum})
	t.SetString("REDIS_VERSION", lua.String(o.Version))
}

// scriptAPI adds what only scripts of EVAL have.
func (s *State) scriptAPI(t *lua.Table) *lua.Table {
	set(t, entry{name: "breakpoint", fn: s.breakpoint}, entry{name: "debug", fn: s.debugLog},
		entry{name: "replicate_commands", fn: func(t *lua.Thread) int { return push(t, lua.True) }})
	return t
}

// errorTable returns an error as scripts see it. The text includes the code, without '-'.
func errorTable(t *lua.Thread, msg ...string) *lua.Table {
	text := t.Join(msg...)
	tab := t.NewTable(0, 1)
	tab.SetString("err", text)
	return tab
}

// libError returns an error of a function in the table redis, without a code.
func (s *State) libError(t *lua.Thread, msg string) lua.Value {
	s.debug.fails(msg)
	return lua.TableValue(errorTable(t, "ERR ", msg))
}

// refuse raises an error of a function in the table redis.
func (s *State) refuse(t *lua.Thread, msg string) int { return t.Throw(s.libError(t, msg)) }

func push(t *lua.Thread, v lua.Value) int {
	t.Push(v)
	return 1
}

// onlyString returns the argument if it is one string.
func onlyString(t *lua.Thread) (string, bool) {
	if v := t.Arg(1); t.Top() == 1 && v.IsString() {
		return v.Str(), true
	}
	return "", false
}

func (s *State) errorReply(t *lua.Thread) int {
	str, ok := onlyString(t)
	if !ok {
		return push(t, s.libError(t, "wrong number or type of arguments"))
	}
	str = strings.TrimPrefix(lua.CString(str), "-")
	s.debug.fails("-" + str)
	code, msg, ok := strings.Cut(str, " ")
	if !ok {
		code, msg = "ERR", code // every error has a code
	}
	return push(t, lua.TableValue(errorTable(t, code, " ", strings.Trim(msg, "\r\n"))))
}

func (s *State) statusReply(t *lua.Thread) int {
	if _, ok := onlyString(t); !ok {
		return push(t, s.libError(t, "wrong number or type of arguments"))
	}
	r := t.NewTable(0, 1)
	r.SetString("ok", t.Arg(1))
	return push(t, lua.TableValue(r))
}

func (s *State) sha1hex(t *lua.Thread) int {
	if t.Top() != 1 {
		return s.refuse(t, "wrong number of arguments")
	}
	v := t.Arg(1)
	if !v.IsString() {
		str, _ := lua.ToText(v)
		v = lua.String(str)
	}
	digest := func(_ string, v lua.Value) string { return Digest(v.Borrow()) }
	return push(t, lua.String(lua.Scan(t, v.Str(), v, digest)))
}

// Digest returns the SHA-1 of a script as 40 hexadecimal characters.
func Digest(b []byte) string {
	sum := sha1.Sum(b)
	return hex.EncodeToString(sum[:])
}

// maxLogged is how many bytes of its arguments redis.log writes.
const maxLogged = 64 << 10

func (s *State) log(t *lua.Thread) int {
	if t.Top() < 2 {
		return s.refuse(t, "redis.log() requires two arguments or more.")
	}
	level, ok := t.ToNumber(t.Arg(1))
	switch {
	case !ok:
		return s.refuse(t, "First argument must be a number (log level).")
	case !(level > LogDebug-1 && level < LogWarning+1): // it is cut to an integer
		return s.refuse(t, "Invalid log level.")
	}
	var text []byte
	for i, v := range t.Args(2) {
		if str, ok := lua.ToText(v); ok {
			if i > 0 {
				text = append(text, ' ')
			}
			text = append(text, str[:min(len(str), maxLogged-min(len(text), maxLogged))]...)
		}
	}
	s.caller.Log(int(level), string(text))
	return 0
}

func (s *State) setresp(t *lua.Thread) int {
	if t.Top() != 1 {
		return s.refuse(t, "redis.setresp() requires one argument.")
	}
	n, _ := t.ToNumber(t.Arg(1))
	if n = float64(int(n)); n != 2 && n != 3 {
		return s.refuse(t, "RESP version must be 2 or 3.")
	}
	s.proto = int(n)
	return 0
}

func (s *State) setRepl(t *lua.Thread) int {
	if t.Top() != 1 {
		return s.refuse(t, "redis.set_repl() requires one argument.")
	}
	n, _ := t.ToNumber(t.Arg(1))
	if int(n)&^ReplAll != 0 {
		return s.refuse(t, "Invalid replication flags. Use REPL_AOF, REPL_REPLICA, REPL_ALL or "+
			"REPL_NONE.")
	}
	s.caller.SetRepl(int(n))
	return 0
}

func (s *State) aclCheck(t *lua.Thread) int {
	switch {
	case t.Top() == 0:
		return s.refuse(t, "Please specify at least one argument for this redis lib call")
	case !s.args(t):
		return s.refuse(t, "Lua redis lib command arguments must be strings or integers")
	}
	ok, known := s.caller.Allowed(s.argv)
	if !known {
		return s.refuse(t, "Invalid command passed to redis.acl_check_cmd()")
	}
	return push(t, lua.Bool(ok))
}
