package engine

import (
	"godwit/internal/backlog"
	"godwit/internal/cluster/topology"
	"godwit/internal/propagation"
	"godwit/internal/slot"
	"godwit/internal/spec"
)

// # Migrations of slots
//
// The log says that slots move from one shard to another (topology.Migration), and the masters of
// the two carry it out:
//
//	source                                  destination
//	                                        deletes what it has in the slots, hides them
//	                                        the log: Receive
//	                                    ←─  CLUSTER SYNCSLOTS BEGIN …
//	+OK                                 ─→
//	SELECT 0, SET …, RPUSH …            ─→  snapshot of the slots, as commands
//	SET …, MULTI … EXEC, DEL …, MARK n  ─→  what has changed in them since
//	                                    ←─  CLUSTER SYNCSLOTS ACK n
//	the log: Closed. Clients of the slots wait here from now on
//	END n                               ─→
//	                                    ←─  CLUSTER SYNCSLOTS ENDED n: all is there, also on the
//	                                        replicas that min-replicas-to-ack asks for
//	                                        the log: Done
//	sends clients on, deletes the slots     shows the slots and serves them
//
// The destination runs the commands as its own writes: its replicas and its log get them. It hides
// the slots, and so do its replicas, until the log says Done. Whatever goes wrong before, either of
// the two has the log say Failed. Then the source serves the slots as before, and the destination
// deletes what it has of them.
//
// What changes the owner is in the log, whose entries say which node wants them. So a user who may
// read all keys, and does as if he were the destination, reads them and disturbs, but nothing
// moves.
//
// Nothing that a client of the source has changed in the slots can be lost: what came before Closed
// is in front of END, and what comes later waits. END is not acknowledged by a destination that
// has started anew, because the log lets the migration fail then.

// export is a migration on its source.
type export struct {
	*topology.Migration
	slots  slot.Set
	step   exportStep
	client *Client // the destination
	conn   StreamConn

	bit    propagation.Targets // 0: nothing is attached
	stream *backlog.Backlog    // what changes in the slots; nil like bit
	reader *backlog.Reader
	pipe   *backlog.Pipe // of the snapshot
	made   bool          // all of it is in the pipe
	took   int64         // bytes of it that had been sent at tookAt
	tookAt int64         // steady ms

	marked   int64 // end of the stream when it last got a mark, and that mark included
	said     int64 // offset that the last mark says
	end      int64 // what END says
	acked    int64 // offset that the destination has applied
	markedAt int64 // steady ms
	ackedAt  int64 // steady ms
	began    int64 // steady ms
	closedAt int64 // steady ms; 0: clients do not wait
	soft     int64 // steady ms since when it is over the soft output limit, 0 if it is not
}

// exportStep is how far a source is.
type exportStep uint8

const (
	exportWaits     exportStep = iota // for its turn to make a snapshot
	exportSnapshots                   // the snapshot is on its way
	exportStreams                     // so are the changes since
	exportCloses                      // the log is to say Closed
	exportDrains                      // END is on its way
	exportGrants                      // the destination is to have the log say Done
	exportEnds                        // it is to say Failed
)

// String returns the step in a word.
func (s exportStep) String() string {
	return [...]string{"waiting", "snapshot", "streaming", "closing", "draining", "granting",
		"failing"}[s]
}

// slotImport is a migration on its destination.
type slotImport struct {
	*topology.Migration
	slots   slot.Set
	step    importStep
	attempt *ImportAttempt // that runs, nil if none does
	client  *Client        // that applies the stream, nil unless connected
	tries   int
	retryAt int64 // steady ms
	began   int64 // steady ms; 0: not yet
	heardAt int64 // steady ms, 0: nothing has come yet

	marked bool       // the snapshot and a mark behind it have come
	marks  []seenMark // that are not acknowledged yet: the next, and the last
	logged int64      // offset in the log behind the snapshot, while it is not on disk; else 0
	since  int64      // steady ms, of that

	ends  bool  // END has come, and is to be acknowledged
	end   int64 // what it says
	endAt int64 // offset of this node's own stream behind what came before it
	// endedAt is when it came, askedAt when replicas were last asked what they have; steady ms.
	endedAt, askedAt int64
}

// seenMark is a mark in the stream of a source.
type seenMark struct {
	says int64 // the offset to acknowledge
	at   int64 // offset of this node's own stream behind what came before it
	came int64 // steady ms
}

// ImportAttempt is one try to get the keys of a migration from its source. The server runs it on a
// goroutine of its own (Engine.LinkImport). What it is told does not change. Its methods are called
// with the executor held.
type ImportAttempt struct {
	Dial           DialOptions
	User, Password string
	// Begin is the command that asks for the keys. The source answers OK, and the keys follow.
	Begin []string
	// Close ends the connection, so that the goroutine fails soon. The server sets it.
	Close func()

	e *Engine
	m *slotImport
}

// importStep is how far a destination is.
type importStep uint8

