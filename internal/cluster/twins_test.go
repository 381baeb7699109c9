package cluster

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
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
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	double.o.About.BusPort = ln.Addr().(*net.TCPAddr).Port
	double.start(t, ln)
	for _, m := range []*member{list[0], list[2]} {
		eventually(t, "the copy is noticed", func() bool {
			return strings.Contains(m.logs.String(),
				"another process uses the id of node "+string(b.Status().ID))
		})
	}
	end := time.Now().Add(3 * nodeTimeout)
	for ; time.Now().Before(end); time.Sleep(nodeTimeout / 20) {
		for _, m := range list {
			n := m.installed().Nodes[b.Status().ID]
			require.False(t, n.Failed)
			require.Equal(t, b.port, n.About.BusPort)
		}
	}
}
