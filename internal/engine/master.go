package engine

import (
	"sync/atomic"
	"time"

	"godwit/internal/backlog"
	"godwit/internal/slot"
	"godwit/internal/upstream"
)

// Master is the server that this one copies, and the state of the link to it.
//
//	connect → connecting → handshake ─┬─────────────→ connected
//	   ↑           │            │     └→ sync (full) ─→   │
//	   └───────────┴────────────┴───────── ┴──────────────┘  the link fails; a pause; again
//
// An attempt (LinkAttempt) leads from connect to connected. The server runs it beside the executor.
// Then the connection is a Client of OriginMaster like any other, which an event loop reads.
//
// How far this server is in the master's history is what replication knows: its id and offset. They
// count whole units: a command, or a transaction up to its EXEC. What is cut off in the middle of a
// unit has changed nothing, and comes again.
type Master struct {
	Host string
	Port int

	state   LinkState
	attempt *LinkAttempt // that runs, nil if none does
	client  *Client      // that applies the stream, nil unless connected

	cached  bool   // the data set is a place of a history: a master may go on from there
	old     bool   // the master knows no offsets: nothing is acknowledged
	db      int    // what the stream has selected
	pending []byte // of a transaction whose EXEC has not come

	kept     *backlog.Pipe // of the stream, from a full synchronization on, nil once it is applied
	keptPeak int64         // bytes
	oneLine  bool          // the next attempt does without an RDB channel

	full       bool  // the link began with a full synchronization
	odd        bool  // the stream was not what a master sends
	failures   int   // in a row
	refusals   int   // by a node of the cluster that knows another topology, in a row
	retryAt    int64 // steady ms
	downSince  int64 // steady ms; when the link was lost, 0 if there was none
	upSince    int64 // steady ms
	lastIO     int64 // steady ms, while the link is down
	downMs     int64 // in all, but for the present time
	cronAt     int64 // steady ms
	ackedAt    int64 // steady ms
	attempts   int64 // of the present synchronization
	attemptsAt int64 // in all

	fack  fackState
	local localKeys // see there

	followed *Followed // nil unless it is a master of another cluster
}

// Followed is a shard of another cluster that this node copies (CLUSTER FOLLOW). The node is the
// master of its own shard meanwhile, owns no slots, and passes what it gets on to its replicas.
type Followed struct {
	Slots          slot.Set // of the shard: keys of other slots end it
	User, Password string   // for AUTH at the master; without a password there is none
	TLS            bool     // the link uses TLS

	fault  string // why there is no link, "" while there is one
	over   bool   // it has ended with the fault, and nobody tries again
	errors int64  // Stats.UnexpectedErrors when the link began
}

// Followed returns the shard of another cluster that the master has, nil if it is none of these.
func (m *Master) Followed() *Followed { return m.followed }

// Fault returns why the shard is not followed at present, "" if it is. over says that it will not
// be again.
func (f *Followed) Fault() (why string, over bool) { return f.fault, f.over }

// localKeys are keys that clients of a writable replica have changed. On a replica, time hides keys
// and does not delete them, because the master says when they go. But the master does not know of
// deadlines that were set here: these keys expire by the replica's own clock.
type localKeys map[localKey]struct{}

type localKey struct {
	db  int
	key string
}

// fackState is what is known of the log and the disk: the offset up to which the log is synced is
// found by marks, one at a time.
type fackState struct {
	synced int64 // replication offset
	mark   int64 // the next one
	log    int64 // the log's offset at the mark
	marked bool
}

// LinkState is the state of the link to the master, as ROLE shows it.
type LinkState uint8

// The states.
const (
	LinkConnect LinkState = iota
	LinkConnecting
	LinkHandshake
	LinkSync
	LinkConnected
)

// String returns the word that ROLE has for the state.
func (s LinkState) String() string {
	return [...]string{"connect", "connecting", "handshake", "sync", "connected"}[s]
}

// LinkState returns how far the link is.
func (m *Master) LinkState() LinkState { return m.state }

// LinkAttempt is one try to link up with the master. The server runs it on a goroutine of its own
// (Engine.LinkMaster). What it is told does not change. Its methods are called with the executor
// held, unless noted.
type LinkAttempt struct {
	Dial    DialOptions
	Hello   upstream.Hello
	Timeout time.Duration // repl-timeout
	// Progress may be read and written by everybody.
	Progress SyncProgress
	// Close ends the connection, so that the goroutine fails soon. The server sets it.
	Close func()
	// Kept is what the stream brings during a full synchronization, nil if it does not come over
	// two connections. The server sets it. It keeps at most about KeepLimit bytes.
	Kept      *backlog.Pipe
	KeepLimit int64
	// MaxRecord is the most bytes that a record of the RDB file may have.
	MaxRecord int64

	e      *Engine
	master *Master
	began  int64 // steady ms
	answer upstream.Answer
	db     int // what the stream has selected behind the RDB file
}

// SyncProgress says how much of an RDB file has been received.
type SyncProgress struct {
	Total  atomic.Int64 // bytes, 0 if the master does not know
	Read   atomic.Int64 // bytes
	LastIO atomic.Int64 // ms after the beginning of the attempt
}
