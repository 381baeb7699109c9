package cluster

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"godwit/internal/testserver"
)

// fillDisk writes a file into the node's folder until there is no room.
func fillDisk(t *testing.T, n *testserver.Node) {
	t.Helper()
	f, err := os.Create(n.Inside("filler"))
	require.NoError(t, err)
	defer f.Close()
	for size := 1 << 16; size > 0; size /= 2 {
		for block := make([]byte, size); err == nil; {
			_, err = f.Write(block)
		}
		require.True(t, errors.Is(err, syscall.ENOSPC), "%v", err)
		err = nil
	}
}

// onSmallDisk starts a master with two replicas, which confirm its writes, and a disk of its own.
func onSmallDisk(
	t *testing.T, k testserver.Kind, o testserver.ClusterOptions,
) *testserver.Cluster {
	t.Helper()
	disk := testserver.OwnDisk(t, "4m")
	o.Kind, o.Masters, o.Replicas = k, 1, 2
	o.Args = append(o.Args, "--min-replicas-to-ack", "1")
	o.Wrap = func(i int, dir string) []string {
		if i == 0 {
			return disk(dir)
		}
		return nil
	}
	return testserver.RunCluster(t, o)
}

// TestFullDisk fills the disk of a master's log. The master takes part no more and says so, a
// replica takes over, and with room for its log it is back after a restart.
func TestFullDisk(t *testing.T) {
	takesLong(t)
	each(t, func(t *testing.T, k testserver.Kind) {
		if k != testserver.Godwit {
			t.Skip("the others end")
		}
		c := onSmallDisk(t, k, testserver.ClusterOptions{})
		full := c.Master(0)
		acked := fill(t, full, "full", 100)
		fillDisk(t, full)
		const gone = "This node takes part in the cluster no more, and confirms no writes"
		n := 0
		eventually(t, func() bool { // the log has to grow beyond what the file has room for
			n++
			v, err := c.Nodes[1].Do("CONFIG", "SET", "cluster-announce-hostname",
				fmt.Sprintf("host%d", n))
			require.NoError(t, err)
			require.Equal(t, "OK", v.Text())
			return bytes.Contains([]byte(full.Output()), []byte(gone))
		}, "the log does not fit")
		require.Contains(t, full.Output(), "no space left on device")
		require.NoError(t, c.WaitState("fail", full))
		v, err := full.Do("SET", "full", 1)
		require.NoError(t, err)
		require.Equal(t, "CLUSTERDOWN The cluster is down", v.Text())
		v, err = full.Do("GET", "full1")
		require.NoError(t, err)
		require.Contains(t, v.Text(), "CLUSTERDOWN")
		v, err = full.Do("CLUSTER", "BUMPEPOCH")
		require.NoError(t, err)
		require.Contains(t, v.Text(), "CLUSTERDOWN This node takes part in the cluster no more")
		waitReplaced(t, c, full)
		restartWithRoom(t, c, full, acked)
	})
}

// restartWithRoom starts a node again whose disk was full and which was replaced as the master, on
// a larger one. No key may be lost.
func restartWithRoom(t *testing.T, c *testserver.Cluster, full *testserver.Node, acked []string) {
	t.Helper()
	data, err := os.ReadFile(full.Inside("nodes.conf"))
	require.NoError(t, err)
	full.Kill()
	require.NoError(t, os.WriteFile(filepath.Join(full.Dir, "nodes.conf"), data, 0o600))
	full.Unwrap()
	require.NoError(t, full.Revive())
	require.NoError(t, c.WaitReady())
	owner, err := c.Owner(full, 0)
	require.NoError(t, err)
	require.NotEqual(t, full.ID, owner.ID)
	require.Empty(t, missing(t, owner, acked))
	require.NoError(t, owner.WaitSame(full.Server))
}

