// Package luagen makes random Lua 5.1 scripts for tests: programs that the grammar of the reference
// manual allows, or almost.
//
// Nearly all scripts terminate: loops are counted, and recursion is rare. They use the libraries
// that a server's scripts have. In half of what Script returns a token is dropped, doubled,
// replaced or swapped, which mostly is a syntax error.
package luagen

import (
	"math/rand/v2"
	"strings"
)

// maxTokens is the approximate length of the longest scripts.
const maxTokens = 400

// Script returns a script. Half of the scripts are damaged at a random token.
func Script(r *rand.Rand) string {
	g := generate(r)
	if r.IntN(2) == 0 {
		g.damage()
	}
	return g.text()
}

// Valid returns a script without syntax errors.
func Valid(r *rand.Rand) string {
	g := generate(r)
	return g.text()
}

// gen collects tokens.
type gen struct {
	r      *rand.Rand
	tokens []string
	locals []string
	depth  int
	loops  int
	vararg bool
}

func generate(r *rand.Rand) *gen {
	g := &gen{r: r, vararg: true}
	g.block(1 + r.IntN(6))
	return g
}

func (g *gen) add(tokens ...string) { g.tokens = append(g.tokens, tokens...) }

func (g *gen) pick(list ...string) string { return list[g.r.IntN(len(list))] }

// words returns the tokens that damage inserts: all of the language, and some that are not Lua.
func words() []string {
	return strings.Fields("and break do else elseif end false for function if in local nil not " +
		"or repeat return then " +
		"true until while + - * / % ^ # == ~= <= >= < > = ( ) { } [ ] ; : , . .. ... a b x1 self " +
		"arg 0 1 1e5 0x1p 3. .5e " +
		"'s' \"t\" [[u]] [==[v]==] -- --[[ ~ ! @ $ & | ? \\ ' \" [= [[ ]] \x00 \x80 1..2 08 0xg " +
		"1e+ 'a\\ '\\999'")
}

// damage changes the script at a random token.
func (g *gen) damage() {
	if len(g.tokens) == 0 {
		return
	}
	i := g.r.IntN(len(g.tokens))
	w := words()
	switch g.r.IntN(5) {
	case 0:
		g.tokens = append(g.tokens[:i], g.tokens[i+1:]...)
	case 1:
		g.tokens = append(g.tokens[:i+1], g.tokens[i:]...)
	case 2:
		g.tokens[i] = w[g.r.IntN(len(w))]
	case 3:
		j := g.r.IntN(len(g.tokens))
		g.tokens[i], g.tokens[j] = g.tokens[j], g.tokens[i]
	case 4:
		g.tokens = g.tokens[:i]
	}
}

// text joins the tokens with white space of all kinds.
func (g *gen) text() string {
	var b strings.Builder
	for i, t := range g.tokens {
		if i > 0 {
			n := g.r.IntN(30)
			if t == "(" {
				n = 30 // it would be ambiguous on a line of its own
			}
			switch n {
			case 0:
				b.WriteString("\n")
			case 1:
				b.WriteString(" --[[ c ]] ")
			case 2:
				b.WriteString("\t-- c\r\n")
			default:
				b.WriteByte(' ')
			}
		}
		b.WriteString(t)
	}
	return b.String()
}

// full reports whether the script should come to an end.
func (g *gen) full() bool { return g.depth > 6 || len(g.tokens) > maxTokens }

func (g *gen) call() {
	switch g.r.IntN(8) {
	case 0:
		g.add("redis", ".", g.pick("call", "pcall"), "(",
			g.pick("'set'", "'get'", "'incr'", "'del'", "'nosuch'"), ",")
		g.exprs(1 + g.r.IntN(2))
		g.add(")")
		return
	case 1:
		g.add("pcall", "(", "function", "(", ")")
		g.body(false)
		g.add(")")
		return
	case 2:
		g.add("table", ".", g.pick("insert", "sort", "remove", "concat"), "(", g.name())
	case 3:
		g.add("string", ".", g.pick("rep", "sub", "format", "byte", "find", "gsub"), "(")
		g.expr()
		g.add(",", g.pick("1", "2", "'%d+'", "'a'"))
	case 4:
		g.add("(", "function", "(", "...", ")")
		g.body(true)
		g.add(")", "(")
		g.args()
		g.add(")")
		return
	case 5:
		g.add(g.name(), ":", g.pick("upper", "len", "rep", "x"), "(")
		g.args()
		g.add(")")
		return
	default:
		g.add(g.pick("tostring", "type", "select", "unpack", "pairs", "next", "tonumber",
			"setmetatable", g.name()), "(")
		g.expr()
	}
	if g.r.IntN(2) == 0 {
		g.add(",")
		g.expr()
	}
	g.add(")")
}

func (g *gen) args() {
	if n := g.r.IntN(3); n > 0 {
		g.exprs(n)
	}
}

func (g *gen) exprs(n int) {
	for i := range n {
		if i > 0 {
			g.add(",")
		}
		g.expr()
	}
}

func (g *gen) expr() {
	g.depth++
	defer func() { g.depth-- }()
	n := g.r.IntN(16)
	if g.full() {
		n = g.r.IntN(6)
	}
	switch n {
	case 0, 1, 2:
		g.add(g.name())
	case 3:
		g.add(g.pick("nil", "true", "false"))
	case 4:
		g.add(g.pick("0", "1", "2", "10", "3.25", "1e3", "0x1F", ".5", "5.", "1e308",
			"123456789012"))
	case 5:
		g.add(g.pick(`"a"`, `'b'`, `"10"`, `'\n\065'`, `[[l]]`, `[=[ m]] ]=]`, `""`, `"0x10"`,
			`' 1 '`))
	case 6, 7, 8:
		g.expr()
		g.add(g.pick("+", "-", "*", "/", "%", "^", "..", "==", "~=", "<", "<=", ">", ">=", "and",
			"or"))
		g.expr()
	case 9:
		g.add(g.pick("-", "not", "#"))
		g.expr()
	case 10:
		g.add("(")
		g.expr()
		g.add(")")
	case 11:
		g.table()
	case 12:
		g.call()
	case 13:
		g.add("function", "(", ")")
		g.body(false)
	case 14:
		if g.vararg {
			g.add("...")
		} else {
			g.add("nil")
		}
	case 15:
		g.add(g.name(), g.pick(".x", "[1]", ".y", "['z']"))
	}
}

func (g *gen) table() {
	g.add("{")
	for range g.r.IntN(4) {
		switch g.r.IntN(4) {
		case 0:
			g.add(g.pick("x", "y", "n"), "=")
		case 1:
			g.add("[")
			g.expr()
			g.add("]", "=")
		}
		g.expr()
		g.add(g.pick(",", ";"))
	}
	g.add("}")
}
