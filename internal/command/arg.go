package command

import (
	"math"
	"strconv"
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

// intArg reads a canonical 64-bit integer argument; it answers with Redis's error and reports false otherwise.
func intArg(c *engine.Ctx, arg []byte) (int64, bool) {
	n, ok := object.ParseInt(arg)
	if !ok {
		c.Err(engine.ErrNotInteger)
	}
	return n, ok
}

// parseFloat reads a floating-point number as Redis's string2d and getLongDouble do: the whole argument, no spaces, no NaN.
func parseFloat(arg []byte) (float64, bool) {
	if len(arg) == 0 || len(arg) > 255 || strings.ContainsAny(string(arg), "_ \t\n\v\f\r") {
		return 0, false
	}
	f, err := strconv.ParseFloat(string(arg), 64)
	if err != nil && !math.IsInf(f, 0) || math.IsNaN(f) {
		return 0, false
	}
	return f, true
}

// isString reports whether the entry is a string or missing; otherwise it answers WRONGTYPE.
func isString(c *engine.Ctx, e object.Entry) bool {
	if e.Exists() && e.Type() != object.String {
		c.Err(engine.ErrWrongType)
		return false
	}
	return true
}
