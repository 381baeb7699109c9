package lua

import (
	"strconv"

	"godwit/internal/lua/bytecode"
)

// raising is what a function of Go panics with to raise the error Thread.thrown. The machine's loop
// recovers it.
type raising struct{}

// raiseValue begins to raise an error inside the machine. It returns false, for the caller to
// return as well.
func (t *Thread) raiseValue(v Value) bool {
	t.thrown = v
	return false
}

// raise begins to raise an error with the position of the running function.
func (t *Thread) raise(msg string) bool { return t.raiseAt(0, msg) }

// raiseAt begins to raise an error with the position of the function at a level.
func (t *Thread) raiseAt(level int, msg string) bool {
	if !t.goesOn(t.s.Grow(len(msg))) { // it may quote a string of the script
		return false
	}
	return t.raiseValue(String(t.Where(level) + msg))
}

// goesOn reports whether err is nil. Otherwise it begins to end the script.
func (t *Thread) goesOn(err error) bool { return err == nil || t.stop(err) }

func (t *Thread) stop(err error) bool { return t.raiseValue(String(err.Error())) }

// Where returns "source:line: " of the function at a level: 0 is the running one, 1 the one that
// called it. It is empty for functions of Go and calls that have been replaced.
func (t *Thread) Where(level int) string {
	source, line, ok := t.Position(level)
	if !ok {
		return ""
	}
	return source + ":" + strconv.Itoa(line) + ": "
}

// Position returns the chunk and the line at which the function of a level is. ok is false for
// functions of Go, for calls that have been replaced by tail calls, and beyond the last.
func (t *Thread) Position(level int) (source string, line int, ok bool) {
	f := t.code(level)
	if f == nil {
		return "", 0, false
	}
	p := f.closure.fn.proto
	return p.Source, p.LineOf(int(f.pc) - 1), true
}

// Chunk returns the name that a script has given to the code of the function at a level. ok is
// false if it is not code that a script has loaded.
func (t *Thread) Chunk(level int) (name string, ok bool) {
	if f := t.code(level); f != nil {
		return f.closure.fn.chunk, f.closure.fn.named
	}
	return "", false
}

// code returns the frame of the function of Lua at a level, or nil if there is none.
func (t *Thread) code(level int) *frame {
	if i := t.level(level); i >= 0 && t.frames[i].closure != nil {
		return &t.frames[i]
	}
	return nil
}

// level returns the index of the frame at a level, or -1 if there is none. The calls that a frame
// has replaced have the levels above it.
func (t *Thread) level(level int) int {
	for i := t.depth - 1; i >= 0 && level >= 0; i-- {
		if level == 0 {
			return i
		}
		level -= 1 + int(t.frames[i].tails)
	}
	return -1
}

// Raise raises an error. It does not return.
func (t *Thread) Raise(v Value) { must(t.raiseValue(v)) }

// Throw raises an error. A function of Go returns what it returns.
func (t *Thread) Throw(v Value) int {
	t.thrown = v
	return resultThrown
}

// Error raises an error made of parts, with the position of the function that called the running
// one. It does not return.
func (t *Thread) Error(msg ...string) {
	t.Raise(t.Join(append([]string{t.Where(1)}, msg...)...))
}

// ArgError raises the error for a wrong argument. It does not return.
func (t *Thread) ArgError(n int, what ...string) {
	kind, name := t.calledName(t.depth - 1)
	if name == "" {
		name = "?"
	}
	if kind == "method" {
		n--
	}
	text := "bad argument #" + strconv.Itoa(n) + " to '" + name + "' ("
	if n == 0 && kind == "method" {
		text = "calling '" + name + "' on bad self ("
	}
	t.Error(append(append([]string{text}, what...), ")")...)
}

// TypeError raises the error for an argument of a wrong type. It does not return.
func (t *Thread) TypeError(n int, want string) {
	got := "no value"
	if n <= t.Top() {
		got = t.Arg(n).TypeName()
	}
	t.ArgError(n, want+" expected, got "+got)
}

// typeError begins to raise the error for an operation on a value of a wrong type. reg is the
// register of the running function that holds it, or -1.
func (t *Thread) typeError(op string, v Value, reg int) bool {
	f := &t.frames[t.depth-1]
	kind, name := "", ""
	if f.closure != nil && reg >= 0 {
		fn, pc := f.closure.fn, int(f.pc)-1
		if in := fn.code[pc]; in.Op() == bytecode.CallK {
			kind, name = fn.refName(in.D())
		} else {
			kind, name = fn.nameOf(reg, pc)
		}
	}
	if kind == "" {
		return t.raise("attempt to " + op + " a " + v.TypeName() + " value")
	}
	return t.raise("attempt to " + op + " " + kind + " '" + name + "' (a " + v.TypeName() +
		" value)")
}

// compareError begins to raise the error for two values that cannot be compared. Lua looks at the
// third letter only of the types' names, which thread and string share.
func (t *Thread) compareError(a, b Value) bool {
	x, y := a.TypeName(), b.TypeName()
	if x[2] == y[2] {
		return t.raise("attempt to compare two " + x + " values")
	}
	return t.raise("attempt to compare " + x + " with " + y)
}
