package engine

import (
	"godwit/internal/acl"
	"godwit/internal/keyspace"
	"godwit/internal/pubsub"
	"godwit/internal/resp"
	"godwit/internal/rounds"
	"godwit/internal/spec"
)

// Conn is what the engine needs of the connection behind a Client. All methods are called with the
// executor held. They must neither wait for the client nor run commands. They may call Commit,
// which comes before replies can leave. A Client without a socket (of a log that is replayed, or of
// scripts) has a nil Conn.
type Conn interface {
	// Flush schedules a write: Client.W got replies outside of the client's own batch.
	Flush()
	// Resume schedules the processing of input that was held back while the client was postponed or
	// blocked.
	Resume()
	// Close ends the connection soon. If Client.CloseAfterReply is set, the replies so far are
	// written first.
	Close()
	// Buffers returns the bytes of unprocessed input, the capacity of the input buffer, and the
	// bytes of replies that have been handed over but not yet written to the socket.
	Buffers() (in, inCap, out int)
	// HeapReplies returns how many bytes of those replies are in Go's heap. The others are in the
	// pool.
	HeapReplies() int
	// Stage returns at most n bytes, and at least one, to be filled with the beginning of replies
	// that are not complete, of which at least more bytes follow. They are written before what
	// Client.W holds at the end. It returns nil if the system refuses memory for them.
	Stage(n, more int) []byte
	// StageInsert puts a copy of b, which is short, before the last n bytes that Stage has
	// returned. Those must be of the running command.
	StageInsert(n int, b []byte)
}

// Class is a client's class for client-output-buffer-limit.
type Class uint8

// The classes.
const (
	ClassNormal Class = iota
	ClassReplica
	ClassPubSub
)

// ReplyMode is the mode that CLIENT REPLY has set.
type ReplyMode uint8

// The reply modes. ReplySkipNext becomes ReplySkip for the command that follows CLIENT REPLY SKIP.
const (
	ReplyOn ReplyMode = iota
	ReplyOff
	ReplySkipNext
	ReplySkip
)

// asking is the state of ASKING.
type asking uint8

const (
	notAsking asking = iota
	asksNext         // ASKING is the running command
	asksNow          // it was the last one
)

// DebugMode is what SCRIPT DEBUG has set for the scripts that a client sends.
type DebugMode uint8

// The modes.
const (
	DebugOff  DebugMode = iota
	DebugFork           // in a process of its own, which changes nothing here
	DebugSync           // in the server, which waits
)

// Client is the logical client: what a command knows of who sent it. It belongs to the executor.
type Client struct {
	// W collects replies; the connection takes W.Buf when it flushes.
	W    resp.Writer
	Conn Conn

	Origin   Origin
	ID       uint64
	Addr     string // "ip:port" or the socket's path followed by ":0"
	LAddr    string
	FD       int
	Unix     bool // connected through the unix socket
	Local    bool // from the loopback interface or the unix socket
	TLS      bool
	Created  int64 // steady ms
	LastUsed int64 // steady ms of the last command or read
	Class    Class

	Name, LibName, LibVer string
	User                  *acl.User // nil: may do all, as the log may
	Authenticated         bool

	Reply     ReplyMode
	Debug     DebugMode
	NoEvict   bool
	NoTouch   bool
	Loop      int  // the event loop that serves it
	Redirects bool // CLIENT CAPA REDIRECT: it understands -REDIRECT
	// ReadOnly is set by READONLY: it reads from a replica of a cluster.
	ReadOnly        bool
	asking          asking
	importSource    bool // CLIENT IMPORT-SOURCE ON
	Internal        bool // DEBUG MARK-INTERNAL-CLIENT
	Monitor         bool
	CloseAfterReply bool
	CloseASAP       bool
	// Leased says that W holds replies that must not leave unless Engine.LeaseHeld. The connection
	// clears it when it takes them.
	Leased bool
	// leasing says the same of the reply to the running command, if it has one now.
	leasing bool

	LastCmd          *spec.Command
	NetIn, NetOut    int64 // bytes
	Commands         int64
	SoftLimitReached int64 // steady ms since when output is over the soft limit, 0 if it is not
	MaxBuf           int   // peak of W.Buf, bytes

	db        *keyspace.DB
	logged    int64       // offset in the append-only file behind the client's last write
	written   int64       // offset in the replication stream, likewise
	replica   *Replica    // nil: the client has sent no REPLCONF
	counted   clientCount // what used memory and maxmemory-clients include for the client
	round     rounds.Member
	postponed bool
	// heldCommand is the number of the last command that the cluster's gate has held back, and
	// refuseAt the steady ms at which it does so no more.
	heldCommand, refuseAt int64
	wait                  *waiter   // what the client is blocked in, nil if it is not
	awaits                *awaiting // the transaction that runs and may wait for other nodes
	sub                   pubsub.Sub[*Client]
	track                 *Tracking    // nil: the client does not track
	woken                 bool         // listed in pushState.woken
	multi                 *multi       // nil outside of MULTI
	held                  *unconfirmed // replies that wait for replicas, nil if there are none

	watched    *watch // the last one; nil if the client watches nothing
	watches    int
	watchIndex map[*watchedKey]struct{} // of the watches, once they are many
	watchDirty bool                     // a watched key has changed

	prev   *Client
	next   *Client
	linked bool
}

// UserName returns the name of the client's user.
func (c *Client) UserName() string {
	if c.User == nil {
		return "(superuser)"
	}
	return c.User.Name
}

// DB returns the selected database.
func (c *Client) DB() *keyspace.DB { return c.db }

// Postponed reports whether CLIENT PAUSE holds back the client's input. The connection must not
// parse more of it until Resume.
func (c *Client) Postponed() bool { return c.postponed }

// SelectDB switches the client to database i, which must exist.
func (e *Engine) SelectDB(c *Client, i int) { c.db = e.KS.DB(i) }

// Clients calls fn for each client in the order they connected until fn returns false.
func (e *Engine) Clients(fn func(c *Client) bool) {
	for c := e.clients.head; c != nil; {
		next := c.next
		if !fn(c) {
			return
		}
		c = next
	}
}

// ClientCount returns the number of connected clients.
func (e *Engine) ClientCount() int { return e.clients.n }

// clientList is an intrusive list of clients in the order in which they connected. CLIENT LIST
// walks it, and removing a client is O(1).
type clientList struct {
	head, tail *Client
	n          int
	byID       map[uint64]*Client
}

func (l *clientList) push(c *Client) {
	c.linked = true
	if l.byID == nil {
		l.byID = map[uint64]*Client{}
	}
	l.byID[c.ID] = c
	c.prev = l.tail
	if l.tail == nil {
		l.head = c
	} else {
		l.tail.next = c
	}
	l.tail = c
	l.n++
}

func (l *clientList) remove(c *Client) {
	c.linked = false
	delete(l.byID, c.ID)
	if c.prev == nil {
		l.head = c.next
	} else {
		c.prev.next = c.next
	}
	if c.next == nil {
		l.tail = c.prev
	} else {
		c.next.prev = c.prev
	}
	c.prev, c.next = nil, nil
	l.n--
}

// ClientByID returns the connected client of that ID, nil if there is none.
func (e *Engine) ClientByID(id uint64) *Client { return e.clients.byID[id] }

// closeSoon closes the client's connection as soon as its loop looks at it.
func (c *Client) closeSoon() {
	c.CloseASAP = true
	if c.Conn != nil {
		c.Conn.Close()
	}
}
