package main

import (
	"flag"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/testserver"
)

var (
	kind = flag.String("servers", string(testserver.Godwit), "kind of the servers")
	long = flag.Bool("long", false, "with the Sentinels of all kinds")
)

func TestMain(m *testing.M) { os.Exit(testserver.Main(m)) }

// failOver runs one failover of a test, and returns what it has come to. Without
// min-replicas-to-ack some acknowledged writes may be lost: replication is asynchronous.
func failOver(t *testing.T, change func(s *settings)) result {
	t.Helper()
	t.Parallel()
	s := defaults()
	s.kind, s.conf = testserver.Kind(*kind), "../../conf/sentinel.conf"
	s.quick = true
	change(&s)
	s.kind.Program(t)
	if _, err := s.sentinels.FindSentinel(); err != nil {
		testserver.Missing(t, err.Error())
	}
	r, err := s.once(t.Context())
	for _, e := range r.events {
		t.Logf("t%+d ms %s", e.at.Milliseconds(), e.what)
	}
	require.NoError(t, err)
	t.Logf("%d acknowledged, %d failed, %d lost", r.acked, r.failed, len(r.lost))
	require.Positive(t, r.until)
	return r
}

// TestKill kills the master under load. Writers go on with the new one, and the old one comes back
// as a replica.
func TestKill(t *testing.T) { failOver(t, func(*settings) {}) }

// TestKillConfirming kills a master that sends its replies when a replica has the writes: nothing
// that was acknowledged is lost.
func TestKillConfirming(t *testing.T) {
	r := failOver(t, func(s *settings) {
		if s.kind != testserver.Godwit {
			t.Skip("only Godwit confirms writes")
		}
		s.args = []string{"--min-replicas-to-ack", "1"}
	})
	require.Empty(t, r.lost)
}

// TestFreeze stops the master with SIGSTOP. When it goes on, it thinks that it is the master still,
// until the Sentinels tell it otherwise.
func TestFreeze(t *testing.T) { failOver(t, func(s *settings) { s.freeze = true }) }

// TestSentinels has the Sentinels of the newest Redis and Valkey do the same.
func TestSentinels(t *testing.T) {
	if !*long {
		t.Skip("takes -long")
	}
	for _, k := range []testserver.Kind{testserver.Redis8, testserver.Valkey9} {
		t.Run(string(k), func(t *testing.T) {
			failOver(t, func(s *settings) { s.sentinels = k })
		})
	}
}
