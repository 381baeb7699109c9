package engine

import (
	"godwit/internal/object"
	"godwit/internal/spec"
)

// blocking is everything about clients that wait for keys.
//
// A handler that finds nothing to do its work with calls Ctx.Block. That parks the client: its
// command is copied into a waiter, which queues up at each of its keys, and the connection offers
// no further input. When a key appears (Ready), or when it changes or goes (KeyChanged), or a
// command says that something has happened to it (Ctx.Happened), and one of its waiters wants to
// know, its queue is noted with what has happened.
//
// After the command, transaction, script or slice that did it, the notes are worked off in order.
// A queue consists of lines. All in a line wait for the same: one type, the same events, and maybe
// the same group of rivals. Each line is served from its oldest waiter on, if it waits for what has
// happened, and the lines together in the order in which their waiters came. A handler runs again
// with the copied arguments, and either replies, which ends the wait, or blocks again, which
// changes nothing.
//
//	dbs[0]["jobs"] → waitQueue → waitLine   head → waitNode ⇄ waitNode ← tail   oldest first
//	                     │                            │         │
//	                     └─────→ waitLine      head → waitNode  │                XREADGROUP
//	                                                            │
//	dbs[0]["mail"] → waitQueue → waitLine   head → waitNode     │                BLPOP jobs mail
//	                                                  │         │
//	                            Client.wait →       waiter    waiter
//
// Rivals compete for what a key holds: consumers of one group of a stream. If one of them blocks
// again, nothing is left for those behind it, and they do not run. So a line of thousands costs as
// much as the few who get something, and one more.
//
// Invariants:
//   - Client.wait is nil unless the client waits. A waiter is in a line of every one of its keys,
//     once, for as long as it waits.
//   - A line is in its queue while it has waiters. A queue is in the map while it has lines or is
//     noted as ready.
//   - Serving never recurses: a key that a served command fills (BLMOVE) is noted at the end, and
//     its waiters come in the same turn.
//
// Blocking, serving, a timeout and a disconnect cost O(keys of the command), and O(log N) of N
// deadlines for those that have one. Waiting costs nothing: there is no polling, the loops sleep
// until the first deadline. While nobody waits, a new key costs one comparison; so does a change
// while all wait for arrivals only.
//
// The order is that of Redis 7.2, where the command is processed again too: a client that waits for
// several keys is served from the first in the order of its arguments, even if a later one was
// filled earlier in the same transaction.
type blocking struct {
	n         int                     // clients
	types     [object.NumTypes]int    // clients by the type they wait for
	wide      int                     // clients that wait for more than WaitArrival
	timed     int                     // clients that wait until a deadline
	dbs       []map[string]*waitQueue // by number of database, made when first needed
	queues    int                     // queues with waiters
	wideKeys  int                     // queues with waiters for more than WaitArrival
	ready     []*waitQueue            // in the order in which they became ready
	paused    []*waitQueue            // ready, but CLIENT PAUSE forbids to serve them
	walk      []*waitLine             // scratch of serveQueue
	serving   bool
	deadlines deadlines
	seq       uint64
	bytes     int64     // of the queues
	syncs     []*waiter // for the append-only file; some may have ended
	acks      []*waiter // for replicas; likewise
}

// waiter is a client that waits, with its command.
type waiter struct {
	client    *Client
	cmd       *spec.Command
	args      [][]byte // a copy, for later runs
	size      int64    // of args and all else that the wait takes, bytes
	t         object.Type
	events    WaitEvents
	seq       uint64 // waiters are numbered as they begin to wait
	nodes     []waitNode
	deadline  deadline
	nanos     int64 // that runs of the command have taken so far
	onTimeout func(*Ctx)
}

const (
	waiterBytes = 136 // a waiter without arguments and nodes
	nodeBytes   = 32
)

// MayBlock reports whether the client may be made to wait. If not, a handler that finds nothing
// replies as if the time was up.
func (c *Ctx) MayBlock() bool { return c.Client.Origin == OriginConnection && !c.noBlock }

// WaitEvents are the events of a key for which a waiting command runs again.
type WaitEvents uint8

const (
	// WaitArrival: a value of the type has come to the key, where none was or another one. Or the
	// value that is there has got what others wait for: an entry of a stream.
	WaitArrival WaitEvents = 1 << iota
	// WaitChange: the key has changed, its arrival included, and holds a value of the type.
	WaitChange
	// WaitLoss: the key has changed and holds no value of the type any more. It was deleted,
	// expired, evicted, flushed, renamed, swapped away, or replaced by a value of another type. Or
	// the value that is there has lost what its readers need: a group of a stream.
	WaitLoss
	// WaitDue: the time Wait.Due has come, or has to be found anew.
	WaitDue
)

// Wait says what a client waits for.
type Wait struct {
	Keys   [][]byte    // of the client's database; one may be there several times
	Type   object.Type // of the value that the command needs
	Events WaitEvents  // 0 is WaitArrival
	// Rivals names those who compete for what is at the keys, nil if nobody does. If a run blocks,
	// a run of those who came later, with equal Rivals, Type and Events, must block as well.
	Rivals []byte
	// Due is the time by the steady clock in ms from which on the command will find something, 0
	// for never. Each run that blocks says it anew. Events must have WaitDue.
	Due int64
	// Args are the arguments of the later runs, nil for those of the first. A handler that has
	// resolved one ("from now on") puts what it means in its place.
	Args      [][]byte
	Deadline  int64      // by the steady clock in ms, 0 for none
	OnTimeout func(*Ctx) // replies when the deadline has passed
}

// Waits reports whether the client is blocked in a command. The connection keeps its further input
// until Resume.
func (c *Client) Waits() bool { return c.wait != nil }

// WaitingArgs returns the arguments of the command that the client waits in, nil if it does not.
// They must not be changed.
func (c *Client) WaitingArgs() [][]byte {
	if c.wait == nil {
		return nil
	}
	return c.wait.args
}

// TimedClients returns the number of clients that wait for keys until a deadline.
func (e *Engine) TimedClients() int { return e.blocking.timed }

// BlockingKeys returns the number of keys that clients wait for.
func (e *Engine) BlockingKeys() int { return e.blocking.queues }

// BlockingKeysOnLoss returns the number of keys whose loss ends a wait.
func (e *Engine) BlockingKeysOnLoss() int { return e.blocking.wideKeys }

// waitQueue is the clients that wait for one key.
type waitQueue struct {
	db       int
	key      []byte
	seq      uint64 // queues of a database are numbered as they begin
	lines    []*waitLine
	own      waitLine     // one of lines: nearly all queues have no other
	slot     [1]*waitLine // what lines begins in
	ready    bool         // noted in blocking.ready or blocking.paused
	happened WaitEvents   // since it was served last
	wide     int32        // waiters that wait for more than WaitArrival
}

// waitLine is those who wait for the same at one key, oldest first.
type waitLine struct {
	q          *waitQueue
	t          object.Type
	events     WaitEvents
	rivals     []byte // nil: whatever one finds, the next may find something too
	head, tail *waitNode
	next       *waitNode // where serveQueue goes on; kept right while nodes leave
	due        deadline
}

// waitNode is a client's place in one line.
type waitNode struct {
	w          *waiter
	l          *waitLine
	prev, next *waitNode
}

// deadline is the end of a client's wait, or the time at which a line finds something. It is in
// deadlines while at is not 0.
type deadline struct {
	at    int64 // steady ms
	index int
	w     *waiter   // whose wait ends, or
	l     *waitLine // which is served
}

// deadlines is a heap, the first to come on top.
type deadlines []*deadline
