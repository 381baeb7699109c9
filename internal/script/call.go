package script

import (
	"math"
	"strings"

	"godwit/internal/lua"
	"godwit/internal/resp"
)

// call implements redis.call.
func (s *State) call(t *lua.Thread) int {
	v, failed := s.command(t, "call")
	if failed {
		return t.Throw(v)
	}
	return push(t, v)
}

// pcall implements redis.pcall.
func (s *State) pcall(t *lua.Thread) int {
	v, _ := s.command(t, "pcall")
	return push(t, v)
}

// command runs the command that the arguments are. It returns the reply, and whether that is an
// error. name is that of the function.
func (s *State) command(t *lua.Thread, name string) (v lua.Value, failed bool) {
	switch {
	case s.loading != nil:
		t.Error("Script attempted to access nonexistent global variable '" + name + "'")
	case t.Top() == 0:
		return s.libError(t, "Please specify at least one argument for this redis lib call"), true
	case s.calling:
		return s.libError(t, "luaRedisGenericCommand() recursive call detected. Are you doing "+
			"funny stuff with Lua debug hooks?"), true
	case !s.args(t):
		return s.libError(t, "Lua redis lib command arguments must be strings or integers"), true
	}
	if s.debug != nil {
		s.debug.calls(s.argv)
	}
	s.calling = true // crashed looks at it
	reply, refused := s.caller.Call(s.argv, s.proto)
	s.calling = false
	if refused == "" && len(reply) == 0 {
		t.Raise(lua.String(s.L.End(lua.ErrMemory).Error())) // no pcall catches it
	}
	if refused != "" {
		s.debug.fails(shownError(refused))
		return lua.TableValue(countedError(t, refused)), true
	}
	if s.debug != nil {
		s.debug.replies(reply)
	}
	d := decoder{s: s, t: t, b: reply}
	return d.value(), reply[0] == '-'
}

// shownError returns the text of an error that the debugger shows: without the code ERR, and with
// '-' before any other.
func shownError(msg string) string {
	if rest, ok := strings.CutPrefix(msg, "ERR "); ok {
		return rest
	}
	return "-" + msg
}

// countedError returns an error that a command has counted already.
func countedError(t *lua.Thread, msg string) *lua.Table {
	t.Grow(len(msg))
	tab := t.NewTable(0, 2)
	tab.SetString("err", lua.String(msg))
	tab.SetString("ignore_error_stats_update", lua.True)
	return tab
}

// args makes argv of the arguments. It shares the bytes of strings, and is valid until the next
// call. The bytes count all the same, because the command may copy them: a string can be given a
// thousand times. It reports whether all of them can be arguments of a command.
func (s *State) args(t *lua.Thread) bool {
	argv, numbers, size := s.argv[:0], s.numbers[:0], 0
	for _, v := range t.Args(1) {
		switch {
		case v.IsString():
			argv = append(argv, v.Borrow())
			size += v.Len()
		case v.IsNumber():
			from := len(numbers)
			numbers = appendArgument(numbers, v.Num())
			argv = append(argv, numbers[from:len(numbers):len(numbers)])
		default:
			return false
		}
	}
	s.argv, s.numbers = argv, numbers
	t.Grow(size)
	return true
}

// appendArgument appends a number as it becomes an argument of a command: like a score.
func appendArgument(b []byte, n float64) []byte {
	switch {
	case n == 0: // or -0
		return append(b, '0')
	case math.IsNaN(n):
		return lua.AppendG(b, n, 17)
	}
	return resp.AppendDouble(b, n)
}
