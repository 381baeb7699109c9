package cluster

import (
	"sync"
	"sync/atomic"
	"time"

	"godwit/internal/cluster/bus"
	"godwit/internal/cluster/core"
	"godwit/internal/cluster/topology"
)

// porter brings states, answers and messages of pub/sub to the server, and what the server's data
// is back to the loop.
type porter struct {
	r       *Runtime
	running sync.WaitGroup
	wake    chan struct{} // one slot: there is something to bring
	timeout atomic.Int64  // the node timeout, ns
	stop    chan struct{}

	mu      sync.Mutex
	state   *topology.State // the newest that was not brought yet
	self    topology.NodeID
	answers []core.Answer
	pub     []published
	size    int  // bytes of pub
	full    bool // messages have been dropped
	look    bool // Host.Local is to be asked
}

// The limits of messages that wait for the executor: a script may keep it for long. They must not
// keep a link from being read, or messages of Raft would wait too.
const (
	maxPublished = 64 << 20
	onePublished = 64 // bytes for one message besides its text
	// turn is how many messages are delivered before clients have their turn again.
	turn = 256
)

func (p *porter) init(r *Runtime) {
	p.r, p.wake, p.stop = r, make(chan struct{}, 1), make(chan struct{})
	p.timeout.Store(int64(r.timeout))
}

func (p *porter) close() { close(p.stop) }

// change changes what is to be brought, and wakes the porter.
func (p *porter) change(f func()) {
	p.mu.Lock()
	f()
	p.mu.Unlock()
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// bring takes a state to install, unless it is nil, and answers that come after it.
func (p *porter) bring(s *topology.State, self topology.NodeID, answers []core.Answer) {
	p.change(func() {
		if s != nil {
			p.state, p.self = s, self
		}
		p.answers = append(p.answers, answers...)
	})
}

// refresh has Host.Local asked.
func (p *porter) refresh() { p.change(func() { p.look = true }) }

// published takes a message of another node's PUBLISH.
func (p *porter) published(kind bus.Kind, data []byte) {
	m, ok := decodePublished(kind, data)
	if !ok {
		return
	}
	dropped := false
	p.change(func() {
		if p.size+m.bytes() > maxPublished && len(p.pub) > 0 {
			dropped, p.full = !p.full, true
			return
		}
		p.pub = append(p.pub, m)
		p.size += m.bytes()
	})
	if dropped {
		p.r.log.Warning("Messages that other cluster nodes publish are dropped: the server is " +
			"busy, and too many wait")
	}
}

// run brings things until the node is closed. Every tenth of the node timeout it asks Host.Local,
// for the next ping.
func (p *porter) run() {
	timer := time.NewTimer(p.pause())
	defer timer.Stop()
	for {
		select {
		case <-p.stop:
			return
		case <-p.wake:
		case <-timer.C:
			p.refresh()
			timer.Reset(p.pause())
		}
		for p.trip() {
		}
	}
}

// localParts is how often within a node timeout Host.Local is asked.
const localParts = 10

func (p *porter) pause() time.Duration { return time.Duration(p.timeout.Load()) / localParts }

// trip takes the executor once. It reports whether more is left to bring.
func (p *porter) trip() (more bool) {
	p.r.o.Host.Between(func() {
		select {
		case <-p.stop:
		default:
			more = p.carry()
		}
	})
	return more
}

// carry brings what there is, with the executor held. It reports whether more is left.
func (p *porter) carry() (more bool) {
	r := p.r
	p.mu.Lock()
	state, self, answers, look := p.state, p.self, p.answers, p.look
	p.state, p.answers, p.look = nil, nil, false
	list := p.pub[:min(len(p.pub), turn)]
	if p.pub = p.pub[len(list):]; len(p.pub) == 0 {
		p.pub, p.full = nil, false
	}
	for _, m := range list {
		p.size -= m.bytes()
	}
	more = len(p.pub) > 0
	p.mu.Unlock()
	if state != nil {
		r.o.Host.Install(state, self)
	}
	for _, a := range answers {
		a.Done(a.Refusal)
	}
	if state != nil || look {
		local := r.o.Host.Local()
		r.do(func(now int64) {
			r.node.SetLocal(local)
			if state != nil {
				r.node.Installed(now, state)
			}
		})
	}
	for _, m := range list {
		r.o.Host.Deliver(m.to, m.channel, m.message)
	}
	return more
}
