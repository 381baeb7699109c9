package script

import "godwit/internal/lua"

// This file counts what functions keep between calls: the tables and strings behind the local
// variables of their libraries. The machine does not count them, so a walk does, a little at each
// tick of the server's clock, because a library may keep millions of values.

// kept is the result of the last walk and the state of the next.
type kept struct {
	bytes int64
	stale bool  // a function has run since the last walk began
	walk  *walk // in progress; nil: none
	rest  int   // ticks until the next walk may begin
	set   int64 // bytes of the libraries' sources when the last walk began
}

const (
	// keptStep is how many values one tick visits: about 0.2 ms.
	keptStep = 2 << 10
	// keptRest is how many ticks a walk rests for each tick that it took.
	keptRest = 4
	// keptMost bounds the tables and functions that a walk follows.
	keptMost = 1 << 18
)

// Count continues the walk, if functions have run or changed since the last one. It is called at
// each tick.
func (f *Functions) Count() {
	k := &f.kept
	if k.walk == nil {
		if k.rest = max(k.rest-1, 0); k.rest > 0 || !k.stale && k.set == f.memory {
			return
		}
		k.walk, k.stale, k.set = &walk{seen: map[lua.Identity]bool{}}, false, f.memory
		for _, l := range f.libraries {
			l.callbacks(k.walk.value)
		}
	}
	k.walk.ticks++
	if done := k.walk.step(keptStep); !done {
		k.bytes = max(k.bytes, k.walk.bytes)
		return
	}
	k.bytes, k.rest, k.walk = k.walk.bytes, keptRest*k.walk.ticks, nil
}

// walk counts the bytes reachable from some values. Beyond keptMost values it extrapolates from
// those it has met. It may miss what changes between two steps until the next walk.
type walk struct {
	seen  map[lua.Identity]bool
	todo  []lua.Value
	table *lua.Table // whose entries are being counted; nil: none
	at    int        // the entry to count next; see lua.Table.NextIndex
	done  int
	ticks int
	bytes int64
}

func (w *walk) value(v lua.Value) {
	switch v.Kind() {
	case lua.KindString:
		w.bytes += int64(v.Len())
	case lua.KindTable, lua.KindClosure, lua.KindThread:
		if t := v.Table(); t != nil && t.ReadOnly {
			return // a library
		}
		if id := v.Identity(); !w.seen[id] {
			w.seen[id] = true
			w.todo = append(w.todo, v)
		}
	}
}

// step visits n values and reports whether the walk is complete.
func (w *walk) step(n int) (done bool) {
	for ; n > 0; n-- {
		switch {
		case w.table != nil:
			w.entry()
		case len(w.todo) > 0 && w.done < keptMost:
			w.next()
		default:
			if left := int64(len(w.todo)); left > 0 {
				w.bytes += left * (w.bytes / int64(w.done))
			}
			return true
		}
	}
	return false
}

// next moves on to the next value.
func (w *walk) next() {
	v := w.todo[len(w.todo)-1]
	w.todo = w.todo[:len(w.todo)-1]
	w.done++
	if t := v.Table(); t != nil {
		w.bytes += int64(t.Bytes())
		if t.Metatable != nil {
			w.value(lua.TableValue(t.Metatable))
		}
		w.table, w.at = t, 0
		return
	}
	w.bytes += int64(lua.Refs(v, w.value))
}

// entry counts the next entry of the table. If the table has changed since, it counts some twice or
// not at all.
func (w *walk) entry() {
	i, k, v := w.table.NextIndex(w.at)
	if i == 0 {
		w.table = nil
		return
	}
	w.value(k)
	w.value(v)
	w.at = i
}
