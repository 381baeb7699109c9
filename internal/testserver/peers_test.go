package testserver

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPeersStart(t *testing.T) {
	for _, p := range []Peer{Redis, Valkey} {
		v, err := p.Start(t, "").Do("PING")
		require.NoError(t, err)
		require.Equal(t, "PONG", v.Text())
		text, err := os.ReadFile(p.Conf(t))
		require.NoError(t, err)
		require.Contains(t, string(text), "maxmemory-policy")
	}
}

// fakePeer makes a folder of peers with a server that says no more than its version.
func fakePeer(t *testing.T, version string) {
	dir := t.TempDir()
	t.Setenv("GODWIT_PEERS", dir)
	require.NoError(t, os.Mkdir(filepath.Join(dir, "bin"), 0o755))
	script := "#!/bin/sh\necho 'Redis server v=" + version + " sha=0'\n"
	require.NoError(t,
		os.WriteFile(filepath.Join(dir, "bin", "redis-server"), []byte(script), 0o755))
}

func TestUnknownVersionReportsOnly(t *testing.T) {
	report := filepath.Join(t.TempDir(), "report")
	t.Setenv("GODWIT_REPORT", report)
	fakePeer(t, "99.1.2")
	require.Equal(t, "99.1.2", Redis.Version(t))
	require.True(t, t.Run("difference", func(t *testing.T) {
		require.Equal(Redis.TB(t), "ours", "theirs")
		t.Error("goes on after a difference that must end the test")
	}))
	text, err := os.ReadFile(report)
	require.NoError(t, err)
	require.Contains(t, string(text),
		"TestUnknownVersionReportsOnly/difference: differs from redis 99.1.2")
	require.Contains(t, string(text), "theirs")
}

func TestKnownVersionFails(t *testing.T) {
	fakePeer(t, known[Redis][0])
	require.Same(t, t, Redis.TB(t))
}

func TestWithoutPeersTestsAreSkipped(t *testing.T) {
	t.Setenv("GODWIT_PEERS", t.TempDir())
	t.Setenv("CI", "")
	skipped := false
	t.Run("asks", func(t *testing.T) {
		defer func() { skipped = t.Skipped() }()
		Valkey.Program(t, "server")
	})
	require.True(t, skipped)
}
