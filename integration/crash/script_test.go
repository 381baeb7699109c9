package crash

import (
	"slices"
	"strconv"
	"strings"

	"godwit/internal/resp/client"
)

// runAll is what scripts and functions do. They run the commands in their arguments, where each
// command follows the number of its words. Errors are the same as outside of scripts.
const runAll = `
	local at = 1
	while at <= #args do
		local n = tonumber(args[at])
		redis.pcall(unpack(args, at + 1, at + n))
		at = at + 1 + n
	end
`

const (
	script    = "local args = ARGV" + runAll + "return 0"
	badScript = "local args = ARGV" + runAll + "error('as it should')" // what it has written stays
)

// packed returns the commands as the arguments of a script.
func packed(cmds [][]string) (args []string) {
	for _, cmd := range cmds {
		args = append(append(args, strconv.Itoa(len(cmd))), cmd...)
	}
	return args
}

// inScript makes one command of several.
func (g *generator) inScript(all *unit) *unit {
	switch n := g.rnd.IntN(10); {
	case n < 3 && g.functions != noFunctions:
		return g.call(all)
	case n < 5:
		all.cmds = [][]string{append([]string{"EVAL", badScript, "0"}, packed(all.cmds)...)}
	case n < 7 && g.sha != "":
		all.cmds = [][]string{append([]string{"EVALSHA", g.sha, "0"}, packed(all.cmds)...)}
	default:
		all.cmds = [][]string{append([]string{"EVAL", script, "0"}, packed(all.cmds)...)}
	}
	return all
}

// outsideOnly reports whether scripts may not call the command.
func outsideOnly(cmd []string) bool {
	return slices.Contains([]string{"FUNCTION", "FCALL", "EVAL", "EVALSHA"}, cmd[0])
}

// These constants say who may change the libraries of functions. Libraries belong to the server, as
// keys do, and not to a connection.
const (
	noFunctions  = iota
	ownFunctions // its own ones
	allFunctions // all, FLUSH included: nobody else has any
)

// library returns the name of a library. The model keeps it as if it were a key.
func (g *generator) library(n int) string {
	return strings.TrimSuffix(g.prefix, ":") + "_lib" + text(n)
}

const libraryKey = "library "

// libraryCode returns a version of a library. Its function notes the version and does what it is
// told.
func (g *generator) libraryCode(name, version string) string {
	return "#!lua name=" + name + "\nredis.register_function('" + name +
		"', function(keys, args) redis.call('SET', '" + g.ranKey() + "', '" + name + " " + version +
		"')" +
		runAll + "return 0 end)\n-- " + version
}

func (g *generator) ranKey() string { return g.prefix + "ran" }

// call makes one FCALL of several commands. If the library is missing, nothing happens.
func (g *generator) call(all *unit) *unit {
	name, inner := g.library(g.rnd.IntN(3)), all.apply
	all.cmds = [][]string{append([]string{"FCALL", name, "0"}, packed(all.cmds)...)}
	all.apply = func(s state) {
		if lib := s[libraryKey+name]; lib != nil {
			delete(s, g.ranKey())
			s.get(g.ranKey(), "string").str = name + " " +
				lib.str[strings.LastIndex(lib.str, " ")+1:]
			inner(s)
		}
	}
	return all
}

// function changes the libraries.
func (g *generator) function() []*unit {
	name := g.library(g.rnd.IntN(3))
	key := libraryKey + name
	put := func(s state, key, code string) {
		delete(s, key)
		s.get(key, "library").str = code
	}
	switch n := g.rnd.IntN(10); {
	case n < 2:
		return one(func(s state) { delete(s, key) }, "FUNCTION", "DELETE", name)
	case n < 3 && g.functions == allFunctions:
		return one(func(s state) {
			for k := range s {
				if strings.HasPrefix(k, libraryKey) {
					delete(s, k)
				}
			}
		}, "FUNCTION", "FLUSH", []string{"SYNC", "ASYNC"}[g.rnd.IntN(2)])
	case n < 4:
		return one(func(s state) {
			put(s, libraryKey+g.library(dumped), g.libraryCode(g.library(dumped), "0"))
		}, "FUNCTION", "RESTORE", g.dump, "REPLACE")
	case n < 6:
		code := g.libraryCode(name, text(g.rnd.IntN(1000)))
		return one(func(s state) {
			if s[key] == nil {
				put(s, key, code)
			}
		}, "FUNCTION", "LOAD", code)
	}
	code := g.libraryCode(name, text(g.rnd.IntN(1000)))
	return one(func(s state) { put(s, key, code) }, "FUNCTION", "LOAD", "REPLACE", code)
}

// dumped is the number of the library that comes from a dump.
const dumped = 9

// prepare makes the dump that the generator restores, on a server without libraries.
func (g *generator) prepare(c *client.Client) error {
	if _, err := do(c, "FUNCTION", "LOAD", g.libraryCode(g.library(dumped), "0")); err != nil {
		return err
	}
	v, err := do(c, "FUNCTION", "DUMP")
	if err == nil {
		g.dump = v.Text()
		_, err = do(c, "FUNCTION", "FLUSH")
	}
	return err
}

// readLibraries adds the connection's libraries to what it has.
func readLibraries(c *client.Client, prefix string, out state) error {
	v, err := do(c, "FUNCTION", "LIST", "WITHCODE", "LIBRARYNAME",
		strings.TrimSuffix(prefix, ":")+"_lib*")
	for _, lib := range v.Elems {
		fields := map[string]string{}
		for i := 0; i+1 < len(lib.Elems); i += 2 {
			fields[lib.Elems[i].Text()] = lib.Elems[i+1].Text()
		}
		out.get(libraryKey+fields["library_name"], "library").str = fields["library_code"]
	}
	return err
}
