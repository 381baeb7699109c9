package testserver

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"godwit/internal/slot"
)

// ClusterTimeout is the cluster-node-timeout of clusters that ask for none.
const ClusterTimeout = time.Second

// ClusterOptions say which cluster to start.
type ClusterOptions struct {
	Kind     Kind
	Masters  int
	Replicas int // of each master
	// Spares are servers that are started like the others and left alone. They come last.
	Spares int
	// Timeout is cluster-node-timeout.
	Timeout time.Duration
	// Args are added to each server's command line.
	Args []string
	// Own returns what is added to the i-th node's command line. It may be nil.
	Own func(i int) []string
	// Wrap returns the command that runs the i-th node, as Options.Wrap says. It may be nil.
	Wrap func(i int, dir string) []string
	// Tool is a redis-cli that creates the cluster. Without one, commands do.
	Tool string
	// Proxied has every node announce ports of proxies, so that Cut can cut the links between
	// nodes. It takes Linux, where all of 127.0.0.0/8 are addresses to connect from.
	Proxied bool
}

// Cluster is a number of nodes. Those that begin as masters come first, then their replicas: the
// first of each master, in the order of the masters, then the second of each.
type Cluster struct {
	Nodes   []*Node
	Options ClusterOptions
}

// Node is one server of a cluster.
type Node struct {
	*Server
	ID string
	// Door and Bus stand in front of the node's two ports in a cluster that is Proxied.
	Door, Bus *Proxy

	source string // the address that the node connects from
}

