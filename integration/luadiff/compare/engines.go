// Package compare runs Lua programs on several engines, so that tests and tools can compare what
// the programs return. A program that makes a difference is made small (Pair.Shrink).
//
// All engines answer in one form: the string that the program returned, "error: " with the message
// of an error that it has not caught, or "compile: " with that of a syntax error.
package compare

import "errors"

// Engine runs programs, for one goroutine at a time.
type Engine interface {
	// Run returns the result of each program.
	Run(programs ...string) ([]string, error)
	// Close ends what runs the programs.
	Close()
}

// ErrMissing reports an engine that this machine lacks.
var ErrMissing = errors.New("not installed")

// noString is the result of a program that returns anything but a string.
const noString = "(no string)"

// Timeout is the result of a program that does not end.
const Timeout = "timeout"

// Func is an engine that runs one program within this process.
type Func func(program string) string

// Run implements Engine.
func (f Func) Run(programs ...string) ([]string, error) {
	results := make([]string, len(programs))
	for i, p := range programs {
		results[i] = f(p)
	}
	return results, nil
}

// Close implements Engine.
func (f Func) Close() {}
