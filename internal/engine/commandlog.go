package engine

import (
	"math"

	"godwit/internal/metrics"
	"godwit/internal/spec"
)

// commandLogs are the logs of large requests and large replies, and what decides whether a command
// belongs there. Almost no command does, so looking must cost next to nothing: a request cannot be
// larger than the input that it came in, nor a reply than all that waits in the buffer.
type commandLogs struct {
	requests, replies metrics.Slowlog
	input             int64 // no request has more bytes
	request, reply    int64 // thresholds in bytes
}

// LargeRequests returns the log of commands with large requests.
func (e *Engine) LargeRequests() *metrics.Slowlog { return &e.large.requests }

// LargeReplies returns the log of commands with large replies.
func (e *Engine) LargeReplies() *metrics.Slowlog { return &e.large.replies }

// ExpectInput says that the commands that follow come from n bytes of input.
func (e *Engine) ExpectInput(n int) { e.large.input = int64(n) }

// configureLogs applies the directives about the slow log and the logs of large commands.
func (e *Engine) configureLogs() {
	c, l := e.Cfg, &e.large
	for log, most := range map[*metrics.Slowlog]int64{&e.Slowlog: c.SlowlogMaxLen,
		&l.requests: c.LargeRequestMaxLen, &l.replies: c.LargeReplyMaxLen} {
		log.SetMax(int(most))
		log.SetEntry(c.SlowlogEntryArgc, int(c.SlowlogEntryLen))
	}
	l.request, l.reply = c.LargeRequest, c.LargeReply
	if l.request < 0 {
		l.request = math.MaxInt64
	}
	if l.reply < 0 {
		l.reply = math.MaxInt64
	}
}

// noteLarge adds the command to the logs where its request, or the reply of so many bytes, belongs.
func (e *Engine) noteLarge(c *Ctx, reply int64) {
	l, cl := &e.large, c.Client
	if c.Cmd.Is(spec.SkipSlowlog) {
		return
	}
	if l.input >= l.request {
		if n := requestBytes(c.Args); n >= l.request {
			l.requests.Add(e.now/1000, n, c.shown(), cl.Addr, cl.Name)
		}
	}
	if reply >= l.reply {
		l.replies.Add(e.now/1000, reply, c.shown(), cl.Addr, cl.Name)
	}
}

// requestBytes returns the length of the command in the protocol's form.
func requestBytes(args [][]byte) int64 {
	n := headBytes(len(args))
	for _, a := range args {
		n += headBytes(len(a)) + int64(len(a)) + 2
	}
	return n
}

// headBytes returns the length of a line that begins an array or a string of n elements or bytes.
func headBytes(n int) int64 {
	size := int64(4)
	for ; n >= 10; n /= 10 {
		size++
	}
	return size
}
