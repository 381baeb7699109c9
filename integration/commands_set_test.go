package integration

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestLargeSets checks that sets that are hash tables give the same answers as maps.
func TestLargeSets(t *testing.T) {
	everywhere(t, func(e *env) {
		c, ctx := e.c, e.ctx
		rng := rand.New(rand.NewPCG(1, uint64(e.proto)))
		models := make([]map[string]bool, 3)
		for i := range models {
			models[i] = map[string]bool{}
			var batch []any
			for range 3000 {
				m := fmt.Sprintf("member:%d", rng.IntN(5000))
				models[i][m] = true
				batch = append(batch, m)
			}
			require.EqualValues(e, len(models[i]), c.SAdd(ctx, strconv.Itoa(i), batch...).Val())
		}
		count := map[string]int{}
		for _, model := range models {
			for m := range model {
				count[m]++
			}
		}
		var inter, diff []string
		for m, n := range count {
			if n == 3 {
				inter = append(inter, m)
			}
			if n == 1 && models[0][m] {
				diff = append(diff, m)
			}
		}
		sorted := func(s []string) []string { slices.Sort(s); return s }
		require.Equal(e, sorted(inter), sorted(c.SInter(ctx, "0", "1", "2").Val()))
		require.Equal(e, sorted(diff), sorted(c.SDiff(ctx, "0", "1", "2").Val()))
		require.Len(e, c.SUnion(ctx, "0", "1", "2").Val(), len(count))
		require.EqualValues(e, len(count), c.SUnionStore(ctx, "u", "0", "1", "2").Val())

		popped := map[string]bool{}
		for _, n := range []int64{1, 100, 2000} {
			for _, m := range c.SPopN(ctx, "u", n).Val() {
				require.False(e, popped[m])
				popped[m] = true
			}
		}
		require.Len(e, popped, 2101)
		for _, m := range c.SMembers(ctx, "u").Val() {
			require.False(e, popped[m])
		}
		require.EqualValues(e, len(count)-2101, c.SCard(ctx, "u").Val())
		require.Len(e, c.SPopN(ctx, "u", 5000).Val(), len(count)-2101)
		require.Zero(e, c.Exists(ctx, "u").Val())
	})
}

// churn inserts and deletes names between the steps of a scan, until the table has grown and shrunk
// many times over.
type churn struct {
	rng        *rand.Rand
	names      []string
	next, step int
	add, del   func(names []any)
}

func (h *churn) run() {
	h.step++
	n := h.rng.IntN(800)
	if h.step/8%2 == 0 {
		fresh := make([]any, 0, n+1)
		for range n + 1 {
			h.next++
			h.names = append(h.names, fmt.Sprint("churn:", h.next))
			fresh = append(fresh, h.names[len(h.names)-1])
		}
		h.add(fresh)
		return
	}
	var gone []any
	for ; n > 0 && len(h.names) > 0; n-- {
		i, last := h.rng.IntN(len(h.names)), len(h.names)-1
		gone = append(gone, h.names[i])
		h.names[i] = h.names[last]
		h.names = h.names[:last]
	}
	if len(gone) > 0 {
		h.del(gone)
	}
}

// TestScanUnderChanges checks that a scan returns every element that is there from its beginning to
// its end, whatever else comes and goes.
func TestScanUnderChanges(t *testing.T) {
	everywhere(t, func(e *env) {
		c, ctx := e.c, e.ctx
		rng := rand.New(rand.NewPCG(7, uint64(e.proto)))
		sets := &churn{rng: rng,
			add: func(names []any) { require.NoError(e, c.SAdd(ctx, "s", names...).Err()) },
			del: func(names []any) { require.NoError(e, c.SRem(ctx, "s", names...).Err()) }}
		scanWhole(e, sets, func(cursor uint64) ([]string, uint64, error) {
			return c.SScan(ctx, "s", cursor, "", 20).Result()
		})

		keys := &churn{rng: rng,
			add: func(names []any) {
				pairs := make([]any, 0, 2*len(names))
				for _, n := range names {
					pairs = append(pairs, n, 1)
				}
				require.NoError(e, c.MSet(ctx, pairs...).Err())
			},
			del: func(names []any) {
				list := make([]string, len(names))
				for i, n := range names {
					list[i] = n.(string)
				}
				require.NoError(e, c.Del(ctx, list...).Err())
			}}
		scanWhole(e, keys, func(cursor uint64) ([]string, uint64, error) {
			return c.Scan(ctx, cursor, "", 20).Result()
		})
		found, _ := c.SScan(ctx, "s", 0, "stay:1*", 50000).Val()
		require.Len(e, found, 111)
	})
}

func scanWhole(e *env, h *churn, scan func(cursor uint64) ([]string, uint64, error)) {
	e.Helper()
	var stay []any
	missing := map[string]bool{}
	for i := range 500 {
		stay = append(stay, fmt.Sprint("stay:", i))
		missing[fmt.Sprint("stay:", i)] = true
	}
	h.add(stay)
	for cursor := uint64(0); ; {
		found, next, err := scan(cursor)
		require.NoError(e, err)
		for _, name := range found {
			delete(missing, name)
		}
		if cursor = next; cursor == 0 {
			break
		}
		h.run()
	}
	require.Empty(e, missing)
}
