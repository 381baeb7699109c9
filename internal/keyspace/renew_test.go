package keyspace

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/object"
	"godwit/internal/slot"
)

// TestRenewal begins more snapshots of a slot in a row than there are epochs. None of them looks at
// the keys of others as long as slices are made between them, and each saves all of its own.
func TestRenewal(t *testing.T) {
	inSlots = true
	defer func() { inSlots = false }()
	ks, _, _ := newKeyspace(t, Params{})
	db := ks.DB(0)
	const keys = 500
	for i := range keys {
		db.Set(fmt.Append(nil, i), object.IntValue(int64(i)), 0)
	}
	own := slot.SetOf(slot.Range{First: 0, Last: slot.Count / 2})
	want, _ := db.store.lenIn(&own)
	slices := 0
	for range 3 * object.EpochEnd {
		epoch := ks.Heap.Epoch
		var saved counter
		sn := ks.BeginSnapshot(&saved, &own)
		require.Equal(t, (epoch+1)%object.EpochEnd, ks.Heap.Epoch, "all marks renewed at once")
		require.False(t, ks.RenewPending())
		for !sn.Walk(100) {
		}
		sn.End()
		require.Equal(t, want, int(saved))
		for n := 0; ks.RenewSlice(10); n++ { // as much as there is time for
			slices++
			if n > keys {
				t.Fatal("it does not end")
			}
		}
	}
	require.Greater(t, slices, keys/10)
	require.Less(t, slices, keys*10)
}

// counter is a Saver that counts.
type counter int

// Preserve implements Saver.
func (c *counter) Preserve(int, object.Entry) { *c++ }
