// Package luagen makes random Lua 5.1 scripts for tests: programs that the grammar of the reference
// manual allows, or almost.
//
// Scripts terminate in all but rare cases: loops are counted, and recursion is not aimed for. They
// use the libraries that scripts of a server have. Half of what Script returns has a token dropped,
// doubled, replaced or swapped somewhere, which mostly is a syntax error.
package luagen

import (
	"math/rand/v2"
	"strconv"
	"strings"
)

// maxTokens is about how long a script becomes.
const maxTokens = 400

// Script returns a script. Half of them have been damaged at a random token.
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

// words are the tokens that damage puts in: all of the language, and what is none.
func words() []string {
	return strings.Fields("and break do else elseif end false for function if in local nil not or repeat return then " +
		"true until while + - * / % ^ # == ~= <= >= < > = ( ) { } [ ] ; : , . .. ... a b x1 self arg 0 1 1e5 0x1p 3. .5e " +
		"'s' \"t\" [[u]] [==[v]==] -- --[[ ~ ! @ $ & | ? \\ ' \" [= [[ ]] \x00 \x80 1..2 08 0xg 1e+ 'a\\ '\\999'")
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

// text puts the tokens together with white space of all kinds.
func (g *gen) text() string {
	var b strings.Builder
	for i, t := range g.tokens {
		if i > 0 {
			n := g.r.IntN(30)
			if t == "(" {
				n = 30 // on a line of its own it is ambiguous
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

// full reports whether it is time to come to an end.
func (g *gen) full() bool { return g.depth > 6 || len(g.tokens) > maxTokens }

func (g *gen) block(n int) {
	g.depth++
	scope := len(g.locals)
	for range n {
		g.statement()
		if g.r.IntN(8) == 0 {
			g.add(";")
		}
	}
	if g.r.IntN(3) == 0 || g.depth == 1 {
		g.last()
	}
	g.locals = g.locals[:scope]
	g.depth--
}

func (g *gen) last() {
	if g.loops > 0 && g.r.IntN(2) == 0 {
		g.add("break")
		return
	}
	g.add("return")
	if g.r.IntN(6) > 0 {
		g.exprs(1 + g.r.IntN(3))
	}
}

func (g *gen) statement() {
	n := g.r.IntN(14)
	if g.full() {
		n = g.r.IntN(4)
	}
	switch n {
	case 0, 1, 2:
		g.local()
	case 3, 4:
		g.assign()
	case 5, 6:
		g.add("do") // or a call that begins with a parenthesis would go on with the statement before
		g.call()
		g.add("end")
	case 7:
		g.add("do")
		g.block(g.r.IntN(3))
		g.add("end")
	case 8:
		g.ifs()
	case 9:
		g.numericFor()
	case 10:
		g.genericFor()
	case 11:
		g.whiles()
	case 12:
		g.repeats()
	case 13:
		g.function()
	}
}

func (g *gen) fresh() string {
	if g.r.IntN(3) == 0 {
		return g.pick("a", "b", "c")
	}
	return "v" + strconv.Itoa(g.r.IntN(20))
}

func (g *gen) local() {
	names := []string{g.fresh()}
	for g.r.IntN(3) == 0 {
		names = append(names, g.fresh())
	}
	g.add("local")
	g.list(names)
	if g.r.IntN(6) > 0 {
		g.add("=")
		g.exprs(1 + g.r.IntN(3))
	}
	g.locals = append(g.locals, names...)
}

func (g *gen) list(names []string) {
	for i, n := range names {
		if i > 0 {
			g.add(",")
		}
		g.add(n)
	}
}

func (g *gen) name() string {
	if len(g.locals) == 0 || g.r.IntN(20) == 0 {
		return g.pick("KEYS", "ARGV", "string", "table", "nosuch", "_G", "tostring", "redis")
	}
	return g.locals[g.r.IntN(len(g.locals))]
}

func (g *gen) assign() {
	n := 1 + g.r.IntN(2)
	for i := range n {
		if i > 0 {
			g.add(",")
		}
		g.add(g.name())
		switch g.r.IntN(4) {
		case 0:
			g.add(".", g.pick("x", "y", "len"))
		case 1:
			g.add("[")
			g.expr()
			g.add("]")
		}
	}
	g.add("=")
	g.exprs(1 + g.r.IntN(2))
}

func (g *gen) call() {
	switch g.r.IntN(8) {
	case 0:
		g.add("redis", ".", g.pick("call", "pcall"), "(", g.pick("'set'", "'get'", "'incr'", "'del'", "'nosuch'"), ",")
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
		g.add(g.pick("tostring", "type", "select", "unpack", "pairs", "next", "tonumber", "setmetatable", g.name()), "(")
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

func (g *gen) ifs() {
	g.add("if")
	g.expr()
	g.add("then")
	g.block(g.r.IntN(3))
	for g.r.IntN(3) == 0 {
		g.add("elseif")
		g.expr()
		g.add("then")
		g.block(g.r.IntN(2))
	}
	if g.r.IntN(2) == 0 {
		g.add("else")
		g.block(g.r.IntN(2))
	}
	g.add("end")
}

func (g *gen) loop(names ...string) {
	g.locals = append(g.locals, names...)
	g.loops++
	g.block(g.r.IntN(3))
	g.loops--
	g.locals = g.locals[:len(g.locals)-len(names)]
}

func (g *gen) numericFor() {
	v := g.fresh()
	g.add("for", v, "=", strconv.Itoa(g.r.IntN(3)), ",", strconv.Itoa(g.r.IntN(5)))
	if g.r.IntN(4) == 0 {
		g.add(",", g.pick("1", "2", "- 1"))
	}
	g.add("do")
	g.loop(v)
	g.add("end")
}

func (g *gen) genericFor() {
	k, v := g.fresh(), g.fresh()
	g.add("for", k, ",", v, "in", g.pick("pairs", "ipairs"), "(")
	if g.r.IntN(2) == 0 {
		g.table()
	} else {
		g.add(g.name())
	}
	g.add(")", "do")
	g.loop(k, v)
	g.add("end")
}

// whiles makes a loop that counts to three.
func (g *gen) whiles() {
	v := g.fresh()
	g.add("do", "local", v, "=", "0", "while", v, "<", "3", "do", v, "=", v, "+", "1")
	g.loop()
	g.add("end", "end")
}

func (g *gen) repeats() {
	g.add("repeat")
	g.loops++
	g.block(g.r.IntN(3))
	g.loops--
	g.add("until", g.pick("true", "not nil", "1"))
}

func (g *gen) function() {
	name := g.fresh()
	g.add("local", "function", name, "(")
	g.locals = append(g.locals, name)
	params, vararg := []string{}, g.r.IntN(3) == 0
	for range g.r.IntN(3) {
		params = append(params, g.fresh())
	}
	g.list(params)
	if vararg {
		if len(params) > 0 {
			g.add(",")
		}
		g.add("...")
	}
	g.add(")")
	g.body(vararg, params...)
}

// body is a function's body and its end.
func (g *gen) body(vararg bool, params ...string) {
	was, loops, scope := g.vararg, g.loops, len(g.locals)
	g.vararg, g.loops = vararg, 0
	g.locals = append(g.locals, params...)
	g.block(g.r.IntN(3))
	g.vararg, g.loops, g.locals = was, loops, g.locals[:scope]
	g.add("end")
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
		g.add(g.pick("0", "1", "2", "10", "3.25", "1e3", "0x1F", ".5", "5.", "1e308", "123456789012"))
	case 5:
		g.add(g.pick(`"a"`, `'b'`, `"10"`, `'\n\065'`, `[[l]]`, `[=[ m]] ]=]`, `""`, `"0x10"`, `' 1 '`))
	case 6, 7, 8:
		g.expr()
		g.add(g.pick("+", "-", "*", "/", "%", "^", "..", "==", "~=", "<", "<=", ">", ">=", "and", "or"))
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
