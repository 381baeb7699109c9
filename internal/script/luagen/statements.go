package luagen

import "strconv"

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
		// Else a call that begins with a parenthesis would continue the statement before.
		g.add("do")
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

// whiles adds a loop that counts to three.
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

// body adds a function's body and its end.
func (g *gen) body(vararg bool, params ...string) {
	was, loops, scope := g.vararg, g.loops, len(g.locals)
	g.vararg, g.loops = vararg, 0
	g.locals = append(g.locals, params...)
	g.block(g.r.IntN(3))
	g.vararg, g.loops, g.locals = was, loops, g.locals[:scope]
	g.add("end")
}
