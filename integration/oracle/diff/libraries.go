package diff

import (
	"fmt"
	"slices"
	"strings"
)

// functionsArg stands for the libraries of both servers, as FUNCTION DUMP returns them: each server
// is sent the other's. With cutArg the last byte is missing.
const (
	functionsArg = "{functions}"
	cutArg       = "{functions-cut}"
)

// swaps reports whether the command carries the libraries, for which the servers are asked first.
func (c Cmd) swaps() bool {
	if c.Raw || len(c.Args) < 3 || !strings.EqualFold(string(c.Args[1]), "restore") {
		return false
	}
	return slices.ContainsFunc(c.Args, func(a []byte) bool {
		return string(a) == functionsArg || string(a) == cutArg
	})
}

// swapped returns the command for each server, with the other's libraries in place of the word that
// stands for them.
func (r *Runner) swapped(c Cmd) (out [2]Cmd, err error) {
	for i, s := range r.sides() {
		dump, err := r.admin[i].Do("FUNCTION", "DUMP")
		if err != nil {
			return out, fmt.Errorf("%s: FUNCTION DUMP: %w", s.Name, err)
		}
		other := c
		other.Args = slices.Clone(c.Args)
		for j, a := range other.Args {
			switch string(a) {
			case functionsArg:
				other.Args[j] = []byte(dump.Str)
			case cutArg:
				other.Args[j] = []byte(dump.Str[:max(0, len(dump.Str)-1)])
			}
		}
		out[1-i] = other
	}
	return out, nil
}

// libraryState compares the libraries of both servers.
func (r *Runner) libraryState(at int) (*Failure, error) {
	if !r.libraries {
		return nil, nil
	}
	a, b, f, err := r.both(at,
		[]Cmd{cmdOf("FUNCTION", "LIST", "WITHCODE"), cmdOf("FUNCTION", "STATS")})
	if f != nil || err != nil {
		return f, err
	}
	for i := range a {
		if canonical(a[i]) != canonical(b[i]) {
			return stateFailure(at, "libraries", a[i].String(), b[i].String()), nil
		}
	}
	return nil, nil
}

// usesLibraries reports whether the stream may load functions.
func usesLibraries(stream []Cmd) bool {
	return slices.ContainsFunc(stream, func(c Cmd) bool {
		return strings.EqualFold(c.Name(), "function")
	})
}
