package script

import (
	"errors"
	"strings"
	"time"

	"godwit/internal/lua"
	"godwit/internal/lua/compiler"
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
	joining  *LibrarySet // that a library is being loaded into, besides the own one; nil: none
	kept     kept
	deadline time.Time // of the library that is being loaded; zero: none
	// loadEnv are the globals of a library's code outside of functions: only a table redis.
	loadEnv *lua.Table
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
		if d := c.f.deadline; !d.IsZero() && time.Now().After(d) {
			return errors.New("FUNCTION LOAD timeout")
		}
		return nil
	}
	return c.Caller.Interrupt()
}

// NewFunctions returns an environment without libraries.
func NewFunctions(c Caller, o Options, openers ...Opener) *Functions {
	f := &Functions{}
	f.State = NewState(functionCaller{c, f}, func(s *State) *lua.Table { return s.API(o) },
		openers...)
	api := lua.NewTable(0, 0)
	f.logAPI(api, o)
	set(api, entry{name: "register_function", fn: f.registerFunction})
	f.errorOnMissing(api)
	f.loadEnv = lua.NewTable(0, 1)
	f.loadEnv.SetString("redis", lua.TableValue(api))
	f.errorOnMissing(f.loadEnv)
	protect(f.loadEnv)
	f.L.Roots = f.roots
	return f
}

// roots calls visit for what the libraries hold: it counts as memory of each run.
func (f *Functions) roots(visit func(lua.Value)) {
	visit(lua.TableValue(f.loadEnv))
	if f.loading != nil {
		f.loading.holds(visit)
	}
	for _, set := range []*LibrarySet{&f.LibrarySet, f.joining} {
		if set == nil {
			continue
		}
		for _, l := range set.libraries {
			l.holds(visit)
		}
	}
}

// holds calls visit for what the functions of the library are and hold.
func (l *Library) holds(visit func(lua.Value)) {
	for _, fn := range l.Functions {
		visit(fn.callback)
		visit(lua.String(fn.Name))
		visit(lua.String(fn.Description))
	}
}

// registerFunction implements redis.register_function.
func (f *Functions) registerFunction(t *lua.Thread) int {
	if f.loading == nil {
		return f.refuse(t, "redis.register_function can only be called on FUNCTION LOAD command")
	}
	fn := &Function{}
	msg := ""
	switch t.Top() {
	case 1:
		msg = fn.fromTable(t, t.Arg(1).Table())
	case 2:
		msg = fn.fromArgs(t, t.Arg(1), t.Arg(2))
	default:
		msg = "wrong number of arguments to redis.register_function"
	}
	if msg == "" {
		t.Spend(1 + len(f.loading.Functions)) // it compares the names
		if err := f.loading.register(fn); err != nil {
			msg = err.Error()
		}
	}
	if msg != "" {
		return f.refuse(t, msg)
	}
	return 0
}

// toString returns a copy of a string, or of a number as text. It is accounted for.
func toString(t *lua.Thread, v lua.Value) (string, bool) {
	str, ok := lua.ToText(v)
	t.Grow(len(str))
	return strings.Clone(str), ok
}

// toWord returns a string, or a number as text, in lower case. One that is longer than all words
// that mean something stays as it is.
func toWord(v lua.Value) (string, bool) {
	str, ok := lua.ToText(v)
	if len(str) < 64 {
		str = strings.ToLower(str)
	}
	return str, ok
}

// fromArgs reads a name and a callback. It returns an error text or "".
func (fn *Function) fromArgs(t *lua.Thread, name, callback lua.Value) string {
	var ok bool
	if fn.Name, ok = toString(t, name); !ok {
		return "first argument to redis.register_function must be a string"
	}
	if fn.callback = callback; !callback.IsFunction() {
		return "second argument to redis.register_function must be a function"
	}
	return ""
}

// fromTable reads named arguments. args may be nil. It returns an error text or "".
func (fn *Function) fromTable(t *lua.Thread, args *lua.Table) string {
	if args == nil {
		return "calling redis.register_function with a single argument is only applicable to Lua " +
			"table (representing named arguments)."
	}
	named := false
	for i, k, v := args.NextIndex(0); i != 0; i, k, v = args.NextIndex(i) {
		key, ok := toWord(k)
		if !ok {
			return "named argument key given to redis.register_function is not a string"
		}
		if msg := fn.named(t, key, v); msg != "" {
			return msg
		}
		named = named || key == "function_name"
	}
	switch {
	case !named:
		return "redis.register_function must get a function name argument"
	case fn.callback.IsNil():
		return "redis.register_function must get a callback argument"
	}
	return ""
}

