package testserver

import (
	"errors"
	"math/rand/v2"
	"net"
	"sync"
	"testing"
	"time"
)

// Proxy passes connections on to a server, and harms them as networks do. What it does at random
// depends on its seed and on how many bytes have passed.
type Proxy struct {
	Addr string

	listener net.Listener
	mu       sync.Mutex
	changed  *sync.Cond // stalled, held, links
	rnd      *rand.Rand
	to       string
	links    map[*link]bool
	held     map[string]bool // addresses of clients whose connections stand still
	cutAfter int64           // bytes on the way to clients until the next cut, -1: none
	cutEvery int64           // within so many bytes the next cut follows, 0: none does
	delay    time.Duration
	rate     int // bytes a second in each direction of each connection, 0: any
	stalled  bool
	refusing bool
	closed   bool
	cuts     int
	passed   int64 // bytes on the way to clients
}

// link is one connection of a client with the one that the proxy has made for it.
type link struct {
	client, server net.Conn
	from           string // the client's address, without the port
}

// StartProxy starts a proxy in front of an address.
func StartProxy(to string, seed uint64) (*Proxy, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &Proxy{Addr: l.Addr().String(), listener: l, to: to, links: map[*link]bool{},
		held: map[string]bool{}, cutAfter: -1, rnd: rand.New(rand.NewPCG(seed, 0))}
	p.changed = sync.NewCond(&p.mu)
	go p.accept()
	return p, nil
}

// RunProxy starts a proxy in front of a server for a test, whose end ends it.
func RunProxy(t testing.TB, to *Server, seed uint64) *Proxy {
	t.Helper()
	p, err := StartProxy(to.Addr, seed)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

// Close ends the proxy and its connections.
func (p *Proxy) Close() {
	p.listener.Close()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	p.cutAll()
}

// Cut ends all connections.
func (p *Proxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cutAll()
}

// CutWithin ends all connections at a random byte among the next n on their way to clients.
func (p *Proxy) CutWithin(n int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cutAfter = p.rnd.Int64N(n)
}

// CutEvery does what CutWithin does again after each cut, until Keep. Nothing that is longer than n
// bytes arrives on a connection meanwhile.
func (p *Proxy) CutEvery(n int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cutEvery, p.cutAfter = n, p.rnd.Int64N(n)
}

// Keep takes back cuts that have not come yet.
func (p *Proxy) Keep() { p.set(func() { p.cutAfter, p.cutEvery = -1, 0 }) }

// Refuse makes the proxy close new connections at once, or no longer do so.
func (p *Proxy) Refuse(yes bool) { p.set(func() { p.refusing = yes }) }

// Stall makes the proxy pass nothing on, or go on with what it has kept back. Connections stay.
func (p *Proxy) Stall(yes bool) { p.set(func() { p.stalled = yes }) }

// Hold does what Stall does for the connections from one address.
func (p *Proxy) Hold(from string, yes bool) { p.set(func() { p.held[from] = yes }) }

// Delay has bytes wait before they are passed on.
func (p *Proxy) Delay(d time.Duration) { p.set(func() { p.delay = d }) }

// Throttle bounds the bytes a second in each direction of each connection. 0 is no bound.
func (p *Proxy) Throttle(rate int) { p.set(func() { p.rate = rate }) }

// To makes new connections go to another address.
func (p *Proxy) To(addr string) { p.set(func() { p.to = addr }) }

func (p *Proxy) set(change func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change()
	p.changed.Broadcast()
}

// Cuts returns how often connections were cut.
func (p *Proxy) Cuts() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.cuts
}

// Passed returns how many bytes were passed on to clients.
func (p *Proxy) Passed() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.passed
}

// Links returns how many connections there are.
func (p *Proxy) Links() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.links)
}

// cutAll ends all connections: half of the time with a reset, so that bytes on their way are lost.
// p.mu is held.
func (p *Proxy) cutAll() {
	p.cutAfter = -1
	if p.cutEvery > 0 {
		p.cutAfter = p.rnd.Int64N(p.cutEvery)
	}
	if len(p.links) > 0 {
		p.cuts++
	}
	reset := p.rnd.IntN(2) == 0
	for l := range p.links {
		l.close(reset)
		delete(p.links, l)
	}
	p.changed.Broadcast()
}

func (l *link) close(reset bool) {
	for _, c := range []net.Conn{l.client, l.server} {
		if tcp, ok := c.(*net.TCPConn); ok && reset {
			_ = tcp.SetLinger(0)
		}
		c.Close()
	}
}

func (p *Proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return // closed
		}
		go p.connect(client)
	}
}

// connect makes the connection to the server and passes bytes on in both directions.
func (p *Proxy) connect(client net.Conn) {
	p.mu.Lock()
	to, refusing := p.to, p.refusing || p.closed
	p.mu.Unlock()
	if refusing {
		client.Close()
		return
	}
	server, err := net.Dial("tcp", to)
	if err != nil {
		client.Close()
		return
	}
	from, _, _ := net.SplitHostPort(client.RemoteAddr().String())
	l := &link{client, server, from}
	p.mu.Lock()
	p.links[l] = true
	if p.closed {
		p.cutAll()
	}
	p.mu.Unlock()
	go p.pass(l, client, server, false)
	p.pass(l, server, client, true)
}

// pass copies from one side to the other until one of them ends.
func (p *Proxy) pass(l *link, from, to net.Conn, down bool) {
	buf := make([]byte, 16<<10)
	for cut := false; !cut; {
		n, err := from.Read(buf)
		if n > 0 {
			var b []byte
			b, cut = p.next(l, buf[:n], down)
			_, werr := to.Write(b)
			err = errors.Join(err, werr)
		}
		if err != nil {
			break
		}
		if cut {
			p.Cut()
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	l.close(false)
	delete(p.links, l)
}

// next waits until bytes may be passed on. It returns those that go before a cut, and whether the
// cut follows.
func (p *Proxy) next(l *link, b []byte, down bool) (before []byte, cut bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for (p.stalled || p.held[l.from]) && p.links[l] {
		p.changed.Wait()
	}
	wait := p.delay
	if p.rate > 0 {
		wait += time.Duration(len(b)) * time.Second / time.Duration(p.rate)
	}
	if wait > 0 {
		p.mu.Unlock()
		time.Sleep(wait)
		p.mu.Lock()
	}
	if !down {
		return b, false
	}
	if p.cutAfter >= 0 {
		if n := int64(len(b)); p.cutAfter < n {
			b, cut = b[:p.cutAfter], true
		} else {
			p.cutAfter -= n
		}
	}
	p.passed += int64(len(b))
	return b, cut
}
