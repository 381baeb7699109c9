package soak

import (
	"fmt"
	"strings"
	"time"

	"godwit/internal/resp/client"
)

// shortWait is the wait below which no stall is looked for. Most requests are answered sooner.
const shortWait = 10 * time.Millisecond

// conn is one client of a run. After the first failure of the run its methods do nothing.
type conn struct {
	r    *run
	c    *client.Client
	what string // the first command of the batch, for messages
	n    int    // commands in the batch
}

// add appends a command to the batch.
func (c *conn) add(args ...any) {
	if c.n == 0 {
		c.what = brief(args)
	}
	c.n++
	c.c.Queue(args...)
}

// brief shows the beginning of a command.
func brief(args []any) string {
	var sb strings.Builder
	for _, a := range args[:min(len(args), 6)] {
		if b, ok := a.([]byte); ok { // formatting a large value takes longer than its request
			a = fmt.Sprintf("(%d bytes)", len(b))
		}
		fmt.Fprintf(&sb, " %.60v", a)
	}
	return strings.TrimPrefix(sb.String(), " ")
}

// flush sends the batch and returns the replies. It counts their wait, and the commands that are
// refused with OOM. Another error that is not expected fails the run.
func (c *conn) flush() []client.Value {
	n := c.n
	c.n = 0
	if n == 0 || !c.r.ok() {
		return nil
	}
	start := time.Now()
	replies, err := c.c.Pipeline()
	c.r.waited(start, c.what)
	if err != nil {
		c.r.fail(fmt.Errorf("%s … (%d commands, %d replies after %v): %w", c.what, n, len(replies),
			time.Since(start).Round(time.Millisecond), err))
		return nil
	}
	c.r.count(replies, c.what)
	return replies
}

// do sends one command and returns its reply.
func (c *conn) do(args ...any) client.Value {
	c.add(args...)
	if replies := c.flush(); len(replies) > 0 {
		return replies[0]
	}
	return client.Value{}
}

// must sends a command that may not be refused.
func (c *conn) must(args ...any) client.Value {
	v := c.do(args...)
	if v.IsError() {
		c.r.fail(fmt.Errorf("%s: %s", brief(args), v.Text()))
	}
	return v
}

// outOfMemory reports whether the error refuses a command because of maxmemory.
func outOfMemory(text string) bool {
	return strings.HasPrefix(text, "OOM ") ||
		strings.HasPrefix(text, "EXECABORT") || strings.Contains(text, "OOM command not allowed") ||
		strings.Contains(text, "-OOM")
}

// expected are errors that a load at the limit meets on any server.
var expected = []string{
	"ERR Background save already in progress", "ERR Background append only file rewriting already",
	"ERR Another child process is active", "ERR Can't BGSAVE while AOF log rewriting",
	"ERR no such key", "BUSYKEY", "ERR index out of range", "WRONGTYPE",
	"ERR source and destination", "ERR One or more scores", "ERR invalid expire",
	"ERR string exceeds maximum allowed size", "BUSYGROUP", "NOGROUP",
	"ERR The XGROUP subcommand requires the key to exist",
}

// isExpected reports whether the error belongs to the load.
func isExpected(text string) bool {
	for _, prefix := range expected {
		if strings.HasPrefix(text, prefix) {
			return true
		}
	}
	return false
}