const (
	importClears   importStep = iota // it deletes what it has in the slots
	importAsks                       // the log is to say that there is nothing left
	importConnects                   // to the source
	importApplies                    // what the source sends
	importHas                        // all, and the log is to say Done
	importEnds                       // the log is to say Failed
)

// String returns the step in a word.
func (s importStep) String() string {
	return [...]string{"clearing", "preparing", "connecting", "applying", "complete", "failing"}[s]
}

// migrations is what this node does for migrations of slots.
type migrations struct {
	exports  []*export
	imports  []*slotImport
	exported slot.Set // of exports that are attached
	refs     []spec.KeyRef
	asks     []*phaseAsk
	progress map[string]MigrationProgress
}

// phaseAsk is what the log is to say of a migration.
type phaseAsk struct {
	id      string
	do      topology.Action // Receive or Advance
	asking  bool
	retryAt int64 // steady ms
}

// export returns the migration with the id, nil if this node is not its source.
func (g *migrations) export(id string) *export {
	for _, x := range g.exports {
		if x.ID == id {
			return x
		}
	}
	return nil
}

// imported returns the migration with the id, nil if this node is not its destination.
func (g *migrations) imported(id string) *slotImport {
	for _, m := range g.imports {
		if m.ID == id {
			return m
		}
	}
	return nil
}

// importOf returns the migration whose stream the client applies, nil if there is none.
func (g *migrations) importOf(c *Client) *slotImport {
	for _, m := range g.imports {
		if m.client == c {
			return m
		}
	}
	return nil
}

// importing returns the slots whose keys are on their way to this node.
func (g *migrations) importing() (s slot.Set) {
	for _, m := range g.imports {
		s.Union(&m.slots)
	}
	return s
}

// resumeImports goes on with the streams of sources, which a busy script has held back.
func (e *Engine) resumeImports() {
	for _, m := range e.migrations.imports {
		if m.client != nil {
			m.client.Conn.Resume()
		}
	}
}

// clearing reports whether the destination still deletes what it had in the slots before.
func (m *slotImport) clearing() bool { return m.step == importClears }

// lag returns how many bytes of changes the destination has not acknowledged. A mark says the
// offset in front of it, and does not count itself.
func (x *export) lag() int64 {
	if x.acked == x.said {
		return x.streamEnd() - x.marked
	}
	return x.streamEnd() - x.acked
}

// streamEnd returns the offset behind the last byte of the stream.
func (x *export) streamEnd() int64 {
	if x.stream == nil {
		return 0
	}
	first, n := x.stream.History()
	return first + n
}

// MigrationProgress is how far a migration of slots is, as its source or its destination sees it.
type MigrationProgress struct {
	// Sent and Remaining are bytes: of snapshot and changes that the source has sent or the
	// destination has received, and of those that the source still has to send, as far as it knows.
	Sent, Remaining int64
	// Started is when data began to flow, in unix ms, 0: not yet. LastAck is when source and
	// destination last heard of each other.
	Started, LastAck int64
	// PauseMs is for how many ms clients of the slots have been held back by the source.
	PauseMs int64
	// Step says in a word what this node does for the migration.
	Step string
}

// MigrationProgress returns how far the migration with the id is. It reports false if this node has
// no part in it, or knows nothing of it any more.
func (e *Engine) MigrationProgress(id string) (MigrationProgress, bool) {
	if x := e.migrations.export(id); x != nil {
		return e.exportProgress(x), true
	}
	if m := e.migrations.imported(id); m != nil {
		return e.importProgress(m), true
	}
	p, ok := e.migrations.progress[id]
	return p, ok
}

// wallAt returns the wall clock's reading, in unix ms, at a time by the steady clock; 0 for 0.
func (e *Engine) wallAt(steady int64) int64 {
	if steady == 0 {
		return 0
	}
	return e.now - (e.Steady() - steady)
}

func (e *Engine) exportProgress(x *export) MigrationProgress {
	p := MigrationProgress{Step: x.step.String(), Started: e.wallAt(x.began),
		LastAck: e.wallAt(x.ackedAt)}
	if x.stream != nil {
		lag := x.reader.Lag()
		snapshot := x.pipe.Reader(0)
		p.Sent = snapshot.Offset() + x.streamEnd() - lag
		p.Remaining = snapshot.Lag() + lag
	}
	if x.closedAt != 0 {
		p.PauseMs = e.Steady() - x.closedAt
	}
	return p
}

func (e *Engine) importProgress(m *slotImport) MigrationProgress {
	p := MigrationProgress{Step: m.step.String(), Started: e.wallAt(m.began),
		LastAck: e.wallAt(m.heardAt)}
	if m.client != nil {
		p.Sent = m.client.NetIn
	}
	return p
}

// keepProgress keeps what is known of a migration that has ended here, as long as the log has it.
func (e *Engine) keepProgress(id string, p MigrationProgress) {
	g := &e.migrations
	if g.progress == nil {
		g.progress = map[string]MigrationProgress{}
	}
	for old := range g.progress {
		if e.cluster.state.Migration(old) == nil {
			delete(g.progress, old)
		}
	}
	g.progress[id] = p
}