// named reads an argument by its name. It returns an error text or "".
func (fn *Function) named(t *lua.Thread, name string, v lua.Value) string {
	var ok bool
	switch name {
	case "function_name":
		if fn.Name, ok = toString(t, v); !ok {
			return "function_name argument given to redis.register_function must be a string"
		}
	case "description":
		if fn.Description, fn.Described = toString(t, v); !fn.Described {
			return "description argument given to redis.register_function must be a string"
		}
	case "callback":
		if fn.callback = v; !v.IsFunction() {
			return "callback argument given to redis.register_function must be a function"
		}
	case "flags":
		if !v.IsTable() {
			return "flags argument to redis.register_function must be a table representing " +
				"function flags"
		}
		if fn.Flags, ok = readFlags(t, v.Table()); !ok {
			return "unknown flag given"
		}
	default:
		return "unknown argument given to redis.register_function"
	}
	return ""
}

func readFlags(t *lua.Thread, list *lua.Table) (flags Flags, ok bool) {
	for i := 1; ; i++ {
		t.Spend(1)
		v := list.GetInt(i)
		if v.IsNil() {
			return flags, true
		}
		name, isString := toWord(v)
		f := FlagOf(name)
		if !isString || f == 0 {
			return 0, false
		}
		flags |= f
	}
}

// LoadOptions say how to load a library.
type LoadOptions struct {
	Replace bool // it may take the place of the library of the same name
	// Patient lets the code take any time: a file or the master brings what was loaded before.
	Patient bool
}

// Load compiles a library and adds it. The text of an error is for the client, without a code.
func (f *Functions) Load(code []byte, o LoadOptions) (*Library, error) {
	return f.LoadInto(&f.LibrarySet, code, o)
}

// LoadInto does what Load does, for a set that is being assembled for Join.
func (f *Functions) LoadInto(set *LibrarySet, code []byte, o LoadOptions) (*Library, error) {
	if set != &f.LibrarySet {
		f.joining = set
		defer func() { f.joining = nil }()
	}
	l, err := f.compileLibrary(code, set, o)
	if err != nil {
		return nil, err
	}
	return l, set.Add(l, o.Replace)
}

// compileLibrary runs a library's code and collects the functions that it registers. It first
// checks whether the set can take the library.
func (f *Functions) compileLibrary(code []byte, set *LibrarySet, o LoadOptions) (*Library, error) {
	l, body, err := ParseLibrary(string(code))
	if err != nil {
		return nil, err
	}
	if !strings.EqualFold(l.Engine, "lua") {
		return nil, LibraryError("Engine '" + l.Engine + "' not found")
	}
	if err := set.MayAdd(l.Name, o.Replace); err != nil {
		return nil, err
	}
	l.Engine = "LUA"
	f.begin()
	f.loading, f.deadline = l, time.Time{}
	if !o.Patient {
		f.deadline = time.Now().Add(loadTime)
	}
	defer func() { f.loading = nil }()
	fn, err := f.compile(body, "user_function", f.loadEnv, compiler.Options{})
	if err != nil {
		return nil, LibraryError("Error compiling function: " + err.Error())
	}
	l.compiled = int64(fn.CodeBytes())
	if err := f.runLibrary(fn); err != nil {
		return nil, err
	}
	return l, nil
}

// runLibrary runs the code of a library.
func (f *Functions) runLibrary(fn *lua.Closure) error {
	t := f.L.Main
	t.Push(lua.ClosureValue(fn))
	v, ok := t.Try(0, 0)
	if f.surface() {
		return LibraryError("Error registering functions: " + errPanic{}.Error())
	}
	defer f.ended()
	if ok {
		return nil
	}
	msg, _ := f.errorText(v)
	if f.L.Ended() != nil {
		msg = "ERR " + strings.TrimPrefix(msg, "ERR ")
	}
	return LibraryError("Error registering functions: " + msg)
}

// MachineMemory returns the estimated size of the environment in bytes: its libraries, its stacks,
// and what functions keep between calls.
func (f *Functions) MachineMemory() int64 { return machineMemory + f.StackBytes() + f.kept.bytes }

// MemoryBytes returns the memory of all functions. It is cheap, because eviction calls it for each
// key.
func (f *Functions) MemoryBytes() int64 { return f.MachineMemory() + f.LibrarySet.Memory() }

// Call runs a function and writes its reply.
func (f *Functions) Call(fn *Function, keys, args [][]byte, w *resp.Writer) {
	f.begin()
	f.kept.stale = true
	f.invoke(fn.callback, fn.Name, w, list(keys), list(args))
}
