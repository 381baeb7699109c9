// Package evloop is an event loop over file descriptors: epoll, an eventfd to wake it from other
// goroutines, and timers. It knows descriptors and callbacks only.
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
// The generation counts how often the descriptor's number was added. It travels through the kernel
// with the registration. If the generation of an event is not its slot's, the event belongs to an
// earlier owner of the number, which another handler of the same batch has deleted and perhaps
// replaced. Such an event is dropped.
//
// # How it waits
//
// Poll first looks, with a raw system call that Go's scheduler does not hear of. If nothing is
// ready, it blocks in a call that the scheduler is told of. Parking the goroutine in the runtime's
// own poller instead saves 4 % without pipelining and costs a fifth of the throughput with it
// (docs/measurements/eventloop.md). Spinning for 20 or 50 µs before either is worse: clients could
// use that core.
//
// # Invariants and limits
//
// All methods except Wake are for the owning goroutine. Descriptors must be non-blocking: Read,
// Write and Writev hold their thread and keep the garbage collector waiting for as long as they
// take. Del comes before close. A turn allocates nothing.
package evloop

// Handler hears when its descriptor is ready.
type Handler interface {
	// Ready gets the event bits that epoll reported. It runs on the loop's goroutine. It may call
	// every method of the loop except Poll and Close, and may delete or close descriptors with
	// events in the same batch.
	Ready(events uint32)
}
