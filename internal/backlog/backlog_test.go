package backlog

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"godwit/internal/arena"
	"godwit/internal/invariant"
	"godwit/internal/propagation"
	"godwit/internal/testseed"
)

// model is a Backlog beside all bytes that it was ever given.
type model struct {
	t       *testing.T
	pool    *arena.Pool
	l       *Backlog
	all     []byte // since offset 1000
	seen    int64  // published
	first   int64  // of the history at the last check
	keep    int64
	readers map[*Reader]int64
}

const modelStart = 1000

// TestBacklog appends units of all sizes, and reads them at many places, with history of changing
// size.
func TestBacklog(t *testing.T) {
	rnd := testseed.Rand(t)
	for range 30 {
		m := &model{t: t, pool: arena.NewPool(), keep: 16 << 10, readers: map[*Reader]int64{},
			seen: modelStart, first: modelStart}
		m.l = New(m.pool, modelStart, m.keep)
		for range 600 {
			m.step(rnd)
		}
		m.l.Drop()
		for r := range m.readers {
			r.Close()
		}
		require.Zero(t, m.pool.Used())
	}
}

func (m *model) step(rnd *rand.Rand) {
	switch rnd.IntN(12) {
	default:
		m.unit(rnd)
	case 0, 1:
		m.l.EndBatch()
		m.seen = modelStart + int64(len(m.all))
	case 2:
		m.open(rnd)
	case 3:
		m.l.Resize(m.resized(rnd))
	case 4:
		for r := range m.readers {
			r.Close()
			require.Zero(m.t, r.Lag())
			delete(m.readers, r)
			break
		}
	}
	for r := range m.readers {
		if rnd.IntN(4) == 0 {
			m.read(r, rnd)
		}
	}
	m.check()
}

func (m *model) resized(rnd *rand.Rand) int64 {
	m.keep = 16<<10 + rnd.Int64N(400<<10)
	return m.keep
}

// unit appends a unit, which may be larger than was said.
func (m *model) unit(rnd *rand.Rand) {
	n := 1 + rnd.IntN(1<<rnd.IntN(17))
	text := make([]byte, n)
	for i := range text {
		text[i] = byte(rnd.Uint32())
	}
	b := m.l.BeginUnit(max(1, n-rnd.IntN(2)*rnd.IntN(n)))
	require.NotNil(m.t, b)
	for part := text; len(part) > 0; {
		k := 1 + rnd.IntN(len(part))
		b.B = append(b.B, part[:k]...)
		part = part[k:]
	}
	m.all = append(m.all, text...)
}

func (m *model) open(rnd *rand.Rand) {
	first, n := m.l.History()
	m.seen = modelStart + int64(len(m.all))
	require.Equal(m.t, m.seen, first+n)
	at := modelStart + rnd.Int64N(int64(len(m.all))+100) - 50
	r, ok := m.l.Open(at)
	require.Equal(m.t, at >= first && at <= m.seen, ok)
	if ok {
		m.readers[r] = at
	}
}

func (m *model) read(r *Reader, rnd *rand.Rand) {
	at := m.readers[r]
	require.Equal(m.t, at, r.Offset())
	require.Equal(m.t, m.seen-at, r.Lag())
	var vec [3][]byte
	got := bytes.Join(r.Next(vec[:0]), nil)
	require.Equal(m.t, m.seen > at, len(got) > 0)
	from := at - modelStart
	require.True(m.t, bytes.Equal(m.all[from:from+int64(len(got))], got))
	n := rnd.IntN(len(got) + 1)
	r.Advance(n)
	m.readers[r] += int64(n)
}

// check verifies that enough is kept, and no more than a block too much.
func (m *model) check() {
	first, n := m.l.History()
	m.seen = modelStart + int64(len(m.all))
	require.Equal(m.t, m.seen, first+n)
	oldest := m.seen
	for _, at := range m.readers {
		oldest = min(oldest, at)
	}
	require.True(m.t, first <= oldest)
	require.True(m.t, first == m.first || n >= m.keep)
	m.first = first
	m.checkCounts()
	if len(m.readers) == 0 {
		require.Less(m.t, n, m.keep+maxBlock)
	}
}

// checkCounts verifies that what is read without the lock is what there is.
func (m *model) checkCounts() {
	l, size := m.l, int64(blockSize(m.keep))
	require.Equal(m.t, l.allocated+headBytes*(1+l.allocated/size), l.Bytes())
	require.Equal(m.t, max(0, l.Bytes()-m.keep-2*size-headBytes*(2+m.keep/size)), l.Extra())
}

// TestCloseWhileWriting closes a reader whose bytes are being written: they stay until Advance.
func TestCloseWhileWriting(t *testing.T) {
	pool := arena.NewPool()
	l := New(pool, 0, 1<<20)
	b := l.BeginUnit(4)
	b.B = append(b.B, "unit"...)
	r, ok := l.Open(0)
	require.True(t, ok)
	got := r.Next(make([][]byte, 0, 1))
	r.Close()
	l.Drop()
	require.NotZero(t, pool.Used())
	require.Equal(t, "unit", string(got[0]))
	r.Advance(4)
	require.Zero(t, pool.Used())
	require.Empty(t, r.Next(make([][]byte, 0, 1)))
}

