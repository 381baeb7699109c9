// Package script runs Lua scripts. It is the host around gopher-lua's machine.
//
// Package syntax parses. gopher-lua compiles and interprets. This package does all that a script
// can touch: the environment, the libraries base, string, table, math, os and coroutine, the table
// redis, conversions between Lua and RESP, error messages and limits. gopher-lua's own libraries
// are not opened: many of their results differ from Lua 5.1, and they have no bounds.
//
// # Environment
//
// A State has one environment, which no script can change. A script's functions see the real table
// of globals, whose metatable refuses new and unknown names. An assignment to a global is compiled
// to a name that does not exist (package syntax). Scripts see library tables through empty proxies
// with an __index, so nothing can be written into them. A reference like redis.call is compiled to
// the function itself, so the proxies cost nothing.
//
// # Protected calls
//
// pcall runs its function in another thread of the machine, taken from a pool. When an error is
// raised in a thread, the machine closes all its captured variables, those of callers too. In the
// same thread, the callers would no longer see what their closures do.
//
// # Limits
//
// The machine asks a context before each instruction whether to go on. Our context counts; see
// limits.go. Whatever takes long in Go or makes big values reports it to the State too, with spend
// and grow. Call depth, Lua's stack and C-like recursion are bounded as in Lua.
package script

import (
	"crypto/rand"
	"encoding/hex"
	"sync"
	"time"

	lua "github.com/yuin/gopher-lua"

	"godwit/internal/script/syntax"
)

const (
	maxCalls    = 16000   // nested Lua calls
	maxRegister = 1 << 20 // slots of the main thread's stack
	// maxThreadRegister is the same for a protected call. A growing stack is copied, and there may
	// be 190 of them.
	maxThreadRegister = 1 << 18
	maxNested         = 190 // pcalls, coroutines and sorts within each other
	maxSource         = 16 << 20
	maxArray          = 16 << 10 // elements of a table's array part; the rest is in its hash part
)

// limitArrays bounds the array part of the machine's tables. A store beyond the end of an array
// fills the gap: with the machine's own limit a single instruction would make a gigabyte.
var limitArrays = sync.OnceFunc(func() { lua.MaxArrayIndex = maxArray })

// State is one environment with its machine. It belongs to the executor.
type State struct {
	L      *lua.LState
	caller Caller

	limits
	threads
	env *lua.LTable // the real table of globals
	// consts are the constants by the string that stands for each in compiled code.
	consts                map[string]lua.LValue
	marks                 map[string]string           // that string, by "redis" or "redis.call"
	real                  map[*lua.LTable]*lua.LTable // by proxy
	proxies               map[*lua.LTable]*lua.LTable // by real table
	names                 map[*lua.LFunction]string   // of library functions, for messages
	nonce                 string
	concat                *lua.LFunction
	entry                 *lua.LFunction
	nonexistent, readonly *lua.LFunction
	verbatim              bool // the error being raised is the script's own: keep its text
	random                rand48

	failure  failure
	panicked *Panic     // seen below the running script
	raised   lua.LValue // the error raised last
	argBuf   []byte
	argEnds  []int
	argv     [][]byte
	calling  bool
	proto    int
	// sources are the chunks that the running script has loaded, by their names in messages.
	sources map[string]string
	text    []byte // buffer for strings being made
	born    time.Time
	shown   *lua.LTable // what scripts see of the metatable of strings
	iterate *lua.LFunction
	operators
	numbers [1024]lua.LValue
	// panicMain and panicCaught as values, of which each would be an allocation otherwise.
	onPanic, onPanicCaught func(L *lua.LState)
}

// Opener registers a library's tables or functions as globals.
type Opener func(L *lua.LState)

// NewState returns an environment with the libraries of scripts and those of the openers.
func NewState(c Caller, api func(s *State) *lua.LTable, openers ...Opener) *State {
	limitArrays()
	L := lua.NewState(lua.Options{SkipOpenLibs: true, CallStackSize: 64, RegistrySize: 256})
	var b [12]byte
	_, _ = rand.Read(b[:]) // never fails
	s := &State{L: L, caller: c, nonce: "\x00" + hex.EncodeToString(b[:]), proto: 2,
		consts: map[string]lua.LValue{}, marks: map[string]string{},
		real: map[*lua.LTable]*lua.LTable{}, proxies: map[*lua.LTable]*lua.LTable{},
		names: map[*lua.LFunction]string{}, born: time.Now(),
		threads: threads{protected: map[*lua.LState]bool{}}, random: rand48{rand48Start}}
	for i := range s.numbers {
		s.numbers[i] = lua.LNumber(i)
	}
	// Threads are small, because a script may make many.
	L.Options = lua.Options{SkipOpenLibs: true, CallStackSize: 4000, RegistrySize: 64,
		RegistryMaxSize: 64 << 10, RegistryGrowStep: 1024, MinimizeStackMemory: true}
	s.env = L.Get(lua.GlobalsIndex).(*lua.LTable)
	s.onPanic, s.onPanicCaught = s.panicMain, s.panicCaught
	s.limits.init()
	L.SetContext(&hook{s: s})
	s.newMain()
	s.entry = L.NewFunction(s.enter)
	s.concat = L.NewFunction(s.concatenate)
	s.readonly = L.NewFunction(func(L *lua.LState) int {
		s.raise(L, "Attempt to modify a readonly table")
		return 0
	})
	s.nonexistent = L.NewFunction(s.missing)
	s.openBase()
	s.openString()
	s.openTable()
	s.openMath()
	s.openCoroutine()
	for _, open := range openers {
		open(L)
	}
	redis := api(s)
	s.env.RawSetString("redis", redis)
	s.seal()
	return s
}

