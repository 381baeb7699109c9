package cluster

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"godwit/internal/testserver"
)

// TestCopy starts a copy of a node's files beside the node. The others go on with the node, and say
// in their logs what is wrong.
func TestCopy(t *testing.T) {
	t.Parallel()
	list := form(t, 3)
	settled(t, list)
	b := list[1]
	file, err := os.ReadFile(b.o.File)
	require.NoError(t, err)
	double := &member{o: b.o}
	double.o.Host = &double.server
	double.o.File = filepath.Join(t.TempDir(), "nodes.conf")
	require.NoError(t, os.WriteFile(double.o.File, file, 0o600))
	double.port, err = testserver.Port()
	require.NoError(t, err)
	double.o.About.BusPort = double.port
	double.start(t)
	for _, m := range []*member{list[0], list[2]} {
		eventually(t, "the copy is noticed", func() bool {
			return strings.Contains(m.logs.String(),
				"another process uses the id of node "+string(b.Status().ID))
		})
	}
	time.Sleep(3 * nodeTimeout / 2) // a node that was heard no more would have failed by now
	for _, m := range list {
		eventually(t, "the node is there", func() bool {
			n := m.installed().Nodes[b.Status().ID]
			return !n.Failed && n.About.BusPort == b.port
		})
	}
}
