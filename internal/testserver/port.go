package testserver

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"runtime"
	"sync"
)

// The ports to choose from. Those that the system chooses are free only until somebody connects
// somewhere: Linux takes the ports of outgoing connections from 32768 on.
const (
	firstPort = 12000
	lastPort  = 32000
)

// BusOffset is how far the port of a node's bus is from that of its clients.
const BusOffset = 10000

// given are the ports that Port has returned, each with what keeps it from other processes.
var given struct {
	sync.Mutex
	ports map[int]net.Listener
}

// Port returns a port of 127.0.0.1 that nobody listens on, never the same twice. On Linux no two
// processes that run at the same time get the same one either.
func Port() (int, error) { return somePort(firstPort, lastPort, 0) }

// ClusterPort does what Port does for two ports at once: the one that it returns, and the one that
// is BusOffset above.
func ClusterPort() (int, error) { return somePort(firstPort, lastPort-BusOffset, BusOffset) }

// somePort returns a port from first to last that is free. So is the one that is offset above it.
func somePort(first, last, offset int) (int, error) {
	given.Lock()
	defer given.Unlock()
	if given.ports == nil {
		given.ports = map[int]net.Listener{}
	}
	var err error
	for range 1000 {
		port := first + rand.IntN(last-first)
		if err = takePort(port); err == nil && offset > 0 {
			err = takePort(port + offset)
		}
		if err == nil {
			return port, nil
		}
	}
	return 0, fmt.Errorf("no port is free: %w", err)
}

// takePort notes a port as given if it is free. given is locked.
func takePort(port int) error {
	if _, taken := given.ports[port]; taken {
		return errGiven
	}
	claim, err := claimPort(port)
	if err != nil {
		return err
	}
	given.ports[port] = claim
	l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		return err
	}
	return l.Close()
}

var errGiven = errors.New("the port is given already")

// claimPort takes the name of an abstract socket, which no two processes can have at a time and
// which goes with the process.
func claimPort(port int) (net.Listener, error) {
	if runtime.GOOS != "linux" {
		return nil, nil
	}
	return net.Listen("unix", fmt.Sprintf("@godwit-test-port-%d", port))
}
