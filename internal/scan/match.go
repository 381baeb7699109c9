package scan

// Match reports whether all of s matches the glob pattern, as KEYS, SCAN MATCH, PSUBSCRIBE, CONFIG
// GET and ACL patterns understand it:
//
//	"*"      any run of bytes, also none
//	"?"      exactly one byte
//	"[abc]"  one byte of the set; a-z is a range, with its ends in either order
//	"[^abc]" one byte outside the set
//	"\x"     the byte x itself, also inside a set
//
// The corner cases are Redis's. A set that is not closed ends with the pattern. [] matches nothing,
// and [^] any one byte. In [a-] the bracket is the range's end. A single \ at the end is a
// backslash. Range ends compare as signed bytes. nocase folds ASCII letters, but not a byte escaped
// inside a set. The empty string is matched by the empty pattern alone, not by "*"; commands that
// must list an empty key handle the pattern "*" before they match.
//
// Each element except * takes exactly one byte. So when a later * has been reached, no other choice
// for the earlier ones can do better, and going back to the last * is enough. There is no
// recursion, and there are at most O(len(pattern)·len(s)) steps. (Redis releases with a nesting
// limit give up after 1000 separate stars, where this goes on.)
func Match(pattern, s []byte, nocase bool) bool {
	if len(s) == 0 {
		return len(pattern) == 0
	}
	p, i := 0, 0
	star, from := -1, 0 // the pattern after the last *, and where its run ends in s
	for i < len(s) {
		if p < len(pattern) {
			if pattern[p] == '*' {
				for p < len(pattern) && pattern[p] == '*' {
					p++
				}
				if p == len(pattern) {
					return true
				}
				star, from = p, i
				continue
			}
			if c := pattern[p]; c == s[i] && c != '?' && c != '[' && c != '\\' {
				p++ // most of most patterns
				i++
				continue
			}
			if n, ok := matchOne(pattern[p:], s[i], nocase); ok {
				p += n
				i++
				continue
			}
		}
		if star < 0 {
			return false
		}
		from++
		p, i = star, from
	}
	for p < len(pattern) && pattern[p] == '*' {
		p++
	}
	return p == len(pattern)
}

// matchOne matches the element that p starts with (never a *) against c, and returns how many bytes
// of p the element takes. If it does not match, the length means nothing.
func matchOne(p []byte, c byte, nocase bool) (n int, ok bool) {
	switch p[0] {
	case '?':
		return 1, true
	case '[':
		return matchSet(p, c, nocase)
	case '\\':
		if len(p) >= 2 {
			return 2, same(p[1], c, nocase)
		}
	}
	return 1, same(p[0], c, nocase)
}

// matchSet is matchOne for a set: p[0] is '['.
func matchSet(p []byte, c byte, nocase bool) (n int, ok bool) {
	i := 1
	not := i < len(p) && p[i] == '^'
	if not {
		i++
	}
	found := false
	for i < len(p) && p[i] != ']' {
		switch rest := len(p) - i; {
		case p[i] == '\\' && rest >= 2:
			found = found || p[i+1] == c
			i += 2
		case rest >= 3 && p[i+1] == '-':
			found = found || inRange(p[i], p[i+2], c, nocase)
			i += 3
		default:
			found = found || same(p[i], c, nocase)
			i++
		}
	}
	if i < len(p) {
		i++ // the closing bracket
	}
	return i, found != not
}

// inRange orders the ends first and folds case afterwards, as Redis does. The bytes are signed
// because char is signed where Redis is built.
func inRange(start, end, c byte, nocase bool) bool {
	lo, hi, x := int8(start), int8(end), int8(c)
	if lo > hi {
		lo, hi = hi, lo
	}
	if nocase {
		lo, hi, x = int8(lower(byte(lo))), int8(lower(byte(hi))), int8(lower(c))
	}
	return lo <= x && x <= hi
}

func same(a, b byte, nocase bool) bool {
	return a == b || nocase && lower(a) == lower(b)
}

func lower(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		c += 'a' - 'A'
	}
	return c
}
