package command

import (
	"math"
	"strings"

	"godwit/internal/engine"
	"godwit/internal/object"
)

// is reports whether the argument is the token, whatever its case; token is lower case.
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

// intArg reads a canonical 64-bit integer argument; it answers with Redis's error and reports false
// otherwise.
func intArg(c *engine.Ctx, arg []byte) (int64, bool) {
	n, ok := object.ParseInt(arg)
	if !ok {
		c.Err(engine.ErrNotInteger)
	}
	return n, ok
}

// signedArg reads an integer argument whose sign says where to begin. The smallest integer has no
// opposite and is refused.
func signedArg(c *engine.Ctx, arg []byte) (int64, bool) {
	n, ok := intArg(c, arg)
	if ok && n == math.MinInt64 {
		c.Err("ERR value is out of range, value must between -9223372036854775807 and " +
			"9223372036854775807")
		return 0, false
	}
	return n, ok
}

// int32Arg reads an integer argument that must fit 32 bits; it answers with Redis's errors and
// reports false otherwise.
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

// timeoutArg reads a timeout in ms; it answers with Redis's errors and reports false otherwise.
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

// isString reports whether the entry is a string or missing; otherwise it answers WRONGTYPE.
func isString(c *engine.Ctx, e object.Entry) bool {
	if e.Exists() && e.Type() != object.String {
		c.Err(engine.ErrWrongType)
		return false
	}
	return true
}

// help answers HELP of a container command; lines are the ones between the usage line and HELP's
// own.
func help(c *engine.Ctx, lines ...string) {
	c.Array(len(lines) + 3)
	// As the client called it: rename-command may have given the container another name.
	c.Simple(strings.ToUpper(string(c.Args[0])) +
		" <subcommand> [<arg> [value] [opt] ...]. Subcommands are:")
	for _, l := range lines {
		c.Simple(l)
	}
	c.Simple("HELP")
	c.Simple("    Print this help.")
}

// dbArg reads a database number, answering with Redis's errors.
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
