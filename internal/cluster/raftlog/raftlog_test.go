package raftlog

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"godwit/internal/cluster/core"
)

// model is a Storage in memory.
type model struct{ core.Saved }

func (m *model) save(b core.Batch) {
	if b.Reset {
		m.Saved = core.Saved{}
	}
	for _, p := range []struct{ to, from *[]byte }{{&m.Meta, &b.Meta}, {&m.Hard, &b.Hard},
		{&m.Snapshot, &b.Snapshot}} {
		if *p.from != nil {
			*p.to = bytes.Clone(*p.from)
		}
	}
	for len(m.Log) > 0 && m.Log[0].Index <= b.Drop {
		m.Log = m.Log[1:]
	}
	for len(b.Log) > 0 && len(m.Log) > 0 && m.Log[len(m.Log)-1].Index >= b.Log[0].Index {
		m.Log = m.Log[:len(m.Log)-1]
	}
	m.Log = append(m.Log[:len(m.Log):len(m.Log)], b.Log...)
	if len(m.Log) == 0 {
		m.Log = nil
	}
}

// randomBatch returns a change that fits the model.
func (m *model) randomBatch(rng *rand.Rand) (b core.Batch) {
	value := func(n int) []byte {
		v := make([]byte, rng.IntN(n))
		for i := range v {
			v[i] = byte(rng.Uint32())
		}
		return v
	}
	b.Reset = rng.IntN(40) == 0
	if b.Reset || m.Meta == nil {
		b.Meta = value(100)
	}
	if rng.IntN(2) == 0 {
		b.Hard = value(30)
	}
	first, next := uint64(1), uint64(1)
	if !b.Reset && len(m.Log) > 0 {
		first, next = m.Log[0].Index, m.Log[0].Index+uint64(len(m.Log))
	}
	switch rng.IntN(10) {
	case 0:
		b.Snapshot, b.Drop = value(20_000), first+rng.Uint64N(next-first+1)
	case 1:
		b.Snapshot, b.Drop, next = value(20_000), core.DropAll, next+rng.Uint64N(50)
	case 2:
		next = first + rng.Uint64N(next-first+1)
		b.Drop = 0
	}
	for range rng.IntN(20) {
		b.Log = append(b.Log, core.Record{Index: max(next, b.Drop+1), Data: value(300)})
		next = max(next, b.Drop+1) + 1
	}
	if b.Drop == core.DropAll {
		for i := range b.Log {
			b.Log[i].Index = next + uint64(i)
		}
	}
	return b
}

// normal makes values of no bytes equal, however they came to be.
func normal(s core.Saved) core.Saved {
	for _, p := range []*[]byte{&s.Meta, &s.Hard, &s.Snapshot} {
		if *p != nil && len(*p) == 0 {
			*p = []byte{}
		}
	}
	for i := range s.Log {
		s.Log[i].Data = append([]byte{}, s.Log[i].Data...)
	}
	if len(s.Log) == 0 {
		s.Log = nil
	}
	return s
}

func open(t *testing.T, path string) *Log {
	t.Helper()
	l, err := Open(path)
	require.NoError(t, err)
	t.Cleanup(func() { l.Close() })
	return l
}

func load(t *testing.T, path string) core.Saved {
	t.Helper()
	l := open(t, path)
	s, err := l.Load()
	require.NoError(t, err)
	require.NoError(t, l.Close())
	return normal(s)
}

// TestModel saves at random and compares what is there after each start with a model.
func TestModel(t *testing.T) {
	for seed := range uint64(3) {
		rng := rand.New(rand.NewPCG(seed, 1))
		path, m := filepath.Join(t.TempDir(), "nodes.conf"), &model{}
		require.Equal(t, core.Saved{}, load(t, path), "a new file")
		for range 6 {
			l := open(t, path)
			for range 1 + rng.IntN(15) {
				b := m.randomBatch(rng)
				require.NoError(t, l.Save(b))
				m.save(b)
			}
			require.NoError(t, l.Close())
			require.Equal(t, normal(m.Saved), load(t, path), "seed %d", seed)
		}
	}
}

// filled returns the path of a file with some content, and that content.
func filled(t *testing.T) (string, core.Saved) {
	t.Helper()
	path, m := filepath.Join(t.TempDir(), "nodes.conf"), &model{}
	l := open(t, path)
	rng := rand.New(rand.NewPCG(7, 7))
	for range 60 {
		b := m.randomBatch(rng)
		b.Reset = false
		require.NoError(t, l.Save(b))
		m.save(b)
	}
	require.NoError(t, l.Close())
	return path, normal(m.Saved)
}

