package server

import (
	"fmt"
	"strings"
	"testing"

	"godwit/internal/arena"
	"godwit/internal/invariant"
	"godwit/internal/testseed"
	"godwit/internal/testserver"
)

// TestAllocations runs GET and SET through a whole turn's session code, which must not allocate.
func TestAllocations(t *testing.T) {
	if testserver.Race || invariant.Enabled {
		t.Skip("the checks of this build allocate")
	}
	e, _ := newEngine(t, "")
	s, err := New(e, Options{ForceGoroutines: true})
	if err != nil {
		t.Fatal(err)
	}
	e.Enter()
	defer e.Leave()
	c := session{srv: s}
	c.cl, _ = s.admit(nil, peer{addr: "127.0.0.1:1", local: true})
	req := []byte(strings.Repeat(
		"*3\r\n$3\r\nSET\r\n$3\r\nkey\r\n$5\r\nvalue\r\n*2\r\n$3\r\nGET\r\n$3\r\nkey\r\n", 8))
	out := make([]byte, 0, 4096)
	turn := func() {
		c.cl.W.Buf = out
		for left := req; len(left) > 0; {
			left = left[c.run(left):]
		}
	}
	turn()
	if want := strings.Repeat("+OK\r\n$5\r\nvalue\r\n", 8); string(c.cl.W.Buf) != want {
		t.Fatalf("replies %q", c.cl.W.Buf)
	}
	if n := testing.AllocsPerRun(1000, turn); n != 0 {
		t.Errorf("%v allocations in 16 commands", n)
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
