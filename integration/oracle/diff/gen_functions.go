package diff

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Rounds about functions: libraries of random functions are loaded, replaced, deleted, dumped and
// restored, and their functions called.

// FunctionRound generates n commands of connections that take short turns.
func (g *Generator) FunctionRound(seed uint64, r, n int) []Cmd {
	g.begin(seed, r, g.cfg.Clients)
	var out []Cmd
	for c := range g.cfg.Clients {
		if c%2 == 1 {
			out = append(out, Cmd{Client: c, Args: split("HELLO 3")})
		}
	}
	ours := g.functionGrammars()
	for len(out) < n {
		client := g.rnd.IntN(g.cfg.Clients)
		for run := 1 + g.rnd.IntN(20); run > 0 || len(g.after) > 0; run-- {
			if len(g.after) > 0 || g.chance(0.4) {
				out = append(out, g.next(client))
				continue
			}
			gr := ours[g.rnd.IntN(len(ours))]
			args := g.generate(gr)
			if gr.Name == "function|load" && len(args) == 3 && g.chance(0.6) {
				args = slices.Insert(args, 2, []byte("REPLACE"))
			}
			out = append(out, Cmd{Client: client, Args: args})
		}
		if g.chance(0.02) {
			out = append(out, Cmd{Client: client, Disk: g.way()})
		}
	}
	return out
}

// functionGrammars returns the commands about functions, the frequent ones several times.
func (g *Generator) functionGrammars() []*Grammar {
	var out []*Grammar
	for i := range g.grams {
		gr := &g.grams[i]
		n := map[string]int{"fcall": 20, "fcall_ro": 8, "function|load": 12, "function|restore": 2,
			"function|list": 2}[gr.Name]
		if strings.HasPrefix(gr.Name, "function|") {
			n = max(n, 1)
		}
		for range n {
			out = append(out, gr)
		}
	}
	return out
}

const libraries = 4

func (g *Generator) libraryName() string { return g.pick("l0", "l1", "l2", "l3") }

func (g *Generator) functionName() string {
	return g.pick("f0", "f1", "f2", "f3", "f4", "f5", "f6", "f7", "F0")
}

// library returns the source of one library.
func (g *Generator) library() string {
	var b strings.Builder
	own := g.rnd.IntN(libraries)
	b.WriteString(g.shebang(own) + "\n")
	if g.chance(0.2) {
		b.WriteString("local function help(x) return x end\nlocal count = 0\n")
	}
	for n := g.rnd.IntN(10); n >= 0; n -= 3 {
		b.WriteString(g.registration(own) + "\n")
	}
	if g.chance(0.12) {
		b.WriteString(
			g.pick("error('load')", "error({err='ERR load'})", "redis.call('set', 'k3', 'v')",
				"return nosuch", "nosuch = 1", "local", "redis.log(redis.LOG_DEBUG, 'x')",
				"redis.register_function()", "redis.register_function('f0')",
				"redis.register_function('f 0', function() end)",
				"redis.register_function('f0', 1)",
				"redis.register_function{callback=function() end}",
				"redis.register_function{function_name='f1'}",
				"redis.register_function('', function() end)",
				"redis.register_function{function_name='f1', callback=function() end, nosuch=1}",
				"redis.register_function{function_name='f1', callback=function() end, "+
					"flags={'nosuch'}}", "redis.register_function('f0', function() end, 1)",
				"redis.register_function{function_name='f1', callback=function() end, "+
					"flags='no-writes'}",
				"redis.register_function{function_name=1, callback=function() end}",
				"redis.register_function{function_name='f1', callback='x'}",
				"redis.register_function(1, function() end)",
				"redis.register_function{function_name='f1', callback=function() end, "+
					"description=1}",
				"redis.setresp(3)", "KEYS = 1", "redis.acl_check_cmd('get', 'x')",
				"redis.sha1hex('')",
				"local t = redis.REDIS_VERSION", "math.random = nil", "setmetatable(redis, {})",
				"cjson.encode(1)", "redis.pcall('get', 'x')", "redis.breakpoint()", "print(1)",
				"string.rep('x', 2)", "x.y = 1", "redis.x = 1", "error(redis.error_reply('E x'))") +
				"\n")
	}
	if s := b.String(); !strings.Contains(s, "'f0'") {
		return s
	}
	// redis finds the first of two names that differ only in case, in the order of its hash table
	return strings.ReplaceAll(b.String(), "'F0'", "'f0'")
}

// shebang returns the first line of a library.
func (g *Generator) shebang(own int) string {
	if g.chance(0.92) {
		return g.pick("#!lua name=", "#!lua name=", "#!LUA name=", "#!Lua  name=") + "l" +
			strconv.Itoa(own)
	}
	return g.pick("#!lua", "#!js name=l0", "lua name=l0", "", "#!lua name=", "#!lua name=a-b",
		"#!lua name=l0 name=l1", "#!lua foo=l0", "#!lua name=l0 x", "#! lua name=l0", "#!",
		"#!lua name=l0 engine=lua", "#!lua 'name=l0'", "#!lua \"name=l0", "#!lua name=l0\\x")
}

