package slot

import "sync"

// tagDigits are the characters of tags.
const tagDigits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// tags holds for each slot a text of three characters that is in it: the first in the order of
// tagDigits.
var tags = sync.OnceValue(func() (list [Count][3]byte) {
	for _, a := range []byte(tagDigits) {
		for _, b := range []byte(tagDigits) {
			for _, c := range []byte(tagDigits) {
				tag := [3]byte{a, b, c}
				if i := Of(tag[:]); list[i] == [3]byte{} {
					list[i] = tag
				}
			}
		}
	}
	return list
})

// TagOf returns a short text whose slot is i, to be used as a hash tag.
func TagOf(i int) string {
	tag := tags()[i]
	return string(tag[:])
}
