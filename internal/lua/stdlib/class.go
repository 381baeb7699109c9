package stdlib

// This file knows the classes of bytes that patterns name. Lua asks C's functions about them; here
// they are those of C's own locale, as in Redis.

// Classes of bytes, and alternatives of them.
const (
	alpha uint16 = 1 << iota
	control
	decimal
	lower
	punct
	space
	upper
	hex
	zero
	special // in a pattern
	quoted  // needs an escape between quotes
	suffix  // says how often a class is repeated
	leading // begins an item that is no byte
	negated // in letters only: what is not of the class
)

// classes are the classes of all bytes.
var classes = func() (t [256]uint16) {
	mark := func(class uint16, from, to byte) {
		for c := int(from); c <= int(to); c++ {
			t[c] |= class
		}
	}
	mark(alpha|upper, 'A', 'Z')
	mark(alpha|lower, 'a', 'z')
	mark(control, 0, 31)
	mark(control, 127, 127)
	mark(decimal|hex, '0', '9')
	mark(hex, 'A', 'F')
	mark(hex, 'a', 'f')
	mark(space, '\t', '\r')
	mark(space, ' ', ' ')
	mark(zero, 0, 0)
	for c := byte('!'); c <= '~'; c++ {
		if t[c]&(alpha|decimal) == 0 {
			t[c] |= punct
		}
	}
	for _, c := range []byte("^$*+?.([%-") {
		t[c] |= special
	}
	for _, c := range []byte("\"\\\n\r\x00") {
		t[c] |= quoted
	}
	for _, c := range []byte("*+-?") {
		t[c] |= suffix
	}
	for _, c := range []byte("%([.)$") {
		t[c] |= leading
	}
	return t
}()

// letters are the classes that letters stand for after a %.
var letters = func() (t [256]uint16) {
	for c, class := range map[byte]uint16{'a': alpha, 'c': control, 'd': decimal, 'l': lower,
		'p': punct, 's': space, 'u': upper, 'w': alpha | decimal, 'x': hex, 'z': zero} {
		t[c], t[c-'a'+'A'] = class, class|negated
	}
	return t
}()

// byteSet is a set of bytes, a bit for each.
type byteSet [4]uint64

// has reports whether c is in the set.
func (b *byteSet) has(c byte) bool { return b[c>>6]>>(c&63)&1 != 0 }

// addRange adds the bytes from lo to hi.
func (b *byteSet) addRange(lo, hi byte) {
	for w := lo >> 6; lo <= hi && w <= hi>>6; w++ {
		bits := ^uint64(0)
		if w == lo>>6 {
			bits <<= lo & 63
		}
		if w == hi>>6 {
			bits &= ^uint64(0) >> (63 - hi&63)
		}
		b[w] |= bits
	}
}

// addEscape adds the bytes that a letter stands for after a %. Other bytes stand for themselves.
func (b *byteSet) addEscape(c byte) {
	class := letters[c]
	if class == 0 {
		b.addRange(c, c)
		return
	}
	set := &classSets[c&31]
	for i := range b {
		if class&negated != 0 {
			b[i] |= ^set[i]
		} else {
			b[i] |= set[i]
		}
	}
}

// classSets are the bytes of the classes, by the lower five bits of their letters.
var classSets = func() (sets [32]byteSet) {
	for c, class := range letters {
		for i, of := range classes {
			if class&negated == 0 && of&class != 0 {
				sets[c&31].addRange(byte(i), byte(i))
			}
		}
	}
	return sets
}()
