package script

import (
	"time"

	lua "github.com/yuin/gopher-lua"
)

// What functions keep between their calls: the tables and strings behind the local variables of their
// libraries. It is counted now and then by walking there, because the machine does not count.

// kept is that account.
type kept struct {
	bytes int64
	stale bool // a function has run since
	next  time.Time
}

const (
	keptShare = 100 // of the time at most one hundredth is spent on counting
	keptMost  = 1 << 18
)

// Trim drops what is not needed (State.Trim), and counts what functions keep if they have run.
func (f *Functions) Trim(idle bool) {
	f.State.Trim(idle)
	now := time.Now()
	if !f.kept.stale || now.Before(f.kept.next) {
		return
	}
	w := walk{seen: map[any]bool{}}
	for _, l := range f.libraries {
		for _, fn := range l.Functions {
			w.value(fn.callback)
		}
	}
	w.run()
	f.kept = kept{bytes: w.bytes, next: now.Add(keptShare * time.Since(now))}
}

// walk counts the bytes of what values lead to. Beyond keptMost tables and functions it goes on with
// what it found on the way, on average.
type walk struct {
	seen  map[any]bool
	todo  []lua.LValue
	done  int
	bytes int64
}

func (w *walk) value(v lua.LValue) {
	switch v := v.(type) {
	case lua.LString:
		w.bytes += int64(len(v))
	case *lua.LTable:
		if !w.seen[v] {
			w.seen[v] = true
			w.todo = append(w.todo, v)
		}
	case *lua.LFunction:
		if v != nil && !v.IsG && !w.seen[v] {
			w.seen[v] = true
			w.todo = append(w.todo, v)
		}
	}
}

func (w *walk) run() {
	for len(w.todo) > 0 && w.done < keptMost {
		v := w.todo[len(w.todo)-1]
		w.todo = w.todo[:len(w.todo)-1]
		w.done++
		switch v := v.(type) {
		case *lua.LTable:
			w.bytes += 128
			w.value(v.Metatable)
			v.ForEach(func(k, e lua.LValue) {
				w.bytes += 64
				w.value(k)
				w.value(e)
			})
		case *lua.LFunction:
			w.bytes += 96
			for _, u := range v.Upvalues {
				w.bytes += 48
				w.value(u.Value())
			}
		}
	}
	if left := int64(len(w.todo)); left > 0 && w.done > 0 {
		w.bytes += left * (w.bytes / int64(w.done))
	}
}
