package integration

import (
	"strings"
	"testing"

	"godwit/internal/testserver"
)

// TestBullMQ runs the common paths of BullMQ, a queue whose events are a stream.
func TestBullMQ(t *testing.T) { runNode(t, "node/bullmq.cjs") }

// TestNodeLibraries runs locks, limiters and queues that consist of scripts.
func TestNodeLibraries(t *testing.T) { runNode(t, "node/libraries.cjs") }

// runNode runs a program of the folder node against a server of its own.
func runNode(t *testing.T, program string) {
	t.Parallel()
	s := startServer(t)
	_, port, _ := strings.Cut(s.Addr, ":")
	testserver.RunNode(t, program, port)
}
