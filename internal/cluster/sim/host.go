package sim

import (
	"fmt"

	"godwit/internal/cluster/core"
	"godwit/internal/cluster/topology"
)

// host is a machine with one node. Its process has two threads, as the real one has. The loop gives
// messages and ticks to core.Node, and waits for the disk. The executor is the server's: it takes
// states and answers in their order, and may be busy with a script.
type host struct {
	w       *World
	index   int
	id      topology.NodeID
	renamed bool       // it has had another id
	node    *core.Node // nil while the process does not run
	disk    disk
	life    int    // counts its processes
	boot    uint64 // of the node
	// rate and skew make the machine's clock of true time.
	rate float64
	skew int64
	// stopped says that the process is stopped (SIGSTOP), saving that the loop waits for the disk.
	// What arrives then waits in box. began is when the loop began to wait, by the machine's clock.
	stopped, saving bool
	box             []func()
	began           int64
	dying           bool // the machine is about to crash: the process must do nothing more
	server          server
	leads           bool
	lease           int64      // as the server sees it
	local           core.Local // as the loop sees it, once the server has reported
	reported        bool
	// The executor is busy until script. jobs wait for it. taken is when the last one that is on
	// its way to it gets there.
	script, taken int64
	jobs          []func()
}

func newHost(w *World, i int) *host {
	h := &host{w: w, index: i, rate: 1 + (w.rng.Float64()*2-1)*0.02,
		skew: w.rng.Int64N(1 << 45)}
	h.disk.h = h
	h.server.init(h)
	return h
}

func (h *host) String() string { return fmt.Sprintf("n%d", h.index) }

// clock returns the machine's CLOCK_BOOTTIME.
func (h *host) clock() int64 { return h.skew + int64(float64(h.w.now)*h.rate) }

func (h *host) about() topology.About {
	return topology.About{Address: topology.Address{IP: "127.0.0.1", Port: 7000 + h.index,
		BusPort: 17000 + h.index}, Barrier: 1, Settled: h.w.opt.Settled}
}

// start starts the process.
func (h *host) start() {
	h.life++
	h.reset()
	node, err := core.New(h.clock(), core.Config{About: h.about(), Timeout: Timeout,
		SnapshotEvery: 20 + h.w.rng.Uint64N(40), Storage: &h.disk, NewID: h.w.newID,
		Log: func(s string) { h.w.note("%v says: %s", h, s) }, Debug: h.w.opt.Debug})
	if err != nil {
		if !h.disk.full && !h.dying {
			h.w.fail("%v does not start: %v", h, err)
		}
		return
	}
	h.node, h.id, h.boot = node, node.ID(), node.Status().Boot
	h.w.note("%v starts, life %d", h, h.life)
	h.server.start()
	h.tick(h.life)
	h.act(func() {})
}

// reset forgets what a process has.
func (h *host) reset() {
	h.stopped, h.saving, h.dying, h.began, h.lease = false, false, false, 0, 0
	h.box, h.jobs, h.script, h.disk.took, h.reported = nil, nil, 0, 0, false
}

// crash ends the process. Its disk keeps what was saved, its data what the server had synced.
func (h *host) crash() {
	if h.node == nil {
		return
	}
	h.w.note("%v crashes", h)
	h.w.stats.Crashes++
	h.node = nil
	h.reset()
	h.server.crash()
	h.w.check.crashed(h)
}

// pause stops the process for a while.
func (h *host) pause(d int64) {
	if h.node == nil || h.stopped {
		return
	}
	h.w.note("%v is stopped for %.0f ms", h, float64(d)/1e6)
	h.stopped = true
	life := h.life
	h.w.after(d, func() {
		if h.life == life && h.stopped {
			h.w.note("%v goes on", h)
			h.goOn()
		}
	})
}

// goOn ends a pause.
func (h *host) goOn() {
	h.stopped = false
	if !h.saving {
		h.drain()
		h.unbox()
	}
	h.wake()
}

// inbox has the loop do something: at once, unless it waits.
func (h *host) inbox(do func()) {
	switch {
	case h.node == nil:
	case h.stopped || h.saving:
		if len(h.box) < maxBox {
			h.box = append(h.box, do)
		}
	default:
		h.act(do)
	}
}

// maxBox bounds what waits for a thread.
const maxBox = 5000

// unbox has the loop do what has waited, one after the other, until one makes it wait again.
func (h *host) unbox() {
	box := h.box
	h.box = nil
	for _, do := range box {
		h.inbox(do)
	}
	if !h.saving {
		h.began = 0
	}
}

