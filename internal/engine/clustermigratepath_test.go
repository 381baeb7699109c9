package engine_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/cluster/topology"
	"godwit/internal/config"
	"godwit/internal/invariant"
	"godwit/internal/slot"
	"godwit/internal/testseed"
)

// TestMigrationPath moves a quarter of the slots while keys of all types change on the source in
// every way. The destination has then what the source had when its slots closed.
func TestMigrationPath(t *testing.T) {
	rng := testseed.Rand(t)
	slots := slot.SetOf(slot.Range{First: 4000, Last: 8000})
	rounds := 40
	if invariant.Enabled {
		rounds = 8
	}
	moved := 0
	for round := range rounds {
		p := newMoving(t, func(c *config.Config) {
			if c.Cluster.Databases = 1 + round%3; round%2 == 0 {
				c.Cluster.HandoffLag = 0
			}
		})
		change := func(n int) {
			for range n {
				p.change(rng.IntN, 1+round%3)
			}
		}
		change(400)
		p.begin(slots)
		change(50)
		p.snapshot()
		for range rng.IntN(6) {
			change(rng.IntN(60))
			p.carry()
		}
		for range 100 {
			if change(rng.IntN(3)); p.carryUntil(topology.Closed) {
				break
			}
		}
		require.Equal(t, topology.Closed, p.phase())
		want, others := p.contents(p.from, &slots), p.contents(p.from, outside(slots))
		moved += len(want)
		require.Equal(t, "(postponed)", p.from.do(p.from.client(), "set "+keyOf(4000)+" 1"))
		require.Equal(t, topology.Done, p.finish())
		p.sameKeys(want, p.contents(p.to, &slots))
		require.Empty(t, p.contents(p.from, &slots))
		p.sameKeys(others, p.contents(p.from, outside(slots)))
		require.Equal(t, "+OK", p.to.do(p.to.c, "set "+keyOf(4000)+" 1"))
		require.Contains(t, p.from.do(p.from.c, "set "+keyOf(4000)+" 1"), "-MOVED 4000")
	}
	require.Greater(t, moved, 20*rounds)
}

// carryUntil goes on until the log has closed the slots, but not further, and reports that.
func (p *moving) carryUntil(phase topology.Phase) bool {
	p.Helper()
	p.carry()
	if len(p.from.proposed) > 0 {
		p.settle()
	}
	return p.phase() == phase
}

// outside returns all other slots.
func outside(slots slot.Set) *slot.Set {
	all := slot.SetOf(slot.Range{First: 0, Last: slot.Count - 1})
	all.Subtract(&slots)
	return &all
}

// change has a client of the source change something.
func (p *moving) change(n func(int) int, databases int) {
	tag := fmt.Sprintf("{%d}", n(60))
	key := func() string { return fmt.Sprint(tag, n(4)) }
	one := func() string {
		switch n(14) {
		case 0, 1:
			return fmt.Sprintf("set %ss %d px 100000", key(), n(1000))
		case 2:
			return fmt.Sprintf("append %ss %s", key(), strings.Repeat("x", 1+n(200)))
		case 3:
			return fmt.Sprintf("rpush %sl %s", key(), strings.Repeat("e ", 1+n(40)))
		case 4:
			return fmt.Sprintf("lpop %sl %d", key(), 1+n(30))
		case 5:
			return fmt.Sprintf("hset %sh f%d %d f%d 1", key(), n(300), n(9), n(300))
		case 6:
			return fmt.Sprintf("hpexpire %sh %d fields 1 f%d", key(), 1e6+n(1e6), n(300))
		case 7:
			return fmt.Sprintf("sadd %sm %d %d", key(), n(1000), n(1000))
		case 8:
			return fmt.Sprintf("zadd %sz %d %d", key(), n(100), n(300))
		case 9:
			return fmt.Sprintf("xadd %sx * a %d", key(), n(100))
		case 10:
			return fmt.Sprintf("spop %sm", key())
		case 11:
			return fmt.Sprintf("pexpire %ss %d", key(), n(3))
		}
		return fmt.Sprintf("del %ss %sl %sh", key(), key(), key())
	}
	p.do(fmt.Sprint("select ", n(databases)))
	switch n(40) {
	case 0:
		p.do("multi\n" + one() + "\n" + one() + "\n" + one() + "\nexec")
	case 1:
		p.do(fmt.Sprintf("cluster flushslot %d", slot.Of([]byte(tag))))
	case 2:
		if n(8) == 0 {
			p.do([]string{"flushall", "flushdb"}[n(2)])
		}
	case 3:
		p.from.pass(100) // keys fall due
	default:
		p.do(one())
	}
}
