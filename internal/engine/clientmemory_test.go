package engine_test

import (
	"testing"
	"time"

	"godwit/internal/engine"
)

// TestClientsAtRest checks which clients the cron looks after, and that it comes more often only
// for them: the new, the stirred, those with a buffer, and all while timeout may close them.
func TestClientsAtRest(t *testing.T) {
	s := newSession(t, nil)
	conns := make([]*conn, 3000)
	clients := make([]*engine.Client, len(conns))
	for i := range conns {
		conns[i] = &conn{}
		clients[i] = s.e.NewClient(conns[i])
	}
	seconds := func(n int) {
		for range 20 * n {
			s.e.PassTime(50 * time.Millisecond)
			s.e.Cron()
		}
	}
	expect := func(stirred, hz int, why string) {
		t.Helper()
		if n := s.e.StirredClients(); n != stirred || s.e.CronHz() != hz {
			t.Errorf("%s: %d clients, %d turns a second", why, n, s.e.CronHz())
		}
	}
	expect(3001, 20, "new clients")
	seconds(3)
	expect(0, 10, "silence")
	for _, c := range clients[:2500] {
		s.e.Stir(c)
	}
	expect(2500, 20, "many have sent something")
	before := s.e.ClientsMemory()
	conns[7].out = 100
	seconds(3)
	expect(1, 10, "a reply that is not taken")
	if n := s.e.ClientsMemory() - before; n != 100 {
		t.Errorf("counted %d bytes of 100", n)
	}
	conns[7].out = 0
	seconds(1)
	expect(0, 10, "it is taken")
	if n := s.e.ClientsMemory() - before; n != 0 {
		t.Errorf("%d bytes are still counted", n)
	}
	s.e.Stir(clients[9])
	s.e.Forget(clients[9])
	s.e.Stir(clients[9])
	expect(0, 10, "it is gone")
	s.ok("config", "set", "timeout", "100")
	expect(0, 20, "a limit of idle time")
}
