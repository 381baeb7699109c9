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
// First a look, by a raw system call that Go's scheduler is not told of. When nothing is ready, a blocking call, of which it is told. Parking the goroutine in
// the runtime's own poller instead saves 4 % without pipelining and costs a fifth of the throughput with it
// (docs/measurements/eventloop.md). Spinning for 20 or 50 µs before either is worse: the core is one that clients could use.
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
