package stream

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/arena"
	"godwit/internal/testseed"
)

// TestIDMP holds producers against slices of all that they have added.
func TestIDMP(t *testing.T) {
	rng := testseed.Rand(t)
	s := New(&Shared{A: arena.New()})
	const duration, maxSize = 2, 40
	m := s.UseIDMP(duration, maxSize)
	require.Same(t, m, s.UseIDMP(7, 8))
	model := map[string][]Record{}
	var seen, saw []Producer // a copy of Producers, and what it held
	now := int64(1_000_000)
	for step := range 20_000 {
		now += rng.Int64N(30)
		pid, iid := fmt.Sprint(rng.IntN(5)), fmt.Sprint(rng.IntN(200))
		all := model[pid]
		i := slices.IndexFunc(all, func(r Record) bool { return r.IID == iid })
		id, ok := s.Lookup([]byte(pid), []byte(iid), now)
		require.Equal(t, i >= 0 && int64(all[i].ID.Ms) > now-duration*1000, ok)
		switch {
		case ok:
			require.Equal(t, all[i].ID, id)
		case rng.IntN(3) == 0:
			for s.Expire(now, 1+rng.IntN(3)) > 0 {
			}
			for pid, all := range model {
				model[pid] = slices.DeleteFunc(all, func(r Record) bool {
					return int64(r.ID.Ms) <= now-duration*1000
				})
			}
		default:
			id := ID{uint64(now), rng.Uint64N(9)}
			s.Note([]byte(pid), []byte(iid), id, -1)
			if i >= 0 {
				all = slices.Delete(all, i, i+1)
			}
			all = append(all, Record{iid, id})
			model[pid] = slices.Clone(all[max(0, len(all)-maxSize):])
		}
		switch rng.IntN(500) {
		case 0:
			s.ClearIDMP()
			clear(model)
		case 1:
			seen = s.Producers()
			saw = nil
			for _, p := range seen {
				saw = append(saw, Producer{p.PID, slices.Clone(p.Records)})
			}
		case 2:
			c := s.Clone(s.sh)
			checkProducers(t, c, model)
			for !c.Drain(1) {
			}
		}
		if step%20 == 0 {
			require.Equal(t, saw, seen)
			checkProducers(t, s, model)
		}
	}
	for !s.Drain(1) {
	}
	require.Zero(t, s.sh.GoBytes)
}

// TestNoIDMP asks a stream that has no records.
func TestNoIDMP(t *testing.T) {
	s := New(&Shared{A: arena.New()})
	_, ok := s.Lookup([]byte("p"), []byte("i"), 0)
	require.False(t, ok)
	require.Zero(t, s.Expire(1, 10))
	s.ClearIDMP()
	require.Nil(t, s.IDMP())
}

func checkProducers(t *testing.T, s *Stream, model map[string][]Record) {
	maps.DeleteFunc(model, func(_ string, r []Record) bool { return len(r) == 0 })
	p := s.Producers()
	producers, n := s.Tracked()
	require.Equal(t, len(p), producers)
	require.NoError(t, s.Check())
	require.Len(t, p, len(model))
	for _, p := range p {
		require.Equal(t, model[p.PID], p.Records)
		n -= len(p.Records)
	}
	require.Zero(t, n)
}
