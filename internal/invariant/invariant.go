// Package invariant holds the checks that cost too much for production: they exist only in builds
// with the tag `invariants`, which unit tests and fuzz runs also use.
//
// Enabled is a constant, so that code under `if invariant.Enabled { … }` is removed by the compiler
// in a normal build. Prefer that form on hot paths: the arguments of a bare Check call are still
// evaluated (and boxed) when checks are off.
package invariant

import "fmt"

// Check panics with the formatted message when checks are compiled in and ok is false.
func Check(ok bool, format string, args ...any) {
	if Enabled && !ok {
		panic("invariant broken: " + fmt.Sprintf(format, args...))
	}
}
