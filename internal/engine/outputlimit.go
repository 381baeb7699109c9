package engine

import (
	"fmt"
	"strings"

	"godwit/internal/pubsub"
)

const (
	// freeOutput is how many bytes of unwritten replies are free of any limit. In Redis they are
	// the fixed part of a client's reply buffer.
	freeOutput = 16 << 10
	// strangerOutput bounds the replies beyond freeOutput for a client that has not authenticated.
	strangerOutput = 1 << 10
)

// CheckOutput marks a client to be closed as soon as possible if its n bytes of unwritten replies
// are over the limit of its class.
func (e *Engine) CheckOutput(c *Client, n int) {
	if n <= freeOutput {
		c.SoftLimitReached = 0
		return
	}
	if c.CloseASAP || !e.overOutput(c, int64(n-freeOutput)) {
		return
	}
	e.Log.Warning("Client %s scheduled to be closed ASAP for overcoming of output buffer limits.",
		e.Describe(c, n))
	e.Stats.ClientOutBufLimit++
	c.CloseASAP = true
}

func (e *Engine) overOutput(c *Client, used int64) bool {
	if e.Stranger(c) && used > strangerOutput {
		return true
	}
	lim := &e.Cfg.OutputLimits[c.Class]
	if lim.Hard > 0 && used >= lim.Hard {
		return true
	}
	if lim.Soft == 0 || used < lim.Soft {
		c.SoftLimitReached = 0
		return false
	}
	if c.SoftLimitReached == 0 {
		c.SoftLimitReached = e.Steady()
		return false
	}
	return e.Steady()-c.SoftLimitReached > lim.SoftSeconds*1000
}

// Describe returns the client as the log shows it. out is the size of its unwritten replies.
func (e *Engine) Describe(c *Client, out int) string {
	cmd, in := "NULL", 0
	if c.LastCmd != nil {
		cmd = c.LastCmd.FullName()
	}
	if c.Conn != nil {
		in, _, _ = c.Conn.Buffers()
	}
	name, _, _ := strings.Cut(c.Name, "\x00") // what is behind it has not been checked
	return fmt.Sprintf(
		"id=%d addr=%s laddr=%s fd=%d name=%s age=%d idle=%d db=%d sub=%d psub=%d ssub=%d "+
			"qbuf=%d omem=%d cmd=%s user=%s resp=%d",
		c.ID, c.Addr, c.LAddr, c.FD, name, (e.Steady()-c.Created)/1000,
		(e.Steady()-c.LastUsed)/1000, c.db.ID(),
		c.sub.Len(pubsub.Channels), c.sub.Len(pubsub.Patterns), c.sub.Len(pubsub.Shards), in, out,
		cmd, c.UserName(), max(c.W.Proto, 2))
}
