package sim

import (
	"container/heap"
	"crypto/rand"
	"fmt"
	"hash/fnv"
	"io"
	mathrand "math/rand/v2"
	"strings"
	"time"

	"godwit/internal/cluster/core"
	"godwit/internal/cluster/topology"
)

// Timeout is the node timeout of all runs.
const Timeout = time.Second

// Options say what a run is like. Zero fields are drawn from the seed.
type Options struct {
	Seed    uint64
	Nodes   int
	Confirm int           // min-replicas-to-ack, -1: 0
	Chaos   time.Duration // how long faults last
	Debug   core.Debug    // rules to break
	// LastingLinks breaks a rule: masters keep the links of replicas from one term to the next.
	LastingLinks bool
	// StaleClock breaks another one: messages that came while the loop waited for the disk get the
	// time at which it began to wait.
	StaleClock bool
	// KeepsHalf has masters say that half imports are deleted, and keep them. ServesHalf has them
	// serve slots with half an import in them.
	KeepsHalf, ServesHalf bool

	Verbose bool // keep the trace
	Settled bool // replicas move to no other shard by themselves
	Calm    bool // replicas ask their masters rarely: the cluster alone is measured
}

// World is one run.
type World struct {
	opt    Options
	rng    *mathrand.Rand
	now    int64 // true time, ns
	seq    uint64
	queue  events
	hosts  []*host
	net    network
	hash   uint64 // of all that has happened
	trace  []string
	writes uint32 // the last write's number
	uids   uint32
	conns  uint64 // the last link's number
	check  checker
	// failure ends the run.
	failure string
	stats   Stats
	calm    bool // no faults are made any more
}

// Stats count what a run has seen, so that a test can tell that it saw something.
type Stats struct {
	Events, Confirmed, Promotions, Crashes int
	Joins, Moves, Migrations, Elections    int
	Deaf                                   int // heartbeats that were lost alone
	Handovers                              int // by masters that stopped
}

// event is something that happens at a time.
type event struct {
	at  int64
	seq uint64
	do  func()
}

type events []event

func (q events) Len() int { return len(q) }
func (q events) Less(i, j int) bool {
	return q[i].at < q[j].at || q[i].at == q[j].at && q[i].seq < q[j].seq
}
func (q events) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *events) Push(x any)   { *q = append(*q, x.(event)) }
func (q *events) Pop() any {
	old := *q
	e := old[len(old)-1]
	old[len(old)-1] = event{}
	*q = old[:len(old)-1]
	return e
}

// after runs do when d has passed.
func (w *World) after(d int64, do func()) {
	w.seq++
	heap.Push(&w.queue, event{w.now + max(d, 1), w.seq, do})
}

// between returns a random span of time.
func (w *World) between(a, b time.Duration) int64 {
	return int64(a) + w.rng.Int64N(int64(b-a)+1)
}

// chance reports true with the probability p.
func (w *World) chance(p float64) bool { return w.rng.Float64() < p }

// note adds a line to the trace.
func (w *World) note(format string, args ...any) {
	if w.opt.Verbose {
		line := fmt.Sprintf("%9.3f ", float64(w.now)/1e6) + fmt.Sprintf(format, args...)
		w.trace = append(w.trace, line)
	}
}

// mix adds bytes to the hash of the run.
func (w *World) mix(kind byte, b []byte) {
	h := fnv.New64a()
	h.Write([]byte{kind, byte(w.hash), byte(w.hash >> 8), byte(w.hash >> 16), byte(w.hash >> 24),
		byte(w.hash >> 32), byte(w.hash >> 40), byte(w.hash >> 48), byte(w.hash >> 56),
		byte(w.now), byte(w.now >> 8), byte(w.now >> 16), byte(w.now >> 24), byte(w.now >> 32)})
	h.Write(b)
	w.hash = h.Sum64()
}

// fail ends the run: a rule was broken.
func (w *World) fail(format string, args ...any) {
	if w.failure == "" {
		w.failure = fmt.Sprintf(format, args...)
		w.note("FAILURE: %s", w.failure)
	}
}

