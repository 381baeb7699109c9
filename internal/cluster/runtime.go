// Package cluster is a node of a cluster at work: it drives core.Node in real time.
//
//	               other nodes
//	                 ↑    ↓
//	              ┌─ bus links ─┐
//	messages out  │             │ inbox            PUBLISH of others
//	          ┌───┴─────────────▼───┐                    │
//	  clock ─→│ the loop: core.Node │─ states, answers ─→│ the porter ─→ executor
//	          └───┬─────────────▲───┘                    │
//	         raftlog            └── installed, local ←───┘
//	                            └── Propose, Meet … ←─ executor
//
// The loop is one goroutine that owns core.Node. It never waits for the executor: a long script
// costs neither leadership nor votes. The porter is one goroutine that takes the executor to bring
// what the loop has for the server. While it waits there, states that follow each other become one.
// Only what has been installed is reported as applied.
//
// The lease is an atomic, which the loop renews also while the executor is busy, as long as the log
// has no revocation that the executor has yet to install. It is looked at before replies leave.
package cluster

import (
	"context"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"godwit/internal/cluster/bus"
	"godwit/internal/cluster/core"
	"godwit/internal/cluster/raftlog"
	"godwit/internal/cluster/topology"
	"godwit/internal/crash"
	"godwit/internal/logging"
)

// Host is the server whose data the cluster spreads. All but Between is called within Between.
type Host interface {
	// Between runs f with the executor held, between scripts, and returns when f has run.
	Between(f func())
	// Install makes the server act on a state, as the node self. What follows from it has happened
	// when it returns. s must not be changed.
	Install(s *topology.State, self topology.NodeID)
	// Local returns what the server's data is.
	Local() core.Local
	// Deliver gives a message of another node's PUBLISH, or SPUBLISH, to the subscribers here.
	Deliver(to Audience, channel, message []byte)
}

// Options configure a Runtime.
type Options struct {
	Host Host
	Log  *logging.Logger
	// File is the path of cluster-config-file.
	File string
	// About is what the node tells of itself. Without an IP it is learnt from the links.
	About topology.About
	// Timeout is cluster-node-timeout, for a cluster that the node founds.
	Timeout time.Duration
	// Now reads CLOCK_BOOTTIME, in nanoseconds.
	Now func() int64
	// NewID returns 40 random hexadecimal digits.
	NewID func() string

	// The following are for the bus: see bus.Options.
	Dial         func(ctx context.Context, addr string) (net.Conn, error)
	Wrap         func(net.Conn) net.Conn
	Verified     bool
	Secret       string
	QueueLimit   int64
	MessageLimit int64

	// Storage replaces the file, for tests.
	Storage core.Storage
	// SnapshotEvery is core.Config's.
	SnapshotEvery uint64
}

// Runtime is a node of a cluster. Methods may be called by any goroutine, and do not block unless
// they say so.
type Runtime struct {
	o    Options
	log  *logging.Logger
	bus  *bus.Bus
	file *raftlog.Log // nil in tests

	inbox  chan received
	wake   chan struct{} // one slot: there are commands
	stop   chan struct{} // closed by Close
	ending sync.Once
	loop   sync.WaitGroup
	porter porter

	mu       sync.Mutex
	commands []func(now int64)

	// What others read at any time.
	lease  atomic.Int64
	hears  atomic.Bool
	status atomic.Pointer[core.Status]
	shard  atomic.Pointer[map[string]bool] // the other nodes of this node's shard

	// The following belong to the loop.
	node    *core.Node
	about   topology.About // as configured
	ip      string         // as learnt
	looked  int64          // when the machine's addresses were last looked at
	peers   map[string]string
	moved   map[topology.NodeID]movedNode
	news    news
	heard   int64 // when the leader last spoke
	timeout time.Duration
}

// received is a message of another node.
type received struct {
	from bus.Peer
	data []byte
}

// inboxLen is how many messages wait for the loop before links are read no more.
const inboxLen = 1024

// Start starts the node from its file, or as a new cluster if there is none. Errors say why it must
// not start. The first state is installed soon.
func Start(o Options) (*Runtime, error) {
	r := &Runtime{o: o, log: o.Log, about: o.About, inbox: make(chan received, inboxLen),
		moved: map[topology.NodeID]movedNode{},
		wake:  make(chan struct{}, 1), stop: make(chan struct{})}
	storage := o.Storage
	if storage == nil {
		var err error
		if r.file, err = raftlog.Open(o.File); err != nil {
			return nil, err
		}
		storage = r.file
	}
	fresh := &freshness{Storage: storage}
	var err error
	r.node, err = core.New(o.Now(), core.Config{About: o.About, Timeout: o.Timeout,
		SnapshotEvery: o.SnapshotEvery, Storage: fresh, NewID: o.NewID,
		Linked: func(id topology.NodeID) (topology.Address, bool) {
			return addressOf(r.bus.Linked(string(id)))
		},
		Log: func(text string) { r.log.Notice("%s", text) }})
	if err != nil {
		r.closeFile()
		return nil, err
	}
	r.news.log = r.log
	r.timeout = r.nodeTimeout()
	r.bus = bus.New(string(r.node.ID()), bus.Options{Receive: r.receive, Failed: r.unreached,
		Boot: r.node.Status().Boot, Dial: o.Dial, Wrap: o.Wrap, Verified: o.Verified, Log: o.Log,
		Timeout: r.timeout})
	r.bus.SetSecret(o.Secret)
	r.bus.SetQueueLimit(o.QueueLimit)
	r.bus.SetMessageLimit(o.MessageLimit)
	r.porter.init(r)
	if fresh.fresh {
		r.log.Notice("No cluster configuration found, I'm %s", r.node.ID())
	} else {
		r.log.Notice("Node configuration loaded, I'm %s", r.node.ID())
		if r.timeout != o.Timeout {
			r.log.Notice("The node timeout of the cluster is %v, not %v as the configuration "+
				"has it. CONFIG SET cluster-node-timeout changes it, for all nodes", r.timeout,
				o.Timeout)
		}
	}
	r.settle()
	r.loop.Go(func() {
		defer crash.Guard("cluster node")()
		r.run()
	})
	r.porter.running.Go(func() {
		defer crash.Guard("states of the cluster")()
		r.porter.run()
	})
	return r, nil
}

