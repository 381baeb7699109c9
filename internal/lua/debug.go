package lua

// This file is what a debugger needs: see Hooks.Line.

// Levels returns the number of levels of calls. Level 0 is the running function.
func (t *Thread) Levels() (n int) {
	for i := range t.frames[:t.depth] {
		n += 1 + int(t.frames[i].tails)
	}
	return n
}

// FunctionName returns the name by which the function at a level was called, or "".
func (t *Thread) FunctionName(level int) string {
	_, name := t.calledName(t.level(level))
	return name
}

// Local returns local variable n, from 1, of the function at a level. Those of Lua's own, such as
// the hidden ones of loops, have names in parentheses. ok is false beyond the last.
func (t *Thread) Local(level, n int) (name string, v Value, ok bool) {
	f := t.code(level)
	if f == nil {
		return "", Nil, false
	}
	pc := f.pc - 1
	for _, l := range f.closure.fn.proto.Locals {
		if l.Start > pc {
			break
		}
		if pc >= l.End {
			continue
		}
		if n--; n == 0 {
			return l.Name, t.stack[int(f.base)+int(l.Register)], true
		}
	}
	return "", Nil, false
}

// Evaluate calls a function from Hooks.Line and returns its first result, or reports an error.
func (t *Thread) Evaluate(f Value, args ...Value) (v Value, ok bool) {
	top := t.top
	t.top = t.scratch()
	t.Push(f)
	t.pushAll(args)
	if v, ok = t.Try(len(args), 1); ok {
		v = t.Pop()
	}
	t.top = top
	return v, ok
}

// Place returns how many frames there are, and the index of the running instruction.
func (t *Thread) Place() (depth, pc int) { return t.depth, int(t.frames[t.depth-1].pc) - 1 }
