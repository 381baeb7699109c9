package soak

import (
	"fmt"
	"strconv"

	"godwit/internal/testserver"
)

// largeFrom is the size from which values are too few to hold a steady share of the memory.
const largeFrom = 64 << 10

// census counts the keys of a full cache. When sizes are mixed, a few values hold a large part of
// the memory. A value of 8 MB takes the room of 40,000 small ones, and it is luck whether it is
// among 30 MB at the moment, or still in the buffer of the client that sent it. So each count is
// scaled to a cache that has all of its limit for other values.
type census struct {
	c      *conn
	large  []string // all keys that got a large value, even if they are gone
	total  float64
	counts int
}

// sent notes the key of a SET whose value is large.
func (s *census) sent(args []any) {
	if value, ok := args[2].([]byte); ok && len(value) >= largeFrom {
		s.large = append(s.large, args[1].(string))
	}
}

// take counts once. There must be a limit.
func (s *census) take() {
	r := s.c.r
	for _, name := range s.large {
		s.c.add("MEMORY", "USAGE", name) // this does not count as a use of the key
	}
	s.c.add("DBSIZE")
	s.c.add("INFO", "memory")
	replies := s.c.flush()
	if !r.ok() {
		return
	}
	n := len(s.large)
	keys, memory := replies[n].Int, testserver.Info(replies[n+1].Text())
	taken, err := strconv.ParseInt(memory["mem_clients_normal"], 10, 64)
	if err != nil {
		r.fail(fmt.Errorf("INFO memory: %w", err))
		return
	}
	limit, err := strconv.ParseInt(memory["maxmemory"], 10, 64)
	if err != nil {
		r.fail(fmt.Errorf("INFO memory: %w", err))
		return
	}
	for _, v := range replies[:n] {
		taken += v.Int // 0 when the key is gone
	}
	room := limit - r.side.freshUsed
	s.total += float64(keys) * float64(room) / float64(max(room-taken, room/10))
	s.counts++
}

// mean returns the mean of all counts, or 0 without any.
func (s *census) mean() float64 { return s.total / float64(max(1, s.counts)) }
