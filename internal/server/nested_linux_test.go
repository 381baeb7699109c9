package server

import (
	"strings"
	"testing"

	"godwit/internal/resp/client"
)

// TestBusyWithinPoll makes a script busy in the middle of a Poll: the shared buffer is full, and
// events of other connections that the Poll has fetched are still to be delivered. These clients
// must be heard while the script runs. One of them is the one that ends it.
func TestBusyWithinPoll(t *testing.T) {
	r := start(t, way{}, busyThreshold)
	nudge, busy, free := r.client(), r.client(), r.client()
	fill := make([]*client.Client, 100)
	for i := range fill {
		fill[i] = r.client()
	}
	for _, c := range append(fill, nudge, busy, free) {
		r.want(c, "x", "echo", "x") // the loop knows it
	}
	payload := strings.Repeat("p", 8<<10)
	send := func(c *client.Client, args ...any) {
		c.Queue(args...)
		if err := c.Flush(); err != nil {
			t.Error(err)
		}
	}
	r.locked(func() { // so that the loop's next Poll finds all of the following
		send(nudge, "echo", "x")
		send(busy, "busy", "done")
		for _, c := range fill {
			send(c, "echo", payload)
		}
		send(free, "free")
	})
	if v, err := busy.Receive(); err != nil || v.Text() != "done" {
		t.Fatalf("%v %.80q", err, v.Text())
	}
	for i, c := range fill {
		v, err := c.Receive()
		if text := v.Text(); err != nil || text != payload && !strings.HasPrefix(text, "BUSY ") {
			t.Fatalf("client %d: %v %.80q", i, err, text)
		}
	}
}
