package stdlib

import (
	"math"
	"strings"

	"godwit/internal/lua"
)

const spaces = " \t\n\r\v\f"

func baseToNumber(t *lua.Thread) int {
	base := optCInt(t, 2, 10)
	if base == 10 {
		if n, ok := lua.ToNumber(t.Any(1)); ok {
			t.Push(lua.Number(n))
		} else {
			t.Push(lua.Nil)
		}
		return 1
	}
	str := t.String(1)
	if base < 2 || base > 36 {
		t.ArgError(2, "base out of range")
	}
	t.Spend(len(str) / 8)
	return t.Return(inBase(cut(str), base))
}

// inBase reads an integer in a base as C's strtoul does: 64 bits, with a sign, saturating. It
// returns nil for other text.
func inBase(str string, base int) lua.Value {
	str = strings.Trim(str, spaces)
	neg := strings.HasPrefix(str, "-")
	if neg || strings.HasPrefix(str, "+") {
		str = str[1:]
	}
	if base == 16 && len(str) > 2 && str[0] == '0' && str[1]|32 == 'x' {
		str = str[2:]
	}
	if str == "" {
		return lua.Nil
	}
	n, over := uint64(0), false
	for i := range len(str) {
		d := digitOf(str[i])
		if d >= base {
			return lua.Nil
		}
		if n > (math.MaxUint64-uint64(d))/uint64(base) {
			over = true
		}
		n = n*uint64(base) + uint64(d)
	}
	if over {
		n = math.MaxUint64
	} else if neg {
		n = -n
	}
	return lua.Number(float64(n))
}

// digitOf returns the value of a digit in the largest base, or a number beyond it.
func digitOf(c byte) int {
	switch {
	case '0' <= c && c <= '9':
		return int(c - '0')
	case 'a' <= c|32 && c|32 <= 'z':
		return int(c|32-'a') + 10
	}
	return 99
}
