package testserver

import (
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

// given are the ports that Port has returned, each with what keeps it from other processes.
var given struct {
	sync.Mutex
	ports map[int]net.Listener
}

// Port returns a port of 127.0.0.1 that nobody listens on, never the same twice. On Linux no two
// processes that run at the same time get the same one either.
func Port() (int, error) {
	given.Lock()
	defer given.Unlock()
	if given.ports == nil {
		given.ports = map[int]net.Listener{}
	}
	var err error
	for range 1000 {
		port := firstPort + rand.IntN(lastPort-firstPort)
		if _, taken := given.ports[port]; taken {
			continue
		}
		var claim, l net.Listener
		if claim, err = claimPort(port); err != nil {
			continue
		}
		given.ports[port] = claim
		if l, err = net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port)); err == nil {
			return port, l.Close()
		}
	}
	return 0, fmt.Errorf("no port is free: %w", err)
}

// claimPort takes the name of an abstract socket, which no two processes can have at a time and
// which goes with the process.
func claimPort(port int) (net.Listener, error) {
	if runtime.GOOS != "linux" {
		return nil, nil
	}
	return net.Listen("unix", fmt.Sprintf("@godwit-test-port-%d", port))
}
