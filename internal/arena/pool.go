package arena

import (
	"sync"
	"sync/atomic"

	"godwit/internal/invariant"
)

// Pool hands out buffers for requests and replies that are too large for Go's heap. There, freed
// memory stays until the collector runs, and half as much again is reserved for garbage. A buffer
// of the pool is gone when it is put back, or serves the next one of its size.
//
// It is an arena with a lock, because connections take buffers without the executor. Freed pages
// return to the system by Release, in slices, as those of an arena do.
type Pool struct {
	mu   sync.Mutex
	a    *Arena
	used atomic.Int64
	idle atomic.Bool
}

// NewPool returns an empty pool.
func NewPool() *Pool {
	p := &Pool{a: New()}
	p.a.Guard()
	return p
}

// room reports whether the system has n more bytes. Half of the headroom is for buffers, since they
// may bring the command that frees memory. The lock must be held.
func (p *Pool) room(n int) bool {
	if n < 1<<20 && !p.a.Short() || p.a.Probe(int64(n)) {
		return true
	}
	for !p.a.canMap(int64(n) + headroom/2) {
		if !p.a.Idle() {
			return false
		}
		p.a.Release()
	}
	return true
}

// Buffer is a buffer of a pool. Its bytes must not be touched after Put. The zero Buffer has none.
type Buffer struct {
	B   []byte // the requested length, with the available capacity
	ref Ref
	n   int
}

// Held reports whether the Buffer is not the zero one.
func (b *Buffer) Held() bool { return b.ref != 0 }

// Get returns a buffer of n bytes with undefined contents. If the system refuses memory it returns
// the zero Buffer.
func (p *Pool) Get(n int) Buffer {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.room(n) {
		return Buffer{}
	}
	b := Buffer{n: poolSize(n)}
	b.ref = p.a.Alloc(b.n, Buffers)
	b.B = p.a.Bytes(b.ref, b.n)[:n]
	p.account()
	return b
}

// Grow gives the buffer room for n bytes, or reports false if the system refuses memory. The
// contents stay; long ones move without being copied. Earlier slices of B must not be touched.
func (p *Pool) Grow(b *Buffer, n int) bool {
	if cap(b.B) >= n {
		return true
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.room(n - cap(b.B)) {
		return false
	}
	size := poolSize(n)
	if invariant.Enabled { // then it always moves
		to := p.a.Alloc(size, Buffers)
		copy(p.a.Bytes(to, size), b.B)
		poison(b.B[:cap(b.B)])
		p.a.Free(b.ref, b.n, Buffers)
		b.ref = to
	} else {
		b.ref = p.a.Resize(b.ref, b.n, size, Buffers)
	}
	b.B, b.n = p.a.Bytes(b.ref, size)[:len(b.B)], size
	p.account()
	return true
}

// Put takes the buffer back, if there is one, and leaves the zero Buffer.
func (p *Pool) Put(b *Buffer) {
	if b.ref == 0 {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if invariant.Enabled {
		poison(b.B[:cap(b.B)])
	}
	p.a.Free(b.ref, b.n, Buffers)
	*b = Buffer{}
	p.account()
}

// poolSize returns the size of the whole block that n bytes get.
func poolSize(n int) int {
	if invariant.Enabled {
		return n
	}
	return ClassSize(n)
}

// poison overwrites what nobody may read any more.
func poison(b []byte) {
	for i := range b {
		b[i] = 0xdd
	}
}

// account publishes the arena's numbers. The lock must be held.
func (p *Pool) account() {
	p.used.Store(p.a.Used())
	if idle := p.a.Idle() || p.a.Trimming(); idle != p.idle.Load() {
		p.idle.Store(idle)
	}
}

// Used returns the bytes of all buffers that are out.
func (p *Pool) Used() int64 { return p.used.Load() }

// Resident returns the bytes that the pool has from the system, like Arena.Resident.
func (p *Pool) Resident() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.a.Resident()
}

// Idle reports whether Release has something to do.
func (p *Pool) Idle() bool { return p.idle.Load() }

// Release gives a part of the freed memory back to the system and reports whether there is more.
func (p *Pool) Release() (more bool) {
	if !p.idle.Load() {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.a.Idle() {
		p.a.Release()
	} else {
		p.a.TrimSlice()
	}
	p.account()
	return p.idle.Load()
}

// BeginTrim lets go what was kept for buffers of its size and nobody has wanted since the last
// call, and everything that is free if that is much. Release gives it back.
func (p *Pool) BeginTrim() {
	p.mu.Lock()
	defer p.mu.Unlock()
	a := p.a
	a.ageKept()
	if a.Resident()-a.Used()-a.kept.bytes > max(trimFrom, a.Used()/8) {
		a.queueSpare()
		a.beginSweep()
	}
	p.account()
}

// Trim gives all that is free back to the system.
func (p *Pool) Trim() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.a.Trim()
	p.account()
}

// Check verifies the pool's bookkeeping.
func (p *Pool) Check() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.a.Check()
}
