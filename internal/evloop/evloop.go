// Package evloop is an event loop over file descriptors: epoll, an eventfd to
// wake it from other goroutines, and timers. It knows descriptors and callbacks only.
//
// # A turn
//
// The goroutine that owns a Loop calls Poll again and again. Poll fetches a batch of ready
// descriptors, calls their handlers, then the timers that are due. Between two Polls the caller
// does what belongs to the whole batch: propagate, write replies.
//
//	epoll event: | event bits (4) | descriptor (4) | generation (4) |
//	slots:       descriptor -> handler, generation
//
// The generation is the number of Adds that the descriptor's number has seen. It travels through
// the kernel with the registration; an event whose generation is not its slot's is of an
// earlier owner of the number (deleted, and perhaps replaced, by another handler of the same
// batch) and is dropped.
//
// # How it waits
//
// Measured with a server that answers +OK, redis-benchmark -t set, 2 shared cores, CPU of the
// server in µs a request, least of 8 alternating runs:
//
//	                                              -c 50   -c 1   -c 50 -P 16
//	blocking epoll_wait, read and write (x/sys)    7.5    11.9      0.47
//	look without blocking first, raw read, write   7.3    10.9      0.46
//	the same in a locked OS thread                 7.5    11.0      0.43
//	the same, looking for 20 µs before it blocks   8.7    19.6      0.53
//	the same, looking for 50 µs before it blocks   9.1    22.6      0.59
//
// So: a look first, by a raw system call that the scheduler is not told of, and a blocking
// call, of which it is, when nothing is ready. A raw call saves about 60 ns of 500. Locking the thread
// is within the noise and left to the caller. Spinning burns a core that the clients could use.
//
// # Invariants and limits
//
// All but Wake is for the owning goroutine. Descriptors must be non-blocking: Read, Write and
// Writev hold their thread and keep the garbage collector waiting for as long as they take. Del comes before
// close. A turn allocates nothing.
package evloop

// Handler is told when its descriptor is ready.
type Handler interface {
	// Ready gets the event bits that epoll reported. It runs on the loop's goroutine
	// and may call every method of the loop except Poll and Close, also to delete or close
	// descriptors whose events are part of the same batch.
	Ready(events uint32)
}
