package diff

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Steps run commands of several connections one after the other. Before the next step is sent,
// every connection that must have an answer to the last one has it. The servers themselves say who
// that is: after each step, a CLIENT LIST on the admin connection, which is handled after the step,
// shows who is blocked. A connection that was blocked and no longer is has a reply. One that issued
// the step has a reply or is blocked. So the interleaving is the same on both servers, whatever
// their timing, and each connection's replies to each step can be compared.
//
// A step of a connection that is blocked is left out: it would be queued behind the blocked
// command.

const (
	// first wait for the issuer's reply, then ask the admin connection again
	stepPoll     = 2 * time.Millisecond
	stepPatience = 5 * time.Second
)

// stepState holds what the runner knows between steps.
type stepState struct {
	blocked map[int]Cmd        // by client, the command that it is blocked in, on both servers
	ids     map[int][2]string  // CLIENT ID of the connections
	known   map[[2]string]bool // ids of connections that there are or were
}

func newStepState() stepState {
	return stepState{blocked: map[int]Cmd{}, ids: map[int][2]string{}, known: map[[2]string]bool{}}
}

// stepped holds what one server did in a step.
type stepped struct {
	replies map[int][]byte // by client
	blocked map[int]bool
	closed  map[int]bool // connections that ended
}

// step runs one step on both servers and compares the results.
func (r *Runner) step(c Cmd, at int) (*Failure, error) {
	if _, blocked := r.steps.blocked[c.Client]; blocked && c.Sleep == 0 && !c.Close {
		return nil, nil
	}
	if c.Close {
		return r.stepClose(c.Client, at)
	}
	if c.Sleep > 0 {
		time.Sleep(c.Sleep)
	} else if f, err := r.stepSend(c, at); f != nil || err != nil {
		return f, err
	}
	if short(c) {
		return nil, r.stepBarrier(c)
	}
	var got [2]stepped
	deadline := time.Now().Add(stepPatience)
	for i := range got {
		var err error
		if got[i], err = r.settle(i, c, deadline); err != nil {
			if i == 0 {
				return nil, fmt.Errorf("redis: step %d, %v: %w", at, c, err)
			}
			return &Failure{At: at, Class: "step of " + clip(c.Name(), 40) + ": not answered",
				A: "answered", B: err.Error() + "\n" + r.Tested.LogTail()}, nil
		}
	}
	return r.stepCompare(c, at, got), nil
}

// flushes reports whether the command deletes all keys. Redis 8 does that on another thread, and
// the client counts as blocked until it has its reply.
func flushes(c Cmd) bool { return c.Name() == "flushall" || c.Name() == "flushdb" }

// short reports whether the step may time out. No command follows it before a sleep: on a slow
// machine its time may be over at once.
func short(c Cmd) bool {
	return slices.ContainsFunc(c.Args, func(a []byte) bool {
		return string(a) == seconds(shortWait)
	})
}

// stepBarrier gives both servers time to read a step whose reply is not awaited.
func (r *Runner) stepBarrier(c Cmd) error {
	r.steps.blocked[c.Client] = c
	for i := range r.admin {
		s := stepped{blocked: map[int]bool{}}
		for range 3 {
			if err := r.readBlocked(i, &s); err != nil {
				return fmt.Errorf("%s: %w", r.sides()[i].Name, err)
			}
		}
	}
	return nil
}

// stepSend sends the step's command on the client's connection of both servers.
func (r *Runner) stepSend(c Cmd, at int) (*Failure, error) {
	p, err := r.stepPair(c.Client)
	if err != nil {
		return r.connFailure(at, err)
	}
	for i := range p {
		out := Cmd{}
		for _, a := range c.Args {
			out.Args = append(out.Args, r.withIDs(a, i))
		}
		if err := p[i].Send(out.Append(nil)); err != nil {
			return nil, fmt.Errorf("%s: write: %w", r.sides()[i].Name, err)
		}
	}
	return nil, nil
}

