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

// GenConfig is what a stream depends on besides its seed.
type GenConfig struct {
	Keys    int      // size of the shared key space
	Clients int      // connections
	Resp    int      // 2 or 3 for every connection; 0 mixes them
	DBs     int      // databases that commands name
	Kinds   []string // of rounds, in turn; empty: all, mostly plain ones
}

// Generator makes command streams. The same config, tables, seed and round give
// the same stream, whatever the servers answer.
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
	g.sorts = hasSort(r)
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
		return Cmd{Client: client,
			Args: [][]byte{[]byte(
				g.pick("NOSUCH", "", "ge", "get\x00", "SETT", strings.Repeat("x", 200))),
				[]byte(g.junk())}}
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
	case "set":
		g.touchExpired(args)
	// with WITHSCORE 7.0 refuses it already when it is queued, which aborts the transaction
	case "zrank", "zrevrank":
		if g.inMulti[client] {
			args = args[:min(len(args), 3)]
		}
	}
	c := Cmd{Client: client, Args: args, Inline: g.chance(0.02) && inlineable(args)}
	if isSort(c.Name()) {
		g.after = append(g.after, c)
		c = clearErrno()
		c.Client = client
	}
	return c
}

// touchExpired makes a GET follow a SET with an absolute deadline. Redis stores a
// key whose deadline has passed and deletes it when it is touched or when its cron
// comes by: until then DBSIZE counts it, for a random time.
func (g *Generator) touchExpired(args [][]byte) {
	for _, a := range args {
		if bytes.EqualFold(a, []byte("EXAT")) || bytes.EqualFold(a, []byte("PXAT")) {
			g.after = append(g.after, Cmd{Args: [][]byte{[]byte("GET"), args[1]}})
			return
		}
	}
}

// inlineable keeps inline commands far below the line limit of the protocol.
func inlineable(args [][]byte) bool {
	n := 0
	for _, a := range args {
		n += 4 * len(a)
	}
	return n < 4000 && len(args[0]) > 0
}

// command generates the argument vector of a random command.
func (g *Generator) command() [][]byte {
	gr := g.any()
	if !g.sorts && isSort(gr.Name) && len(g.grams) > 2 {
		return g.command()
	}
	return g.generate(gr)
}

func (g *Generator) generate(gr *Grammar) [][]byte {
	outer := g.cur
	g.cur = gr
	defer func() { g.cur = outer }()
	var groups [][]string
	if h := g.whole[gr.Name]; h != nil {
		groups = [][]string{h(g)}
	} else {
		groups = g.siblings(gr.Trees[g.rnd.IntN(len(gr.Trees))])
	}
	args := make([][]byte, 0, 8)
	for _, n := range gr.Argv0() {
		args = append(args, []byte(g.casing(strings.ToUpper(n))))
	}
	for _, grp := range groups {
		for _, a := range grp {
			args = append(args, []byte(a))
		}
	}
	if g.chance(0.12) {
		args = g.mutate(args, len(gr.Argv0()))
	}
	return g.guard(gr, args)
}

// casing writes a name in upper, lower or mixed case.
func (g *Generator) casing(s string) string {
	switch g.rnd.IntN(8) {
	case 0, 1:
		return strings.ToLower(s)
	case 2:
		b := []byte(s)
		for i := range b {
			if g.chance(0.5) {
				b[i] = strings.ToLower(s[i : i+1])[0]
			}
		}
		return string(b)
	}
	return s
}

// siblings generates one level of an argument tree: a group of strings for each
// argument that is present. Servers accept options in any order, so trailing
// options are shuffled now and then.
func (g *Generator) siblings(args []Arg) [][]string {
	var out [][]string
	numkeys, firstOpt := -1, len(args)
	for i := len(args) - 1; i >= 0 && args[i].Optional; i-- {
		firstOpt = i
	}
	optAt := -1
	for i := range args {
		a := &args[i]
		if i == firstOpt {
			optAt = len(out)
		}
		if a.Optional && !g.force[g.cur.Name+"."+a.Name] && g.chance(g.absent(a)) {
			continue
		}
		grp := g.arg(a)
		if a.Name == "numkeys" {
			numkeys = len(out)
		} else if numkeys >= 0 && a.Type == "key" && g.chance(0.93) {
			out[numkeys] = []string{strconv.Itoa(len(grp))}
		}
		out = append(out, grp)
	}
	if optAt >= 0 && g.chance(0.25) {
		tail := out[optAt:]
		g.rnd.Shuffle(len(tail), func(i, j int) { tail[i], tail[j] = tail[j], tail[i] })
	}
	return out
}

// absent is the chance that an optional argument is left out. Positional options
// come more often: without them the command hardly differs.
func (g *Generator) absent(a *Arg) float64 {
	if a.HasToken || a.Type == "pure-token" || a.Type == "oneof" {
		return 0.65
	}
	return 0.45
}

// arg generates one argument with its token and repetitions.
func (g *Generator) arg(a *Arg) []string {
	var out []string
	n := 1
	if a.Multiple {
		for n < 6 && g.chance(0.45) {
			n++
		}
	}
	for i := range n {
		if a.HasToken && a.Type != "pure-token" && (i == 0 || a.EachTok) {
			out = append(out, g.casing(a.Token))
		}
		out = append(out, g.value(a)...)
	}
	return out
}

