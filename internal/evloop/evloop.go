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
// Telling Go's scheduler of each blocking wait wakes the runtime's monitor thread, which then polls
// for a while: at 100 requests a second that was three times the cost of a request. So a loop waits
// in one of two other ways (wait_linux.go):
//
//	     two short waits in a row
//	  ┌────────────────────────────┐
//	quiet                        brisk
//	  └────────────────────────────┘
//	          8 ms of silence
//
// A quiet loop parks its goroutine in the runtime's own poller:
//
//	runtime's epoll ── gate ── loop's epoll ─┬─ sockets
//	                 (an epoll               ├─ eventfd: Wake
//	                  instance)              └─ timerfd: the next timer
//
// The gate watches the loop's instance only while the loop is parked. Otherwise each event of a
// busy loop would wake the thread that waits in the runtime's poller. The timerfd stands in for a
// timer of the runtime's, which would wake the monitor thread as well. The thread that takes the
// loop from the runtime's poller leaves nobody there, so if the loop does not park again soon, it
// makes another thread look there: see KeepProcessor.
//
// A brisk loop waits by a raw system call that the scheduler does not hear of, and keeps its
// processor (the scheduler's P). It may do so only if nobody else can want it: see KeepProcessor.
// Without a processor of its own, a brisk loop first looks and then blocks in a call that the
// scheduler is told of. Whoever stops the world interrupts the raw call by a signal, within
// 100 µs, so the collector does not wait for it. Spinning for 20 or 50 µs is worse than any of
// these: clients could use that core. Measured in docs/measurements/eventloop.md.
//
// # Invariants and limits
//
// All methods except Wake are for the owning goroutine. Descriptors must be non-blocking: Read,
// Write and Writev hold their thread and keep the garbage collector waiting for as long as they
// take. Del comes before close. A turn allocates nothing.
package evloop

// Descriptors is how many descriptors a Loop takes for itself.
const Descriptors = 4

// Handler hears when its descriptor is ready.
type Handler interface {
	// Ready gets the event bits that epoll reported. It runs on the loop's goroutine. It may call
	// every method of the loop except Close, and may delete or close descriptors with events in the
	// same batch.
	Ready(events uint32)
}
