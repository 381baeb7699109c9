package engine

import "godwit/internal/script"

// Functions returns the libraries of functions with their environment, which the first call makes.
func (e *Engine) Functions() *script.Functions {
	if e.script.functions == nil {
		e.script.functions = e.NewFunctions()
	}
	return e.script.functions
}

// NewFunctions returns an environment without libraries, for AdoptFunctions.
func (e *Engine) NewFunctions() *script.Functions {
	return script.NewFunctions(e.ScriptCaller(), e.ScriptOptions(), e.ScriptLibraries...)
}

// LoadOptions returns how libraries that the client brings are loaded.
func (e *Engine) LoadOptions(c *Client, replace bool) script.LoadOptions {
	return script.LoadOptions{Replace: replace, Patient: e.obeys(c)}
}

// AdoptFunctions puts libraries with their environment in the place of those that there are.
func (e *Engine) AdoptFunctions(f *script.Functions) { e.script.functions = f }

// FlushFunctions deletes all libraries, and the environment with whatever they keep in it.
func (e *Engine) FlushFunctions() { e.script.functions = nil }

// FunctionSources returns the code of all libraries, by name, as it is saved.
func (e *Engine) FunctionSources() [][]byte {
	if e.script.functions == nil {
		return nil
	}
	var all [][]byte
	for _, l := range e.script.functions.Libraries() {
		all = append(all, []byte(l.Code))
	}
	return all
}

// RunningArgs returns the command that runs the current script or function, nil if none runs.
func (e *Engine) RunningArgs() [][]byte {
	if e.script.run == nil {
		return nil
	}
	return e.script.run.args
}
