// Package luagen makes random Lua 5.1 programs for tests.
//
// A program (Program) comes to an end, does something in each of its statements, and returns all
// that it saw as one string, so that two engines can be compared by what they return. Values whose
// text depends on addresses are masked. Its grammar is the file grammar.txt: templates with holes.
// The file prelude.lua holds the functions that all programs call.
//
// A program uses what Redis's sandbox offers. It cannot loop for ever, for each function and each
// loop of unknown length uses up fuel, and strings are cut before they are kept.
//
// Script and Valid return texts for tests of compilers.
package luagen

import (
	_ "embed" // for the grammar
	"math/rand/v2"
	"strings"
)

//go:embed prelude.lua
var prelude string

// variables are in scope of every program, at least one of each kind.
const variables = `local n1, s1, b1, a1, t1, f1, c1 = 3, 'abc', true, nil, {10, 20, x = 30}
f1 = function(a, b) tick() return b, a end
c1 = coroutine.create(function(...) tick() coroutine.yield(...) return 'done' end)
local o1 = setmetatable({m = f1, n = function(self, ...) return 'n', ... end, x = 1, y = 2}, {
  __add = function(a, b) out('add', a, b) return 7 end, __sub = f1, __div = f1, __mod = f1,
  __mul = function(a, b) return a, b end, __pow = function() return nil end,
  __concat = function(a, b) return cut(type(a) .. type(b)) end,
  __unm = function(a, b) out('unm', rawequal(a, b)) return 1 end,
  __lt = function(a, b) return true, a end, __eq = function(a, b) return 1 end,
  __call = function(self, a, ...) tick() return a, select('#', ...), ... end,
  __len = function() return 99 end})
`

// head is what all programs begin with.
var head = prelude + variables

// Program returns a program: some sections, each in a protected call.
func Program(r *rand.Rand) string {
	g := newGen(r)
	for range 1 + g.n(4) {
		g.limit = len(g.out) + 100 + g.n(900)
		g.write("fuel = 50\nout(caught(pcall(function(...)")
		g.dots = true
		g.block(blockBody)
		g.write("end, 1, 'two', nil)))\n")
	}
	g.write("return table.concat(log, '\\n')\n")
	body := string(g.out)
	if g.n(8) == 0 {
		body = scatter(r, body)
	}
	return head + body
}

// scatter puts some ends of lines and comments between tokens.
func scatter(r *rand.Rand, src string) string {
	between := []string{"\n", "\n\n", " --[[ c ]]", " --[[ c\n]]", "\t-- c\r\n"}
	tokens := Tokens(src)
	for i, t := range tokens {
		if r.IntN(25) > 0 || strings.HasPrefix(strings.TrimSpace(t), "(") {
			continue // a parenthesis on a line of its own would be ambiguous
		}
		tokens[i] = between[r.IntN(len(between))] + t
	}
	return strings.Join(tokens, "")
}

// Valid returns a script without syntax errors that also calls Redis. It comes to an end as a
// program does, but tells nothing.
func Valid(r *rand.Rand) string { return head + valid(r) }

// Script returns what Valid returns. In half of the scripts a token has been left out, doubled,
// replaced, or swapped with another, or the script ends early.
func Script(r *rand.Rand) string {
	src := valid(r)
	if r.IntN(2) == 0 {
		src = damage(r, src)
	}
	return head + src
}

func valid(r *rand.Rand) string {
	g := newGen(r)
	g.redis = true
	g.limit = 100 + g.n(1500)
	g.dots = true
	g.block(blockBody)
	return string(g.out)
}

// words returns the tokens that damage inserts: all of the language, and some that are not Lua.
func words() []string {
	return strings.Fields("and break do else elseif end false for function if in local nil not " +
		"or repeat return then " +
		"true until while + - * / % ^ # == ~= <= >= < > = ( ) { } [ ] ; : , . .. ... a b x1 self " +
		"arg 0 1 1e5 0x1p 3. .5e " +
		"'s' \"t\" [[u]] [==[v]==] -- --[[ ~ ! @ $ & | ? \\ ' \" [= [[ ]] \x00 \x80 1..2 08 0xg " +
		"1e+ 'a\\ '\\999'")
}

func damage(r *rand.Rand, src string) string {
	tokens := Tokens(src)
	if len(tokens) == 0 {
		return src
	}
	i := r.IntN(len(tokens))
	switch r.IntN(5) {
	case 0:
		tokens = append(tokens[:i], tokens[i+1:]...)
	case 1:
		tokens = append(tokens[:i+1], tokens[i:]...)
	case 2:
		w := words()
		tokens[i] = " " + w[r.IntN(len(w))]
	case 3:
		j := r.IntN(len(tokens))
		tokens[i], tokens[j] = tokens[j], tokens[i]
	case 4:
		tokens = tokens[:i]
	}
	return strings.Join(tokens, "")
}

// Body returns a program without what all programs begin with.
func Body(program string) string { return strings.TrimPrefix(program, head) }
