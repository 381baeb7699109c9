package stdlib_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/lua/stdlib"
)

// TestLongStrings checks functions over strings so long that they work aside.
func TestLongStrings(t *testing.T) {
	const setup = "local a, n = 'aBcdefghijklmnopqrstuvwxyz1', 100000 local s, r = a:rep(n) "
	for _, src := range []string{
		"return s:sub(1, 54) .. s:sub(-54) == a:rep(4), s == s:sub(28) .. a",
		"r = s:upper() return r == a:upper():rep(n)",
		"r = s:lower() return r == a:lower():rep(n)",
		"r = s:reverse() return r == a:reverse():rep(n)",
		"r = ('1'):rep(27 * n):lower() return not r:find('[^1]')",
		"return s:find('z1' .. a) == 26, s:find(s) == 1, not s:find(s .. 'x', 1, true)",
		"return string.format('%s%s', s, s) == a:rep(2 * n), s .. s == a:rep(2 * n)",
		"return table.concat({s, s}, s) == a:rep(3 * n)",
		"r = ('%q'):format('x\\n' .. s .. '\\n' .. s .. 'y') " +
			"return r == '\"x\\\\\\n' .. s .. '\\\\\\n' .. s .. 'y\"'",
		"r = ('0'):rep(27 * n) return tonumber(r .. 7) == 7, tonumber(r .. 'z', 36) == 35",
		"return tonumber('1' .. ('0'):rep(2^21) .. 'e-2097152') == 1, not tonumber(s)",
		"r = {select(2, pcall(error, s, 1))} return r[1] == s, #r == 1",
		"r = {} for i = 1, 2^18 do r[i] = i end table.insert(r, 2, 0) table.remove(r, 1) " +
			"for i = 2, 2^18 do assert(r[i] == i) end return r[1] == 0",
	} {
		s := newBase()
		stdlib.OpenString(s)
		require.NotContains(t, run(s, setup+src)+" ", "false ", src)
	}
}
