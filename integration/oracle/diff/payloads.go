package diff

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Words in place of what a server has dumped. Each server is sent what the other one dumps when the
// command is about to be sent. functionsArg stands for all libraries, as FUNCTION DUMP returns
// them; with cutArg the last byte is missing. What dumpArg returns stands for the value of a key.
const (
	functionsArg = "{functions}"
	cutArg       = "{functions-cut}"
	dumpPrefix   = "{dump "
)

func dumpArg(db int, key string) string { return dumpPrefix + strconv.Itoa(db) + "}" + key }

// swaps reports whether the command carries what a server has dumped, for which both are asked
// first.
func (c Cmd) swaps() bool {
	restores := len(c.Args) > 1 && !c.Raw && (strings.EqualFold(string(c.Args[0]), "restore") ||
		strings.EqualFold(string(c.Args[1]), "restore"))
	return restores && slices.ContainsFunc(c.Args, func(a []byte) bool {
		_, _, ok := dumpCommands(string(a))
		return ok
	})
}

// dumpCommands returns the commands that dump what the word stands for, and by how many bytes the
// payload is cut. It reports false for any other word.
func dumpCommands(word string) (cmds []Cmd, cut int, ok bool) {
	switch word {
	case functionsArg:
		return []Cmd{cmdOf("FUNCTION", "DUMP")}, 0, true
	case cutArg:
		return []Cmd{cmdOf("FUNCTION", "DUMP")}, 1, true
	}
	rest, ok := strings.CutPrefix(word, dumpPrefix)
	db, key, whole := strings.Cut(rest, "}")
	if !ok || !whole {
		return nil, 0, false
	}
	return []Cmd{cmdOf("SELECT", db), cmdOf("DUMP", key)}, 0, true
}

// swapped returns the command for each server, with what the other one dumps in place of the words
// that stand for it.
func (r *Runner) swapped(c Cmd) (out [2]Cmd, err error) {
	for i, s := range r.sides() {
		other := c
		other.Args = slices.Clone(c.Args)
		for j, a := range other.Args {
			cmds, cut, ok := dumpCommands(string(a))
			if !ok {
				continue
			}
			replies, err := r.admin[i].DoAll(cmds)
			if err != nil {
				return out, fmt.Errorf("%s: %v: %w", s.Name, cmds, err)
			}
			dump := replies[len(replies)-1].Str
			other.Args[j] = []byte(dump[:max(0, len(dump)-cut)])
		}
		out[1-i] = other
	}
	return out, nil
}

// guardTTL keeps the deadlines that RESTORE sets below 2^63 ms. Redis's wrap around there: the key
// stays until the expiry cycle meets it. Ours is the largest deadline then.
func guardTTL(_ *Generator, args [][]byte) [][]byte {
	if len(args) > 2 {
		if ttl, err := strconv.ParseInt(string(args[2]), 10, 64); err == nil && ttl > 1<<62 {
			args[2] = []byte("4000000000000")
		}
	}
	return args
}

// payload returns the payload of RESTORE. In rounds that sort it is never what another server
// dumped: redis's SORT changes the encoding of what it reads, and the payload would carry that.
// Other references refuse what Godwit and Redis 8 dump.
func (g *Generator) payload() string {
	if g.sorts || g.cfg.Reference != Redis8 || g.chance(0.1) {
		return g.hints[":string"](g)[0]
	}
	key := g.key()
	if g.chance(0.5) {
		key = g.pick("li", "ha", "se", "so", "st", "st") + strconv.Itoa(g.rnd.IntN(3))
	}
	return dumpArg(g.rnd.IntN(g.cfg.DBs), key)
}