// stepPair opens the client's connections and learns their ids.
func (r *Runner) stepPair(client int) (*[2]*Conn, error) {
	p, err := r.pair(client)
	if err != nil || r.steps.ids[client][0] != "" {
		return p, err
	}
	var ids [2]string
	for i := range p {
		rep, err := p[i].Do("CLIENT", "ID")
		if err != nil {
			return nil, fmt.Errorf("%s: %w", r.sides()[i].Name, err)
		}
		ids[i] = rep.Str
	}
	r.steps.ids[client], r.steps.known[ids] = ids, true
	return p, nil
}

// withIDs replaces {id:N} by the id of a connection of server i.
func (r *Runner) withIDs(arg []byte, i int) []byte {
	s, ok := strings.CutPrefix(string(arg), "{id:")
	s, ok2 := strings.CutSuffix(s, "}")
	n, err := strconv.Atoi(s)
	if !ok || !ok2 || err != nil {
		return arg
	}
	if ids := r.steps.ids[n]; ids[i] != "" {
		return []byte(ids[i])
	}
	return []byte("999999999")
}

// settle waits until server i has dealt with the step, and reads the replies. After a sleep,
// everything with a short timeout must have ended.
func (r *Runner) settle(i int, c Cmd, deadline time.Time) (stepped, error) {
	s := stepped{replies: map[int][]byte{}, blocked: map[int]bool{}, closed: map[int]bool{}}
	issued := c.Sleep == 0
	for {
		if err := r.readBlocked(i, &s); err != nil {
			return s, err
		}
		// the issuer's reply is on its way, unless the server has not reached the command yet
		waits := issued && (!s.blocked[c.Client] || flushes(c))
		if waits {
			if done, err := r.readReply(i, c.Client, &s, stepPoll); err != nil {
				return s, err
			} else if done && len(r.steps.blocked) > 0 {
				clear(s.blocked) // the list may be older than the reply
				if err := r.readBlocked(i, &s); err != nil {
					return s, err
				}
			}
		}
		over := !issued && len(s.overdue(r.steps.blocked)) > 0
		if !over && (!waits || s.replies[c.Client] != nil || s.closed[c.Client]) {
			break
		}
		if time.Now().After(deadline) {
			return s, fmt.Errorf("no reply in %v", stepPatience)
		}
	}
	if flushes(c) && s.replies[c.Client] != nil {
		delete(s.blocked, c.Client) // it was, before the reply
	}
	for client := range r.steps.blocked {
		if s.blocked[client] || client == c.Client && issued {
			continue
		}
		if issued && short(r.steps.blocked[client]) {
			s.blocked[client] = true // as far as anybody looks
			continue
		}
		if _, err := r.readReply(i, client, &s, stepPatience); err != nil {
			return s, err
		}
		if s.replies[client] == nil && !s.closed[client] {
			return s, fmt.Errorf("connection %d is not blocked any more and has no reply", client)
		}
	}
	return s, nil
}

// overdue returns the clients whose short timeout has passed and that are still blocked.
func (s *stepped) overdue(blocked map[int]Cmd) []int {
	var out []int
	for client, c := range blocked {
		if s.blocked[client] && short(c) {
			out = append(out, client)
		}
	}
	return out
}

// readBlocked asks server i who is blocked.
func (r *Runner) readBlocked(i int, s *stepped) error {
	rep, err := r.admin[i].Do("CLIENT", "LIST")
	if err != nil {
		return err
	}
	clear(s.blocked)
	for line := range strings.Lines(rep.Str) {
		id, blocked := "", false
		for f := range strings.FieldsSeq(line) {
			if v, ok := strings.CutPrefix(f, "id="); ok {
				id = v
			} else if v, ok := strings.CutPrefix(f, "flags="); ok {
				blocked = strings.Contains(v, "b")
			}
		}
		for client, ids := range r.steps.ids {
			if blocked && ids[i] == id {
				s.blocked[client] = true
			}
		}
	}
	return nil
}

