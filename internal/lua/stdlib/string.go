package stdlib

import "godwit/internal/lua"

// OpenString adds the table string to the globals and makes it the index of all strings.
func OpenString(s *lua.State) {
	tab := library(s, "string", []function{{"byte", stringByte}, {"char", stringChar},
		{"dump", stringDump}, {"find", stringFind}, {"format", stringFormat},
		{"gfind", stringGmatch}, {"gmatch", stringGmatch}, {"gsub", stringGsub}, {"len", stringLen},
		{"lower", stringLower}, {"match", stringMatch}, {"rep", stringRep},
		{"reverse", stringReverse}, {"sub", stringSub}, {"upper", stringUpper}})
	tab.SetString("gfind", tab.GetString("gmatch")) // one function with two names
	s.Strings = lua.NewTable(0, 1)
	s.Strings.SetString("__index", lua.TableValue(tab))
}

// singles are all bytes. The strings of one byte are parts of it, so that they cost no memory.
var singles = func() string {
	var b [256]byte
	for i := range b {
		b[i] = byte(i)
	}
	return string(b[:])
}()

// single returns a string of one byte.
func single(c byte) lua.Value { return lua.String(singles[c : int(c)+1]) }

// part returns src[from:to] as a value. It is a copy, so that it does not keep src alive.
func part(t *lua.Thread, src string, from, to int) lua.Value {
	n := to - from
	switch {
	case n == 0:
		return lua.String("")
	case n == 1:
		return single(src[from])
	case n == len(src):
		return lua.String(src)
	}
	return t.Copy(src[from:to])
}

// relative converts a position, which counts from the end if it is negative.
func relative(i, n int) int {
	if i < 0 {
		i = max(i+n+1, 0)
	}
	return i
}

func stringSub(t *lua.Thread) int {
	s := t.String(1)
	from := max(relative(t.Int(2), len(s)), 1)
	to := min(relative(t.OptInt(3, -1), len(s)), len(s))
	if from > to {
		from, to = 1, 0
	}
	return t.Return(part(t, s, from-1, to))
}

func stringByte(t *lua.Thread) int {
	s := t.String(1)
	from := relative(t.OptInt(2, 1), len(s))
	to := min(relative(t.OptInt(3, from), len(s)), len(s))
	from = max(from, 1)
	if from > to {
		return 0
	}
	n := to - from + 1
	if n+t.Top() > maxResults {
		t.Error("stack overflow (string slice too long)")
	}
	for i := range n {
		t.Push(lua.Int(int(s[from-1+i])))
	}
	return n
}

func stringChar(t *lua.Thread) int {
	n := t.Top()
	if n == 1 {
		return t.Return(single(charAt(t, 1)))
	}
	t.Grow(n)
	b := t.State().Room(n)
	for i := range b {
		b[i] = charAt(t, i+1)
	}
	return t.Return(lua.Bytes(b))
}

// charAt returns argument n, which must be a byte.
func charAt(t *lua.Thread, n int) byte {
	c := cInt(t, n)
	if c < 0 || c > 255 {
		t.ArgError(n, "invalid value")
	}
	return byte(c)
}

// stringDump refuses: functions have no binary form.
func stringDump(t *lua.Thread) int {
	t.Function(1)
	t.Error("unable to dump given function")
	return 0
}

func stringLen(t *lua.Thread) int {
	return t.Return(lua.Int(len(t.String(1))))
}

func stringLower(t *lua.Thread) int { return flipCase(t, 'A') }
func stringUpper(t *lua.Thread) int { return flipCase(t, 'a') }

// flipCase pushes argument 1 with the case of 26 letters changed, from the given one on. Lua knows
// ASCII only.
func flipCase(t *lua.Thread, first byte) int {
	s := t.String(1)
	if len(s) < lua.LongWork && !hasLetter(s, first) {
		return t.Return(lua.String(s))
	}
	return t.Return(t.Make(len(s), s, first, flip))
}

func hasLetter(s string, first byte) bool {
	for i := range len(s) {
		if s[i]-first < 26 {
			return true
		}
	}
	return false
}

func flip(b []byte, s string, first byte) {
	for i, c := range []byte(s) {
		b[i] = c ^ byte((uint32(c-first)-26)>>31<<5) // no branch: text is hard to predict
	}
}

func stringReverse(t *lua.Thread) int {
	s := t.String(1)
	return t.Return(t.Make(len(s), s, 0, reverse))
}

func reverse(b []byte, s string, _ byte) {
	for i := range b {
		b[i] = s[len(s)-1-i]
	}
}

func stringRep(t *lua.Thread) int {
	s, n := t.String(1), cInt(t, 2)
	switch {
	case n <= 0 || s == "":
		return t.Return(lua.String(""))
	case n == 1:
		return t.Return(lua.String(s))
	case n > lua.MaxString/len(s):
		t.Error("resulting string too large")
	}
	return t.Return(t.Make(n*len(s), s, 0, repeat))
}

func repeat(b []byte, s string, _ byte) {
	size := len(s) // what is copied at once
	for done := copy(b, s); done < len(b); {
		if done += copy(b[done:], b[:size]); size < cacheBytes {
			size = done
		}
	}
}

// cacheBytes is how many bytes are read again in little time.
const cacheBytes = 256 << 10
