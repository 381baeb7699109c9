package movein

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"godwit/internal/resp/client"
	"godwit/internal/slot/nodes"
)

// replyTimeout bounds the wait for each reply.
const replyTimeout = 10 * time.Second

// node is a server, with a connection that is opened when it is needed.
type node struct {
	addr string // host:port
	c    *cluster
	conn *client.Client
}

// refusal is an error reply.
type refusal string

// Error implements error.
func (r refusal) Error() string { return string(r) }

// dial makes sure that there is a connection.
func (n *node) dial() error {
	if n.conn != nil {
		return nil
	}
	nc, err := n.c.open(n.addr, n.c.side.TLS)
	if err != nil {
		return fmt.Errorf("%s at %s: %w", n.c.name, n.addr, err)
	}
	n.conn = client.New(nc)
	n.conn.Timeout = replyTimeout
	s := &n.c.side
	if s.Password == "" {
		return nil
	}
	args := []any{"AUTH", s.Password}
	if s.User != "" {
		args = []any{"AUTH", s.User, s.Password}
	}
	if _, err = n.do(args...); err != nil {
		n.drop()
	}
	return err
}

func (n *node) drop() {
	if n.conn != nil {
		_ = n.conn.Close() // it is of no use any more
		n.conn = nil
	}
}

// do sends a command and returns its reply. An error reply is an error, a refusal.
func (n *node) do(args ...any) (client.Value, error) {
	if err := n.dial(); err != nil {
		return client.Value{}, err
	}
	v, err := n.conn.Do(args...)
	if err != nil {
		n.drop()
		return v, fmt.Errorf("%s at %s: %w", n.c.name, n.addr, err)
	}
	if v.IsError() {
		return v, fmt.Errorf("%s at %s: %v: %w", n.c.name, n.addr, args[0], refusal(v.Text()))
	}
	return v, nil
}

// pipeline sends commands at once. Error replies are among the replies.
func (n *node) pipeline(commands [][]any) ([]client.Value, error) {
	if err := n.dial(); err != nil {
		return nil, err
	}
	for _, args := range commands {
		n.conn.Queue(args...)
	}
	list, err := n.conn.Pipeline()
	if err != nil {
		n.drop()
		return nil, fmt.Errorf("%s at %s: %w", n.c.name, n.addr, err)
	}
	return list, nil
}

// info returns the fields of a section of INFO.
func (n *node) info(section string) (map[string]string, error) {
	v, err := n.do("INFO", section)
	if err != nil {
		return nil, err
	}
	fields := map[string]string{}
	for line := range strings.Lines(v.Text()) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			fields[name] = value
		}
	}
	return fields, nil
}

// view returns what the node says of all.
func (n *node) view() (nodes.View, error) {
	v, err := n.do("CLUSTER", "NODES")
	if err != nil {
		return nil, err
	}
	view, err := nodes.Parse(v.Text())
	for i := range view {
		// A node that has met nobody does not know its own address.
		if l := &view[i]; l.Has("myself") && strings.HasPrefix(l.Addr, ":") {
			l.Addr = n.addr
		}
	}
	return view, err
}

// hostPort takes an address apart as CLUSTER NODES writes it, without brackets.
func hostPort(addr string) (host, port string) {
	i := strings.LastIndexByte(addr, ':')
	return strings.Trim(addr[:max(i, 0)], "[]"), addr[i+1:]
}

// cluster is one side.
type cluster struct {
	name  string // for messages
	side  Side
	open  func(addr string, tls bool) (net.Conn, error)
	nodes map[string]*node // by address
}

func newCluster(name string, side Side,
	open func(addr string, tls bool) (net.Conn, error)) *cluster {
	c := &cluster{name: name, side: side, open: open, nodes: map[string]*node{}}
	c.node(side.Addr)
	return c
}

// node returns the node at an address as CLUSTER NODES writes it.
func (c *cluster) node(addr string) *node {
	host, port := hostPort(addr)
	addr = net.JoinHostPort(host, port)
	if c.nodes[addr] == nil {
		c.nodes[addr] = &node{addr: addr, c: c}
	}
	return c.nodes[addr]
}

func (c *cluster) close() {
	for _, n := range c.nodes {
		n.drop()
	}
}

// view returns what the first known node says that answers.
func (c *cluster) view() (nodes.View, error) {
	var errs []error
	for _, addr := range c.known() {
		v, err := c.nodes[addr].view()
		if err == nil {
			return v, nil
		}
		errs = append(errs, err)
	}
	return nil, errors.Join(errs...)
}

// known returns the known addresses, first the one that the caller gave.
func (c *cluster) known() (list []string) {
	for addr := range c.nodes {
		list = append(list, addr)
	}
	slices.Sort(list)
	first := c.node(c.side.Addr).addr
	return append([]string{first}, slices.DeleteFunc(list, func(a string) bool {
		return a == first
	})...)
}

// all returns all members that have not failed.
func (c *cluster) all() (list []*node, err error) {
	v, err := c.view()
	for _, l := range v {
		if !down(&l) {
			list = append(list, c.node(l.Addr))
		}
	}
	return list, err
}

// down reports whether a node is not to be expected to answer.
func down(l *nodes.Line) bool {
	return l.Has("fail") || l.Has("noaddr") || l.Has("handshake")
}

// number returns a field of INFO as a number, 0 if it is none.
func number(fields map[string]string, name string) int64 {
	n, _ := strconv.ParseInt(fields[name], 10, 64)
	return n
}
