package server

import (
	"bytes"
	"slices"
	"testing"

	"godwit/internal/arena"
	"godwit/internal/testseed"
)

// TestQueuedRepliesAreCountedOnce checks that what waits in Go's heap and what waits in the pool
// add up to all that waits. Used memory has the pool as a whole, and the heap's part by client.
func TestQueuedRepliesAreCountedOnce(t *testing.T) {
	q := outQueue{pool: arena.NewPool()}
	want := func(heap, size int) {
		t.Helper()
		if q.heap() != heap || q.size != size {
			t.Fatalf("%d bytes wait, %d of them in the heap; want %d and %d", q.size, q.heap(),
				size, heap)
		}
		if held := q.pool.Used() > 0; held != (size > heap) {
			t.Fatalf("the pool holds %d bytes", q.pool.Used())
		}
	}
	want(0, 0)
	if !q.give(make([]byte, 5000)) {
		t.Fatal("a small reply was copied")
	}
	want(5000, 5000)
	q.pop(2000)
	want(3000, 3000)
	q.give(make([]byte, 100))
	want(3000, 3100)
	q.pop(3000)
	want(0, 100)
	q.pop(100)
	want(0, 0)
	q.give(make([]byte, keepSpare+1))
	want(0, keepSpare+1)
	q.drop()
	want(0, 0)
}

// TestInsertIntoQueue puts bytes at random places of a queue that grows.
func TestInsertIntoQueue(t *testing.T) {
	rng := testseed.Rand(t)
	q := outQueue{pool: arena.NewPool()}
	var want []byte
	for i := range 300 {
		b := bytes.Repeat([]byte{byte('a' + i%26)}, 1+rng.IntN(1<<rng.IntN(18)))
		q.push(b)
		want = append(want, b...)
		for range rng.IntN(3) {
			n, head := 1+rng.IntN(len(want)), []byte("*12345\r\n")
			q.insert(n, head)
			want = slices.Insert(want, len(want)-n, head...)
		}
	}
	got := bytes.Join(q.vec(make([][]byte, 0, len(q.chunks))), nil)
	if q.size != len(want) || !bytes.Equal(got, want) {
		t.Fatalf("%d bytes of %d, %d counted", len(got), len(want), q.size)
	}
	q.drop()
	if n := q.pool.Used(); n != 0 {
		t.Fatalf("%d bytes are left", n)
	}
}
