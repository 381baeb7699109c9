package engine

import (
	"fmt"
	"slices"
	"strings"

	"godwit/internal/resp"
)

// StartMonitor makes the client a monitor: it receives every command that others run.
func (e *Engine) StartMonitor(c *Client) {
	if c.Monitor {
		return
	}
	c.Monitor = true
	e.monitors = append(e.monitors, c)
}

// leaveMonitor ends MONITOR for the client (RESET, disconnect).
func (e *Engine) leaveMonitor(c *Client) {
	if c.Monitor {
		c.Monitor = false
		e.monitors = slices.DeleteFunc(e.monitors, func(o *Client) bool { return o == c })
	}
}

// feedMonitors shows the command to every monitor: time, database, address, arguments in quotes.
func (e *Engine) feedMonitors(c *Ctx) {
	us := e.NowMicros()
	from := c.Client.Addr
	if c.Client.Unix {
		from = "unix:" + strings.TrimSuffix(from, ":0")
	}
	if c.Client.Origin == OriginScript {
		from = "lua"
	}
	line := fmt.Appendf(nil, "%d.%06d [%d %s] ", us/1e6, us%1e6, c.Client.db.ID(), from)
	for i, a := range c.shown() {
		if i > 0 {
			line = append(line, ' ')
		}
		line = resp.AppendQuoted(line, a)
	}
	for _, m := range e.monitors {
		if m.CloseAfterReply {
			continue // it has had its last reply, as a monitor that sends QUIT has
		}
		at := len(m.W.Buf)
		m.W.Simple(string(line))
		if m != c.Client && m.HeldReplies() {
			e.holdPush(m, m.W.Buf[at:])
			m.W.Buf = m.W.Buf[:at]
		} else if m != c.Client {
			e.pushed(m)
		}
	}
}
