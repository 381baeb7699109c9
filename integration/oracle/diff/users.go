package diff

import (
	"fmt"
	"slices"
	"strings"
)

// Streams that change users
//
// Such a stream may also change the default user, which every connection begins as. So the tester's
// own connection has a user of its own, who may do everything and whom no stream names. A stream
// begins with that user and with the default user as it was at the start.

const (
	oracleUser = "oracle" // the tester's own
	twinUser   = "oracle-twin"
)

// changesUsers reports whether the stream needs a connection that its users cannot lock out.
func changesUsers(stream []Cmd) bool {
	return slices.ContainsFunc(stream, func(c Cmd) bool {
		n := c.Name()
		return n == "acl" || n == "config" && slices.ContainsFunc(c.Args, func(a []byte) bool {
			return strings.EqualFold(string(a), "requirepass")
		})
	})
}

// ownUser logs the admin connection in as the tester's user.
func ownUser(c *Conn) error {
	auth := func() (Reply, error) { return c.Do("AUTH", oracleUser, "x") }
	if rep, err := auth(); err != nil || !rep.IsErr() {
		return err
	}
	if rep, err := c.Do("ACL", "SETUSER", oracleUser, "reset", "on", "nopass", "~*", "&*",
		"+@all"); err != nil || rep.IsErr() {
		return fmt.Errorf("no user for the tester: %v %w", rep, err)
	}
	rep, err := auth()
	if err == nil && rep.IsErr() {
		err = fmt.Errorf("the tester cannot authenticate: %v", rep)
	}
	return err
}

// onlyDefault deletes all users but the default one, lets that one do everything again, and empties
// the log of refusals.
func onlyDefault(c *Conn) error {
	users, err := c.Do("ACL", "USERS")
	if err != nil {
		return err
	}
	cmds := []Cmd{cmdOf("CONFIG", "SET", "requirepass", ""),
		cmdOf("ACL", "SETUSER", "default", "reset", "on", "nopass", "~*", "&*", "+@all"),
		cmdOf("CONFIG", "SET", "acl-pubsub-default", "resetchannels"),
		cmdOf("CONFIG", "SET", "acllog-max-len", "128"), cmdOf("ACL", "LOG", "RESET")}
	for _, u := range users.Elems {
		if u.Str != "default" && u.Str != oracleUser {
			cmds = append(cmds, cmdOf("ACL", "DELUSER", u.Str))
		}
	}
	replies, err := c.DoAll(cmds)
	for i, rep := range replies {
		if rep.IsErr() {
			return fmt.Errorf("%v: %v", cmds[i], rep)
		}
	}
	return err
}

// resetUsers prepares both servers for a stream that changes users, or undoes what the last one
// did.
func (r *Runner) resetUsers(stream []Cmd) error {
	changes := changesUsers(stream)
	if !changes && !r.users {
		return nil
	}
	r.users = changes
	for i, s := range r.sides() {
		if err := onlyDefault(r.admin[i]); err != nil {
			return fmt.Errorf("%s: %w", s.Name, err)
		}
	}
	return nil
}

// sameRules compares descriptions of users. Servers describe what commands a user may run in
// different ways: 7.0 derives rules from what is allowed, later servers keep the given ones. Redis
// is asked how it would describe either.
func (r *Runner) sameRules(a, b Reply) bool {
	if a.Kind != b.Kind || len(a.Elems) != len(b.Elems) {
		return false
	}
	if a.Elems != nil {
		for i := range a.Elems {
			if !r.sameRules(a.Elems[i], b.Elems[i]) {
				return false
			}
		}
		return true
	}
	return a.Str == b.Str || a.Kind == '$' && r.ruleWords(a.Str) == r.ruleWords(b.Str)
}

// ruleWords returns a description with the rules about commands, those of each selector, in redis's
// words.
func (r *Runner) ruleWords(s string) string {
	var out, commands []string
	flush := func() {
		if len(commands) > 0 {
			out = append(out, r.inRedisWords(commands)...)
		}
		commands = nil
	}
	for w := range strings.SplitSeq(s, " ") {
		bare := strings.TrimSuffix(w, ")")
		if bare == "" || bare[0] != '+' && bare[0] != '-' {
			flush()
			out = append(out, w)
			continue
		}
		if commands = append(commands, bare); bare != w {
			flush()
			out = append(out, ")")
		}
	}
	flush()
	return strings.Join(out, " ")
}

// inRedisWords asks redis for its own words for what the rules allow. First arguments have no
// order.
func (r *Runner) inRedisWords(rules []string) []string {
	set := cmdOf(append([]string{"ACL", "SETUSER", twinUser, "reset"}, rules...)...)
	replies, err := r.admin[0].DoAll(
		[]Cmd{set, cmdOf("ACL", "GETUSER", twinUser), cmdOf("ACL", "DELUSER", twinUser)})
	if err != nil || replies[0].IsErr() {
		return rules
	}
	words, _ := replies[1].Get("commands")
	out := strings.Fields(words.Str)
	slices.Sort(out)
	return out
}

// cmpACLLog compares what ACL LOG says about refusals, except for times and the client's figures.
// All the reference server's fields must be there.
func cmpACLLog(_ [][]byte, a, b Reply) bool {
	if !errsAgree(a, b) || a.Kind != b.Kind || len(a.Elems) != len(b.Elems) {
		return false
	}
	for i := range a.Elems {
		for _, field := range []string{"count", "reason", "context", "object", "username"} {
			x, okx := a.Elems[i].Get(field)
			y, oky := b.Elems[i].Get(field)
			if !okx || !oky || !same(x, y) {
				return false
			}
		}
		x, _ := a.Elems[i].Get("client-info")
		y, _ := b.Elems[i].Get("client-info")
		if clientField(x.Str, "name") != clientField(y.Str, "name") ||
			clientField(x.Str, "cmd") != clientField(y.Str, "cmd") ||
			clientField(x.Str, "user") != clientField(y.Str, "user") {
			return false
		}
	}
	return len(a.Elems) > 0 || same(a, b)
}

// clientField returns one field of a line of CLIENT LIST.
func clientField(line, name string) string {
	for f := range strings.FieldsSeq(line) {
		if v, ok := strings.CutPrefix(f, name+"="); ok {
			return v
		}
	}
	return ""
}

// sameCategory compares lists of commands, or of categories, as far as both servers have them.
func (r *Runner) sameCategory(a, b Reply) bool {
	if !errsAgree(a, b) || a.Kind != b.Kind {
		return false
	}
	names := func(x Reply) []string {
		var out []string
		for _, e := range x.Elems {
			if r.Common[e.Str] {
				out = append(out, e.Str)
			}
		}
		slices.Sort(out)
		return out
	}
	x := names(a)
	if len(x) == 0 {
		return cmpSubset(nil, a, b)
	}
	return slices.Equal(x, names(b))
}
