package engine_test

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"godwit/internal/backlog"
	"godwit/internal/cluster/topology"
	"godwit/internal/config"
	"godwit/internal/engine"
	"godwit/internal/object"
	"godwit/internal/resp"
	"godwit/internal/slot"
	"godwit/internal/vfs"
)

// moveConn is a source's connection to the destination of a migration. What it writes stays in it
// until the test takes it.
type moveConn struct {
	quietConn
	mu     sync.Mutex
	out    bytes.Buffer
	done   func(error)
	result chan error
	stream *backlog.Reader
	slow   chan struct{} // if it is not nil, each write takes one of it
}

func (c *moveConn) Stream(r *backlog.Reader) { c.stream = r }
func (c *moveConn) Transfer(write func(net.Conn) error, done func(error)) {
	c.done, c.result = done, make(chan error, 1)
	go func() { c.result <- write(transferConn{c: c}) }()
}

// transferConn is the connection as a transfer sees it.
type transferConn struct {
	net.Conn // nil: nothing else is called
	c        *moveConn
}

func (transferConn) SetWriteDeadline(time.Time) error { return nil }

func (t transferConn) Write(b []byte) (int, error) {
	if t.c.slow != nil {
		if _, ok := <-t.c.slow; !ok {
			return 0, io.ErrClosedPipe
		}
	}
	t.c.mu.Lock()
	defer t.c.mu.Unlock()
	return t.c.out.Write(b)
}

// moving is the two nodes of a migration. The test is the log and the connection between them.
type moving struct {
	*testing.T
	from, to *member
	slots    slot.Set
	conn     *moveConn      // the source's
	source   *engine.Client // the destination, as the source sees it
	stream   *engine.Client // the source, as the destination sees it
	attempts []*engine.ImportAttempt
	parser   resp.Parser
	rest     []byte // of the stream
}

// migrationID is the id of the migration that tests make.
var migrationID = string(nodeID(77))

// newMoving makes two masters. The first one has all slots. edit is for both of them, or has one
// for each.
func newMoving(t *testing.T, edit ...func(c *config.Config)) *moving {
	p := &moving{T: t, conn: &moveConn{}, from: newMember(t, 1, edit[0]),
		to: memberOf(t, 1, edit[len(edit)-1])}
	dir, err := os.Getwd()
	require.NoError(t, err)
	for _, m := range []*member{p.from, p.to} {
		disk := vfs.NewMem()
		require.NoError(t, disk.MkdirAll(dir, 0o755))
		m.e.NewStore(disk)
	}
	p.to.e.LinkImport = func(a *engine.ImportAttempt) { p.attempts = append(p.attempts, a) }
	p.to.hold(time.Hour)
	p.apply(topology.Admit{Node: nodeID(1), Shard: topology.ShardID(nodeID(301)),
		About: topology.About{Address: topology.Address{IP: "127.0.0.1", Port: 7001}}})
	return p
}

// apply has the log say something.
func (p *moving) apply(a topology.Action) {
	p.Helper()
	p.from.apply(a)
	p.install()
}

func (p *moving) install() {
	p.to.log = p.from.log
	p.from.install()
	p.to.install()
	p.from.turn()
	p.to.turn()
}

// settle has the log say what the nodes have proposed.
func (p *moving) settle() {
	for _, m := range []*member{p.from, p.to} {
		for len(m.proposed) > 0 {
			next := m.proposed[0]
			m.proposed = m.proposed[1:]
			p.from.log = p.from.log.Clone()
			refusal := p.from.log.Apply(p.from.log.Index+1, topology.Op{By: m.self,
				Do: next.op.Do})
			p.install()
			next.done(refusal)
		}
	}
}

// begin begins to move slots, and connects the two.
func (p *moving) begin(slots slot.Set) {
	p.Helper()
	p.slots = slots
	p.apply(topology.Begin{ID: migrationID, Slots: slots, Created: 1,
		From: p.from.shard().ID, To: p.to.shard().ID})
	p.pass(300)
	p.settle() // the destination has no keys there
	p.pass(300)
	require.Len(p, p.attempts, 1)
	a := p.attempts[0]
	p.source = p.from.e.NewClient(p.conn)
	require.Equal(p, "+OK", p.from.exec(p.source, a.Begin...))
	p.stream = a.Attach(&quietConn{})
	require.NotNil(p, p.stream)
}

// pass lets time pass on both nodes. The log hears of nothing.
func (p *moving) pass(ms int) {
	p.from.pass(ms)
	p.to.pass(ms)
}

