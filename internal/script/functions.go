package script

import (
	"errors"
	"strings"
	"time"

	lua "github.com/yuin/gopher-lua"

	"godwit/internal/resp"
)

// loadTime is how long a library's code may run while it is being loaded.
const loadTime = 500 * time.Millisecond

// Functions holds the libraries of functions and the environment that they run in, which is
// separate from that of EVAL's scripts.
//
// A library's code runs once, when it is loaded, and registers functions. During that run
// redis.register_function is available, and nothing that reaches the data set is.
type Functions struct {
	*State
	LibrarySet
	kept    kept
	loading *Library // whose code runs now; nil: none
	started time.Time
	// globals maps "redis" and "redis.log" to the strings that stand for them in compiled code,
	// while a library is loaded.
	globals map[string]string
}

// functionCaller is the server as functions see it. Code that is being loaded has its own time
// limit.
type functionCaller struct {
	Caller
	f *Functions
}

// Interrupt implements Caller.
func (c functionCaller) Interrupt() error {
	if c.f.loading != nil {
		if time.Since(c.f.started) > loadTime {
			return errors.New("FUNCTION LOAD timeout")
		}
		return nil
	}
	return c.Caller.Interrupt()
}

// NewFunctions returns an environment without libraries.
func NewFunctions(c Caller, o Options, openers ...Opener) *Functions {
	f := &Functions{globals: map[string]string{}}
	f.State = NewState(functionCaller{c, f}, func(s *State) *lua.LTable {
		return functionAPI(s, o)
	}, openers...)
	f.loadAPI(o)
	return f
}

// functionAPI returns the table redis of functions.
func functionAPI(s *State, o Options) *lua.LTable {
	t := s.API(o)
	for _, name := range []string{"replicate_commands", "breakpoint", "debug"} {
		t.RawSetString(name, lua.LNil)
	}
	return t
}

// loadAPI makes the table redis of a library's code while it is loaded. It is the only global of
// that code.
func (f *Functions) loadAPI(o Options) {
	s := f.State
	all, t := s.API(o), s.L.NewTable()
	for _, name := range []string{"log", "LOG_DEBUG", "LOG_VERBOSE", "LOG_NOTICE", "LOG_WARNING",
		"REDIS_VERSION", "REDIS_VERSION_NUM"} {
		t.RawSetString(name, all.RawGetString(name))
	}
	s.library(t, map[string]lua.LGFunction{"register_function": func(L *lua.LState) int {
		return f.registerFunction(s, L)
	}})
	mt := s.L.CreateTable(0, 1)
	mt.RawSetString("__index", s.nonexistent)
	t.Metatable = mt
	put := func(name string, v lua.LValue) {
		f.globals[name] = s.nonce + "@" + name
		s.consts[f.globals[name]] = v
	}
	put("redis", s.protect(t))
	t.ForEach(func(k, v lua.LValue) { put("redis."+k.String(), v) })
}

// mainConstant returns the string that a global is compiled to in code that runs while the library
// is loaded.
func (f *Functions) mainConstant(name, field string) string {
	if field != "" {
		name += "." + field
	}
	return f.globals[name]
}

// registerFunction implements redis.register_function.
func (f *Functions) registerFunction(s *State, L *lua.LState) int {
	if f.loading == nil {
		s.refuse(L, "redis.register_function can only be called on FUNCTION LOAD command")
	}
	fn := &Function{}
	msg := ""
	switch L.GetTop() {
	case 1:
		msg = fn.fromTable(s, L)
	case 2:
		msg = fn.fromArgs(L)
	default:
		msg = "wrong number of arguments to redis.register_function"
	}
	if msg == "" {
		if err := f.loading.register(fn); err != nil {
			msg = err.Error()
		}
	}
	if msg != "" {
		s.refuse(L, msg)
	}
	return 0
}

// fromArgs reads a name and a callback. It returns an error text or "".
func (fn *Function) fromArgs(L *lua.LState) string {
	name, ok := toString(L.Get(1))
	if !ok {
		return "first argument to redis.register_function must be a string"
	}
	callback, ok := L.Get(2).(*lua.LFunction)
	if !ok {
		return "second argument to redis.register_function must be a function"
	}
	fn.Name, fn.callback = name, callback
	return ""
}