// RunCluster starts a cluster for a test, whose end ends it, as Run does with a server. Without the
// kind's server the test is skipped.
func RunCluster(t testing.TB, o ClusterOptions) *Cluster {
	t.Helper()
	o.Kind.Program(t)
	c, err := StartCluster(Dir(t), o)
	t.Cleanup(func() { c.Finish(t) })
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// StartCluster starts a cluster in folders below dir, and returns when all nodes are of one mind
// that it works. Close ends what has been started, also after an error.
func StartCluster(dir string, o ClusterOptions) (*Cluster, error) {
	if o.Timeout == 0 {
		o.Timeout = ClusterTimeout
	}
	c := &Cluster{Options: o, Nodes: make([]*Node, o.Masters*(1+o.Replicas)+o.Spares)}
	errs := make([]error, len(c.Nodes))
	var wait sync.WaitGroup
	for i := range c.Nodes {
		c.Nodes[i] = &Node{source: fmt.Sprintf("127.0.1.%d", i+1)}
		wait.Go(func() {
			errs[i] = c.Nodes[i].start(filepath.Join(dir, fmt.Sprintf("node%d", i+1)), i, &o)
		})
	}
	wait.Wait()
	if err := errors.Join(errs...); err != nil || o.Masters == 0 {
		return c, err
	}
	form := c.formByCommands
	if o.Tool != "" {
		form = c.formByTool
	}
	if err := form(); err != nil {
		return c, err
	}
	return c, c.WaitReady()
}

// start starts the i-th node.
func (n *Node) start(dir string, i int, o *ClusterOptions) error {
	port, err := ClusterPort()
	if err != nil {
		return err
	}
	args := []string{"--port", strconv.Itoa(port), "--cluster-enabled", "yes",
		"--cluster-port", strconv.Itoa(port + BusOffset), // also where TLS has another port
		"--cluster-node-timeout", milliseconds(o.Timeout)}
	if o.Proxied {
		more, err := n.proxies(port)
		if err != nil {
			return err
		}
		args = append(args, more...)
	}
	if o.Own != nil {
		args = append(args, o.Own(i)...)
	}
	options, err := o.Kind.Options(dir, append(args, o.Args...)...)
	if err == nil {
		err = os.MkdirAll(dir, 0o755)
	}
	if err != nil {
		return err
	}
	if o.Wrap != nil {
		options.Wrap = o.Wrap(i, dir)
	}
	if n.Server, err = Start(options); err != nil {
		return err
	}
	id, err := n.Do("CLUSTER", "MYID")
	n.ID = id.Text()
	return err
}

// proxies starts the node's proxies, and returns the directives that announce them.
func (n *Node) proxies(port int) (args []string, err error) {
	n.Door, err = StartProxy(fmt.Sprintf("127.0.0.1:%d", port), uint64(port))
	if err != nil {
		return nil, err
	}
	n.Bus, err = StartProxy(fmt.Sprintf("127.0.0.1:%d", port+BusOffset), uint64(port))
	if err != nil {
		return nil, err
	}
	return []string{"--cluster-announce-ip", "127.0.0.1",
		"--cluster-announce-port", portOf(n.Door.Addr),
		"--cluster-announce-bus-port", portOf(n.Bus.Addr),
		"--bind-source-addr", n.source}, nil
}

// Endpoint returns the address that the node announces to clients.
func (n *Node) Endpoint() string {
	if n.Door != nil {
		return n.Door.Addr
	}
	return n.Addr
}

// bus returns the port of the bus that the node announces.
func (n *Node) bus() string {
	if n.Bus != nil {
		return portOf(n.Bus.Addr)
	}
	return strconv.Itoa(n.Port + BusOffset)
}

// Unwrap has Revive start the node without ClusterOptions.Wrap.
func (n *Node) Unwrap() { n.opts.Wrap = nil }

// Revive starts a node that has ended once more, in its folder and at its port.
func (n *Node) Revive() error {
	s, err := n.Restart()
	if err == nil {
		n.Server = s
	}
	return err
}

// Move starts a node that has ended once more, in its folder and at other ports.
func (n *Node) Move() error {
	port, err := ClusterPort()
	if err != nil {
		return err
	}
	n.opts.Args = slices.Clone(n.opts.Args)
	for i, word := range n.opts.Args[:len(n.opts.Args)-1] {
		switch word {
		case "--port":
			n.opts.Args[i+1] = strconv.Itoa(port)
		case "--cluster-port":
			n.opts.Args[i+1] = strconv.Itoa(port + BusOffset)
		}
	}
	return n.Revive()
}

// members returns the nodes without the spares.
func (c *Cluster) members() []*Node { return c.Nodes[:len(c.Nodes)-c.Options.Spares] }

// Master returns the node that began as the i-th master.
func (c *Cluster) Master(i int) *Node { return c.Nodes[i] }

// Replica returns the first replica of the i-th master, at the beginning.
func (c *Cluster) Replica(i int) *Node { return c.Nodes[c.Options.Masters+i] }

// Addrs returns the addresses that the nodes announce, without those of the spares.
func (c *Cluster) Addrs() (addrs []string) {
	for _, n := range c.members() {
		addrs = append(addrs, n.Endpoint())
	}
	return addrs
}

// formByTool has a redis-cli create the cluster.
func (c *Cluster) formByTool() error {
	args := append([]string{"--cluster", "create"}, c.Addrs()...)
	args = append(args, "--cluster-replicas", strconv.Itoa(c.Options.Replicas), "--cluster-yes")
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
	defer cancel()
	out, err := exec.CommandContext(ctx, c.Options.Tool, args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s %v: %w\n%s", c.Options.Tool, args, err, out)
	}
	return nil
}

// formByCommands does what such a tool does: masters get an equal share of the slots each, all
// nodes meet, and the others become replicas.
func (c *Cluster) formByCommands() error {
	members, masters := c.members(), c.Options.Masters
	for i, n := range members[:masters] {
		first, next := i*slot.Count/masters, (i+1)*slot.Count/masters
		if err := n.ok("CLUSTER", "ADDSLOTSRANGE", first, next-1); err != nil {
			return err
		}
	}
	if c.Options.Kind != Godwit { // where epochs collide until they are told apart
		for i, n := range members {
			if err := n.ok("CLUSTER", "SET-CONFIG-EPOCH", i+1); err != nil {
				return err
			}
		}
	}
	for _, n := range members[1:] {
		if err := members[0].ok("CLUSTER", "MEET", "127.0.0.1", portOf(n.Endpoint()),
			n.bus()); err != nil {
			return err
		}
	}
	if err := c.waitEach(members, "knows all nodes", func(n *Node) bool {
		known, err := n.View()
		return err == nil && len(known) == len(members) && known.Linked()
	}); err != nil {
		return err
	}
	for i, n := range members[masters:] {
		if err := n.ok("CLUSTER", "REPLICATE", members[i%masters].ID); err != nil {
			return err
		}
	}
	return nil
}

// tailLength is how much of each node's log is shown when a test has failed.
const tailLength = 2000

// Finish ends the nodes of a test, and judges their logs as Run says.
func (c *Cluster) Finish(t testing.TB) {
	t.Helper()
	var wait sync.WaitGroup
	for _, n := range c.Nodes {
		if n != nil && n.Server != nil {
			_ = n.resume() // else it does not end
			wait.Go(func() { _ = n.stop(10 * time.Second) })
		}
	}
	wait.Wait()
	c.Close()
	for _, n := range c.Nodes {
		if n == nil || n.Server == nil {
			continue
		}
		if bad := n.Sick(); bad != "" {
			t.Errorf("the log of the node %s at %s:\n%s", n.ID, n.Addr, bad)
		} else if tail := n.Tail(); t.Failed() {
			t.Logf("the end of the log of the node %s at %s:\n%s", n.ID, n.Addr,
				tail[max(0, len(tail)-tailLength):])
		}
	}
}

// Close ends all nodes as kill -9 does, and the proxies.
func (c *Cluster) Close() {
	for _, n := range c.Nodes {
		if n == nil {
			continue
		}
		if n.Server != nil {
			n.Kill()
		}
		for _, p := range []*Proxy{n.Door, n.Bus} {
			if p != nil {
				p.Close()
			}
		}
	}
}
