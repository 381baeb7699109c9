package command

import "godwit/internal/engine"

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
