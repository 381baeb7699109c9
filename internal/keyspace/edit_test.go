package keyspace

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"godwit/internal/object"
)

// TestSplice changes the packed payloads of a few keys at random, with and without a deadline, and
// compares them with plain slices: contents, key, deadline and the place in the table must survive
// every move between blocks.
func TestSplice(t *testing.T) {
	ks, _, rng := newKeyspace(t, Params{})
	db := ks.DB(0)
	model := map[string][]byte{}
	for i := range 6 {
		key := fmt.Sprintf("key:%d", i)
		first := bytes.Repeat([]byte{byte(i)}, i*150)
		x := db.Create([]byte(key), object.Hash, object.EncPairs, first)
		if i%2 == 0 {
			db.SetDeadline(x.E, 5_000_000)
		}
		model[key] = first
	}
	for n := range 30_000 {
		key := fmt.Sprintf("key:%d", rng.IntN(6))
		x := db.Open(db.Lookup([]byte(key)))
		if got := x.Bytes(); !bytes.Equal(got, model[key]) {
			t.Fatalf("step %d: %s differs", n, key)
		}
		model[key] = spliceBoth(rng, x, model[key])
		if string(x.E.Key()) != key || x.Base() != object.EncPairs {
			t.Fatalf("step %d: key %q, encoding %v", n, x.E.Key(), x.Base())
		}
		if rng.IntN(500) == 0 {
			other := fmt.Sprintf("key:%d", rng.IntN(6))
			if other != key {
				db.Copy(x.E, db, []byte(other))
				model[other] = bytes.Clone(model[key])
			}
		}
	}
	if err := db.store.check(); err != nil {
		t.Fatal(err)
	}
	if d := db.Lookup([]byte("key:0")).Deadline(); d != 0 && d != 5_000_000 {
		t.Errorf("deadline %d", d)
	}
	drain(t, ks)
}

func spliceBoth(rng *rand.Rand, x *object.Edit, want []byte) []byte {
	at := rng.IntN(len(want) + 1)
	del := rng.IntN(min(len(want)-at, 200) + 1)
	ins := rng.IntN(200)
	if len(want) > 1500 {
		ins /= 4
	}
	fresh := bytes.Repeat([]byte{byte(rng.Uint32())}, ins)
	got := x.Splice(at, del, ins)
	copy(got[at:], fresh)
	next := append(bytes.Clone(want[:at]), fresh...)
	return append(next, want[at+del:]...)
}
