package script

import (
	"fmt"
	"runtime/debug"
	"strings"

	lua "github.com/yuin/gopher-lua"

	"godwit/internal/script/syntax"
)

// Go panics around scripts.
//
// The parser and the compiler change nothing but what they return. A panic in them is an error of
// the command that brought the script, and it is reported.
//
// A panic while a script runs would be recovered by the machine, which hands it to the script as an
// error. It is noted where it passes instead, and ends the script at its next instruction, whatever
// the script does about it. If it came out of a command, which is half done then, it goes on as a
// *Panic from the call that ran the script. Otherwise it is an error of that script and is
// reported: the commands that the script has called are done, as with any other error, and the
// machine's stacks are made anew.

// Panic is a fault of the server that came up while a script was compiled or ran.
type Panic struct {
	During string // what was going on, without values
	Value  any    // what panic was called with
	Stack  []byte // of the goroutine, nil where the machine has lost it
	Inside bool   // a command
}

// Error returns what happened, with the stack.
func (p *Panic) Error() string {
	return fmt.Sprintf("panic while %s: %v\n%s", p.During, p.Value, p.Stack)
}

// Reporter is what a Caller may be besides: it is told of panics that have become errors of a
// command.
type Reporter interface {
	ReportPanic(p *Panic)
}

// guardCompile is deferred by compileMain. It turns a panic into a compile error and reports it.
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

// errPanic ends a script under which something has panicked.
type errPanic struct{}

func (errPanic) Error() string { return "ERR internal error" }

// crashed notes a panic and ends the script. The first one counts.
func (s *State) crashed(v any, stack []byte, inside bool) {
	if s.panicked == nil {
		s.panicked = &Panic{During: "running a script", Value: v, Stack: stack, Inside: inside}
	}
	s.stop, s.left = errPanic{}, 0
}

// watch is deferred around commands.
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

// isOverflow reports whether a panic is that of a call stack that is full.
func isOverflow(v any) bool {
	msg, ok := v.(string)
	return ok && strings.Contains(msg, "overflow")
}

// surface deals with what was noted while the script ran. It tells whether the script has failed by
// it.
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