// freshness notes whether a Storage had anything.
type freshness struct {
	core.Storage
	fresh bool
}

// Load implements core.Storage.
func (f *freshness) Load() (core.Saved, error) {
	s, err := f.Storage.Load()
	f.fresh = s.Meta == nil
	return s, err
}

// InstallFirst installs the state that the file holds, for a server that is about to serve clients.
// The executor must be held.
func (r *Runtime) InstallFirst() { r.porter.carry() }

// Serve accepts links of other nodes until the listener or the node is closed.
func (r *Runtime) Serve(ln net.Listener) error { return r.bus.Serve(ln) }

// Resign hands the leadership to another node if this one has it. It blocks until that is done, for
// a second at most. Close should follow.
func (r *Runtime) Resign() {
	s := r.status.Load()
	if s.Role != "leader" || len(s.Voters) < 2 {
		return
	}
	r.do(func(now int64) { r.node.Resign(now) })
	for end := time.Now().Add(time.Second); time.Now().Before(end); time.Sleep(resignPoll) {
		if r.status.Load().Role != "leader" {
			return
		}
	}
}

const resignPoll = 2 * time.Millisecond

// Close stops the node. It blocks until nothing of it runs any more, so the executor must not be
// held.
func (r *Runtime) Close() {
	r.ending.Do(func() {
		close(r.stop)
		r.porter.close()
		r.bus.Close()
		r.loop.Wait()
		r.porter.running.Wait()
		r.lease.Store(0)
		r.closeFile()
	})
}

func (r *Runtime) closeFile() {
	if r.file == nil {
		return
	}
	if err := r.file.Close(); err != nil {
		r.log.Warning("Closing the cluster configuration file: %s", err)
	}
}

// do has the loop run f.
func (r *Runtime) do(f func(now int64)) {
	r.mu.Lock()
	r.commands = append(r.commands, f)
	r.mu.Unlock()
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// Propose wants an entry to be applied by all nodes. done is called within Host.Between: with ""
// when this server acts on it, or with the error reply.
func (r *Runtime) Propose(op topology.Op, done func(refusal string)) {
	r.do(func(now int64) { r.node.Propose(now, op, done) })
}

// Meet makes this node's cluster and that of the node at an address one. done is called as
// Propose's.
func (r *Runtime) Meet(at topology.Address, done func(refusal string)) {
	r.do(func(now int64) { r.node.Meet(now, at, done) })
}

// Failover wants this replica to be promoted within a time. done is called as Propose's, when the
// leader has taken the wish or refused it. The executor must be held: the leader is told first what
// the replica has at this moment.
func (r *Runtime) Failover(mode core.FailoverMode, limit time.Duration,
	done func(refusal string)) {
	local := r.o.Host.Local()
	r.do(func(now int64) {
		r.node.SetLocal(local)
		r.node.Failover(now, mode, int64(limit), done)
	})
}

// Reset makes the node leave its cluster, and with hard forget its id. done is called as Propose's.
func (r *Runtime) Reset(hard bool, done func(refusal string)) {
	r.do(func(now int64) { r.node.Reset(now, hard, done) })
}

// SetAbout changes what the node tells of itself.
func (r *Runtime) SetAbout(a topology.About) {
	r.do(func(now int64) {
		r.about = a
		r.node.SetAbout(now, r.aboutNow())
	})
}

// SetSecret changes cluster-secret for links that open from now on.
func (r *Runtime) SetSecret(secret string) { r.bus.SetSecret(secret) }

// SetVerified changes Options.Verified for links that open from now on.
func (r *Runtime) SetVerified(on bool) { r.bus.SetVerified(on) }

// SetLimits changes how many bytes may wait for another node, and how long a message of PUBLISH may
// be.
func (r *Runtime) SetLimits(queue, message int64) {
	r.bus.SetQueueLimit(queue)
	r.bus.SetMessageLimit(message)
}

// Report tells the others what Host.Local is at this moment. The executor must be held, and may be
// held for long after that.
func (r *Runtime) Report() {
	local := r.o.Host.Local()
	r.do(func(now int64) {
		r.node.SetLocal(local)
		r.node.Tick(now)
	})
}

// Lease returns the CLOCK_BOOTTIME, in ns, until which this node may confirm writes, 0 if it may
// not.
func (r *Runtime) Lease() int64 { return r.lease.Load() }

// Hears reports whether the node hears of a majority: it leads, or its leader has spoken within the
// node timeout.
func (r *Runtime) Hears() bool { return r.hears.Load() }

// Status returns where the node is in the Raft group. It must not be changed.
func (r *Runtime) Status() *core.Status { return r.status.Load() }

// Links returns the open links to and from other nodes.
func (r *Runtime) Links() []bus.Link { return r.bus.Links() }

// String returns the node's id, for tests and logs.
func (r *Runtime) String() string { return fmt.Sprintf("node %s", r.bus.Self()) }
