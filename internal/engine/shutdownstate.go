package engine

import (
	"slices"
	"sync/atomic"
)

// ShutdownOptions holds SHUTDOWN's arguments.
type ShutdownOptions struct {
	Save, NoSave, Now, Force bool
	Signal                   string // name of the signal that asked for it, if any
}

// shutdownWait is a shutdown that waits for replicas. Writes are held back meanwhile (a pause), so
// the replicas reach an offset that does not move any more. The shutdown goes on when all have it,
// or when shutdown-timeout has passed. The master of slots of a cluster hands them over first, and
// waits for nobody then.
type shutdownWait struct {
	on      atomic.Bool // read without the executor too
	o       ShutdownOptions
	offset  int64     // that replicas must have
	until   int64     // steady ms
	clients []*waiter // of SHUTDOWN; some may have ended
	hand    handover
	// finishes says that FinishData has begun, and has not failed.
	finishes bool
}

// ShutdownWaits reports whether a shutdown waits for replicas. Any goroutine may call it, without
// the executor.
func (e *Engine) ShutdownWaits() bool { return e.ending.on.Load() }

// ShutdownIn returns for how many ms a shutdown waits at most, 0 if none does.
func (e *Engine) ShutdownIn() int64 {
	if !e.ending.on.Load() {
		return 0
	}
	return max(e.ending.until-e.Steady(), 1)
}

// handover is what a master does with its shard before it stops:
//
//	none → hands over → handed over
//	          └→ none: nobody takes over, so it stops as without a cluster
//
// Meanwhile writes wait, for the shutdown and, once the shard is revoked, for its next master.
type handover struct {
	step  handStep
	began int64  // steady ms: this, or in the term that the leader has promoted this node again
	term  uint64 // of the shard, when this node was last its master
	again bool   // the leader has promoted this node again: nobody has taken over yet
	asked int64  // when the leader was last asked, steady ms; 0: never
	// refusal is the leader's answer to that, "" if it has taken it up, or has not answered yet.
	refusal string
	// alone is since when no replica has been linked, steady ms; 0: one is.
	alone int64
	turns int // of the cron since it was handed over
}

type handStep uint8

const (
	handNone handStep = iota
	handsOver
	handedOver
)

// holds reports whether the client waits for the end of the server.
func (s *shutdownWait) holds(c *Client) bool {
	return c.wait != nil && slices.Contains(s.clients, c.wait)
}
