package soak

import (
	"math/rand/v2"
	"sync"
	"time"
)

const (
	chaosLimit   = 120 * mb
	chaosWorkers = 3

	// A soak that is longer than that of make check has time for more of each chaos.
	shortSoak = 2 * time.Minute
	longer    = 5
)

// chaos does everything at once. Some clients read and write all types in several databases, others
// hold memory of the server, and one moves the limit and starts snapshots meanwhile.
func chaos(r *run) {
	batches := 120 * r.size
	if *duration > shortSoak {
		batches *= longer
	}
	var clients sync.WaitGroup
	for range chaosWorkers {
		w := newWorker(r)
		clients.Go(func() {
			for i := 0; i < batches && r.ok(); i++ {
				w.step(ops)
			}
		})
	}
	working := make(chan struct{})
	var others sync.WaitGroup
	for _, part := range []func(*run, *rand.Rand, <-chan struct{}){
		moveLimit, persistAll, readSlowly, track, queueUp,
	} {
		rnd := r.source()
		others.Go(func() { part(r, rnd, working) })
	}
	clients.Wait()
	close(working)
	others.Wait()
	r.limited(chaosLimit)
}

// over reports whether the work is done.
func over(working <-chan struct{}) bool {
	select {
	case <-working:
		return true
	default:
		return false
	}
}
