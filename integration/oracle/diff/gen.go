package diff

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"
)

// GenConfig holds what a stream depends on besides its seed.
type GenConfig struct {
	Keys    int      // size of the shared key space
	Clients int      // connections
	Resp    int      // 2 or 3 for every connection; 0 mixes them
	DBs     int      // databases that commands name
	Kinds   []string // of rounds, in turn; empty: all, mostly plain ones

	Reference Reference // what the streams avoid depends on it
}

// Generator makes command streams. The same config, tables, seed and round give the same stream,
// whatever the servers answer.
type Generator struct {
	cfg    GenConfig
	grams  []Grammar
	cum    []int // running sums of the grammars' weights
	hints  map[string]hint
	force  map[string]bool
	guards map[string]guard
	whole  map[string]hint
	conf   []confParam
	lines  []string // of raw sessions

	rnd     *rand.Rand
	cur     *Grammar // the command being generated
	inMulti []bool
	sorts   bool  // the round may sort
	logs    bool  // the round's data may go through a log
	serial  int   // source of values that must not repeat within a round
	after   []Cmd // what must follow on the same connection before anything else
}

// NewGenerator prepares streams over the given commands.
func NewGenerator(cfg GenConfig, cov Coverage) (*Generator, error) {
	grams := cov.Grammars
	if len(grams) == 0 {
		return nil, fmt.Errorf("no commands to generate")
	}
	g := &Generator{cfg: cfg, grams: grams, lines: sessionLines(cov.Common), hints: hintTable(),
		force:  forcedArgs(),
		guards: guardTable(), whole: wholeCommands(), conf: confParams()}
	w, total := weights(), 0
	for _, gr := range grams {
		n, ok := w[gr.Name]
		if !ok {
			n, ok = w["@"+gr.Group]
		}
		if !ok {
			n = 100
		}
		total += n
		g.cum = append(g.cum, total)
	}
	return g, nil
}

// Round generates n commands of round number r.
func (g *Generator) Round(seed uint64, r, n int) []Cmd {
	g.rnd = rand.New(rand.NewPCG(seed, uint64(r)))
	g.inMulti = make([]bool, g.cfg.Clients)
	g.serial = 0
	g.after = nil
	g.sorts, g.logs = hasSort(r), hasLog(r)
	out := make([]Cmd, 0, n)
	for c := range g.cfg.Clients {
		if g.cfg.Resp == 3 || g.cfg.Resp == 0 && c%2 == 1 {
			out = append(out, Cmd{Client: c, Args: split("HELLO 3")})
		}
	}
	for len(out) < n {
		client := g.rnd.IntN(g.cfg.Clients)
		for run := 30 + g.rnd.IntN(90); (run > 0 || len(g.after) > 0) && len(out) < n; run-- {
			out = append(out, g.next(client))
		}
		for i := range g.after { // the round is full
			g.after[i].Client = client
		}
		if g.chance(0.1) {
			out = append(out, Cmd{Client: client, Raw: true, Args: [][]byte{g.protocol()}})
		}
		if g.chance(0.004) {
			out = append(out, g.expiry()...)
		}
		if g.chance(0.06) {
			out = append(out, Cmd{Client: client, Disk: g.way()})
		}
	}
	return append(out, g.after...)
}

func split(s string) [][]byte { return bytes.Fields([]byte(s)) }

func (g *Generator) chance(p float64) bool { return g.rnd.Float64() < p }

func (g *Generator) pick(pool ...string) string { return pool[g.rnd.IntN(len(pool))] }

// next generates one command of a connection.
func (g *Generator) next(client int) Cmd {
	if len(g.after) > 0 {
		c := g.after[0]
		g.after = g.after[1:]
		c.Client = client
		return c
	}
	if g.chance(0.003) {
		return g.unknown(client)
	}
	var args [][]byte
	if g.inMulti[client] && g.chance(0.15) {
		args = split(g.pick("EXEC", "EXEC", "EXEC", "EXEC", "DISCARD"))
	} else {
		args = g.command()
	}
	switch strings.ToLower(string(args[0])) {
	case "multi":
		g.inMulti[client] = true
	case "exec", "discard", "reset", "quit":
		g.inMulti[client] = false
	}
	g.touchExpired(args)
	c := Cmd{Client: client, Args: args, Inline: g.chance(0.02) && inlineable(args)}
	if isSort(c.Name()) {
		g.after = append(g.after, c)
		c = clearErrno()
		c.Client = client
	}
	return c
}

// touchExpired adds a GET after a SET with an absolute deadline. Redis stores a key whose deadline
// has passed, and deletes it when it is touched or when its cron comes by. Until then DBSIZE counts
// it, for a random time.
func (g *Generator) touchExpired(args [][]byte) {
	if setsUntil(args) {
		g.after = append(g.after, Cmd{Args: [][]byte{[]byte("GET"), args[1]}})
	}
}

// unknown returns a command that nobody has. To Redis a name ends at a NUL, if chance puts both
// names into one bucket of its hash table: what stands before the NUL is no command either.
func (g *Generator) unknown(client int) Cmd {
	name := g.pick("NOSUCH", "", "ge", "ge\x00", "SETT", strings.Repeat("x", 200))
	return Cmd{Client: client, Args: [][]byte{[]byte(name), []byte(g.junk())}}
}

// inlineable reports whether the arguments can go inline, far below the line limit of the protocol.
func inlineable(args [][]byte) bool {
	n := 0
	for _, a := range args {
		n += 4 * len(a)
	}
	return n < 4000 && len(args[0]) > 0
}

// nearDeadline is long enough for a command to finish, and short enough to wait for.
const nearDeadline = 30 * time.Millisecond

// expiry returns commands that let keys expire. One command gives each key its near deadline.
// Nothing is sent until the deadlines have passed, and only then are the keys looked at. The
// connection is used for nothing else, so no transaction delays the commands.
func (g *Generator) expiry() []Cmd {
	ms := strconv.Itoa(int(nearDeadline.Milliseconds()))
	sets := [][]string{{"SET", "KEY", "v", "PX", ms}, {"PSETEX", "KEY", ms, "v"},
		{"PEXPIRE", "KEY", ms}, {"GETEX", "KEY", "PX", ms}}
	sets = slices.DeleteFunc(sets, func(s []string) bool { return !g.has(strings.ToLower(s[0])) })
	if len(sets) == 0 {
		return nil
	}
	client := g.cfg.Clients
	out := []Cmd{{Client: client, Args: split("SELECT " + strconv.Itoa(g.rnd.IntN(g.cfg.DBs)))}}
	var touch []Cmd
	for _, k := range g.rnd.Perm(g.cfg.Keys)[:min(4, g.cfg.Keys)] {
		key := g.sharedKey(k)
		set := slices.Clone(sets[g.rnd.IntN(len(sets))])
		set[1] = key
		c, t := cmdOf(set...), cmdOf(g.pick("GET", "EXISTS", "DEL", "TTL"), key)
		c.Client, t.Client = client, client
		out, touch = append(out, c), append(touch, t)
	}
	out = append(out, Cmd{Client: client, Sleep: 3 * nearDeadline})
	return append(out, touch...)
}

// has reports whether a command takes part in the streams.
func (g *Generator) has(name string) bool {
	return slices.ContainsFunc(g.grams, func(gr Grammar) bool { return gr.Name == name })
}
