package stdlib

// ranges has the bytes of the classes that patterns name, as first and last ones. Lua asks C's
// functions about them; here they are those of C's own locale, as in Redis.
var ranges = map[byte]string{'a': "AZaz", 'c': "\x00\x1f\x7f\x7f", 'd': "09", 'l': "az",
	'p': "!/:@[`{~", 's': "\t\r  ", 'u': "AZ", 'w': "09AZaz", 'x': "09AFaf", 'z': "\x00\x00"}

// classes tells which bytes are of the class that a letter stands for after a %. A capital letter
// stands for the other bytes.
var classes = func() (t [256]*[256]bool) {
	for letter, list := range ranges {
		in, out := new([256]bool), new([256]bool)
		for c := range in {
			for i := 0; i < len(list); i += 2 {
				in[c] = in[c] || list[i] <= byte(c) && byte(c) <= list[i+1]
			}
			out[c] = !in[c]
		}
		t[letter], t[letter-'a'+'A'] = in, out
	}
	return t
}()

// isA reports whether c belongs to the class that a letter stands for after a %. Other bytes than
// those letters stand for themselves.
func isA(c, letter byte) bool {
	if class := classes[letter]; class != nil {
		return class[c]
	}
	return c == letter
}

// inSet reports whether c belongs to a set in brackets.
func inSet(set string, c byte) bool {
	i, last, positive := 1, len(set)-1, set[1] != '^'
	if !positive {
		i++
	}
	for ; i < last; i++ {
		switch {
		case set[i] == '%':
			i++ // to the closing bracket, if the % ended a range
			if isA(c, set[i]) {
				return positive
			}
		case i+2 < last && set[i+1] == '-':
			if set[i] <= c && c <= set[i+2] {
				return positive
			}
			i += 2
		case set[i] == c:
			return positive
		}
	}
	return !positive
}
