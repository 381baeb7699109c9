package engine

import "godwit/internal/script"

// Functions is the libraries of functions with their environment, made when it is first needed.
func (e *Engine) Functions() *script.Functions {
	if e.script.functions == nil {
		e.script.functions = script.NewFunctions(e.ScriptCaller(), e.ScriptOptions(), e.ScriptLibraries...)
	}
	return e.script.functions
}

// FlushFunctions forgets all libraries, and the environment with whatever they keep in it.
func (e *Engine) FlushFunctions() { e.script.functions = nil }

// FunctionSources is the code of all libraries, by name: what is saved of them.
func (e *Engine) FunctionSources() [][]byte {
	if e.script.functions == nil {
		return nil
	}
	var all [][]byte
	for _, l := range e.script.functions.Libraries() {
		all = append(all, l.Code)
	}
	return all
}

// RunningArgs is the command that runs the script or function that runs now.
func (e *Engine) RunningArgs() [][]byte {
	if e.script.run == nil {
		return nil
	}
	return e.script.run.args
}
