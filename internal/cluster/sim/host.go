package sim

import (
	"fmt"

	"godwit/internal/cluster/core"
	"godwit/internal/cluster/topology"
)

// host is a machine with one node.
type host struct {
	w     *World
	index int
	id    topology.NodeID
	node  *core.Node // nil while the process does not run
	disk  disk
	life  int    // counts its processes
	boot  uint64 // of the node
	// rate and skew make the machine's clock of true time.
	rate float64
	skew int64
	// stopped says that the process is stopped (SIGSTOP). What arrives waits in box.
	stopped bool
	dying   bool // the machine is about to crash: the process must do nothing more
	box     []func()
	server  server
	leads   bool
	busy    int64 // until when the server's executor is
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
	h.dying, h.stopped, h.box = false, false, nil
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

// crash ends the process. Its disk keeps what was saved, its data what the server had synced.
func (h *host) crash() {
	if h.node == nil {
		return
	}
	h.w.note("%v crashes", h)
	h.w.stats.Crashes++
	h.node, h.box, h.stopped, h.dying = nil, nil, false, false
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
		if h.life != life || !h.stopped {
			return
		}
		h.w.note("%v goes on", h)
		h.stopped = false
		box := h.box
		h.box = nil
		for _, do := range box {
			h.inbox(do)
		}
	})
}

// inbox runs what has arrived, when the process runs.
func (h *host) inbox(do func()) {
	switch {
	case h.node == nil:
	case h.stopped:
		if len(h.box) < 5000 {
			h.box = append(h.box, do)
		}
	default:
		h.act(do)
	}
}

// later runs do on the process after some time, if it is still the same one.
func (h *host) later(d int64, do func()) {
	life := h.life
	h.w.after(d, func() {
		if h.life == life {
			h.inbox(do)
		}
	})
}

// tick lets the node's time pass.
func (h *host) tick(life int) {
	h.w.after(int64(Timeout)/50, func() {
		if h.life != life || h.node == nil {
			return
		}
		if !h.stopped {
			h.act(func() { h.node.Tick(h.clock()) })
		}
		h.tick(life)
	})
}

// act runs something on the process, then does what the node wants done.
func (h *host) act(do func()) {
	if h.node == nil {
		return
	}
	led := h.leads
	h.node.SetLocal(h.server.local())
	do()
	if h.leads = h.node.Leads(); h.leads && !led {
		h.w.stats.Elections++
		h.w.note("%v leads", h)
	}
	h.drain()
}

// drain carries out the node's output.
func (h *host) drain() {
	for h.node != nil {
		if h.dying {
			h.crash()
			return
		}
		o := h.node.Output()
		if len(o.Messages)+len(o.Answers) == 0 && o.State == nil {
			return
		}
		h.id = h.node.ID()
		for _, m := range o.Messages {
			h.send(m)
		}
		if o.State != nil {
			h.w.check.agreed(h, o.State)
		}
		// The executor takes things in order.
		h.busy = max(h.busy, h.w.now+h.w.between(0, Timeout/200))
		h.later(h.busy-h.w.now, func() {
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
	h.w.net.sent++
	h.w.net.bytes[h] += len(m.Data)
	from := h.id
	h.w.net.send(h, to, func() {
		if err := to.node.Receive(to.clock(), from, m.Data); err != nil {
			h.w.fail("%v refuses a frame of %v: %v", to, h, err)
		}
	})
}
