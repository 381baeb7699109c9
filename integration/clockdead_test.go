package integration

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestEvictionAfterClockIsSetBack sets the clock back, so that some deadlines lie between the old
// time and the new one. Keys with these deadlines must be evicted and deleted like others, and
// their records reclaimed.
func TestEvictionAfterClockIsSetBack(t *testing.T) {
	t.Parallel()
	godwitOnly(t)
	for name, steps := range map[string][]time.Duration{
		"back":             {-year},
		"forward and back": {year, 0},
		"back by a little": {-2 * time.Hour},
		"back and forth":   {-year, year, -year},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := startServer(t, "--enable-debug-command", "yes", "--save", "")
			c := s.dial(t)
			used := func() int64 { return number(t, fieldOf(t, c, "used_memory")) }
			limit := used() + 8<<20
			do(t, c, "CONFIG", "SET", "maxmemory-policy", "allkeys-lru", "maxmemory", limit)
			value := strings.Repeat("x", 100)
			fill := func() {
				for n := range 16 {
					for i := range 8000 {
						c.Queue("SET", fmt.Sprint("k", n*8000+i), value, "EX", 3600)
					}
					replies, err := c.Pipeline()
					require.NoError(t, err)
					for _, r := range replies {
						require.False(t, r.IsError(), r.Text())
					}
					require.Less(t, used(), limit+limit/4, "after %d keys", (n+1)*8000)
				}
			}
			fill()
			for _, to := range steps {
				do(t, c, "DEBUG", "SET-CLOCK-OFFSET", to.Milliseconds())
				fill()
			}
			eventually(t, "room", func() bool { return used() <= limit })
			require.Greater(t, number(t, fieldOf(t, c, "evicted_keys")), int64(40_000))
			idle := func() bool { return s.cpu(t, 500*time.Millisecond) < 100*time.Millisecond }
			eventually(t, "an idle server", idle)
		})
	}
}
