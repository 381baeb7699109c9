// Package freeport finds ports for servers that tests and tools start.
//
// A port that the system chooses is free only until somebody connects somewhere, because outgoing
// connections take theirs from the same range. So ports are drawn at random from below that range,
// and one process never gets the same port twice.
package freeport

import (
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
)

// The range of ports. Linux takes those of outgoing connections from 32768 on.
const (
	first = 12000
	last  = 32000
)

var given struct {
	sync.Mutex
	ports map[int]bool
}

// Port returns a port of 127.0.0.1 that nobody listens on.
func Port() (int, error) {
	given.Lock()
	defer given.Unlock()
	if given.ports == nil {
		given.ports = map[int]bool{}
	}
	var err error
	for range 1000 {
		port := first + rand.IntN(last-first)
		if given.ports[port] {
			continue
		}
		var l net.Listener
		if l, err = net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port)); err != nil {
			continue
		}
		given.ports[port] = true
		return port, l.Close()
	}
	return 0, fmt.Errorf("no port is free: %w", err)
}
