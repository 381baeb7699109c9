package engine

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
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
		line = AppendQuoted(line, a)
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

// AppendQuoted appends b in double quotes with Redis's escapes: \n \r \t \a \b \\ \", and \xHH for
// what is not printable ASCII.
func AppendQuoted(dst, b []byte) []byte {
	dst = append(dst, '"')
	for _, ch := range b {
		switch ch {
		case '\\', '"':
			dst = append(dst, '\\', ch)
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\r':
			dst = append(dst, '\\', 'r')
		case '\t':
			dst = append(dst, '\\', 't')
		case '\a':
			dst = append(dst, '\\', 'a')
		case '\b':
			dst = append(dst, '\\', 'b')
		default:
			if ch >= 0x20 && ch < 0x7f {
				dst = append(dst, ch)
				continue
			}
			dst = append(dst, '\\', 'x')
			if ch < 16 {
				dst = append(dst, '0')
			}
			dst = strconv.AppendUint(dst, uint64(ch), 16)
		}
	}
	return append(dst, '"')
}
