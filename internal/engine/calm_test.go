package engine_test

import (
	"testing"
	"time"
)

// TestCalm checks what keeps the cron going round the clients: commands, buffers, messages, a limit
// of idle time. Without any of these a server with many clients is calm after some seconds.
func TestCalm(t *testing.T) {
	s := newSession(t, nil)
	conns := make([]*conn, 3000)
	for i := range conns {
		conns[i] = &conn{}
		s.e.NewClient(conns[i])
	}
	seconds := func(n int) {
		for range 20 * n {
			s.e.PassTime(50 * time.Millisecond)
			s.e.Cron()
		}
	}
	expect := func(calm bool, hz int, why string) {
		t.Helper()
		if s.e.Calm() != calm || s.e.CronHz() != hz {
			t.Errorf("%s: calm %v, %d turns a second", why, s.e.Calm(), s.e.CronHz())
		}
	}
	seconds(1)
	expect(false, 20, "new clients")
	seconds(4)
	expect(true, 10, "silence")
	s.ok("set", "k", "v")
	seconds(1)
	expect(false, 20, "a command")
	conns[7].out = 100
	seconds(6)
	expect(false, 20, "a reply that is not taken")
	conns[7].out = 0
	seconds(5)
	expect(true, 10, "it is taken")
	s.e.Stats.NetIn++
	seconds(1)
	expect(false, 20, "a byte")
	s.ok("config", "set", "timeout", "100")
	seconds(10)
	expect(false, 20, "a limit of idle time")
}
