package lua

import (
	"errors"
	"fmt"

	"godwit/internal/invariant"
)

// assertValid panics if the table is damaged, in builds that check invariants.
func (t *Table) assertValid() {
	if invariant.Enabled {
		if err := t.check(); err != nil {
			panic(err)
		}
	}
}

// check walks the nodes and reports the first thing that is wrong.
func (t *Table) check() error {
	n := len(t.nodes)
	if n&(n-1) != 0 || int(t.free) > n || t.free < 0 {
		return fmt.Errorf("lua: %d nodes, %d free", n, t.free)
	}
	for i, v := range t.array {
		if v.n >= minNumber && v.p != nil {
			return fmt.Errorf("lua: element %d refers to something that it does not hold", i)
		}
	}
	into := make([]int, n) // links to each node
	for i := range t.nodes {
		d := &t.nodes[i]
		switch {
		case d.next < 0 || int(d.next) > n:
			return fmt.Errorf("lua: node %d is linked to %d", i, d.next)
		case d.key.n == bitsNil && (i >= int(t.free) || d.next != 0 || d.val.n != bitsNil):
			return fmt.Errorf("lua: node %d has no key, but is in use", i)
		case d.val.n >= minNumber && d.val.p != nil || d.key.n >= minNumber && d.key.p != nil:
			return fmt.Errorf("lua: node %d refers to something that it does not hold", i)
		}
		if d.next != 0 {
			if into[d.next-1]++; into[d.next-1] > 1 {
				return fmt.Errorf("lua: node %d is in two chains", d.next-1)
			}
		}
	}
	for i := range t.nodes {
		if t.nodes[i].val.n != bitsNil {
			if err := t.checkKey(i); err != nil {
				return fmt.Errorf("lua: node %d: %w", i, err)
			}
		}
	}
	return nil
}

// checkKey checks a node that has a value.
func (t *Table) checkKey(i int) error {
	d := &t.nodes[i]
	switch {
	case d.key.n>>48 == bitsForgotten>>48:
		return errors.New("a forgotten key has a value")
	case d.hash != hashOf(d.key):
		return fmt.Errorf("hash %#x of a key with %#x", d.hash, hashOf(d.key))
	case t.inArray(d.key) != nil:
		return fmt.Errorf("key %v belongs in the array", d.key.Num())
	}
	j := t.position(d.key, d.hash)
	for steps := 0; int(j) != i; steps++ {
		if t.nodes[j].next == 0 || steps > len(t.nodes) {
			return errors.New("not in the chain of its main position")
		}
		j = uint32(t.nodes[j].next - 1)
	}
	return nil
}