// TestDamage damages a file in many ways: it is refused, or nothing that counts was hit, and then
// it goes on working.
func TestDamage(t *testing.T) {
	path, want := filled(t)
	whole, err := os.ReadFile(path)
	require.NoError(t, err)
	rng := rand.New(rand.NewPCG(3, 3))
	refused := 0
	damage := func(name string, data []byte) {
		require.NoError(t, os.WriteFile(path, data, 0o600))
		l, err := Open(path)
		if err != nil {
			var bad *CorruptError
			require.ErrorAs(t, err, &bad, name)
			refused++
			return
		}
		got, err := l.Load()
		require.NoError(t, err)
		require.Equal(t, want, normal(got), name)
		require.NoError(t, l.Save(core.Batch{Hard: want.Hard}), name)
		require.NoError(t, l.Close())
		after, err := Open(path)
		require.NoError(t, err, name)
		got, err = after.Load()
		require.NoError(t, err)
		require.NoError(t, after.Close())
		require.Equal(t, want, normal(got), name)
	}
	for range 100 {
		at, bit := rng.IntN(len(whole)), byte(1)<<rng.IntN(8)
		data := bytes.Clone(whole)
		data[at] ^= bit
		damage(fmt.Sprintf("bit %#x at %d", bit, at), data)
	}
	for page := 0; page < len(whole); page += os.Getpagesize() { // all headers of pages
		for at := page; at < min(page+80, len(whole)); at += 1 + rng.IntN(15) {
			data := bytes.Clone(whole)
			data[at] ^= byte(1 + rng.IntN(255))
			damage(fmt.Sprintf("byte at %d", at), data)
		}
		damage(fmt.Sprintf("cut at %d", page), whole[:page])
		data := bytes.Clone(whole)
		clear(data[page:min(len(data), page+os.Getpagesize())])
		damage(fmt.Sprintf("zeros at %d", page), data)
	}
	require.Greater(t, refused, 50)
}

func TestForeignFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "nodes.conf")
	random := make([]byte, 50_000)
	for i := range random {
		random[i] = byte(rand.Uint32())
	}
	for text, data := range map[string][]byte{
		"it is empty": {},
		"it is a nodes.conf of Redis or Valkey, which Godwit does not read": []byte(
			"07c37dfeb235213a872192d90877d0cd55635b91 127.0.0.1:30004@31004,host myself,master" +
				" - 0 0 1 connected 0-5460\nvars currentEpoch 6 lastVoteEpoch 0\n"),
		"it is damaged, or no file of Godwit's": random,
	} {
		require.NoError(t, os.WriteFile(path, data, 0o600))
		_, err := Open(path)
		require.ErrorContains(t, err,
			"Unrecoverable error: corrupted cluster config file "+path+": "+text)
		left, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, string(data), string(left), "it is left alone")
	}
	_, err := Open(t.TempDir())
	require.ErrorContains(t, err, "is a directory")
	_, err = Open("/nonexistent/nodes.conf")
	require.ErrorContains(t, err, "no such file")
}

func TestLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "nodes.conf")
	l := open(t, path)
	_, err := Open(path)
	require.EqualError(t, err, "Sorry, the cluster configuration file "+path+
		" is already used by a different cluster node. Please make sure that different nodes "+
		"use different cluster configuration files.")
	require.NoError(t, l.Close())
	open(t, path)
}

// TestFull lets writes fail: a Save reports it, and so do all later ones. What was saved before is
// there at the next start.
func TestFull(t *testing.T) {
	path := filepath.Join(t.TempDir(), "nodes.conf")
	l := open(t, path)
	first := core.Batch{Meta: []byte("me"), Log: []core.Record{{Index: 1, Data: []byte("one")}}}
	require.NoError(t, l.Save(first))
	want := core.Saved{Meta: first.Meta, Log: first.Log}

	signal.Ignore(syscall.SIGXFSZ)
	var old unix.Rlimit
	require.NoError(t, unix.Getrlimit(unix.RLIMIT_FSIZE, &old))
	require.NoError(t, unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: 1 << 20, Max: old.Max}))
	err := l.Save(core.Batch{Snapshot: make([]byte, 2<<20)})
	require.NoError(t, unix.Setrlimit(unix.RLIMIT_FSIZE, &old))
	require.ErrorContains(t, err, syscall.EFBIG.Error())
	require.ErrorContains(t, err, "writing the cluster configuration file")
	require.Equal(t, err, l.Save(core.Batch{Hard: []byte("x")}))
	require.NoError(t, l.Close())
	require.Equal(t, want, load(t, path))
}

func TestGap(t *testing.T) {
	l := open(t, filepath.Join(t.TempDir(), "nodes.conf"))
	require.NoError(t, l.Save(core.Batch{Log: []core.Record{{Index: 5}, {Index: 6}}}))
	require.ErrorContains(t, l.Save(core.Batch{Log: []core.Record{{Index: 8}}}),
		"a gap in the log: 8 follows 6")
}

func FuzzVerify(f *testing.F) {
	path := filepath.Join(f.TempDir(), "nodes.conf")
	l, err := Open(path)
	require.NoError(f, err)
	require.NoError(f, l.Save(core.Batch{Meta: []byte("m"), Log: []core.Record{{Index: 1}}}))
	require.NoError(f, l.Close())
	data, err := os.ReadFile(path)
	require.NoError(f, err)
	f.Add(data)
	f.Add([]byte("07c37dfeb235213a872192d90877d0cd55635b91 127.0.0.1:1@2 myself,master"))
	f.Fuzz(func(t *testing.T, data []byte) {
		items, err := verify(data)
		if err == nil {
			require.NotNil(t, items)
		}
	})
}

// BenchmarkSave measures what an entry costs.
func BenchmarkSave(b *testing.B) {
	l, err := Open(filepath.Join(b.TempDir(), "nodes.conf"))
	require.NoError(b, err)
	defer l.Close()
	data := make([]byte, 200)
	for i := 0; b.Loop(); i++ {
		batch := core.Batch{Hard: data[:20],
			Log: []core.Record{{Index: uint64(i + 1), Data: data}}}
		if i > 1000 {
			batch.Drop = uint64(i - 1000)
		}
		require.NoError(b, l.Save(batch))
	}
}
