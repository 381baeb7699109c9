package diff

import (
	"slices"
	"strconv"
	"strings"
)

// Arguments of one command: from its documentation, with a mistake now and then.

// command returns the argument vector of a random command.
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

// casing returns a name in upper, lower or mixed case.
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

// siblings generates one level of an argument tree: a group of strings for each argument that is
// present. Servers accept options in any order, so it sometimes shuffles trailing options.
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

// absent returns the chance that an optional argument is left out. Positional options come more
// often: without them the command hardly differs.
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

// key returns a random key. Groups with a data type of their own mostly use three keys named after
// the group, so that commands meet their type. The rest of the time they use the shared keys, where
// types collide. String commands always do.
func (g *Generator) key() string {
	switch g.cur.Group {
	case "list", "hash", "set", "sorted-set", "stream", "geo", "hyperloglog":
		if g.chance(0.75) {
			return g.cur.Group[:2] + strconv.Itoa(g.rnd.IntN(3))
		}
	case "generic":
		if g.chance(0.3) {
			return g.pick("li", "ha", "se", "so", "st") + strconv.Itoa(g.rnd.IntN(3))
		}
	case "string":
		if g.chance(0.02) {
			return g.pick("li", "ha", "se", "so", "st") + strconv.Itoa(g.rnd.IntN(3))
		}
	}
	return g.sharedKey(g.rnd.IntN(g.cfg.Keys))
}

// sharedKey returns the i-th shared key. The first ones are awkward.
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

// mutate damages an argument vector whose first fixed arguments name the command.
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

// guard rewrites arguments that would make a reply depend on time, or would cost the servers
// minutes or gigabytes.
func (g *Generator) guard(gr *Grammar, args [][]byte) [][]byte {
	guardDeadlines(g, gr, args)
	if slices.Contains(gr.Flags, "blocking") {
		guardBlocking(args)
	}
	if f := g.guards[gr.Name]; f != nil {
		args = f(g, args)
	}
	g.guardHex(gr, args)
	g.guardOptions(gr, args)
	if gr.Name == "bitcount" && g.cfg.Reference == Valkey9 && len(args) == 3 {
		args = append(args, []byte("-1")) // only Valkey takes a start without an end
	}
	return guardArity(gr, args)
}

// guardOptions replaces words that chance has put where only Godwit takes them as options, and
// negative offsets of LIMIT, of which 7.0 finds nothing.
func (g *Generator) guardOptions(gr *Grammar, args [][]byte) {
	for i := 2; i < len(args); i++ {
		switch word := strings.ToUpper(string(args[i])); {
		case gr.Name == "hsetex" && (word == "NX" || word == "XX"):
			if g.cfg.Reference != Valkey9 {
				args[i] = []byte("F" + word)
			}
		case g.cfg.Reference == Redis7 && strings.EqualFold(string(args[i-1]), "LIMIT") &&
			strings.HasPrefix(word, "-"):
			args[i] = []byte("0")
		case g.cfg.Reference == Valkey9 && strings.Contains(gr.Name, "expire") && i > 3 &&
			strings.EqualFold(word, string(args[i-1])): // it takes a condition twice
			args[i] = []byte("x")
		case word == "COUNT" && strings.EqualFold(string(args[i-1]), "AGGREGATE"):
			args[i] = []byte("SUM")
		}
	}
}

// guardHex writes hexadecimal numbers, and those with a blank before them, in decimal where only
// one of the servers takes them and the data would differ. Redis 7.0 takes them as bounds of
// scores. Valkey takes them nowhere.
func (g *Generator) guardHex(gr *Grammar, args [][]byte) {
	switch g.cfg.Reference {
	case Redis7:
		stores := []string{"rpush", "lpush", "sadd", "set", "hset"} // what SORT reads
		if !strings.HasPrefix(gr.Name, "z") || !strings.Contains(gr.Name, "range") {
			if gr.Name != "zcount" && !slices.Contains(stores, gr.Name) {
				return
			}
		}
	case Valkey9:
		if gr.Group != "sorted-set" && gr.Group != "geo" {
			return
		}
	default:
		return
	}
	for i := range args {
		bound := strings.TrimPrefix(string(args[i]), "(")
		number := strings.TrimLeft(bound, " ")
		hex := strings.HasPrefix(strings.TrimLeft(number, "+-"), "0x")
		if hex || number != bound && number != "" {
			args[i] = []byte("1")
		}
	}
}

// guardArity cuts or fills up arguments whose number only the tested server takes. The other one
// would not queue such a command, and its transaction would fail.
func guardArity(gr *Grammar, args [][]byte) [][]byte {
	theirs, ours := gr.Command.Arity, gr.Arity
	if !fits(ours, len(args)) || fits(theirs, len(args)) || ours == 0 || theirs == 0 {
		return args
	}
	if theirs > 0 {
		args = args[:min(theirs, len(args))]
	}
	for len(args) < max(theirs, -theirs) {
		args = append(args, []byte("x"))
	}
	return args
}

// fits reports whether a command of the given arity takes n arguments.
func fits(arity, n int) bool {
	if arity < 0 {
		return n >= -arity
	}
	return n == arity
}