// snapshot has the source make the snapshot, and send it.
func (p *moving) snapshot() {
	p.Helper()
	p.from.pass(300)
	require.NotNil(p, p.conn.result, "no snapshot has begun")
	for {
		p.from.e.Slice()
		select {
		case err := <-p.conn.result:
			for engine.JobRuns(p.from.e) {
				p.from.e.Slice()
				runtime.Gosched()
			}
			p.conn.done(err)
			return
		default:
			runtime.Gosched()
		}
	}
}

// carry has each node hear what the other has said. It reports whether there was anything.
func (p *moving) carry() (some bool) {
	p.Helper()
	p.from.pass(100) // marks leave
	if p.source.CloseASAP {
		return false
	}
	p.conn.mu.Lock()
	p.rest = append(p.rest, p.conn.out.Bytes()...)
	p.conn.out.Reset()
	p.conn.mu.Unlock()
	if r := p.conn.stream; r != nil {
		for list := r.Next(make([][]byte, 0, 4)); len(list) > 0; list = r.Next(list[:0]) {
			n := 0
			for _, b := range list {
				p.rest = append(p.rest, b...)
				n += len(b)
			}
			r.Advance(n)
		}
	}
	p.rest, some = p.run(p.to, p.stream, p.rest)
	p.to.pass(100)
	said := bytes.Clone(p.stream.W.Buf)
	p.stream.W.Buf = p.stream.W.Buf[:0]
	said, heard := p.run(p.from, p.source, said)
	require.Empty(p, said)
	return some || heard
}

// run runs commands of a stream, and returns what is left: less than a command.
func (p *moving) run(m *member, c *engine.Client, text []byte) (rest []byte, some bool) {
	p.Helper()
	for !c.CloseASAP {
		argv, n, err := p.parser.Next(text, &resp.Limits{Authenticated: true})
		require.NoError(p, err)
		if text = text[n:]; argv == nil {
			break
		}
		require.True(p, m.e.Exec(c, argv), "%q", argv)
		some = true
	}
	m.turn()
	return text, some
}

// phase returns how far the migration is, as the log says.
func (p *moving) phase() topology.Phase { return p.from.log.Migration(migrationID).Phase }

// message returns why it has ended.
func (p *moving) message() string { return p.from.log.Migration(migrationID).Message }

// finish goes on until the migration is over.
func (p *moving) finish() topology.Phase {
	p.Helper()
	for range 100 {
		p.carry()
		p.settle()
		if m := p.from.log.Migration(migrationID); m.Over() {
			p.clean()
			return m.Phase
		}
	}
	p.Fatal("it does not end")
	return ""
}

// clean has both nodes do what is left to do.
func (p *moving) clean() {
	for _, m := range []*member{p.from, p.to} {
		for m.e.Slice() {
			runtime.Gosched()
		}
	}
}

// contents returns all keys of slots of a node, with digests of their values and with deadlines.
// Keys that are due soon are left out.
func (p *moving) contents(m *member, slots *slot.Set) map[string]string {
	found := map[string]string{}
	soon := m.e.Now() + 50_000
	for d := range m.e.KS.Databases() {
		var keys []string
		db := m.e.KS.DB(d)
		slots.Each(func(i int) bool {
			db.SlotKeys(i, db.SlotLen(i), func(e object.Entry) {
				if at := e.Deadline(); at == 0 || at > soon {
					keys = append(keys, string(e.Key()))
				}
			})
			return true
		})
		c := engine.NewTestClient(m.e, d)
		for _, key := range keys {
			found[fmt.Sprint(d, " ", key)] = m.exec(c, "DEBUG", "DIGEST-VALUE", key) +
				m.exec(c, "PEXPIRETIME", key)
		}
	}
	return found
}

// sameKeys compares two contents, and shows a few differences.
func (p *moving) sameKeys(want, got map[string]string) {
	p.Helper()
	var faults []string
	for key, v := range want {
		if w, ok := got[key]; !ok {
			faults = append(faults, "missing: "+key)
		} else if v != w {
			faults = append(faults, fmt.Sprintf("%s: %q, not %q", key, w, v))
		}
	}
	for key := range got {
		if _, ok := want[key]; !ok {
			faults = append(faults, "too many: "+key)
		}
	}
	require.Empty(p, faults[:min(5, len(faults))])
}

// do runs commands on the source, one a line. A line may begin with the number of a database.
func (p *moving) do(lines string) {
	p.Helper()
	for _, line := range strings.Split(strings.TrimSpace(lines), "\n") {
		reply := p.from.do(p.from.c, line)
		require.False(p, strings.HasPrefix(reply, "-"), "%s: %s", line, reply)
		require.NotEqual(p, "(postponed)", reply, line)
	}
}
