package script

import (
	"bytes"
	"strings"

	lua "github.com/yuin/gopher-lua"

	"godwit/internal/resp"
	"godwit/internal/script/syntax"
)

// Flags are what a script declares in its first line.
type Flags uint8

// The flags of scripts.
const (
	NoWrites Flags = 1 << iota
	AllowOOM
	AllowStale
	NoCluster
	AllowCrossSlotKeys
)

// FlagOf returns the flag of a name, or 0.
func FlagOf(name string) Flags {
	switch name {
	case "no-writes":
		return NoWrites
	case "allow-oom":
		return AllowOOM
	case "allow-stale":
		return AllowStale
	case "no-cluster":
		return NoCluster
	case "allow-cross-slot-keys":
		return AllowCrossSlotKeys
	}
	return 0
}

// maxEvalScripts bounds how many scripts known only from EVAL are cached. Those of SCRIPT LOAD stay
// until SCRIPT FLUSH.
const maxEvalScripts = 500

// Script is one cached script.
type Script struct {
	SHA      string // 40 lower-case hexadecimal characters
	Body     string
	Flags    Flags
	Declared bool // the first line declares flags

	fn         *lua.LFunction
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
	keys    arguments
	args    arguments
}

// NewHost returns an empty cache.
func NewHost(c Caller, o Options, openers ...Opener) *Host {
	h := &Host{bySHA: map[string]*Script{}, byBody: map[string]*Script{},
		keys: arguments{name: "KEYS"}, args: arguments{name: "ARGV"}}
	h.State = NewState(c, func(s *State) *lua.LTable { return s.API(o) }, openers...)
	h.recent.prev, h.recent.next = &h.recent, &h.recent
	return h
}

// machineMemory is the measured size of an environment in bytes, without its stacks.
const machineMemory = 128 << 10

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
	h.Trim(false)
	h.bySHA, h.byBody = map[string]*Script{}, map[string]*Script{}
	h.memory, h.evals = 0, 0
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
	default:
		sc.unlink()
		h.link(sc)
	}
	return sc, nil
}

func (h *Host) add(sc *Script) {
	h.bySHA[sc.SHA], h.byBody[sc.Body] = sc, sc
	h.memory += sc.bytes
	h.evals++
	h.link(sc)
	if h.evals > maxEvalScripts {
		h.remove(h.recent.next)
		h.Evicted++
	}
}