// heard returns the time at which the loop takes a message.
func (h *host) heard() int64 {
	if h.w.opt.StaleClock && h.began > 0 {
		return h.began
	}
	return h.clock()
}

// run has the executor do something: at once, unless it is busy.
func (h *host) run(do func()) {
	switch {
	case h.node == nil:
	case h.stopped || h.w.now < h.script:
		if len(h.jobs) < maxBox {
			h.jobs = append(h.jobs, do)
		}
	default:
		do()
	}
}

// busy has the executor run a script for a while.
func (h *host) busy(d int64) {
	if h.node == nil || h.w.now < h.script {
		return
	}
	h.w.note("the executor of %v is busy for %.0f ms", h, float64(d)/1e6)
	h.script = h.w.now + d
	life := h.life
	h.w.after(d, func() {
		if h.life == life {
			h.wake()
		}
	})
}

// wake has the executor do what has waited, when it can.
func (h *host) wake() {
	if h.stopped || h.w.now < h.script {
		return
	}
	jobs := h.jobs
	h.jobs = nil
	for _, do := range jobs {
		h.run(do)
	}
}

// later has the executor do something after some time, if the process is still the same one.
func (h *host) later(d int64, do func()) {
	life := h.life
	h.w.after(d, func() {
		if h.life == life {
			h.run(do)
		}
	})
}

// tick lets the node's time pass.
func (h *host) tick(life int) {
	every := int64(Timeout)
	if ms := h.node.State().Timeout; ms > 0 {
		every = ms * 1e6
	}
	h.w.after(every/50, func() {
		if h.life != life || h.node == nil {
			return
		}
		h.run(h.report)
		if !h.stopped && !h.saving {
			h.act(func() { h.node.Tick(h.clock()) })
		}
		if h.node != nil {
			h.tick(life)
		}
	})
}

// report notes what the server has, for the loop. It runs on the executor.
func (h *host) report() { h.local, h.reported = h.server.local(), true }

// act runs something on the loop, then does what the node wants done: when the disk is ready, if it
// was needed.
func (h *host) act(do func()) {
	if h.node == nil {
		return
	}
	led, began := h.leads, h.clock()
	if h.reported {
		h.node.SetLocal(h.local)
	}
	do()
	if h.node == nil { // it was told to stop, and has at once
		return
	}
	if h.leads = h.node.Leads(); h.leads && !led {
		h.w.stats.Elections++
		h.w.note("%v leads", h)
	}
	d := h.disk.took
	h.disk.took = 0
	if d == 0 || h.dying {
		h.drain()
		return
	}
	h.saving = true
	if h.began == 0 {
		h.began = began
	}
	life := h.life
	h.w.after(d, func() {
		if h.life != life || !h.saving {
			return
		}
		h.saving = false
		if !h.stopped {
			h.drain()
			h.unbox()
		}
	})
}

// drain carries out the node's output.
func (h *host) drain() {
	for h.node != nil {
		if h.dying {
			h.crash()
			return
		}
		o := h.node.Output()
		h.lease = h.node.Lease()
		if len(o.Messages)+len(o.Answers) == 0 && o.State == nil {
			return
		}
		if id := h.node.ID(); id != h.id {
			h.renamed = h.renamed || h.id != ""
			h.id = id
		}
		for _, m := range o.Messages {
			h.send(m)
		}
		if o.State != nil {
			h.w.check.agreed(h, o.State)
		}
		// The executor takes things in order.
		h.taken = max(h.taken, h.w.now+h.w.between(0, Timeout/200))
		h.later(h.taken-h.w.now, func() {
			if o.State != nil {
				h.server.install(o.State)
			}
			for _, a := range o.Answers {
				a.Done(a.Refusal)
			}
		})
	}
}

func (h *host) send(m core.Message) {
	h.w.mix('m', m.Data)
	to := h.w.net.find(m.To, m.At)
	if to == nil {
		return
	}
	if h.w.now < h.w.net.deaf && isHeartbeat(m.Data) {
		h.w.stats.Deaf++
		return
	}
	h.w.net.sent++
	h.w.net.bytes[h] += len(m.Data)
	from := h.id
	h.w.net.send(h, to, func() {
		to.inbox(func() {
			err := to.node.Receive(to.heard(), from, m.Data)
			// What a node said before CLUSTER RESET HARD, and sends after it, is refused.
			if err != nil && !h.renamed {
				h.w.fail("%v refuses a frame of %v: %v", to, h, err)
			}
		})
	})
}

// propose has the loop propose an entry for the server.
func (h *host) propose(op topology.Op, done func(refusal string)) {
	h.inbox(func() { h.node.Propose(h.clock(), op, done) })
}
