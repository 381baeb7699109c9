package diff

import (
	"slices"
	"strings"
)

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
