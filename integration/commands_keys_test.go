package integration

import (
	"fmt"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
)

func TestFlushAll(t *testing.T) {
	t.Parallel()
	for _, mode := range [][]any{{}, {"SYNC"}, {"ASYNC"}} {
		t.Run(fmt.Sprint(mode), func(t *testing.T) {
			s := startServer(t)
			for db := range 3 {
				c := s.client(t, func(o *redis.Options) { o.DB = db })
				require.NoError(t, c.Set(t.Context(), "k", "v", time.Hour).Err())
			}
			c := s.client(t)
			require.NoError(t, c.Do(t.Context(), append([]any{"FLUSHALL"}, mode...)...).Err())
			require.NotContains(t, c.Info(t.Context(), "keyspace").Val(), "db")
		})
	}
}
