package luagen

import (
	"math/rand/v2"
	"strconv"
	"strings"
)

// gen writes one program.
type gen struct {
	r     *rand.Rand
	out   []byte
	limit int // bytes, after which statements and expressions become short

	scopes  []scope
	vars    []variable
	pending []variable // declared by the current production, not yet in scope
	dots    bool       // the function whose body comes next is a vararg function
	depth   int
	indent  int
	serial  int
	it      string // the first variable that the current production has declared

	vararg, loop, redis bool // what productions may need
}

// scope is what the end of a block restores.
type scope struct {
	vars         int
	vararg, loop bool
}

type variable struct{ name, kind string }

// maxDepth and maxScopes bound how deep expressions and blocks nest.
const (
	maxDepth  = 5
	maxScopes = 7
)

func newGen(r *rand.Rand) *gen {
	g := &gen{r: r, vararg: true, limit: 1000}
	for _, v := range []string{"num n1", "str s1", "bool b1", "any a1", "tab t1", "fun f1", "co c1",
		"obj o1"} {
		k, name, _ := strings.Cut(v, " ")
		g.vars = append(g.vars, variable{name, k})
	}
	return g
}

func (g *gen) n(n int) int    { return g.r.IntN(n) }
func (g *gen) write(s string) { g.out = append(g.out, s...) }

// full reports whether the program should come to an end.
func (g *gen) full() bool {
	return g.depth > maxDepth || len(g.scopes) > maxScopes || len(g.out) > g.limit
}

// isStructure holds the holes that no production describes.
var isStructure = map[string]bool{"block": true, "loop": true, "body": true, "stats": true,
	"open": true, "enter": true, "close": true, "it": true, "dots": true, "many": true}

func (g *gen) structure(name string) {
	switch name {
	case "block":
		g.block(blockPlain)
	case "loop":
		g.block(blockLoop)
	case "body":
		g.block(blockBody)
	case "stats":
		g.stats(1 + g.n(2))
	case "open":
		g.open()
	case "enter":
		g.enter()
	case "it":
		g.write(g.it)
	case "close":
		g.close()
	case "dots":
		g.write("...")
		g.dots = true
	case "many":
		g.many()
	}
}

func (g *gen) open() {
	g.scopes = append(g.scopes, scope{len(g.vars), g.vararg, g.loop})
	g.declare()
}

// enter opens the scope of a function.
func (g *gen) enter() {
	g.open()
	g.vararg, g.dots, g.loop = g.dots, false, false
}

func (g *gen) close() {
	s := g.scopes[len(g.scopes)-1]
	g.scopes = g.scopes[:len(g.scopes)-1]
	g.vars, g.vararg, g.loop = g.vars[:s.vars], s.vararg, s.loop
}

// declare brings the new variables into scope.
func (g *gen) declare() {
	g.vars = append(g.vars, g.pending...)
	g.pending = g.pending[:0:0]
}

type blockKind int

const (
	blockPlain blockKind = iota
	blockLoop
	blockBody
)

// block writes statements in a scope of their own, from the end of a line to the next line.
func (g *gen) block(k blockKind) {
	if k == blockBody {
		g.enter()
	} else {
		g.open()
	}
	g.loop = g.loop || k == blockLoop
	g.indent++
	if k == blockBody && len(g.scopes) > 1 {
		g.line()
		g.write("tick()")
	}
	n := 1 + g.n(4)
	if len(g.scopes) == 1 {
		n += 3
	}
	g.stats(n)
	switch n := g.n(8); {
	case k == blockBody && n < 6 || n == 7:
		g.line()
		g.expand("last")
	case g.loop && n == 6:
		g.line()
		g.write("break")
	}
	g.indent--
	g.line()
	g.close()
}

// stats writes statements, each on lines of its own.
func (g *gen) stats(n int) {
	depth := g.depth
	defer func() { g.depth = depth }()
	for range n {
		g.depth = 0
		if g.full() {
			return
		}
		g.line()
		g.expand("stat")
		g.declare()
		if g.n(16) == 0 {
			g.write(";")
		}
	}
}

