package diff

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"
)

// What a command says to everybody
//
// A command that is "told" is sent alone, and everything that the connections of the stream receive
// because of it is compared: replies, however many there are (SUBSCRIBE, CLIENT REPLY OFF),
// messages, invalidations, and the end of the connection. The admin connection shows when all of it
// is there: its first reply was made after the command, and its next one after everything had been
// written. Rounds about users, about messages and about client-side caching consist of such
// commands.

const (
	// round trips of the admin connection after which a server has said everything
	tellBarrier = 3
	// pause between looks while the servers seem to have said different things
	tellAgain = 10 * time.Millisecond
	tellLooks = 40
)

// heard holds what one connection has received.
type heard struct {
	replies, pushes [][]byte
	closed          bool
}

// tell runs one command and compares what every connection receives.
func (r *Runner) tell(stream []Cmd, at int) (*Failure, error) {
	c := stream[at]
	if c.Close {
		if f, err := r.stepClose(c.Client, at); f != nil || err != nil {
			return f, err
		}
	} else {
		if f, err := r.tellPair(c.Client, at); f != nil || err != nil {
			return f, err
		}
		if f, err := r.stepSend(c, at); f != nil || err != nil {
			return f, err
		}
	}
	var got [2]map[int]*heard
	for i := range got {
		got[i] = map[int]*heard{}
		for client := range r.conns {
			got[i][client] = &heard{}
		}
	}
	for look := 0; ; look++ {
		for i := range got {
			if err := r.listen(i, got[i]); err != nil {
				return r.tellFailed(i, at, c, err)
			}
		}
		f := r.tellCompare(stream, at, got)
		if f == nil {
			break
		}
		if look == tellLooks || f.Class != classHeard {
			f.Class += " " + clip(callName(c), 40)
			return f, nil
		}
		time.Sleep(tellAgain)
	}
	for client, h := range got[0] {
		for _, f := range h.replies {
			if f[0] == '-' {
				r.Errors++
			}
		}
		if h.closed {
			r.forget(client)
		}
	}
	return nil, nil
}

// tellFailed turns an error into a Failure if the tested server cannot be read, else into an error
// of the run.
func (r *Runner) tellFailed(i, at int, c Cmd, err error) (*Failure, error) {
	if i == 0 {
		return nil, fmt.Errorf("redis: after %v: %w", c, err)
	}
	text := err.Error()
	if e, dead := r.Tested.Dead(); dead {
		text = e.Error()
	}
	return &Failure{At: at, Class: "nothing more is heard after " + clip(callName(c), 40),
		A: "alive", B: text + "\n" + r.Tested.LogTail()}, nil
}

// tellPair opens the client's connections. One that may not ask for its id has none that others
// could name.
func (r *Runner) tellPair(client, at int) (*Failure, error) {
	p, err := r.pair(client)
	if err != nil {
		return r.connFailure(at, err)
	}
	if r.steps.ids[client][0] != "" {
		return nil, nil
	}
	var ids [2]string
	for i := range p {
		rep, err := p[i].Do("CLIENT", "ID")
		if err != nil {
			return r.tellFailed(i, at, cmdOf("CLIENT", "ID"), err)
		}
		if ids[i] = rep.Str; rep.IsErr() {
			ids[i] = "999999999"
		}
	}
	r.steps.ids[client], r.steps.known[ids] = ids, true
	return nil, nil
}

// listen adds what the connections to server i have received to got.
func (r *Runner) listen(i int, got map[int]*heard) error {
	for range tellBarrier {
		if _, err := r.admin[i].Do("PING"); err != nil {
			return err
		}
	}
	for client, h := range got {
		p := r.conns[client]
		if p == nil || h.closed {
			continue
		}
		frames, err := p[i].drain()
		h.closed = errors.Is(err, io.EOF)
		if err != nil && !h.closed {
			return fmt.Errorf("connection %d: %w", client, err)
		}
		for _, f := range frames {
			if isPush(f) {
				h.pushes = append(h.pushes, f)
			} else {
				h.replies = append(h.replies, f)
			}
		}
	}
	return nil
}

// isPush reports whether the frame is a message or an invalidation, in either protocol's form. A
// confirmed subscription is a reply.
func isPush(frame []byte) bool {
	if frame[0] != '>' && frame[0] != '*' {
		return false
	}
	_, rest, _ := bytes.Cut(frame, []byte("\r\n"))
	if !bytes.HasPrefix(rest, []byte("$")) {
		return false
	}
	_, rest, _ = bytes.Cut(rest, []byte("\r\n"))
	word, _, _ := bytes.Cut(rest, []byte("\r\n"))
	return slices.Contains(
		[]string{"message", "pmessage", "smessage", "invalidate", "tracking-redir-broken"},
		string(word))
}

// classHeard is the prefix of classes of differences that may still go away because something is on
// its way.
const classHeard = "heard after"

// tellCompare returns a Failure if some connection received different things, else nil.
func (r *Runner) tellCompare(stream []Cmd, at int, got [2]map[int]*heard) *Failure {
	for _, client := range slices.Sorted(maps.Keys(got[0])) {
		a, b := got[0][client], got[1][client]
		f := &Failure{At: at, Class: classHeard, A: a.show(client), B: b.show(client)}
		if len(a.replies) != len(b.replies) || a.closed != b.closed ||
			!r.samePushes(a.pushes, b.pushes) {
			return f
		}
		for i := range a.replies {
			if bytes.Equal(a.replies[i], b.replies[i]) {
				continue
			}
			x := decode(a.replies[i])
			y := decode(b.replies[i])
			if client != stream[at].Client || !r.equal(stream, at, x, y) {
				f.Class = class(stream[at], [2][]byte{a.replies[i], b.replies[i]}) + ", told by"
				return f
			}
		}
	}
	return nil
}

// samePushes compares pushes without regard to the order of the messages that one command causes:
// hash tables decide it.
func (r *Runner) samePushes(a, b [][]byte) bool {
	if len(a) != len(b) {
		return false
	}
	return slices.Equal(r.pushLines(0, a), r.pushLines(1, b))
}

// pushLines returns the pushes of server i as text. Ids of connections are those of server 0.
func (r *Runner) pushLines(i int, frames [][]byte) []string {
	out := make([]string, len(frames))
	for n, f := range frames {
		push := decode(f)
		for e := range push.Elems {
			for ids := range r.steps.known {
				if id := &push.Elems[e]; id.Kind == ':' && id.Str == ids[i] {
					id.Str = ids[0]
					break
				}
			}
		}
		// the keys of an invalidation have no order; its null is that of the wrong protocol where
		// redis redirects
		out[n] = canonical(push)
	}
	slices.Sort(out)
	return out
}

func (h *heard) show(client int) string {
	s := fmt.Sprintf("connection %d", client)
	for _, f := range slices.Concat(h.replies, h.pushes) {
		s += " " + show(f)
	}
	if len(h.replies)+len(h.pushes) == 0 {
		s += " nothing"
	}
	if h.closed {
		s += " and is closed"
	}
	return clip(s, 4000)
}

// callName returns the command with its subcommand, for the classes of findings.
func callName(c Cmd) string {
	if c.Close {
		return "close"
	}
	return clip(cmp.Or(c.Name(), "nothing"), 30)
}
