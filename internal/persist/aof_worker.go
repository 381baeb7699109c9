package persist

import (
	"sync"
	"sync/atomic"

	"godwit/internal/crash"
)

// worker does one job after another: syncs, seals, installations. The executor hands them in and
// takes the results.
type worker struct {
	mu    sync.Mutex
	queue []func()
	more  sync.Cond
	busy  bool
	quit  bool
	on    bool
	done  sync.WaitGroup
	// manual is for tests: jobs wait until somebody waits for them, or calls next.
	manual bool

	syncing atomic.Int32 // syncs asked for and not done
	err     atomic.Pointer[error]
}

func (w *worker) start(a *AOF) {
	if w.on {
		return
	}
	w.on, w.quit = true, false
	w.more.L = &w.mu
	if w.manual {
		return
	}
	w.done.Go(w.run)
}

func (w *worker) run() {
	defer crash.Guard("writing the append-only file")()
	w.mu.Lock()
	defer w.mu.Unlock()
	for {
		for len(w.queue) == 0 {
			if w.quit {
				return
			}
			w.more.Wait()
		}
		job := w.queue[0]
		w.queue = w.queue[1:]
		w.busy = true
		w.mu.Unlock()
		job()
		w.mu.Lock()
		w.busy = false
		w.more.Broadcast()
	}
}

func (w *worker) do(job func()) {
	w.mu.Lock()
	w.queue = append(w.queue, job)
	w.mu.Unlock()
	w.more.Broadcast()
}

// drain waits until all jobs are done.
func (w *worker) drain() {
	if !w.on {
		return
	}
	for w.manual && w.next() {
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for len(w.queue) > 0 || w.busy {
		w.more.Wait()
	}
}

// stop does what is queued and ends the goroutine.
func (w *worker) stop() {
	if !w.on {
		return
	}
	for w.manual && w.next() {
	}
	w.mu.Lock()
	w.quit = true
	w.mu.Unlock()
	w.more.Broadcast()
	w.done.Wait()
	w.on = false
}

// next does one job of a manual worker, if there is one.
func (w *worker) next() bool {
	if len(w.queue) == 0 {
		return false
	}
	job := w.queue[0]
	w.queue = w.queue[1:]
	job()
	return true
}

func (w *worker) pending() int { return int(w.syncing.Load()) }

// syncError returns why the last sync in the background failed, nil if it did not.
func (w *worker) syncError() error {
	if e := w.err.Load(); e != nil {
		return *e
	}
	return nil
}