// newID returns 40 random hexadecimal digits.
func (w *World) newID() string {
	return fmt.Sprintf("%016x%016x%08x", w.rng.Uint64(), w.rng.Uint64(), w.rng.Uint32())
}

// seeded is the source of raft's election timeouts.
type seeded struct{ *mathrand.ChaCha8 }

var _ io.Reader = seeded{}

// Result is what came of a run.
type Result struct {
	Failure string // the rule that was broken, "" if none was
	Hash    uint64 // of everything that happened
	Trace   []string
	Stats   Stats
}

// String returns the trace and the failure.
func (r Result) String() string {
	return strings.Join(r.Trace, "\n") + "\n" + r.Failure
}

// Run runs one world. It replaces crypto/rand.Reader, so there may be one at a time.
func Run(opt Options) Result {
	return runWorld(opt, (*World).run)
}

// runWorld makes a world, starts its machines and runs a story in it.
func runWorld(opt Options, story func(*World)) Result {
	var key [32]byte
	for i := range 8 {
		key[i] = byte(opt.Seed >> (8 * i))
	}
	source := mathrand.NewChaCha8(key)
	key[31] = 1
	before := rand.Reader
	rand.Reader = seeded{mathrand.NewChaCha8(key)}
	defer func() { rand.Reader = before }()
	w := &World{opt: opt, rng: mathrand.New(source)}
	w.prepare()
	for _, h := range w.hosts {
		h.start()
	}
	story(w)
	return Result{w.failure, w.hash, w.trace, w.stats}
}

// prepare draws what the options leave open, and makes the machines.
func (w *World) prepare() {
	if w.opt.Nodes == 0 {
		w.opt.Nodes = 3 + w.rng.IntN(7)
		if w.opt.Nodes > 6 {
			w.opt.Nodes = 3 + w.rng.IntN(7)
		}
	}
	if w.opt.Confirm == 0 {
		w.opt.Confirm = w.rng.IntN(3)
	}
	w.opt.Confirm = max(0, w.opt.Confirm)
	if w.opt.Chaos == 0 {
		w.opt.Chaos = time.Duration(w.between(5*time.Second, 20*time.Second))
	}
	w.net.init(w)
	w.check.init(w)
	for i := range w.opt.Nodes {
		w.hosts = append(w.hosts, newHost(w, i))
	}
}

// step runs the next event.
func (w *World) step() {
	e := heap.Pop(&w.queue).(event)
	w.now = e.at
	w.stats.Events++
	e.do()
	w.check.step()
}

// runFor lets time pass.
func (w *World) runFor(d time.Duration) {
	end := w.now + int64(d)
	for w.failure == "" && len(w.queue) > 0 && w.queue[0].at <= end {
		w.step()
	}
	w.now = max(w.now, end)
}

// runUntil lets time pass until a condition holds, and reports whether it came to that.
func (w *World) runUntil(d time.Duration, holds func() bool) bool {
	end := w.now + int64(d)
	for w.failure == "" && len(w.queue) > 0 && w.queue[0].at <= end {
		w.step()
		if w.stats.Events%16 == 0 && holds() {
			return true
		}
	}
	return holds()
}

// run builds a cluster, lets it suffer, heals it and looks whether it recovers.
func (w *World) run() {
	w.build()
	if w.failure != "" {
		return
	}
	w.note("chaos begins")
	w.clients()
	w.faults()
	w.admins()
	w.runFor(w.opt.Chaos)
	w.heal()
	if w.failure == "" {
		w.recovers()
	}
	if w.failure == "" {
		w.obeys()
	}
}

// accepts reports whether some node may confirm writes to a range.
func (w *World) accepts(r int) bool {
	for _, h := range w.hosts {
		if h.server.able(r) {
			return true
		}
	}
	return false
}

// leader returns the machine that leads, nil if none does.
func (w *World) leader() *host {
	for _, h := range w.hosts {
		if h.node != nil && h.node.Leads() {
			return h
		}
	}
	return nil
}

// name returns a short name of a node for the trace.
func (w *World) name(id topology.NodeID) string {
	if id == "" {
		return "nobody"
	}
	for _, h := range w.hosts {
		if h.id == id {
			return h.String()
		}
	}
	return string(id[:min(6, len(id))])
}
