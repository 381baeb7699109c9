package backlog

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/arena"
	"godwit/internal/testseed"
)

// streamByte returns the byte at an offset of the stream of TestReadersBeside.
func streamByte(at int64) byte { return byte(at ^ at>>8 ^ at>>16) }

// TestReadersBeside has readers read on goroutines of their own while the backlog is appended to,
// resized and dropped, as connections do beside the executor. They read what was appended at their
// places, come and go, and nothing stays when the last one is gone.
func TestReadersBeside(t *testing.T) {
	rnd := testseed.Rand(t)
	for range 3 {
		pool := arena.NewPool()
		l := New(pool, 0, 64<<10)
		done := make(chan struct{})
		var readers sync.WaitGroup
		var broken sync.Map // what readers have found wrong
		for end := int64(0); end < 4<<20; {
			for range 1 + rnd.IntN(3) {
				end = appendUnit(l, end, 1+rnd.IntN(1<<rnd.IntN(16)))
			}
			switch rnd.IntN(20) {
			case 0:
				l.Resize(16<<10 + rnd.Int64N(1<<20))
			case 1, 2:
				first, n := l.History()
				at := first + rnd.Int64N(n+1)
				if r, ok := l.Open(at); ok {
					own := rand.New(rand.NewPCG(rnd.Uint64(), 0))
					readers.Go(func() { readBeside(r, at, own, done, &broken) })
				}
			default:
				l.EndBatch()
				_, _ = l.Extra(), l.Bytes()
			}
		}
		l.Drop()
		close(done)
		readers.Wait()
		broken.Range(func(what, _ any) bool {
			t.Error(what)
			return true
		})
		require.Zero(t, pool.Used())
	}
}

// appendUnit appends n bytes of the stream, and returns its end.
func appendUnit(l *Backlog, end int64, n int) int64 {
	b := l.BeginUnit(n)
	for range n {
		b.B = append(b.B, streamByte(end))
		end++
	}
	return end
}

// readBeside reads from an offset on until the backlog is dropped, or for a while.
func readBeside(r *Reader, at int64, rnd *rand.Rand, done chan struct{}, broken *sync.Map) {
	defer r.Close()
	for left := rnd.IntN(200); left > 0; left-- {
		select {
		case <-done:
			return
		default:
		}
		list := r.Next(make([][]byte, 0, 1+rnd.IntN(3)))
		n := 0
		for _, b := range list {
			for _, c := range b {
				if here := at + int64(n); c != streamByte(here) {
					broken.Store(fmt.Sprintf("at %d: %d", here, c), nil)
				}
				n++
			}
		}
		if n > 0 && rnd.IntN(3) == 0 {
			n = rnd.IntN(n) // a short write
		}
		r.Advance(n)
		if at += int64(n); r.Offset() != at {
			broken.Store("a wrong offset", nil)
			return
		}
		if n == 0 {
			runtime.Gosched()
		}
	}
}
