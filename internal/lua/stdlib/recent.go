package stdlib

import (
	bin "encoding/binary"
	"strings"

	"godwit/internal/lua"
)

// maxShort is the length of strings that are kept for a while, because they tend to come again: the
// fields of records, the words of a text.
const maxShort = 16

// recent are short strings that were made lately, by their hashes.
type recent [256]string

// short returns a copy of a string of 2 to maxShort bytes.
func (r *recent) short(t *lua.Thread, s string) string {
	n := len(s)
	var h uint64
	switch {
	case n >= 8:
		h = bin.LittleEndian.Uint64([]byte(s[:8])) ^
			bin.LittleEndian.Uint64([]byte(s[n-8:]))*5
	case n >= 4:
		h = uint64(bin.LittleEndian.Uint32([]byte(s[:4]))) ^
			uint64(bin.LittleEndian.Uint32([]byte(s[n-4:])))<<32
	default:
		h = uint64(s[0]) | uint64(s[1])<<8 | uint64(s[n-1])<<16
	}
	e := &r[(h+uint64(n))*0x9e3779b97f4a7c15>>56]
	if *e != s {
		t.Grow(n)
		*e = strings.Clone(s)
	}
	return *e
}
