// Package script runs Lua scripts and functions. It is the host of the machine in package lua.
//
// This package does what is Redis's: the cache of scripts, libraries of functions, KEYS and ARGV,
// the table redis, conversions between Lua and RESP, error replies and limits. The language is that
// of packages lua and compiler, and its libraries are those of package stdlib.
//
// # Environment
//
// A State has one environment, which no script can change: the table of globals, all library tables
// and their metatables are read-only. So what a global or a field of a library holds is known when
// a script is compiled, and a reference like redis.call is the function itself (see constant).
//
// # What lives how long
//
// No value that a script of EVAL makes outlives its run. So the tables KEYS and ARGV are used again
// and again, and their strings are the bytes of the request. Functions do keep values between
// calls: their tables and strings are new ones.
//
// # Limits
//
// lua.Budget bounds time and memory. Conversions count against it before they allocate.
package script

import (
	"time"

	"godwit/internal/lua"
	"godwit/internal/lua/compiler"
	"godwit/internal/lua/stdlib"
)

// maxSource is the length of the longest source that is compiled, in bytes.
const maxSource = 16 << 20

// State is one environment with its machine. It belongs to the executor.
type State struct {
	L      *lua.State
	caller Caller

	// consts are the values of the environment that never change: globals by name, and the fields
	// of library tables by both names with a dot between.
	consts      map[string]lua.Value
	keys        keys
	nonexistent lua.Value // raises the error for an unknown global

	looked   time.Time // when the caller was last asked to go on, or the first time to ask it
	ran      bool      // since the last Trim
	failure  failure
	panicked *Panic // seen below the running script

	proto   int
	calling bool      // the caller runs
	loading *Library  // whose code runs now; nil: none
	debug   *debugger // of the running script; nil: none
	argv    [][]byte
	numbers []byte // arguments of redis.call that are numbers
}

// Opener registers a library's tables or functions as globals.
type Opener func(s *lua.State)

// NewState returns an environment with the libraries of scripts and those of the openers. api makes
// the table redis.
func NewState(c Caller, api func(s *State) *lua.Table, openers ...Opener) *State {
	s := &State{L: lua.NewState(), caller: c, proto: 2, consts: map[string]lua.Value{},
		keys: newKeys()}
	s.L.Interrupt, s.L.Collect = s.interrupt, s.collectGarbage
	s.L.Sweep = func() { startCollection() }
	s.L.Hooks = lua.Hooks{ErrorField: "err", Uncaught: s.uncaught, Crashed: s.crashed}
	s.nonexistent = lua.NativeValue(&lua.Native{Name: "__index", Fn: missing})
	born := time.Now()
	std := stdlib.Options{Compile: s.load, Heap: func() uint64 { n, _ := heapBytes(); return n },
		Clock: func() float64 { return time.Since(born).Seconds() }}
	stdlib.OpenBase(s.L, std)
	stdlib.OpenCoroutine(s.L)
	stdlib.OpenTable(s.L)
	stdlib.OpenString(s.L)
	stdlib.OpenMath(s.L)
	for _, open := range openers {
		open(s.L)
	}
	stdlib.OpenOS(s.L, std)
	s.L.Globals.SetString("redis", lua.TableValue(api(s)))
	s.arrange()
	s.seal()
	return s
}

// missing raises the error for an unknown global. It is the metamethod __index of the globals.
func missing(t *lua.Thread) int {
	name, ok := lua.ToText(t.Arg(2))
	if !ok {
		name = t.Arg(2).TypeName()
	}
	t.Error("Script attempted to access nonexistent global variable '", lua.CString(name), "'")
	return 0
}

// errorOnMissing makes a table raise an error for names that it does not have.
func (s *State) errorOnMissing(t *lua.Table) {
	t.Metatable = lua.NewTable(0, 1)
	t.Metatable.SetString("__index", s.nonexistent)
	t.Metatable.ReadOnly = true
}

// seal makes the environment read-only, and known to the compiler.
func (s *State) seal() {
	globals := s.L.Globals
	s.errorOnMissing(globals)
	each(globals, func(k, v lua.Value) {
		name := k.Str()
		s.consts[name] = v
		lib := v.Table()
		if lib == nil || lib == globals {
			return
		}
		protect(lib)
		each(lib, func(k, v lua.Value) { s.consts[name+"."+k.Str()] = v })
	})
	globals.ReadOnly = true
	protect(s.L.Strings)
}

// protect makes a table, its metatable and all tables in it read-only.
func protect(t *lua.Table) {
	if t == nil || t.ReadOnly {
		return
	}
	t.ReadOnly = true
	protect(t.Metatable)
	each(t, func(_, v lua.Value) { protect(v.Table()) })
}

// each calls fn with each entry of a table, which must not get others meanwhile.
func each(t *lua.Table, fn func(k, v lua.Value)) {
	for i, k, v := t.NextIndex(0); i != 0; i, k, v = t.NextIndex(i) {
		fn(k, v)
	}
}

// constant reports whether the environment holds a global, or a field of one, constant.
func (s *State) constant(global, field string) bool {
	if field != "" {
		global += "." + field
	}
	_, ok := s.consts[global]
	return ok
}

// CompileError reports a script that cannot be loaded. Its text is for the client, without a code.
type CompileError string

func (e CompileError) Error() string { return string(e) }

// compile compiles source to a function. chunk is its name in messages. The code outside of
// functions has the globals env. If these are not those of all scripts, none of them is constant.
// o may have a name and a level.
func (s *State) compile(
	src, chunk string, env *lua.Table, o compiler.Options,
) (c *lua.Closure, err error) {
	defer s.guardCompile(chunk, &err)
	if len(src) > maxSource {
		return nil, CompileError(chunk + ":1: script too long")
	}
	o.Constant, o.Library, o.Grow = s.constant, env != s.L.Globals, s.grow
	if s.debug != nil { // the lines are those of the code that Lua's compiler makes
		o.Constant, o.Lines = nil, true
	}
	p, err := compiler.Compile(src, chunk, &o)
	if err != nil {
		return nil, err
	}
	return lua.Load(p, env, func(name string) lua.Value { return s.consts[name] })
}

// grow accounts for what the compiler makes, and for the time that it takes.
func (s *State) grow(bytes int) error {
	if err := s.L.Grow(bytes); err != nil {
		return err
	}
	return s.L.Spend(stepsPerAsk + bytes/4)
}

// stepsPerAsk is what the compiler does between two calls of grow, in steps.
const stepsPerAsk = 256

// load compiles what a script gives to load or loadstring. name is the chunk's name as given.
func (s *State) load(t *lua.Thread, src, name string) (*lua.Closure, error) {
	c, err := s.compile(src, stdlib.ChunkName(name), s.L.Globals,
		compiler.Options{Level: t.Nested(), Name: stdlib.LongChunkName(name)})
	if err == nil {
		c.SetChunk(src, name)
	}
	return c, err
}

// Trim drops the stacks and buffers that were not used since the last call, or all of them. It must
// not be called while a script runs.
func (s *State) Trim(all bool) {
	ran := s.ran
	if s.ran = false; ran && !all {
		return
	}
	s.L.Trim()
	s.argv, s.numbers = nil, nil
}

// StackBytes returns the bytes of the stacks that are kept between runs. It is cheap.
func (s *State) StackBytes() int64 { return int64(s.L.StackBytes()) }

// BoundMemory sets how many bytes the values of a script may take.
func (s *State) BoundMemory(bytes int) { s.L.Bound = bytes }
