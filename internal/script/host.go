package script

import (
	"strings"

	"godwit/internal/lua"
	"godwit/internal/lua/compiler"
	"godwit/internal/resp"
)

// Bounds of the scripts that are known only from EVAL: how many are cached, as in Redis, and what
// they take in bytes. Those of SCRIPT LOAD stay until SCRIPT FLUSH.
const (
	maxEvalScripts = 500
	maxEvalBytes   = 64 << 20
)

// Script is one cached script.
type Script struct {
	SHA      string // 40 lower-case hexadecimal characters
	Body     string
	Flags    Flags
	Declared bool // the first line declares flags

	fn         lua.Value
	bytes      int64 // estimated memory of all of it
	loaded     bool  // by SCRIPT LOAD, so it is never dropped
	prev, next *Script
}

// Host is the cache of scripts and the environment that they run in.
type Host struct {
	*State
	bySHA   map[string]*Script
	byBody  map[string]*Script
	memory  int64
	Evicted int64
	recent  Script // head of the ring of scripts from EVAL, least recently used first
	evals   int
	evalled int64 // bytes of these scripts
	args    arguments
}

// NewHost returns an empty cache.
func NewHost(c Caller, o Options, openers ...Opener) *Host {
	h := &Host{bySHA: map[string]*Script{}, byBody: map[string]*Script{}}
	h.State = NewState(c, func(s *State) *lua.Table { return s.scriptAPI(s.API(o)) },
		append(openers, func(s *lua.State) {
			set(s.Globals, entry{name: "__redis__err__handler", fn: errorHandler})
		})...)
	h.args.init(h.State)
	h.L.ReuseStrings()
	h.L.ReuseTables()
	h.recent.prev, h.recent.next = &h.recent, &h.recent
	return h
}

// scriptOverhead is what a cached script takes beside its text and its code, in bytes: its digest,
// the record and its places in two maps.
const scriptOverhead = 400

// machineMemory is the measured size of an environment in bytes, without its stacks.
const machineMemory = 192 << 10

// Len returns the number of cached scripts.
func (h *Host) Len() int { return len(h.bySHA) }

// Each calls fn with the digest and the text of each cached script, in no order.
func (h *Host) Each(fn func(sha, body string)) {
	for sha, sc := range h.bySHA {
		fn(sha, sc.Body)
	}
}

// Memory returns the estimated size of the cached scripts in bytes.
func (h *Host) Memory() int64 { return h.memory }

// MachineMemory returns the estimated size of the environment in bytes: libraries and stacks.
func (h *Host) MachineMemory() int64 { return machineMemory + h.StackBytes() }

// MemoryBytes returns the memory of all scripts. It is cheap, because eviction calls it for each
// key.
func (h *Host) MemoryBytes() int64 { return h.MachineMemory() + h.memory }

// Flush drops all scripts and what they have left on the stacks.
func (h *Host) Flush() {
	h.Trim(true)
	h.bySHA, h.byBody = map[string]*Script{}, map[string]*Script{}
	h.memory, h.evals, h.evalled = 0, 0, 0
	h.recent.prev, h.recent.next = &h.recent, &h.recent
}

// Find returns the script with the given digest, in any case, or nil.
func (h *Host) Find(sha []byte) *Script {
	if len(sha) != 40 {
		return nil
	}
	if sc := h.bySHA[string(sha)]; sc != nil {
		return sc
	}
	return h.bySHA[strings.ToLower(string(sha))]
}

// Load compiles a script unless it is cached. keep protects it from being dropped. The text of an
// error is for the client.
func (h *Host) Load(body []byte, keep bool) (*Script, error) {
	sc := h.byBody[string(body)]
	if sc == nil {
		var err error
		if sc, err = h.compileScript(string(body)); err != nil {
			return nil, err
		}
		h.add(sc)
	}
	switch {
	case sc.loaded:
	case keep:
		sc.loaded = true
		sc.unlink()
		h.evals--
		h.evalled -= sc.bytes
	default:
		sc.unlink()
		h.link(sc)
	}
	return sc, nil
}

func (h *Host) add(sc *Script) {
	h.bySHA[sc.SHA], h.byBody[sc.Body] = sc, sc
	h.memory += sc.bytes
	h.evalled += sc.bytes
	h.evals++
	h.link(sc)
	for h.evals > maxEvalScripts || h.evalled > maxEvalBytes && h.evals > 1 {
		h.remove(h.recent.next)
		h.Evicted++
	}
}

func (h *Host) remove(sc *Script) {
	sc.unlink()
	delete(h.bySHA, sc.SHA)
	delete(h.byBody, sc.Body)
	h.memory -= sc.bytes
	h.evalled -= sc.bytes
	h.evals--
}

func (h *Host) link(sc *Script) {
	sc.prev, sc.next = h.recent.prev, &h.recent
	sc.prev.next, sc.next.prev = sc, sc
}

func (sc *Script) unlink() {
	if sc.next != nil {
		sc.prev.next, sc.next.prev = sc.next, sc.prev
		sc.prev, sc.next = nil, nil
	}
}

func (h *Host) compileScript(body string) (*Script, error) {
	sc := &Script{SHA: Digest([]byte(body)), Body: body}
	code, err := sc.header(body)
	if err != nil {
		return nil, err
	}
	h.begin()
	fn, err := h.compile(code, "user_script", h.L.Globals, compiler.Options{})
	if err != nil {
		return nil, CompileError("Error compiling script (new function): " + err.Error())
	}
	sc.fn = lua.ClosureValue(fn)
	sc.bytes = scriptOverhead + int64(len(body)+fn.CodeBytes())
	return sc, nil
}

// Run runs a script and writes its reply.
func (h *Host) Run(sc *Script, keys, args [][]byte, w *resp.Writer) {
	h.begin()
	h.args.set(keys, args)
	h.invoke(sc.fn, sc.SHA, w)
	h.debug.finish()
	h.args.clear(h.State)
}
