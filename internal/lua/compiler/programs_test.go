package compiler

import (
	"strconv"
	"strings"
)

// snippets returns programs for what random ones rarely have.
func snippets() []string {
	return []string{
		"", "return", "local a local b local c = a",
		"local a, b = f(), ... return a, b, ...",
		"for i = 1, 10 do for j = i, 1, -1 do print(i, j) end end",
		"for k, v in pairs(t) do if k then break end t[k] = function() return k, v end end",
		"repeat local x = f() if x then break end until x == 3 or x > 5 and y",
		"repeat local x = f() g(function() return x end) until x == 3 or x > 5 and y",
		"while a and (b or c) and not (d or e) do f() end",
		"while a do local b = f(function() return b end) if b then break end end",
		"local x = a and b or c local y = not (a and b) x = x == y or y ~= x",
		"local a, b, c a, b, c = b, c, a a.x, b = b, a a[b], b = 1, 2 b, a[b] = 1, 2",
		"local a = {} a.x, a.y, a.z = f() a, a.x = 1 a.x.y.z = a[1][2][true]",
		"t[1] = 2 t[1.5] = 3 t.x = nil t[true] = false t[t] = 'x' t[1e10] = t[nil]",
		"return 1 < 2, a < 1, 1 < a, a > 1, 1 >= a, 'a' <= b, nil == a, a ~= true, 1 == 1",
		"return 1 + 2, a + 1, 1 - a, 'x' * 2, 1 / 0, 1 % 0, 2 ^ 3 ^ 2, -a, -1, - '1', #a, #'x'",
		"return a .. b .. 'c' .. 1, (a .. b) .. c, a .. (b .. c)",
		"return {1, 2, 3, x = 1, [1] = 2, [f()] = 3; f()}, {...}, {f(), ...}, {[0] = a}",
		"local t = {" + many("#, ", 120) + "f()}",
		"local t = {" + many("#, ", 150) + "x = 1, [2] = 3}",
		"local t = {" + many("x# = f#(), ", 120) + "}",
		"local function f(...) return arg.n end local function g(a, ...) return ... end",
		"function a.b.c:d(x, ...) self.x = x return self:d(...) end",
		"local function f() return f() end return f(f())",
		"f{a}:b'x'[[y]].z = (f())",
		"do local a do local b function c() return a, b end end end",
		"return function() return function() a = b return x.y end end",
		"local a = 0, -0 return 1e300 * 1e300, 0 / 5, -0",
		"if a then return 1 elseif b then f() elseif c then else g() end",
		"if a == 1 and b ~= 2 or c < 3 then f() else g() end",
		"f(function(a, b, ...) local c = a return c end, ...)",
		"return a.b.c.d['e'].f[g.h[i]]",
		"local a = b\n.c\n.d(e,\nf) \n+ g\n",
		"a\n=\nb\n..\nc\n..\nd", "f(\n)\nlocal x\nx = nil", "x\n.y\n[\nz]\n=\n1",
		"a = function()\nend\nfunction b()\nreturn\n1\nend", "local f = function\n(a)\nend",
		many("local v# = #\n", 150) + many("f(v#)\n", 150),
		many("local v# = x#\n", 59) + "return function() " + many("v# = v# + #.5\n", 59) + "end",
		"local a = " + many("#.5 + a + ", 90) + "1 < 301",
	}
}

// many repeats a text with numbers in place of #.
func many(text string, n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.ReplaceAll(text, "#", strconv.Itoa(i)))
	}
	return b.String()
}
