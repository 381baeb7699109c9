package engine

import "time"

// ScriptMemory is what INFO and MEMORY STATS say of scripts.
type ScriptMemory struct {
	Machine int64 // of the environment, bytes
	Caches  int64 // of cached scripts, bytes
	Cached  int
	Evicted int64

	FunctionMachine      int64 // of the environment of functions, bytes
	FunctionCaches       int64 // of libraries, bytes
	Functions, Libraries int
}

// ScriptMemory returns the memory of scripts.
func (e *Engine) ScriptMemory() (m ScriptMemory) {
	if h := e.script.host; h != nil {
		m = ScriptMemory{Machine: h.MachineMemory(), Caches: h.Memory(), Cached: h.Len(),
			Evicted: h.Evicted}
	}
	if f := e.script.functions; f != nil {
		m.FunctionMachine, m.FunctionCaches = f.MachineMemory(), f.LibrarySet.Memory()
		m.Libraries, m.Functions = f.LibrarySet.Len()
	}
	return m
}

// keepStacks is how long stacks of scripts are kept that nothing runs on. Some are kept up to twice
// that.
const keepStacks = 2 * time.Second

// trimScripts drops what scripts have left on their stacks and nobody uses any more. The cron calls
// it, which does not run while a script does.
func (e *Engine) trimScripts() {
	if now := e.Steady(); now >= e.script.trimAt {
		e.script.trimAt = now + keepStacks.Milliseconds()
		e.dropScriptStacks(false)
	}
}

// dropScriptStacks drops the stacks of scripts that were not used since the last call, or all of
// them.
func (e *Engine) dropScriptStacks(all bool) {
	if e.script.run != nil {
		return
	}
	if h := e.script.host; h != nil {
		h.Trim(all)
	}
	if f := e.script.functions; f != nil {
		f.Trim(all)
	}
}
