package integration

import (
	"fmt"
	"slices"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
)

// TestBigHash walks a hash table with HSCAN while it changes, and draws from it.
func TestBigHash(t *testing.T) {
	everywhere(t, func(e *env) {
		c, ctx := e.c, e.ctx
		const n = 2000
		_, err := c.Pipelined(ctx, func(p redis.Pipeliner) error {
			for i := range n {
				p.HSet(ctx, "h", fmt.Sprintf("field:%d", i), i)
			}
			return nil
		})
		require.NoError(e, err)
		require.Equal(e, "hashtable", c.ObjectEncoding(ctx, "h").Val())
		seen := map[string]string{}
		for cursor := uint64(0); ; {
			kv, next, err := c.HScan(ctx, "h", cursor, "field:*", 100).Result()
			require.NoError(e, err)
			for p := range slices.Chunk(kv, 2) {
				seen[p[0]] = p[1]
			}
			require.NoError(e, c.HSet(ctx, "h", fmt.Sprintf("new:%d", next), 1).Err())
			if cursor = next; cursor == 0 {
				break
			}
		}
		require.Len(e, seen, n)
		require.Equal(e, "1999", seen["field:1999"])

		fields := c.HRandField(ctx, "h", 50).Val()
		slices.Sort(fields)
		require.Len(e, slices.Compact(fields), 50, "all different")
		require.Len(e, c.HRandField(ctx, "h", -5000).Val(), 5000)
		for _, kv := range c.HRandFieldWithValues(ctx, "h", 20).Val() {
			require.Equal(e, c.HGet(ctx, "h", kv.Key).Val(), kv.Value)
		}
	})
}
