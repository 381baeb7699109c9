package diff

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// compare returns the first reply of a batch that differs, nil if all agree.
func (r *Runner) compare(stream []Cmd, at, n int, raw [2][]byte, errB error) *Failure {
	pos := [2]int{}
	for i := range n {
		var frame [2][]byte
		for s := range frame {
			if i < len(r.ends[s]) {
				frame[s] = raw[s][pos[s]:r.ends[s][i]]
				pos[s] = r.ends[s][i]
			}
		}
		c := stream[at+i]
		if bytes.Equal(frame[0], frame[1]) && (frame[0] == nil) == (frame[1] == nil) {
			continue
		}
		if frame[0] != nil && frame[1] != nil {
			a := decode(frame[0])
			b := decode(frame[1])
			if r.equal(stream, at+i, a, b) {
				continue
			}
		}
		f := &Failure{At: at + i, Class: class(c, frame), A: showFrame(frame[0], nil),
			B: showFrame(frame[1], errB)}
		return f
	}
	return nil
}

func showFrame(frame []byte, err error) string {
	switch {
	case frame != nil:
		return show(frame)
	case err != nil:
		return "no reply: " + err.Error()
	}
	return "connection closed"
}

// class returns the class of a finding: the command, and the kinds of the two replies.
func class(c Cmd, frame [2][]byte) string {
	kind := func(f []byte) string {
		if len(f) == 0 {
			return "nothing"
		}
		if f[0] == '-' {
			line, _, _ := strings.Cut(string(f[1:]), "\r")
			words := strings.Fields(line)
			return "error " + strings.Join(words[:min(3, len(words))], " ")
		}
		return kindName(f)
	}
	name := c.Name()
	if c.Raw {
		name = "raw bytes"
	}
	if len(c.Args) > 1 &&
		slices.Contains(
			[]string{"client", "object", "config", "command", "memory", "latency", "slowlog",
				"debug", "xinfo", "xgroup", "function", "script", "acl", "cluster",
				"pubsub", "module"}, name) {
		name += " " + strings.ToLower(string(c.Args[1]))
	}
	return fmt.Sprintf("reply of %s: %s against %s", clip(name, 40), kind(frame[0]), kind(frame[1]))
}

// kindName returns the name of a raw reply's type.
func kindName(frame []byte) string {
	switch frame[0] {
	case '$', '*':
		if len(frame) > 1 && frame[1] == '-' {
			return "null"
		}
	}
	return map[byte]string{'+': "status", ':': "integer", '$': "string", '*': "array", '_': "null",
		',': "double", '#': "bool",
		'(': "bignumber", '=': "verbatim", '~': "set", '%': "map", '>': "push", '|': "attribute",
		'!': "bulkerror"}[frame[0]]
}

// equal applies the command's comparator. The replies of a transaction are compared one by one,
// with the comparators of the commands that it queued.
func (r *Runner) equal(stream []Cmd, at int, a, b Reply) bool {
	c := stream[at]
	if c.Name() != "exec" || a.Elems == nil || len(a.Elems) != len(b.Elems) {
		return r.oneEqual(c, a, b)
	}
	queued := queuedBefore(stream, at)
	for i := range a.Elems {
		if same(a.Elems[i], b.Elems[i]) {
			continue
		}
		// A command that failed to queue fails the EXEC, so queue and replies run in parallel.
		// Lengths may differ all the same (a MULTI with bad arguments). Then any loose comparator
		// of the queue may excuse the element.
		ok := slices.ContainsFunc(queued, func(q Cmd) bool {
			return r.oneEqual(q, a.Elems[i], b.Elems[i])
		})
		if len(queued) == len(a.Elems) {
			ok = r.oneEqual(queued[i], a.Elems[i], b.Elems[i])
		}
		if !ok {
			return false
		}
	}
	return true
}

// oneEqual applies the comparator of one command. Some need what the runner knows.
func (r *Runner) oneEqual(c Cmd, a, b Reply) bool {
	ok, rule := false, r.Known.ruleOf(c)
	switch rule.Comparator {
	case cmpRules:
		name := c.FullName()
		ok = r.sameRules(r.Known.rewrite(name, a), r.Known.rewrite(name, b))
	case cmpCategory:
		ok = r.sameCategory(a, b)
	case cmpClients:
		ok = r.sameClients(a, b)
	}
	return rule.accepts(ok, a, b) || r.Known.equal(c, a, b)
}

// sameClients compares replies that name clients, which have different ids on the two servers.
func (r *Runner) sameClients(a, b Reply) bool {
	if a.Elems != nil {
		return a.Kind == b.Kind && slices.EqualFunc(a.Elems, b.Elems, r.sameClients)
	}
	return same(a, b) || a.Kind == ':' && b.Kind == ':' && r.steps.known[[2]string{a.Str, b.Str}]
}

// queuedBefore returns the commands of the client that the EXEC at the index runs: those since the
// first MULTI after the end of the transaction before. (A nested MULTI is an error that changes
// nothing.)
func queuedBefore(stream []Cmd, at int) []Cmd {
	var out []Cmd
	first := 0 // length of out at the earliest MULTI seen
walk:
	for i := at - 1; i >= 0; i-- {
		c := stream[i]
		if c.Client != stream[at].Client || c.Raw {
			continue
		}
		if c.Close {
			break
		}
		switch c.Name() {
		case "exec", "discard", "reset", "quit":
			break walk
		case "multi":
			first = len(out)
		case "watch":
		default:
			out = append(out, c)
		}
	}
	out = out[:first]
	slices.Reverse(out)
	return out
}
