package diff

import (
	"bytes"
	"errors"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Driver runs streams on one server and looks at no reply. What matters is what they do to the
// data.
//
// The commands of a connection are sent together, as a Runner does. A connection that is blocked
// keeps nobody waiting for longer than blockedFor.
type Driver struct {
	Addr string
	Sent int // commands

	conns map[int]*driven
	admin *Conn
}

// blockedFor is how long a driver waits for replies.
const blockedFor = 10 * time.Millisecond

// driven is a connection whose replies are counted.
type driven struct {
	conn *Conn
	id   string

	mu   sync.Mutex
	more chan struct{} // a reply has come, or the connection has ended
	want int
	got  int
	over bool
}

// NewDriver returns a driver for the server at an address.
func NewDriver(addr string) (*Driver, error) {
	admin, err := Dial(addr)
	return &Driver{Addr: addr, conns: map[int]*driven{}, admin: admin}, err
}

// Close ends all connections. What they had queued or waited for is dropped.
func (d *Driver) Close() {
	for _, c := range d.conns {
		c.conn.Close()
	}
	clear(d.conns)
	d.admin.Close()
}

// Empty deletes all data and libraries, and sets the directives that streams change to their
// defaults.
func (d *Driver) Empty() error {
	cmds := []Cmd{{Args: split("FLUSHALL")}, {Args: split("FUNCTION FLUSH")},
		{Args: split("SCRIPT FLUSH")}}
	for _, p := range confParams() {
		cmds = append(cmds, cmdOf("CONFIG", "SET", p.name, p.def))
	}
	_, err := d.admin.DoAll(cmds)
	return err
}

// Run sends a stream. The ways through files are left out.
func (d *Driver) Run(stream []Cmd) error {
	for at := 0; at < len(stream); {
		n := batchLen(stream[at:])
		if err := d.send(stream[at : at+n]); err != nil {
			return err
		}
		at += n
	}
	return nil
}

// send sends commands of one connection.
func (d *Driver) send(cmds []Cmd) error {
	c := cmds[0]
	d.Sent += len(cmds)
	switch {
	case c.Disk != "":
		return nil
	case c.Sleep > 0:
		time.Sleep(c.Sleep)
		return nil
	case c.Close:
		if one := d.conns[c.Client]; one != nil {
			one.conn.Close()
			delete(d.conns, c.Client)
		}
		return nil
	case c.Raw:
		conn, err := Dial(d.Addr)
		if err != nil {
			return err
		}
		defer conn.Close()
		_, _ = conn.Exchange(c.Args[0]) // some sessions end badly
		return nil
	}
	one, err := d.conn(c.Client)
	if err != nil {
		return err
	}
	var out []byte
	for _, c := range cmds {
		if c, err = d.filled(c); err != nil {
			return err
		}
		out = c.Append(out)
	}
	one.send(out, len(cmds))
	return nil
}

// conn returns the connection of a client number, a new one if it has ended.
func (d *Driver) conn(client int) (*driven, error) {
	if c := d.conns[client]; c != nil && !c.ended() {
		return c, nil
	}
	conn, err := Dial(d.Addr)
	if err != nil {
		return nil, err
	}
	id, err := conn.Do("CLIENT", "ID")
	if err != nil {
		return nil, err
	}
	c := &driven{conn: conn, id: id.Str, more: make(chan struct{}, 1)}
	conn.client.Timeout = 0
	go c.read()
	d.conns[client] = c
	return c, nil
}

// filled returns the command with what words in it stand for: what the server itself has dumped,
// and ids of connections.
func (d *Driver) filled(c Cmd) (Cmd, error) {
	for j, a := range c.Args {
		word := string(a)
		if cmds, cut, ok := dumpCommands(word); ok && c.swaps() {
			replies, err := d.admin.DoAll(cmds)
			if err != nil {
				return c, err
			}
			dump := replies[len(replies)-1].Str
			c.Args = slices.Clone(c.Args)
			c.Args[j] = []byte(dump[:max(0, len(dump)-cut)])
		}
		if number, ok := strings.CutPrefix(word, "{id:"); ok {
			n, _ := strconv.Atoi(strings.TrimSuffix(number, "}"))
			c.Args = slices.Clone(c.Args)
			if c.Args[j] = []byte("999999999"); d.conns[n] != nil {
				c.Args[j] = []byte(d.conns[n].id)
			}
		}
	}
	return c, nil
}

// send sends bytes and waits for their replies, but not for long.
func (c *driven) send(out []byte, n int) {
	c.mu.Lock()
	c.want += n
	c.mu.Unlock()
	_ = c.conn.Send(out) // a connection that has ended is noticed by read
	late := time.NewTimer(blockedFor)
	defer late.Stop()
	for !c.answered() {
		select {
		case <-c.more:
		case <-late.C:
			return
		}
	}
}

func (c *driven) answered() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.got >= c.want || c.over
}

func (c *driven) ended() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.over
}

// read counts replies until the connection ends.
func (c *driven) read() {
	for {
		frame, err := c.conn.client.ReceiveRaw()
		c.mu.Lock()
		switch {
		case err != nil:
			c.over = true
		case !bytes.HasPrefix(frame, []byte(">")):
			c.got++
		}
		c.mu.Unlock()
		select {
		case c.more <- struct{}{}:
		default:
		}
		if err != nil {
			return
		}
	}
}

// Reduce returns a shorter stream that still fails, and whether it fails at all. See shrink.
func Reduce(stream []Cmd, fails func([]Cmd) bool, budget int, within time.Duration) ([]Cmd,
	bool) {
	if !fails(stream) {
		return stream, false
	}
	test := func(s []Cmd) (int, bool) { return len(s), fails(s) }
	return shrink(stream, test, budget, time.Now().Add(within)), true
}

// errNoServers is returned when there is nothing to read commands from.
var errNoServers = errors.New("no servers")

// CommonTo reads the commands of servers and returns those that all of them have, as the first one
// documents them. version is that of Redis whose options all have. keep decides which take part.
func CommonTo(version string, keep func(name string) bool, servers ...*Server) (Coverage, error) {
	if len(servers) == 0 {
		return Coverage{}, errNoServers
	}
	var tables []Table
	for _, s := range servers {
		t, err := readServer(s)
		if err != nil {
			return Coverage{}, err
		}
		tables = append(tables, t)
	}
	return Match(tables[0], tables[len(tables)-1], version, func(c *Command) bool {
		for _, t := range tables {
			if t[c.Name] == nil {
				return false
			}
		}
		return keep(c.Name)
	})
}
