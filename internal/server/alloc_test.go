package server

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"godwit/internal/arena"
	"godwit/internal/cluster/topology"
	"godwit/internal/engine"
	"godwit/internal/invariant"
	"godwit/internal/slot"
	"godwit/internal/testseed"
	"godwit/internal/testserver"
)

// leased is a node of a cluster that has a lease.
type leased struct{ engine.ClusterNode }

func (leased) Lease() int64 { return math.MaxInt64 }
func (leased) Boot() uint64 { return 0 }
func (leased) Hears() bool  { return true }

// TestAllocations runs GET and SET through a whole turn's session code, which must not allocate, in
// a cluster either.
func TestAllocations(t *testing.T) {
	if testserver.Race || invariant.Enabled {
		t.Skip("the checks of this build allocate")
	}
	for _, cluster := range []string{"no", "yes"} {
		e, _ := newEngine(t, "cluster-enabled "+cluster+"\n")
		s, err := New(e, Options{ForceGoroutines: true})
		if err != nil {
			t.Fatal(err)
		}
		e.Enter()
		if cluster == "yes" {
			e.Cluster = leased{}
			e.InstallTopology(&topology.State{
				Nodes: map[topology.NodeID]*topology.Node{"a": {ID: "a", Shard: "s"}},
				Shards: map[topology.ShardID]*topology.Shard{"s": {ID: "s", Master: "a",
					Last: "a", Slots: slot.SetOf(slot.Range{Last: slot.Count - 1})}},
			}, "a")
		}
		c := session{srv: s}
		c.cl, _ = s.admit(nil, peer{addr: "127.0.0.1:1", local: true})
		req := []byte(strings.Repeat("*3\r\n$3\r\nSET\r\n$3\r\nkey\r\n$5\r\nvalue\r\n"+
			"*2\r\n$3\r\nGET\r\n$3\r\nkey\r\n", 8))
		out := make([]byte, 0, 4096)
		turn := func() {
			c.cl.W.Buf = out
			for left := req; len(left) > 0; {
				left = left[c.run(left):]
			}
		}
		turn()
		if want := strings.Repeat("+OK\r\n$5\r\nvalue\r\n", 8); string(c.cl.W.Buf) != want {
			t.Fatalf("cluster-enabled %s: replies %q", cluster, c.cl.W.Buf)
		}
		if n := testing.AllocsPerRun(1000, turn); n != 0 {
			t.Errorf("cluster-enabled %s: %v allocations in 16 commands", cluster, n)
		}
		e.Leave()
	}
}

// TestOutQueue compares the queue with a string.
func TestOutQueue(t *testing.T) {
	rnd := testseed.Rand(t)
	for range 10 {
		q := outQueue{pool: arena.NewPool()}
		var model string
		for i := range 300 {
			b := []byte(strings.Repeat(fmt.Sprint(i), rnd.IntN(2)*rnd.IntN(20)*rnd.IntN(2000)))
			model += string(b)
			switch rnd.IntN(2) {
			case 0:
				q.push(b)
				clear(b) // it was copied
			case 1:
				if !q.give(b) {
					clear(b)
				}
			}
			for range rnd.IntN(3) {
				var vec [3][]byte
				var next string
				for _, b := range q.vec(vec[:0]) {
					next += string(b)
				}
				if !strings.HasPrefix(model, next) || next == "" && model != "" {
					t.Fatalf("after %d steps the queue has %.40q, the model %.40q", i, next, model)
				}
				n := rnd.IntN(len(next) + 1)
				q.pop(n)
				model = model[n:]
			}
			if q.size != len(model) || q.empty() != (model == "") {
				t.Fatalf("size %d, want %d", q.size, len(model))
			}
		}
		q.drop()
		if n := q.pool.Used(); n != 0 || q.pool.Check() != nil {
			t.Fatalf("%d bytes were not put back, %v", n, q.pool.Check())
		}
	}
}