// registration returns a call of register_function.
func (g *Generator) registration(own int) string {
	name, body := g.functionName(), g.functionBody()
	if g.chance(0.9) { // two that no other library has
		name = "f" + strconv.Itoa(2*own+g.rnd.IntN(2))
	}
	if g.chance(0.4) {
		return fmt.Sprintf("redis.register_function('%s', %s)", name, body)
	}
	fields := []string{"function_name='" + name + "'", "callback=" + body}
	if g.chance(0.3) {
		fields = append(fields, "description='"+g.pick("", "words", "two lines\\n")+"'")
	}
	if g.chance(0.7) {
		var flags []string
		for range 1 + g.rnd.IntN(2) {
			flags = append(flags,
				"'"+g.pick("no-writes", "no-writes", "no-writes", "allow-oom", "allow-stale",
					"no-cluster", "allow-cross-slot-keys")+"'")
		}
		fields = append(fields, "flags={"+strings.Join(flags, ",")+"}")
	}
	g.rnd.Shuffle(len(fields), func(i, j int) { fields[i], fields[j] = fields[j], fields[i] })
	return "redis.register_function{" + strings.Join(fields, ", ") + "}"
}

// functionBody returns a function: composed as scripts are, or one of the ways to answer and to
// fail.
func (g *Generator) functionBody() string {
	if g.chance(0.5) {
		return "function(keys, args) " + g.script() + " end"
	}
	return "function(" + g.pick("keys, args", "keys", "", "keys, args, more") + ") " + g.pick(
		"return keys", "return args", "return {#keys, #args}", "return redis.call('get', keys[1])",
		"return redis.call('set', keys[1], args[1])", "return redis.pcall('incr', keys[1])",
		"return redis.error_reply('MY error')", "return redis.error_reply('one')",
		"return {err='ERR two'}", "return redis.status_reply('FINE')", "return {ok='OK'}",
		"error('thrown')", "error({err='ERR table'})", "return nosuch", "return help(1)",
		"count = count + 1 return count", "g = 1", "return KEYS",
		"redis.setresp(3) return redis.call('config', 'get', 'tcp-keepalive')",
		"redis.setresp(3) return {map={a=1}}", "redis.setresp(3) return {set={a=true}}",
		"redis.setresp(3) return {double=1.5}", "redis.setresp(3) return {true, false, 1.9}",
		"redis.setresp(3) return redis.call('zscore', keys[1], 'm')",
		"redis.setresp(3) return redis.call('get', 'nosuch')", "redis.setresp(4)",
		"return {big_number='123'}", "return {verbatim_string={string='s', format='txt'}}",
		"return redis.call('get')", "return redis.call('nosuch')",
		"return redis.call('fcall', 'f0', 0)", "return redis.call('eval', 'return 1', 0)",
		"redis.register_function('f9', function() end)",
		"return redis.acl_check_cmd('get', 'x')", "return redis.call('multi')",
		"return redis.call('select', 1)", "return cjson.encode(keys)", "return redis.sha1hex('a')",
		"return redis.REDIS_VERSION_NUM > 1", "return tostring(redis.LOG_WARNING)",
		"return redis.call('config', 'get', 'timeout')",
		"return redis.call('function', 'list')", "return math.floor(1.5)", "return {1, nil, 3}",
		"return {1, {2, {'x'}}}", "return", "return nil", "return true", "return false",
		"return 3.99", "return function() end",
		"return redis.call('del', keys[1], keys[2])", "return redis.call('sort', keys[1])",
		"redis.set_repl(redis.REPL_ALL)", "redis.replicate_commands() return 1",
		"return pcall(redis.call, 'lpush', keys[1], 'x')",
		"local a = redis.pcall('lpush', keys[1]) return a.err", "return unpack({1,2})",
		"return string.rep('x', 10)", "return tonumber('0x10')", "return type(redis.setresp)") +
		" end"
}

// functionHints returns the hints that make libraries and name existing ones.
func functionHints() map[string]hint {
	return map[string]hint{
		"*.function-code": func(g *Generator) []string {
			return []string{g.library()}
		},
		"*.library-name": mostly(0.05, func(g *Generator) []string {
			return []string{g.libraryName()}
		}, oneOf("nosuch", "", "L0")),
		"*.library-name-pattern": oneOf("*", "l*", "l0", "l[12]", "nosuch", "", "L*"),
		"*.function": mostly(0.04, func(g *Generator) []string {
			return []string{g.functionName()}
		}, oneOf("nosuch", "", "l0")),
		"function|restore.serialized-value": mostly(0.1, oneOf(functionsArg),
			oneOf(cutArg, "", "x", strings.Repeat("x", 30))),
	}
}
