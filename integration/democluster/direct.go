package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	"godwit/internal/testserver"
)

// direct is a client that knows one node only and writes to it all the time.
type direct struct {
	stop chan struct{}
	done chan struct{}

	mu      sync.Mutex
	acked   []string
	first   time.Time // when the first acknowledged write was sent
	last    time.Time // when the reply to the last one came
	refusal string    // the last one
}

// startDirect starts a client of a node that writes keys with a tag.
func startDirect(n *testserver.Node, tag string) *direct {
	d := &direct{stop: make(chan struct{}), done: make(chan struct{})}
	go d.write(n, tag)
	return d
}

func (d *direct) write(n *testserver.Node, tag string) {
	defer close(d.done)
	c, err := n.Dial()
	if err != nil {
		return
	}
	defer c.Close()
	c.Timeout = time.Second
	for i := 0; ; i++ {
		select {
		case <-d.stop:
			return
		case <-time.After(time.Millisecond):
		}
		key, sent := fmt.Sprintf("{%s}%s:%d", tag, n.ID[:8], i), time.Now()
		v, err := c.Do("SET", key, i)
		if err != nil {
			if again, err := n.Dial(); err == nil {
				c.Close()
				c = again
			}
			continue
		}
		d.note(key, sent, v.IsError(), v.Text())
	}
}

func (d *direct) note(key string, sent time.Time, refused bool, text string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if refused {
		d.refusal = text
		return
	}
	d.acked, d.last = append(d.acked, key), time.Now()
	if d.first.IsZero() {
		d.first = sent
	}
}

// waitAccepted waits until the node accepts a write.
func (d *direct) waitAccepted(ctx context.Context) error {
	return until(ctx, func() bool {
		d.mu.Lock()
		defer d.mu.Unlock()
		return !d.first.IsZero()
	})
}

// end stops the client. It may be called again.
func (d *direct) end() {
	d.mu.Lock()
	select {
	case <-d.stop:
	default:
		close(d.stop)
	}
	d.mu.Unlock()
	<-d.done
}
