package command

import (
	"math"
	"strings"

	"godwit/internal/engine"
	"godwit/internal/object"
)

// is reports whether the argument is the token, ignoring case. The token must be lower case.
func is(arg []byte, token string) bool {
	if len(arg) != len(token) {
		return false
	}
	for i := range len(arg) {
		ch := arg[i]
		if 'A' <= ch && ch <= 'Z' {
			ch += 32
		}
		if ch != token[i] {
			return false
		}
	}
	return true
}

// intArg reads a canonical 64-bit integer argument. It replies with Redis's error and reports false
// if the argument is none.
func intArg(c *engine.Ctx, arg []byte) (int64, bool) {
	n, ok := object.ParseInt(arg)
	if !ok {
		c.Err(engine.ErrNotInteger)
	}
	return n, ok
}

// signedArg reads an integer argument whose sign says at which end to begin. It refuses the
// smallest integer, which has no positive counterpart.
func signedArg(c *engine.Ctx, arg []byte) (int64, bool) {
	n, ok := intArg(c, arg)
	if ok && n == math.MinInt64 {
		c.Err("ERR value is out of range, value must between -9223372036854775807 and " +
			"9223372036854775807")
		return 0, false
	}
	return n, ok
}

// int32Arg reads an integer argument that must fit in 32 bits. It replies with Redis's errors and
// reports false if it does not.
func int32Arg(c *engine.Ctx, arg []byte) (int, bool) {
	n, ok := intArg(c, arg)
	if !ok {
		return 0, false
	}
	if n != int64(int32(n)) {
		c.Err("ERR value is out of range, value must between -2147483648 and 2147483647")
		return 0, false
	}
	return int(n), true
}

// timeoutArg reads a timeout in ms. It replies with Redis's errors and reports false if it is
// invalid.
func timeoutArg(c *engine.Ctx, arg []byte) (int64, bool) {
	ms, ok := object.ParseInt(arg)
	switch {
	case !ok:
		c.Err("ERR timeout is not an integer or out of range")
	case ms < 0:
		c.Err("ERR timeout is negative")
		ok = false
	}
	return ms, ok
}

// isString reports whether the entry is a string or missing. If it is neither, it replies with
// WRONGTYPE.
func isString(c *engine.Ctx, e object.Entry) bool {
	if e.Exists() && e.Type() != object.String {
		c.Err(engine.ErrWrongType)
		return false
	}
	return true
}

// help replies to HELP of a container command. The lines stand between the usage line and the lines
// about HELP itself.
func help(c *engine.Ctx, lines ...string) {
	c.Array(len(lines) + 3)
	// The name is the one that the client used: rename-command may have changed it.
	c.Simple(strings.ToUpper(string(c.Args[0])) +
		" <subcommand> [<arg> [value] [opt] ...]. Subcommands are:")
	for _, l := range lines {
		c.Simple(l)
	}
	c.Simple("HELP")
	c.Simple("    Print this help.")
}

// dbArg reads a database number. It replies with Redis's errors and reports false if it is invalid.
func dbArg(c *engine.Ctx, arg []byte) (int, bool) {
	n, ok := int32Arg(c, arg)
	if !ok {
		return 0, false
	}
	if n < 0 || n >= c.E.KS.Databases() {
		c.Err(engine.ErrDBIndex)
		return 0, false
	}
	return n, true
}

// helpOf returns the handler of a container's HELP.
func helpOf(lines ...string) func(c *engine.Ctx) {
	return func(c *engine.Ctx) { help(c, lines...) }
}

// errArity returns the error for a number of arguments that the command does not take, although its
// entry allows it.
func errArity(c *engine.Ctx) string {
	return "ERR wrong number of arguments for '" + c.Cmd.FullName() + "' command"
}
