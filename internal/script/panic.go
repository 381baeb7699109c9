package script

import (
	"fmt"
	"runtime/debug"
	"strings"

	lua "github.com/yuin/gopher-lua"

	"godwit/internal/script/syntax"
)

// This file handles Go panics in and under scripts.
//
// The parser and the compiler change nothing but what they return. A panic in them becomes an error
// of the command that brought the script, and is reported.
//
// While a script runs, the machine would recover a panic and hand it to the script as an error. So
// the panic is noted on its way, and ends the script at the next instruction, whatever the script
// does about it. If a command panicked, it is half done: the panic goes on as a *Panic from the
// call that ran the script. Otherwise it becomes an error of that script and is reported: the
// commands that the script has called are done, as with any other error, and the machine's stacks
// are made anew.

// Panic is a fault of the server that surfaced while a script was compiled or ran.
type Panic struct {
	During string // what was going on, without values
	Value  any    // what panic was called with
	Stack  []byte // of the goroutine; nil if the machine has lost it
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

// guardCompile, which compileMain defers, turns a panic into a compile error and reports it.
func (s *State) guardCompile(chunk string, err *error) {
	v := recover()
	if v == nil {
		return
	}
	s.report(&Panic{During: "compiling a script", Value: v, Stack: debug.Stack()})
	*err = &syntax.Error{Msg: chunk + ":1: internal error"}
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

// crashed notes a panic and ends the script. Only the first panic counts.
func (s *State) crashed(v any, stack []byte, inside bool) {
	if s.panicked == nil {
		s.panicked = &Panic{During: "running a script", Value: v, Stack: stack, Inside: inside}
	}
	s.stop, s.left = errPanic{}, 0
}

// watch notes the panics of commands, around which it is deferred.
func (s *State) watch() {
	v := recover()
	if v == nil {
		return
	}
	if !isLuaError(v) {
		s.crashed(v, debug.Stack(), true)
	}
	panic(v)
}

// isLuaError reports whether a panic is the machine's way to raise an error.
func isLuaError(v any) bool {
	if _, ok := v.(*lua.ApiError); ok {
		return true
	}
	return isOverflow(v)
}

// isOverflow reports whether a panic means that the call stack is full.
func isOverflow(v any) bool {
	msg, ok := v.(string)
	return ok && strings.Contains(msg, "overflow")
}

// surface handles a panic that was noted while the script ran, and reports whether there was one.
// It panics again if a command did.
func (s *State) surface() bool {
	p := s.panicked
	if p == nil {
		return false
	}
	if s.panicked = nil; p.Inside {
		panic(p)
	}
	s.report(p)
	s.newMain()
	s.Trim(false)
	return true
}
