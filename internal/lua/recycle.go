package lua

import (
	"math/bits"

	"godwit/internal/invariant"
)

// This file gives the memory of tables to other tables, so that Go's collector has less to do. An
// array or a hash part that a table has outgrown belongs to nobody. In an environment where no
// value outlives its run, the tables of a run are free at its end as well.

const (
	// exact is up to which size each size is kept by itself. Beyond, powers of two are.
	exact = 16
	// mostElements bounds what is kept.
	mostElements = 1 << 10
	classes      = exact + 6
	// keptElements bounds how many elements the parts of each class that are kept have together.
	keptElements = 2 << 10
	// keptTables is how many tables of a run are free at its end.
	keptTables = 64
)

// recycler holds parts of tables that nobody uses. They are empty. A nil recycler holds none.
type recycler struct {
	arrays stashes[Value]
	nodes  stashes[node]

	runs bool     // tables end with the run
	made []*Table // in this run, as many as will be free
	free []*Table
}

// stashes are lists of parts, by their sizes.
type stashes[E any] [classes][][]E

// classOf returns the class of parts of n elements, or -1.
func classOf(n int) int {
	switch {
	case n <= exact:
		return n - 1
	case n > mostElements || n&(n-1) != 0:
		return -1
	}
	return exact + bits.Len(uint(n)) - 1 - bits.Len(exact)
}

// take returns an empty part of n > 0 elements.
func (all *stashes[E]) take(n int) []E {
	if class := classOf(n); class >= 0 {
		if last := len(all[class]) - 1; last >= 0 {
			part := all[class][last]
			all[class][last] = nil
			all[class] = all[class][:last]
			return part
		}
	}
	return make([]E, n)
}

// give keeps a part that nobody uses any more.
func (all *stashes[E]) give(part []E) {
	class := classOf(len(part))
	if class < 0 || len(part) != cap(part) {
		return
	}
	if (len(all[class])+1)*len(part) <= keptElements {
		clear(part)
		all[class] = append(all[class], part)
	}
}

// bytes returns the size of the parts, of which an element takes each bytes.
func (all *stashes[E]) bytes(each int) (n int) {
	for _, parts := range all {
		if len(parts) > 0 {
			n += len(parts) * len(parts[0]) * each
		}
	}
	return n
}

func (r *recycler) array(n int) []Value {
	if r == nil {
		return make([]Value, n)
	}
	return r.arrays.take(n)
}

func (r *recycler) hash(n int) []node {
	if r == nil {
		return make([]node, n)
	}
	return r.nodes.take(n)
}

// giveBack keeps the parts that a table has outgrown. Each may be nil.
func (r *recycler) giveBack(array []Value, nodes []node) {
	if r != nil {
		r.arrays.give(array)
		r.nodes.give(nodes)
	}
}

// ReuseTables says that no table outlives the run in which Thread.NewTable made it.
func (s *State) ReuseTables() { s.parts.runs = true }

// table returns an empty table. hash is the number of nodes: a power of two, or 0.
func (r *recycler) table(array, hash int) *Table {
	t := r.head()
	if array > 0 {
		t.array = r.array(array)
	}
	if hash > 0 {
		t.nodes, t.free = r.hash(hash), int32(hash)
	}
	return t
}

// head returns a table without parts.
func (r *recycler) head() *Table {
	if r == nil || !r.runs {
		return &Table{}
	}
	var t *Table
	if n := len(r.free); n > 0 {
		t = r.free[n-1]
		r.free = r.free[:n-1]
	} else {
		t = &Table{}
	}
	if len(r.made) < keptTables {
		r.made = append(r.made, t)
	}
	return t
}

// end frees the tables of the run.
func (r *recycler) end() {
	for _, t := range r.made {
		r.giveBack(t.array, t.nodes)
		*t = Table{ReadOnly: invariant.Enabled} // nobody writes to it
	}
	if !invariant.Enabled {
		r.free = append(r.free, r.made...)
		r.free = r.free[:min(len(r.free), keptTables)]
	}
	r.forget()
}

// forget lets the tables that were made so far be garbage when the script lets go of them.
func (r *recycler) forget() {
	clear(r.made)
	r.made = r.made[:0]
}

// trim forgets everything that is kept.
func (r *recycler) trim() { *r = recycler{runs: r.runs} }

// bytes returns how many bytes are kept.
func (r *recycler) bytes() int { return r.arrays.bytes(valueBytes) + r.nodes.bytes(nodeBytes) }
