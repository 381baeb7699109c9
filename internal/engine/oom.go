package engine

import (
	"godwit/internal/config"
	"godwit/internal/spec"
)

// What the system refuses
//
// A command that takes memory is refused before it runs when the system has none left for it: it
// would end the process in the middle of its work otherwise. Small ones need no more than the
// arena's headroom and reserve, and cost a look at a flag. What large ones need is known: the bytes
// of their arguments, and of the values that they copy or combine. Commands to which a few bytes
// say how much they take ask for themselves (Fits, HasRoom).

// HasRoom reports whether the system has n bytes more. While a log is replayed there is no use in
// refusing anything.
func (e *Engine) HasRoom(n int64) bool { return n < alwaysFits || e.loading.on || e.probe(n) }

// probe asks the system for n bytes. If it refuses, twice as much of what waits to be freed goes
// first.
func (e *Engine) probe(n int64) bool {
	ks := e.KS
	if ks.A.Probe(n) {
		return true
	}
	if ks.Waiting() == 0 {
		return false
	}
	ks.GiveBack(2*n + probeFrees)
	return ks.A.Probe(n)
}

// probeFrees is how many bytes probe frees beside twice those that it is asked for.
const probeFrees = 32 << 20

// outOfMemory reports whether the command may need more than the system has.
func (e *Engine) outOfMemory(c *Ctx) bool {
	need := int64(0)
	for _, a := range c.Args {
		need += int64(len(a))
	}
	if c.Cmd.CopiesValues() {
		need += e.copied(c)
	}
	if need < alwaysFits && !e.KS.A.Short() || e.loading.on {
		return false
	}
	return !e.probe(need)
}

// copied returns the bytes of the values that the command reads in order to store them again.
func (e *Engine) copied(c *Ctx) (n int64) {
	m := &e.mem
	var err error
	if m.refs, err = c.Cmd.KeyRefs(m.refs[:0], c.Args); err != nil {
		return 0
	}
	for _, r := range m.refs {
		if r.Access&(spec.RO|spec.NotKey) == spec.RO {
			n += c.DB.Footprint(c.Args[r.Pos])
		}
	}
	return n
}

// alwaysFits is the number of bytes from which it is worth asking.
const alwaysFits = 1 << 20

// Fits reports whether there is room for a value of n bytes: within what maxmemory leaves, and
// within what the machine has left. If keys may be evicted, all of maxmemory counts as left. It is
// for commands whose few bytes ask for very much. Small values always fit. While a log is replayed
// every value does, because it has fit before.
func (e *Engine) Fits(n uint64) bool {
	if n < alwaysFits || e.loading.on {
		return true
	}
	room := func(limit int64) bool { return n <= uint64(max(limit, 0)) }
	used := e.UsedMemory()
	if limit := e.memoryLimit(); limit > 0 {
		if e.Cfg.MaxmemoryPolicy == config.NoEviction {
			limit -= e.limitedMemory()
		}
		if !room(limit) {
			return false
		}
	}
	total := SystemMemory()
	return (total == 0 || room(total-used)) && e.probe(int64(n))
}