// TestFullDiskOfKeys fills the disk of a master with an append-only file. As long as the cluster
// does not change, it is the master and refuses writes, until a replica is told to take over.
func TestFullDiskOfKeys(t *testing.T) {
	takesLong(t)
	each(t, func(t *testing.T, k testserver.Kind) {
		if k != testserver.Godwit {
			t.Skip("its cluster's log is on the same disk")
		}
		c := onSmallDisk(t, k, testserver.ClusterOptions{Args: []string{"--appendonly", "yes"},
			Timeout: 5 * time.Second}) // on a busy machine nobody fails
		full, replica := c.Master(0), c.Replica(0)
		acked := fill(t, full, "full", 100)
		fillDisk(t, full)
		refuses := func() bool {
			v, err := full.Do("SET", "full", strings.Repeat("x", 1000))
			require.NoError(t, err)
			return strings.HasPrefix(v.Text(), "MISCONF Errors writing to the AOF file: No space")
		}
		eventually(t, refuses, "the file does not fit")
		require.NoError(t, c.WaitState("ok", c.Nodes...))
		require.NoError(t, replica.WaitLink())
		require.True(t, refuses())
		v, err := replica.Do("CLUSTER", "FAILOVER")
		require.NoError(t, err)
		require.Equal(t, "OK", v.Text())
		waitReplaced(t, c, full)
		restartWithRoom(t, c, full, acked)
	})
}

// refused starts a node that must not start, and returns what it says.
func refused(t *testing.T, dir string, wrap []string) string {
	t.Helper()
	o, err := testserver.Godwit.Options(dir, "--cluster-enabled", "yes")
	require.NoError(t, err)
	o.Wrap = wrap
	s, err := testserver.Launch(o)
	require.NoError(t, err)
	defer s.Kill()
	require.Equal(t, 1, s.Exited(t))
	require.Empty(t, s.Sick())
	return s.Output()
}

// TestReadOnlyFolder starts nodes whose log cannot be written.
func TestReadOnlyFolder(t *testing.T) {
	takesLong(t)
	readOnly := testserver.ReadOnly(t)
	dir := testserver.Dir(t)
	require.Contains(t, refused(t, dir, readOnly(dir)),
		"Creating the cluster configuration file: ")
	written(t, dir)
	text := refused(t, dir, readOnly(dir))
	require.Contains(t, text, "Opening the cluster configuration file: ")
	require.Contains(t, text, "read-only file system")
}

// written has a node write its log to the folder, and returns the file's path.
func written(t *testing.T, dir string) string {
	t.Helper()
	o, err := testserver.Godwit.Options(dir, "--cluster-enabled", "yes")
	require.NoError(t, err)
	s := testserver.Run(t, o)
	for i := range 20 {
		v, err := s.Do("CLUSTER", "ADDSLOTS", i)
		require.NoError(t, err)
		require.Equal(t, "OK", v.Text())
	}
	require.NoError(t, s.Stop())
	return filepath.Join(dir, "nodes.conf")
}

// TestDamagedLog starts nodes whose log is damaged.
func TestDamagedLog(t *testing.T) {
	takesLong(t)
	dir := testserver.Dir(t)
	path := written(t, dir)
	whole, err := os.ReadFile(path)
	require.NoError(t, err)
	page := os.Getpagesize()
	check := func(what string, data []byte) {
		require.NoError(t, os.WriteFile(path, data, 0o600))
		text := refused(t, dir, nil)
		require.Contains(t, text, "Unrecoverable error: corrupted cluster config file "+path, what)
		left, err := os.ReadFile(path)
		require.NoError(t, err)
		require.True(t, bytes.Equal(data, left), "%s: it is left alone", what)
	}
	for _, at := range []int{0, 8, 16, 24, 40, 72, page, page + 16, page + 30, page + 79} {
		data := bytes.Clone(whole)
		data[at] ^= 0x10
		check(fmt.Sprint("byte ", at), data)
	}
	for _, at := range []int{0, 8, 10, 16, 20, 24, 28} { // what a page begins with, in all pages
		data := bytes.Clone(whole)
		for i := 2*page + at; i < len(data); i += page {
			data[i] ^= 0x10
		}
		check(fmt.Sprint("byte ", at, " of all pages"), data)
	}
	for _, size := range []int{0, 1, page - 1, page, 2 * page, len(whole) / 2} {
		check(fmt.Sprint(size, " bytes"), whole[:size])
	}
	require.NoError(t, os.WriteFile(path, whole, 0o600))
	o, err := testserver.Godwit.Options(dir, "--cluster-enabled", "yes")
	require.NoError(t, err)
	info, err := testserver.Run(t, o).Do("CLUSTER", "INFO")
	require.NoError(t, err)
	require.Contains(t, info.Text(), "cluster_slots_assigned:20\r\n")
}