func (g *gen) line() { g.write("\n" + strings.Repeat("  ", g.indent)) }

// many writes the items of a long constructor.
func (g *gen) many() {
	n := 50 * (1 + g.n(2))
	if g.n(3) == 0 {
		n += g.n(10) - 2
	}
	for i := range n {
		if i > 0 {
			g.write(", ")
		}
		if g.n(8) == 0 {
			g.expand("item")
		} else {
			g.write(strconv.Itoa(i))
		}
	}
}

// expand writes something of a kind.
func (g *gen) expand(name string) {
	p := g.choose(grammar()[name])
	outer, it := g.pending, g.it
	g.pending, g.it = nil, ""
	g.depth++
	for _, h := range p.parts {
		switch {
		case h.kind == "":
			g.write(strings.ReplaceAll(h.text, "\n", "\n"+strings.Repeat("  ", g.indent)))
		case h.verb != "":
			g.variable(h.verb, h.kind)
		case isStructure[h.kind]:
			g.structure(h.kind)
		default:
			g.fill(h.kind)
		}
	}
	g.depth--
	g.pending, g.it = append(outer, g.pending...), it
}

// choose picks a production. When the program should end it is one of the smallest.
func (g *gen) choose(k *kind) *production {
	full := g.full()
	usable := func(p *production) bool {
		switch p.needs {
		case "vararg":
			return g.vararg && !full
		case "loop":
			return g.loop && !full
		case "redis":
			return g.redis && !full
		}
		return !full || p.height <= k.height+1
	}
	sum := 0
	for _, p := range k.all {
		if usable(p) {
			sum += p.weight
		}
	}
	n := g.n(sum)
	for _, p := range k.all {
		if usable(p) {
			if n -= p.weight; n < 0 {
				return p
			}
		}
	}
	panic("luagen: no production")
}

// fill writes what stands in a hole: a variable, or an expression of the kind, rarely of another.
func (g *gen) fill(kind string) {
	if isType[kind] {
		if g.n(50) == 0 {
			kind = "any"
		}
		if g.n(3) == 0 {
			g.variable("use", kind)
			return
		}
	}
	if len(g.out) > 0 && g.out[len(g.out)-1] == '[' {
		g.write(" ") // a long string may follow
	}
	g.expand(kind)
}

// isType holds the kinds of which there are variables.
var isType = map[string]bool{"num": true, "str": true, "bool": true, "tab": true, "fun": true,
	"any": true}

// variable writes a variable's name.
func (g *gen) variable(verb, kind string) {
	switch verb {
	case "new", "rec":
		v := variable{g.fresh(), kind}
		if verb == "new" {
			g.pending = append(g.pending, v)
		} else {
			g.vars = append(g.vars, v)
		}
		if g.it == "" {
			g.it = v.name
		}
		g.write(v.name)
	default:
		g.write(g.find(kind, verb == "set"))
	}
}

// fresh returns a name for a new variable: in half of the cases one that may be taken.
func (g *gen) fresh() string {
	if g.n(2) == 0 {
		return string(rune('a' + g.n(8)))
	}
	g.serial++
	return "v" + strconv.Itoa(g.serial)
}

// find returns the name of a variable, often one of the newest.
func (g *gen) find(kind string, assign bool) string {
	var names []string
	hidden := map[string]bool{}
	for i := len(g.vars) - 1; i >= 0; i-- {
		v := g.vars[i]
		fits := v.kind == kind || !assign && (kind == "any" ||
			kind == "num" && v.kind == "cnt" || kind == "tab" && v.kind == "obj")
		if fits && !hidden[v.name] {
			names = append(names, v.name)
		}
		hidden[v.name] = true
	}
	if len(names) == 0 {
		return "t1"
	}
	return names[min(g.n(len(names)), g.n(len(names)))]
}
