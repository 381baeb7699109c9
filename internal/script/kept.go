package script

import "godwit/internal/lua"

// This file counts what functions keep between calls: what can be reached from the local variables
// of their libraries. It does so a little at each tick of the server's clock, because a library may
// keep millions of values.

// kept is the result of the last count and the state of the next.
type kept struct {
	bytes int64
	stale bool       // a function has run since the last count began
	meter *lua.Meter // of the count in progress; nil: none
	ticks int        // that it has taken
	rest  int        // ticks until the next count may begin
	set   int64      // bytes of the libraries' sources when the last count began
}

const (
	// keptStep is how many values one tick visits: about 0.2 ms.
	keptStep = 8 << 10
	// keptRest is how many ticks a count rests for each tick that it took.
	keptRest = 4
)

// Count continues the count, if functions have run or changed since the last one. It is called at
// each tick.
func (f *Functions) Count() {
	k := &f.kept
	if k.meter == nil {
		if k.rest = max(k.rest-1, 0); k.rest > 0 || !k.stale && k.set == f.memory {
			return
		}
		k.meter, k.ticks, k.stale, k.set = new(lua.Meter), 0, false, f.memory
		for _, l := range f.libraries {
			l.holds(k.meter.Visit)
		}
	}
	k.ticks++
	done := k.meter.Step(keptStep)
	counted := int64(k.meter.Bytes)
	if !done {
		k.bytes = max(k.bytes, counted)
		return
	}
	k.bytes, k.rest, k.meter = counted, keptRest*k.ticks, nil
}