// value generates one repetition of an argument, without its token.
func (g *Generator) value(a *Arg) []string {
	if h := g.hints[g.cur.Name+"."+a.Name]; h != nil {
		return h(g)
	}
	switch a.Type {
	case "pure-token":
		return []string{g.casing(a.Token)}
	case "oneof":
		return g.arg(&a.Args[g.rnd.IntN(len(a.Args))])
	case "block":
		return slices.Concat(g.siblings(a.Args)...)
	case "key":
		return []string{g.key()}
	}
	if h := g.hints["*."+a.Name]; h != nil {
		return h(g)
	}
	if h := g.hints[":"+a.Type]; h != nil {
		return h(g)
	}
	return g.hints[":string"](g)
}

// key picks a key. Groups with a data type of their own mostly use three keys
// named after the group, so that commands meet their type; the rest of the time,
// and the string commands always, use the shared keys, where types collide.
func (g *Generator) key() string {
	switch g.cur.Group {
	case "list", "hash", "set", "sorted-set", "stream", "geo", "hyperloglog":
		if g.chance(0.75) {
			return g.cur.Group[:2] + strconv.Itoa(g.rnd.IntN(3))
		}
	case "generic":
		if g.chance(0.3) {
			return g.pick("li", "ha", "se", "so") + strconv.Itoa(g.rnd.IntN(3))
		}
	case "string":
		if g.chance(0.02) {
			return g.pick("li", "ha", "se", "so") + strconv.Itoa(g.rnd.IntN(3))
		}
	}
	return g.sharedKey(g.rnd.IntN(g.cfg.Keys))
}

// sharedKey is the i-th shared key; the first ones are awkward.
func (g *Generator) sharedKey(i int) string {
	switch i {
	case 0:
		return ""
	case 1:
		return "k\x00\xff\r\n"
	case 2:
		return "{k}" + strings.Repeat("long", 20)
	default:
		return "k" + strconv.Itoa(i)
	}
}

// mutate breaks an argument vector whose first fixed arguments name the command.
func (g *Generator) mutate(args [][]byte, fixed int) [][]byte {
	at := func() int { return 1 + g.rnd.IntN(max(1, len(args)-1)) }
	i := at()
	switch k := g.rnd.IntN(10); {
	case k == 0 || len(args) == 1: // too many
		return append(args, []byte(g.junk()))
	case k == 1: // too few
		return slices.Delete(args, i, i+1)
	case k == 2:
		return args[:i]
	case k == 3:
		return slices.Insert(args, i, args[i])
	case k == 4: // an option twice, or two that exclude each other
		tree := g.cur.Trees[0]
		if len(tree) > 0 {
			for _, s := range g.arg(&tree[len(tree)-1-g.rnd.IntN(min(3, len(tree)))]) {
				args = append(args, []byte(s))
			}
		}
		return args
	case k == 5 && len(args) > fixed+1:
		j := at()
		if i >= fixed && j >= fixed {
			args[i], args[j] = args[j], args[i]
		}
		return args
	case k == 6: // a key where a value was, or the other way round
		if i >= fixed {
			args[i] = []byte(g.key())
		}
		return args
	default:
		args[i] = []byte(g.junk())
		return args
	}
}

// guard rewrites arguments that would make a reply depend on time or would cost
// the servers minutes or gigabytes.
func (g *Generator) guard(gr *Grammar, args [][]byte) [][]byte {
	guardDeadlines(g, gr, args)
	if slices.Contains(gr.Flags, "blocking") {
		guardBlocking(args)
	}
	if f := g.guards[gr.Name]; f != nil {
		args = f(g, args)
	}
	return args
}

// nearDeadline is far enough for a command to be over, and short enough to wait for.
const nearDeadline = 30 * time.Millisecond

// expiry lets keys expire: each gets its near deadline by one command, nothing is
// sent until it has passed, and only then are the keys looked at. The connection is
// used for nothing else, so that no transaction delays the commands.
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

// protocol generates the bytes of a whole connection: mostly no valid request, or a
// session of commands that do not answer with one reply each.
func (g *Generator) protocol() []byte {
	switch g.rnd.IntN(4) {
	case 0:
		return []byte(g.pick(protocolCases()...))
	case 1:
		var b []byte
		for range 2 + g.rnd.IntN(8) {
			b = append(b, g.pick(g.lines...)+"\r\n"...)
		}
		return b
	}
	var b []byte
	for range 1 + g.rnd.IntN(4) {
		b = Cmd{Args: [][]byte{[]byte("SET"), []byte(g.pick("k3", "k4")),
			[]byte(g.pick("", "v", "two words"))}}.Append(b)
	}
	for range 1 + g.rnd.IntN(2) {
		i := g.rnd.IntN(len(b))
		switch g.rnd.IntN(4) {
		case 0:
			b[i] = "*$-0129\r\n\x00\" x"[g.rnd.IntN(13)]
		case 1:
			b = slices.Delete(b, i, i+1)
		case 2:
			b = slices.Insert(b, i, "*$-0129\r\n\x00\" x"[g.rnd.IntN(13)])
		case 3:
			b = b[:i+1]
		}
	}
	return b
}
