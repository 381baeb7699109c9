package cluster

import (
	"fmt"
	"strings"
	"time"

	"godwit/internal/resp/client"
	"godwit/internal/slot"
	"godwit/internal/testserver"
)

// walker is a client that follows redirections, and nothing else: it never sends a command again
// that a server may have executed. So each of its commands is one operation of a history.
type walker struct {
	conns   map[string]*client.Client // by address
	owners  map[int]string            // by slot, as far as known
	addrs   []string                  // to ask where an owner is not known
	timeout time.Duration
	seen    map[string]int // how often which kind of redirection came
}

func newWalker(c *testserver.Cluster, timeout time.Duration) *walker {
	return &walker{conns: map[string]*client.Client{}, owners: map[int]string{}, addrs: c.Addrs(),
		timeout: timeout, seen: map[string]int{}}
}

func (w *walker) close() {
	for _, c := range w.conns {
		c.Close()
	}
}

// maxRedirects is how many redirections a command may follow. While a slot moves, it is sent to
// and fro.
const maxRedirects = 100

// do sends a command for a key. An error says that nobody knows whether it was executed; a reply,
// be it an error, was the server's.
func (w *walker) do(key string, args ...any) (client.Value, error) {
	s := slot.Of([]byte(key))
	addr, asking := w.owners[s], false
	for range maxRedirects {
		if addr == "" {
			addr = w.addrs[0]
			w.addrs = append(w.addrs[1:], addr)
		}
		v, sent, err := w.once(addr, asking, args)
		if err != nil {
			delete(w.owners, s)
			if sent {
				return v, err
			}
			return client.Value{Kind: client.Error, Str: "UNREACHABLE " + addr}, nil
		}
		word, rest, _ := strings.Cut(v.Text(), " ")
		if !v.IsError() || word != "MOVED" && word != "ASK" {
			if !asking && !v.IsError() {
				w.owners[s] = addr
			}
			return v, nil
		}
		w.seen[word]++
		_, addr, _ = strings.Cut(rest, " ")
		if asking = word == "ASK"; !asking {
			w.owners[s] = addr
		}
	}
	return client.Value{}, fmt.Errorf("%v: redirected for ever", args)
}

// once sends a command to a node, and reports whether it may have got there.
func (w *walker) once(addr string, asking bool, args []any) (v client.Value, sent bool,
	err error) {
	c := w.conns[addr]
	if c == nil {
		if c, err = client.Dial("tcp", addr); err != nil {
			return v, false, err
		}
		c.Timeout = w.timeout
		w.conns[addr] = c
	}
	if asking {
		c.Queue("ASKING")
	}
	c.Queue(args...)
	replies, err := c.Pipeline()
	if err != nil {
		c.Close()
		delete(w.conns, addr)
		return v, true, err
	}
	return replies[len(replies)-1], true, nil
}
