package script

import (
	"fmt"
	"runtime/debug"
)

// This file handles Go panics in and under scripts.
//
// The compiler changes nothing but what it returns. A panic in it becomes an error of the command
// that brought the script, and is reported.
//
// A panic while a script runs comes to the machine, which ends the script, whatever the script does
// about it. If a command panicked, it is half done: the panic goes on as a *Panic from the call
// that ran the script. Otherwise it becomes an error of that script and is reported: the commands
// that the script has called are done, as with any other error.

// Panic is a fault of the server that surfaced while a script was compiled or ran.
type Panic struct {
	During string // what was going on, without values
	Value  any    // what panic was called with
	Stack  []byte // of the goroutine
	Inside bool   // it came out of a command
}

// Error returns what happened, with the stack.
func (p *Panic) Error() string {
	return fmt.Sprintf("panic while %s: %v\n%s", p.During, p.Value, p.Stack)
}

// Reporter is an optional part of a Caller. It hears of panics that became errors of a command.
type Reporter interface {
	ReportPanic(p *Panic)
}

// guardCompile, which compile defers, turns a panic into a compile error and reports it.
func (s *State) guardCompile(chunk string, err *error) {
	v := recover()
	if v == nil {
		return
	}
	s.report(&Panic{During: "compiling a script", Value: v, Stack: debug.Stack()})
	*err = CompileError(chunk + ":1: internal error")
}

func (s *State) report(p *Panic) {
	if r, ok := s.caller.(Reporter); ok {
		r.ReportPanic(p)
	} else {
		s.caller.Log(LogWarning, p.Error())
	}
}

// errPanic ends a script after a panic.
type errPanic struct{}

func (errPanic) Error() string { return "ERR internal error" }

// crashed notes a panic that came to the machine, and returns the error that ends the script. Only
// the first panic counts.
func (s *State) crashed(v any) error {
	if s.panicked == nil {
		s.panicked = &Panic{During: "running a script", Value: v, Stack: debug.Stack(),
			Inside: s.calling}
	}
	return errPanic{}
}

// surface handles a panic that was noted while the script ran, and reports whether there was one.
// It panics again if a command did.
func (s *State) surface() bool {
	p := s.panicked
	if p == nil {
		return false
	}
	s.panicked = nil
	s.ended()
	if p.Inside {
		panic(p)
	}
	s.report(p)
	s.Trim(true)
	return true
}