// fromTable reads named arguments. It returns an error text or "".
func (fn *Function) fromTable(s *State, L *lua.LState) string {
	t, ok := L.Get(1).(*lua.LTable)
	if !ok {
		return "calling redis.register_function with a single argument is only applicable to Lua " +
			"table (representing named arguments)."
	}
	named := false
	for k, v := t.Next(lua.LNil); k != lua.LNil; k, v = t.Next(k) {
		key, ok := toString(k)
		if !ok {
			return "named argument key given to redis.register_function is not a string"
		}
		switch strings.ToLower(key) {
		case "function_name":
			if fn.Name, named = toString(v); !named {
				return "function_name argument given to redis.register_function must be a string"
			}
		case "description":
			if fn.Description, fn.Described = toString(v); !fn.Described {
				return "description argument given to redis.register_function must be a string"
			}
		case "callback":
			if fn.callback, ok = v.(*lua.LFunction); !ok {
				return "callback argument given to redis.register_function must be a function"
			}
		case "flags":
			flags, ok := v.(*lua.LTable)
			if !ok {
				return "flags argument to redis.register_function must be a table representing " +
					"function flags"
			}
			if fn.Flags, ok = readFlags(flags); !ok {
				return "unknown flag given"
			}
		default:
			return "unknown argument given to redis.register_function"
		}
	}
	switch {
	case !named:
		return "redis.register_function must get a function name argument"
	case fn.callback == nil:
		return "redis.register_function must get a callback argument"
	}
	return ""
}

func readFlags(t *lua.LTable) (flags Flags, ok bool) {
	for i := 1; ; i++ {
		v := rawIndex(t, i)
		if v == lua.LNil {
			return flags, true
		}
		name, isString := toString(v)
		f := FlagOf(strings.ToLower(name))
		if !isString || f == 0 {
			return 0, false
		}
		flags |= f
	}
}

// Load compiles a library and adds it. With replace it may take the place of the library of the
// same name. The text of an error is for the client, without a code.
func (f *Functions) Load(code []byte, replace bool) (*Library, error) {
	l, err := f.compileLibrary(code, &f.LibrarySet, replace)
	if err != nil {
		return nil, err
	}
	return l, f.Add(l, replace)
}

// LoadInto adds the library to a set that is being assembled for Join.
func (f *Functions) LoadInto(set *LibrarySet, code []byte) error {
	l, err := f.compileLibrary(code, set, false)
	if err != nil {
		return err
	}
	return set.Add(l, false)
}

// compileLibrary runs a library's code and collects the functions that it registers. It first
// checks whether the set can take the library.
func (f *Functions) compileLibrary(code []byte, set *LibrarySet, replace bool) (*Library, error) {
	l, body, err := ParseLibrary(code)
	if err != nil {
		return nil, err
	}
	if !strings.EqualFold(l.Engine, "lua") {
		return nil, LibraryError("Engine '" + l.Engine + "' not found")
	}
	if err := set.MayAdd(l.Name, replace); err != nil {
		return nil, err
	}
	l.Engine = "LUA"
	fn, err := f.compileMain(string(body), "user_function", f.mainConstant)
	if err != nil {
		return nil, LibraryError("Error compiling function: " + err.Error())
	}
	l.compiled = codeBytes(fn.Proto)
	f.begin()
	f.loading, f.started = l, time.Now()
	defer func() { f.loading = nil }()
	L := f.main
	L.Push(f.entry)
	L.Push(fn)
	err = L.PCall(1, 0, nil)
	L.SetTop(0)
	f.ended()
	if f.surface() {
		return nil, LibraryError("Error registering functions: " + errPanic{}.Error())
	}
	if err != nil {
		if f.stop != nil { // whatever the code made of that error
			return nil, LibraryError("Error registering functions: ERR " + f.stop.Error())
		}
		return nil, LibraryError("Error registering functions: " + f.errorText(err))
	}
	return l, nil
}

// MachineMemory returns the estimated size of the environment in bytes: its libraries, its stacks,
// and what functions keep between calls.
func (f *Functions) MachineMemory() int64 { return machineMemory + f.StackBytes() + f.kept.bytes }

// MemoryBytes returns the memory of all functions. It is cheap, because eviction calls it for each
// key.
func (f *Functions) MemoryBytes() int64 { return f.MachineMemory() + f.LibrarySet.Memory() }

// errorText returns the text of an uncaught error.
func (s *State) errorText(err error) string {
	v := errorValue(err)
	if t, ok := v.(*lua.LTable); ok {
		if msg, ok := toString(t.RawGetString("err")); ok {
			return msg
		}
		return "ERR unknown error"
	}
	msg, _ := toString(v)
	return "ERR " + msg
}

// Call runs a function and writes its reply.
func (f *Functions) Call(fn *Function, keys, args [][]byte, w *resp.Writer) Result {
	f.begin()
	f.kept.stale = true
	return f.invoke(fn.callback, fn.Name, w, f.list(keys), f.list(args))
}
