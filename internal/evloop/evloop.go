// Package evloop is an event loop over file descriptors: epoll, an eventfd to
// wake it from other goroutines, and timers. It knows descriptors and callbacks only.
package evloop

// Handler is told when its descriptor is ready.
type Handler interface {
	// Ready gets the event bits that epoll reported. It runs on the loop's goroutine
	// and may call every method of the loop except Poll, also to delete or close
	// descriptors whose events are part of the same batch.
	Ready(events uint32)
}

// maxEvents bounds how many events one Poll fetches; epoll serves the rest next time,
// in turn, so none starves.
const maxEvents = 4096
