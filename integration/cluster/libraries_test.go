package cluster

import (
	"context"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/testserver"
)

// TestNode runs the cluster modes of ioredis and node-redis.
func TestNode(t *testing.T) {
	takesLong(t)
	each(t, func(t *testing.T, k testserver.Kind) {
		testserver.RunNode(t, "../node/cluster.cjs", common(t, k).Addrs()...)
	})
}

// TestPython runs the cluster mode of redis-py, where a Python has it.
func TestPython(t *testing.T) {
	takesLong(t)
	each(t, func(t *testing.T, k testserver.Kind) {
		python := pythonWithRedis(t)
		runPython(t, python, "python/cluster.py", common(t, k))
	})
}

// runPython runs a program with a cluster.
func runPython(t *testing.T, python, program string, c *testserver.Cluster) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*testserver.Patience)
	defer cancel()
	args := append([]string{program}, c.Addrs()...)
	out, err := exec.CommandContext(ctx, python, args...).CombinedOutput()
	require.NoError(t, err, "%s", out)
	t.Logf("%s", out)
}

// pythonWithRedis returns a Python that has redis-py, or skips the test.
func pythonWithRedis(t *testing.T) string {
	t.Helper()
	for _, python := range []string{"python3", "/usr/bin/python3"} {
		if exec.Command(python, "-c", "import redis.cluster").Run() == nil {
			return python
		}
	}
	t.Skip("no Python has redis-py: Debian's package is python3-redis")
	return ""
}
