package command

import "godwit/internal/engine"

// Flags of the commands of sketches.
const (
	sketchWrite = engine.Write | engine.DenyOOM
	sketchRead  = engine.ReadOnly | engine.Fast
)

// sketchCommand is entry for the commands of sketches, whose key is their first argument.
func sketchCommand(cmd engine.Command, access engine.Access, args ...engine.Arg) *engine.Command {
	return entry(engine.GroupModule, cmd, access, append([]engine.Arg{engine.Key("key", 0)}, args...)...)
}

// isUpper reports whether the argument is the token, whatever its case; token is upper case.
func isUpper(arg []byte, token string) bool {
	if len(arg) != len(token) {
		return false
	}
	for i := range len(arg) {
		ch := arg[i]
		if 'a' <= ch && ch <= 'z' {
			ch -= 32
		}
		if ch != token[i] {
			return false
		}
	}
	return true
}

// infoField is a line of an INFO command.
type infoField struct {
	name string
	n    int64
}

func infoFields(c *engine.Ctx, fields []infoField) {
	c.Map(len(fields))
	for _, f := range fields {
		c.Simple(f.name)
		c.Int(f.n)
	}
}