// missing raises the error for an unknown global. It is the environment's __index.
func (s *State) missing(L *lua.LState) int {
	s.raise(L, "Script attempted to access nonexistent global variable '"+
		plainName(s.display(L.Get(2)))+"'")
	return 0
}

// seal makes the environment read-only, and its functions known to the parser.
func (s *State) seal() {
	var names []string
	s.env.ForEach(func(k, _ lua.LValue) { names = append(names, k.String()) })
	for _, name := range names {
		v := s.env.RawGetString(name)
		switch t := v.(type) {
		case *lua.LFunction:
			s.mark(name, v)
			s.nameFunction(t, name)
		case *lua.LTable:
			t.ForEach(func(k, f lua.LValue) {
				if fn, ok := f.(*lua.LFunction); ok {
					s.nameFunction(fn, k.String())
				}
				s.mark(name+"."+k.String(), f)
			})
			p := s.protect(t)
			s.env.RawSetString(name, p)
			s.mark(name, p)
		}
	}
	s.env.RawSetString("_G", s.protect(s.env))
	s.mark("_G", s.proxies[s.env])
	s.shown = s.L.NewTable()
	s.shown.RawSetString("__index", s.env.RawGetString("string"))
	s.shown = s.protect(s.shown)
	s.consts[s.nonce+".."] = s.concat
	s.consts[s.nonce+"#"] = s.L.NewFunction(s.lengthOf)
	s.consts[s.nonce+"spread"] = s.L.NewFunction(s.spread)
	s.consts[s.nonce+"append"] = s.L.NewFunction(s.appendParts)
	mt := s.L.NewTable()
	mt.RawSetString("__index", s.nonexistent)
	mt.RawSetString("__newindex", s.readonly)
	s.env.Metatable = mt
	s.protect(mt)
}

func (s *State) nameFunction(f *lua.LFunction, name string) {
	if _, ok := s.names[f]; !ok {
		s.names[f] = name
	}
}

func (s *State) mark(name string, v lua.LValue) {
	m := s.nonce + name
	s.marks[name] = m
	s.consts[m] = v
}

// protect makes a table read-only: it returns an empty table that shows its contents.
func (s *State) protect(t *lua.LTable) *lua.LTable {
	if p := s.proxies[t]; p != nil {
		return p
	}
	p := s.L.CreateTable(0, 0)
	mt := s.L.CreateTable(0, 2)
	mt.RawSetString("__index", t)
	mt.RawSetString("__newindex", s.readonly)
	p.Metatable = mt
	s.real[p], s.proxies[t] = t, p
	return p
}

// raw returns the table behind a proxy, or the table itself.
func (s *State) raw(t *lua.LTable) *lua.LTable {
	if t.Metatable == lua.LNil {
		return t // only proxies have one
	}
	if r := s.real[t]; r != nil {
		return r
	}
	return t
}

// compile compiles source to a function. chunk is its name in messages.
func (s *State) compile(src, chunk string) (*lua.LFunction, error) {
	return s.compileMain(src, chunk, nil)
}

// compileMain does what compile does, with other globals outside of the chunk's functions
// (syntax.Options).
func (s *State) compileMain(
	src, chunk string, main func(name, field string) string,
) (f *lua.LFunction, err error) {
	defer s.guardCompile(chunk, &err)
	if len(src) > maxSource {
		return nil, &syntax.Error{Msg: chunk + ":1: script too long"}
	}
	r, err := syntax.Parse(src, chunk, &syntax.Options{
		Constant: func(name, field string) string {
			if field != "" {
				name += "." + field
			}
			return s.marks[name]
		},
		Main:   main,
		Concat: s.nonce + "..",
		Length: s.nonce + "#",
		Spread: s.nonce + "spread",
		Append: s.nonce + "append",
		Pool:   s.nonce + "pool",
		Global: "\x00=",
	})
	if err != nil {
		return nil, err
	}
	proto, err := lua.Compile(r.Stmts, chunk)
	if err != nil {
		return nil, compileError(err, chunk, r.TooLong)
	}
	if r.TooLong != nil && tooLong(proto) {
		return nil, r.TooLong
	}
	if proto.IsVarArg&lua.VarArgNeedsArg != 0 {
		proto.IsVarArg = 0 // the chunk does not use its arguments
	}
	s.link(proto, r.UsesArg, s.pool(r.Pool))
	f = s.L.NewFunctionFromProto(proto)
	f.Env = s.env
	return f, nil
}

// number returns a number as a value. Small numbers need no allocation.
func (s *State) number(n int64) lua.LValue {
	if uint64(n) < uint64(len(s.numbers)) {
		return s.numbers[n]
	}
	return lua.LNumber(n)
}
