package command

import (
	"cmp"
	"errors"
	"net"
	"os"
	"strconv"
	"syscall"
	"time"

	"godwit/internal/engine"
	"godwit/internal/keyspace"
	"godwit/internal/object"
	"godwit/internal/resp/client"
)

var _ = family(migrateHandlers)

func migrateHandlers() engine.Handlers {
	return engine.Handlers{
		"migrate": migrateCmd,
	}
}

// migration is one run of MIGRATE.
type migration struct {
	c              *engine.Ctx
	addr           string
	db             int
	timeout        time.Duration
	copy, replace  bool
	user, password []byte
	keys           [][]byte // The keys to send.
	retried        bool
	writing        bool // The error happened while writing.
	refused        bool // The client has got an error of the other server.
	moved          [][]byte
}

func migrateCmd(c *engine.Ctx) {
	m := &migration{c: c}
	if !m.parse() {
		return
	}
	n := 0
	for _, k := range m.keys {
		if c.DB.LookupRead(k).Exists() {
			m.keys[n] = k
			n++
		}
	}
	if m.keys = m.keys[:n]; n == 0 {
		c.Simple("NOKEY")
		return
	}
	m.run()
	if len(m.moved) > 0 {
		c.PropagateAs(append([][]byte{[]byte("DEL")}, m.moved...)...)
		c.Dirty(len(m.moved))
	}
}

func (m *migration) parse() bool {
	c, args := m.c, m.c.Args
	m.keys = [][]byte{args[3]}
options:
	for i := 6; i < len(args); i++ {
		more := len(args) - 1 - i
		switch a := args[i]; {
		case is(a, "copy"):
			m.copy = true
		case is(a, "replace"):
			m.replace = true
		case is(a, "auth") && more >= 1:
			m.user, m.password = nil, args[i+1]
			c.Redact(i + 1)
			i++
		case is(a, "auth2") && more >= 2:
			m.user, m.password = args[i+1], args[i+2]
			c.Redact(i + 1)
			c.Redact(i + 2)
			i += 2
		case is(a, "keys"):
			if len(args[3]) != 0 {
				c.Err("ERR When using MIGRATE KEYS option, the key argument must be set to the " +
					"empty string")
				return false
			}
			m.keys = append([][]byte(nil), args[i+1:]...)
			break options
		default:
			c.Err(engine.ErrSyntax)
			return false
		}
	}
	return m.parseNumbers()
}

func (m *migration) parseNumbers() bool {
	args := m.c.Args
	ms, ok := intArg(m.c, args[5])
	if !ok {
		return false
	}
	db, ok := intArg(m.c, args[4])
	if !ok {
		return false
	}
	if ms <= 0 {
		ms = 1000
	}
	m.db, m.timeout = int(db),
		time.Duration(min(ms, int64(time.Hour/time.Millisecond*24)))*time.Millisecond
	m.addr = net.JoinHostPort(string(args[1]), string(args[2]))
	return true
}

// run sends the keys and reads the replies. The other side may have closed a cached connection. If
// it cannot have executed anything, run tries again with a new one.
func (m *migration) run() {
	for {
		link, err := m.c.E.Link(m.addr, m.timeout)
		if err != nil {
			m.c.Err(connectError(err))
			return
		}
		again, err := m.exchange(link)
		if err == nil {
			return
		}
		m.c.E.Links.Close(link)
		if again && !m.retried && !errors.Is(err, os.ErrDeadlineExceeded) &&
			!errors.Is(err, client.ErrReply) {
			m.retried = true
			continue
		}
		if !m.refused {
			verb := "reading"
			if m.writing {
				verb = "writing"
			}
			m.c.Err("IOERR error or timeout " + verb + " to target instance")
		}
		return
	}
}

// connectError returns the error for a connection that could not be made. Redis connects without
// blocking, so it reports a refused connection as a failed write.
func connectError(err error) string {
	if errors.Is(err, syscall.ECONNREFUSED) {
		return "IOERR error or timeout writing to target instance"
	}
	return "IOERR error or timeout connecting to the client"
}

// exchange sends the commands and reads the replies. err is an error of the connection. again
// reports that no reply has come yet.
func (m *migration) exchange(link *engine.Link) (again bool, err error) {
	link.Timeout = m.timeout
	prelude := 0
	if m.password != nil {
		if prelude++; m.user != nil {
			link.QueueArgs([]byte("AUTH"), m.user, m.password)
		} else {
			link.QueueArgs([]byte("AUTH"), m.password)
		}
	}
	if link.DB != m.db {
		prelude++
		link.QueueArgs([]byte("SELECT"), strconv.AppendInt(nil, int64(m.db), 10))
	}
	sent := m.restores(link)
	m.writing = true
	if err := link.Flush(); err != nil {
		return true, err
	}
	m.writing = false
	return m.answers(link, prelude, sent)
}

// restores queues a RESTORE for each key that has not expired meanwhile. It returns those keys. In
// a cluster the other node may be about to import the slot, so it is asked to.
func (m *migration) restores(link *engine.Link) [][]byte {
	c := m.c
	now := c.E.WallNow() // Connecting may have taken long.
	restore := []byte("RESTORE")
	if c.E.ClusterEnabled() {
		restore = []byte("RESTORE-ASKING")
	}
	var sent [][]byte
	for _, key := range m.keys {
		e := c.DB.Peek(key)
		if !e.Exists() {
			continue
		}
		ttl, ok := remaining(e, now)
		if !ok {
			continue
		}
		sent = append(sent, key)
		argv := [][]byte{restore, key, strconv.AppendInt(nil, ttl, 10), dumpValue(c, e)}
		if m.replace {
			argv = append(argv, []byte("REPLACE"))
		}
		link.QueueArgs(argv...)
	}
	return sent
}

// remaining returns an entry's time to live in ms, 0 if it has no deadline. It reports false if the
// deadline is over.
func remaining(e object.Entry, now int64) (ms int64, ok bool) {
	d := e.Deadline()
	if d == 0 {
		return 0, true
	}
	return max(d-now, 1), d >= now
}

// answers reads the other server's replies and removes the keys that it has confirmed. The first
// prelude replies are those to AUTH and SELECT.
func (m *migration) answers(link *engine.Link, prelude int, sent [][]byte) (again bool, err error) {
	refusal := ""
	for range prelude {
		refused, err := answer(link)
		if err != nil {
			return true, err
		}
		refusal = cmp.Or(refusal, refused)
	}
	for i, key := range sent {
		refused, err := answer(link)
		if err != nil {
			return i == 0 && !m.refused, err
		}
		if refused = cmp.Or(refusal, refused); refused != "" {
			m.refuse(link, refused)
		} else if !m.copy {
			m.remove(key)
		}
	}
	if !m.refused {
		link.DB = m.db
		m.c.OK()
	}
	return false, nil
}

// answer reads one reply. It returns the line of an error, or "" for any other reply.
func answer(link *engine.Link) (refused string, err error) {
	raw, err := link.ReceiveRaw()
	if err != nil || raw[0] != '-' {
		return "", err
	}
	return string(raw[:len(raw)-2]), nil
}

// refuse passes the first error of the other server to the client.
func (m *migration) refuse(link *engine.Link, line string) {
	if !m.refused {
		m.refused = true
		link.DB = -1
		m.c.Err("ERR Target instance replied with error: " + line[1:])
	}
}

// remove deletes a key that the other server now holds.
func (m *migration) remove(key []byte) {
	c := m.c
	c.DB.Delete(key)
	c.Changed(key)
	c.Notify(keyspace.EvGeneric, "del", key)
	m.moved = append(m.moved, key)
}
