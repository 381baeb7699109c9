package persist_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/command"
	"godwit/internal/config"
	"godwit/internal/engine"
	"godwit/internal/logging"
	"godwit/internal/persist"
	"godwit/internal/propagation"
	"godwit/internal/vfs"
)

// sinkhole is a file system that forgets what is written to the log.
type sinkhole struct{ vfs.FS }

func (f sinkhole) Open(name string, flag int, perm os.FileMode) (vfs.File, error) {
	file, err := f.FS.Open(name, flag, perm)
	if err == nil && strings.Contains(name, ".incr.") {
		file = forgetful{file}
	}
	return file, err
}

type forgetful struct{ vfs.File }

func (forgetful) Write(p []byte) (int, error) { return len(p), nil }

// BenchmarkLoggedSet measures SET with the append-only file on, without the disk: 16 commands a
// batch.
func BenchmarkLoggedSet(b *testing.B) {
	for _, size := range []int{8, 64, 1 << 10, 16 << 10} {
		for _, in := range []string{"set", "multi"} {
			b.Run(fmt.Sprintf("%s/%d", in, size), func(b *testing.B) {
				benchLoggedSet(b, in, size)
			})
		}
	}
}

// loggedEngine returns an engine with the append-only file on, without the disk. The executor is
// held until the benchmark ends.
func loggedEngine(b *testing.B, clustered bool) (*engine.Engine, *persist.Store) {
	mem := vfs.NewMem()
	dir, err := os.Getwd()
	require.NoError(b, err)
	require.NoError(b, mem.MkdirAll(dir, 0o755))
	cfg := config.Default()
	cfg.AppendOnly, cfg.AppendFsync, cfg.AutoAOFRewritePercentage = true, config.FsyncNo, 0
	cfg.Cluster.Enabled = clustered
	e := engine.New(cfg, command.Table(), engine.Options{Log: logging.Discard(), Seed: 5})
	s := e.NewStore(sinkhole{mem})
	e.BeginLoading(0)
	require.NoError(b, s.Open(func() {}))
	b.Cleanup(s.Close)
	e.Enter()
	b.Cleanup(e.Leave)
	return e, s
}

func benchLoggedSet(b *testing.B, in string, size int) {
	e, _ := loggedEngine(b, false)
	c := e.NewClient(nil)
	argv := [][]byte{[]byte("SET"), []byte("key:000000000001"), make([]byte, size)}
	multi, exec := [][]byte{[]byte("MULTI")}, [][]byte{[]byte("EXEC")}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if in == "multi" && i%4 == 0 {
			e.Exec(c, multi)
		}
		e.Exec(c, argv)
		if in == "multi" && i%4 == 3 {
			e.Exec(c, exec)
		}
		if i%16 == 15 {
			c.W.Buf = c.W.Buf[:0]
			e.Commit()
		}
	}
}

// hole is a sink that forgets what it is sent.
type hole struct{ buf propagation.Buffer }

func (h *hole) BeginUnit(int) *propagation.Buffer {
	h.buf.B = h.buf.B[:0]
	return &h.buf
}

func (h *hole) EndBatch() {}

// BenchmarkLoggedPlace measures what it costs that the log of a master in a cluster says its place
// at the end of each batch: the same commands without a cluster, and in one.
func BenchmarkLoggedPlace(b *testing.B) {
	for _, batch := range []int{1, 16} {
		for _, place := range []bool{false, true} {
			b.Run(fmt.Sprintf("batch=%d/place=%t", batch, place), func(b *testing.B) {
				benchLoggedPlace(b, batch, place)
			})
		}
	}
}

func benchLoggedPlace(b *testing.B, batch int, place bool) {
	e, s := loggedEngine(b, place)
	e.NewReplID()
	e.Feed.Attach(propagation.Replicas, &hole{})
	argv := [][]byte{[]byte("SET"), []byte("key:000000000001"), make([]byte, 8)}
	before := s.AOF().Offset()
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		e.Feed.Send(propagation.All, 0, argv)
		if i%batch == batch-1 {
			e.Commit()
		}
	}
	b.ReportMetric(float64(s.AOF().Offset()-before)/float64(b.N), "logged/op")
}