// readReply waits for one reply of a client and reports whether it came.
func (r *Runner) readReply(i, client int, s *stepped, patience time.Duration) (bool, error) {
	conn := r.conns[client][i]
	conn.client.Timeout = patience
	raw, ends, err := conn.Batch(1, nil)
	conn.client.Timeout = ioTimeout
	switch {
	case errors.Is(err, errNoReply):
		return false, nil
	case err != nil:
		return false, err
	case len(ends) == 0:
		s.closed[client] = true
		return true, nil
	}
	s.replies[client] = bytes.Clone(raw[:ends[0]])
	return true, nil
}

// stepCompare compares what the servers did, and notes who is blocked now.
func (r *Runner) stepCompare(c Cmd, at int, got [2]stepped) *Failure {
	for client := range blockClients {
		cmd, was := r.steps.blocked[client]
		if client == c.Client && c.Sleep == 0 {
			cmd, was = c, true
		}
		if !was {
			continue
		}
		frame := [2][]byte{got[0].replies[client], got[1].replies[client]}
		if got[0].blocked[client] != got[1].blocked[client] ||
			(frame[0] == nil) != (frame[1] == nil) {
			return &Failure{At: at,
				Class: "blocked: " + clip(cmd.Name(), 40) + " after " + clip(c.Name(), 40),
				A:     showStep(client, got[0]), B: showStep(client, got[1])}
		}
		if frame[0] == nil || bytes.Equal(frame[0], frame[1]) {
			continue
		}
		a := decode(frame[0])
		b := decode(frame[1])
		if !r.stepEqual(cmd, a, b) {
			return &Failure{At: at, Class: class(cmd, frame) + " after " + clip(c.Name(), 40),
				A: show(frame[0]), B: show(frame[1])}
		}
	}
	for client := range blockClients {
		if !got[0].blocked[client] {
			delete(r.steps.blocked, client)
		} else if client == c.Client && c.Sleep == 0 {
			r.steps.blocked[client] = c
		}
		if got[0].closed[client] {
			r.forget(client)
		}
	}
	return nil
}

// stepEqual applies the command's comparator. Replies of transactions differ in ways that the
// ordinary rounds compare.
func (r *Runner) stepEqual(c Cmd, a, b Reply) bool {
	if c.Name() != "exec" || len(a.Elems) != len(b.Elems) {
		return r.Known.equal(c, a, b)
	}
	for i := range a.Elems {
		if !cmpTimeout(nil, a.Elems[i], b.Elems[i]) {
			return false
		}
	}
	return true
}

func showStep(client int, s stepped) string {
	switch {
	case s.replies[client] != nil:
		return fmt.Sprintf("connection %d has %s", client, show(s.replies[client]))
	case s.blocked[client]:
		return fmt.Sprintf("connection %d is blocked", client)
	case s.closed[client]:
		return fmt.Sprintf("connection %d is closed", client)
	}
	return fmt.Sprintf("connection %d has nothing", client)
}

// stepClose closes the client's connections and waits until the servers have noticed.
func (r *Runner) stepClose(client, at int) (*Failure, error) {
	ids := r.steps.ids[client]
	if ids[0] == "" {
		return nil, nil
	}
	r.forget(client)
	for i := range ids {
		for deadline := time.Now().Add(stepPatience); ; {
			rep, err := r.admin[i].Do("CLIENT", "LIST", "ID", ids[i])
			if err == nil && rep.Str == "" {
				break
			}
			if i == 0 && err != nil {
				return nil, fmt.Errorf("redis: %w", err)
			}
			if err != nil && !errors.Is(err, io.EOF) || time.Now().After(deadline) {
				return &Failure{At: at, Class: "a closed connection is not noticed", A: "noticed",
					B: fmt.Sprint(rep, err)}, nil
			}
		}
	}
	return nil, nil
}

// forget drops a client's connections.
func (r *Runner) forget(client int) {
	if p := r.conns[client]; p != nil {
		p[0].Close()
		p[1].Close()
	}
	delete(r.conns, client)
	delete(r.steps.ids, client)
	delete(r.steps.blocked, client)
}
