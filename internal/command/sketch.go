package command

import "godwit/internal/engine"

// isUpper reports whether the argument is the token, ignoring case. The token must be upper case.
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

// infoField is one pair in the reply of BF.INFO and its siblings.
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