func (h *Host) remove(sc *Script) {
	sc.unlink()
	delete(h.bySHA, sc.SHA)
	delete(h.byBody, sc.Body)
	h.memory -= sc.bytes
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

// CompileError reports a script that cannot be loaded. Its text is for the client, without a code.
type CompileError string

func (e CompileError) Error() string { return string(e) }

func (h *Host) compileScript(body string) (*Script, error) {
	sc := &Script{SHA: Digest([]byte(body)), Body: body}
	code, err := sc.header(body)
	if err != nil {
		return nil, err
	}
	fn, err := h.compile(code, "user_script")
	if err != nil {
		if e, ok := err.(*syntax.Error); ok {
			err = CompileError("Error compiling script (new function): " + e.Msg)
		}
		return nil, err
	}
	sc.fn = fn
	sc.bytes = scriptOverhead + int64(len(body)) + codeBytes(fn.Proto)
	return sc, nil
}

// Declares returns the flags that the first line of a script declares, and false if there is no
// such line or it is wrong. It neither compiles the script nor keeps it, and copies the first line
// only: MULTI asks for each EVAL.
func Declares(body []byte) (Flags, bool) {
	if !bytes.HasPrefix(body, []byte("#!")) {
		return 0, false
	}
	var sc Script
	_, err := sc.header(string(body[:bytes.IndexByte(body, '\n')+1]))
	return sc.Flags, err == nil && sc.Declared
}

// header reads the declaration in a script's first line, if there is one. It returns the rest.
func (sc *Script) header(body string) (code string, err error) {
	if !strings.HasPrefix(body, "#!") {
		return body, nil
	}
	line, _, ok := strings.Cut(body, "\n")
	if !ok {
		return "", CompileError("Invalid script shebang")
	}
	return body[len(line):], sc.shebang(line)
}

// shebang reads the words of the declaration.
func (sc *Script) shebang(line string) error {
	parts, ok := splitArgs(line)
	if !ok || len(parts) == 0 {
		return CompileError("Invalid engine in script shebang")
	}
	if parts[0] != "#!lua" {
		return CompileError("Unexpected engine in script shebang: " + parts[0])
	}
	sc.Declared = true
	for _, p := range parts[1:] {
		list, ok := strings.CutPrefix(p, "flags=")
		if !ok {
			return CompileError("Unknown lua shebang option: " + p)
		}
		if list == "" {
			continue
		}
		for _, name := range strings.Split(list, ",") {
			f := FlagOf(name)
			if f == 0 {
				return CompileError("Unexpected flag in script shebang: " + name)
			}
			sc.Flags |= f
		}
	}
	return nil
}

// splitArgs splits a line at white space. Quotes keep a word together.
func splitArgs(line string) (words []string, ok bool) {
	for line = strings.TrimSpace(line); line != ""; line = strings.TrimSpace(line) {
		var b strings.Builder
		quote := byte(0)
		i := 0
		for ; i < len(line) &&
			(quote != 0 || line[i] != ' ' && line[i] != '\t' && line[i] != '\r'); i++ {
			switch c := line[i]; {
			case quote == 0 && (c == '"' || c == '\''):
				quote = c
			case c == quote && quote != 0:
				quote = 0
			default:
				b.WriteByte(c)
			}
		}
		if quote != 0 {
			return nil, false
		}
		words = append(words, b.String())
		line = line[i:]
	}
	return words, true
}

// Result says how a run ended.
type Result struct {
	// Error is the error reply that the script ended with, or "". Counted says that a command has
	// counted that error already.
	Error   string
	Counted bool
}

// Run runs a script and writes its reply.
func (h *Host) Run(sc *Script, keys, args [][]byte, w *resp.Writer) Result {
	s := h.State
	s.begin()
	h.keys.set(s, keys)
	h.args.set(s, args)
	r := s.invoke(sc.fn, sc.SHA, w)
	if !s.looked.IsZero() { // a script that ran for long may have left much in its tables
		h.keys.t, h.args.t = nil, nil
	}
	return r
}

// begin prepares the environment for a run.
func (s *State) begin() {
	s.limits.begin()
	s.proto, s.nested, s.calling, s.verbatim = 2, 0, false, false
	s.main.G.CurrentThread = s.main
}

func (s *State) list(args [][]byte) *lua.LTable {
	t := s.L.CreateTable(len(args), 0)
	for i, a := range args {
		t.RawSetInt(i+1, lua.LString(a))
	}
	return t
}

// invoke calls a function with arguments and writes its results as the reply. name is the script's
// name in messages.
func (s *State) invoke(fn *lua.LFunction, name string, w *resp.Writer,
	args ...lua.LValue) Result {
	L := s.main
	L.Push(s.entry)
	L.Push(fn)
	for _, a := range args {
		L.Push(a)
	}
	err := L.PCall(1+len(args), 1, nil)
	s.ended()
	if s.surface() {
		r := Result{Error: errPanic{}.Error()}
		w.Error(r.Error)
		return r
	}
	if err != nil {
		L.SetTop(0)
		r := s.failed(err, name)
		w.Error(r.Error)
		return r
	}
	e := encoder{s: s, w: w}
	v := L.Get(-1)
	L.SetTop(0)
	e.value(v, 0)
	return e.failed
}

// failed returns the error reply for an error that the script has not caught.
func (s *State) failed(err error, name string) (r Result) {
	v := errorValue(err)
	t, ok := v.(*lua.LTable)
	if !ok {
		str, isStr := toString(v)
		if !isStr {
			str = v.String()
		}
		r.Error = "ERR " + str
	} else {
		msg, isStr := toString(t.RawGetString("err"))
		if !isStr {
			msg = "ERR unknown error"
		}
		r.Error = msg
		_, r.Counted = t.RawGetString("ignore_error_stats_update").(lua.LBool)
	}
	if s.failure.source != "" {
		r.Error += " script: " + name + ", on " + s.failure.source + ":" +
			formatNumber(float64(s.failure.line)) + "."
	}
	return r
}