func TestAppendingAllocatesNothing(t *testing.T) {
	if invariant.Enabled {
		t.Skip("buffers grow by copying")
	}
	l := New(arena.NewPool(), 0, 1<<20)
	var f propagation.Feed
	f.Attach(propagation.Replicas, l)
	argv := [][]byte{[]byte("SET"), []byte("key"), bytes.Repeat([]byte("v"), 3000)}
	for range 10000 {
		f.Send(propagation.Replicas, 0, argv)
	}
	require.Zero(t, testing.AllocsPerRun(10000, func() {
		f.Send(propagation.Replicas, 0, argv)
		f.EndBatch()
	}))
}

// TestPipe has readers of different speeds copy one stream; one leaves in the middle.
func TestPipe(t *testing.T) {
	pool := arena.NewPool()
	p := NewPipe(pool, 100<<10, time.Hour, 3)
	readers := p.all
	var want bytes.Buffer
	results := make(chan error, len(readers))
	copies := make([]bytes.Buffer, len(readers))
	for i, r := range readers {
		go func() {
			for {
				list, err := r.Wait(make([][]byte, 0, 2))
				if err == io.EOF {
					err = nil
					r.Close()
					results <- err
					return
				}
				if err != nil {
					results <- err
					return
				}
				n := 1 + copies[i].Len()%len(list[0])
				copies[i].Write(list[0][:n])
				r.Advance(n)
				if i == 2 && copies[i].Len() > 200<<10 {
					r.Close()
				}
			}
		}()
	}
	rnd := testseed.Rand(t)
	for want.Len() < 1<<20 {
		b := make([]byte, 1+rnd.IntN(90<<10))
		for i := range b {
			b[i] = byte(rnd.Uint32())
		}
		want.Write(b)
		require.NoError(t, p.Write(b))
		require.Less(t, p.Bytes(), int64(400<<10))
	}
	p.End(nil)
	var closed int
	for range readers {
		if err := <-results; errors.Is(err, ErrClosed) {
			closed++
		} else {
			require.NoError(t, err)
		}
	}
	require.Equal(t, 1, closed)
	require.True(t, bytes.Equal(want.Bytes(), copies[0].Bytes()))
	require.True(t, bytes.Equal(want.Bytes(), copies[1].Bytes()))
	require.ErrorIs(t, p.Write([]byte("x")), ErrNoReaders)
	require.Zero(t, pool.Used())
}

// TestPipeEndsDuringWrite ends pipes while bytes are appended to them. No block may go then that is
// being written to, and none may stay.
func TestPipeEndsDuringWrite(t *testing.T) {
	pool := arena.NewPool()
	failure := errors.New("cancelled")
	b := make([]byte, 1<<20)
	for range 40 {
		p := NewPipe(pool, 1<<30, time.Hour, 1)
		r := p.Reader(0)
		read := make(chan error)
		go func() {
			for {
				list, err := r.Wait(make([][]byte, 0, 4))
				if err != nil {
					r.Close()
					read <- err
					return
				}
				r.Advance(len(list[0]))
			}
		}()
		wrote := make(chan error)
		go func() {
			for {
				if err := p.Write(b); err != nil {
					wrote <- err
					return
				}
			}
		}()
		for p.Bytes() < int64(len(b)) {
			runtime.Gosched()
		}
		p.End(failure)
		require.ErrorIs(t, <-wrote, failure)
		require.ErrorIs(t, <-read, failure)
		require.Zero(t, pool.Used())
	}
}

// TestStalledReader has one reader take nothing: the others go on without it, and what it has been
// handed out stays until its write has ended.
func TestStalledReader(t *testing.T) {
	pool := arena.NewPool()
	p := NewPipe(pool, 1, time.Millisecond, 2)
	slow, quick := p.Reader(0), p.Reader(1)
	stopped := make(chan bool, 1)
	slow.OnClose(func() { stopped <- true })
	require.NoError(t, p.Write([]byte("first")))
	held := slow.Next(make([][]byte, 0, 1))
	quick.Next(make([][]byte, 0, 1))
	quick.Advance(5)
	require.NoError(t, p.Write([]byte("second")), "it waits for the slow one")
	<-stopped
	require.Equal(t, "first", string(held[0]))
	slow.Advance(0)
	_, err := slow.Wait(held)
	require.ErrorIs(t, err, ErrStalled)
	quick.Close()
	p.End(nil)
	require.Zero(t, pool.Used())
}

func BenchmarkAppend(b *testing.B) {
	l := New(arena.NewPool(), 0, 10<<20)
	var f propagation.Feed
	f.Attach(propagation.Replicas, l)
	argv := [][]byte{[]byte("SET"), []byte("key:000000012345"), bytes.Repeat([]byte("v"), 64)}
	for i := 0; b.Loop(); i++ {
		f.Send(propagation.Replicas, 0, argv)
		if i%16 == 0 {
			f.EndBatch()
		}
	}
}
