package listpack

import (
	"encoding/binary"
	"errors"
)

// errCorrupt is the error of Validate. It does not say where the damage is: the blob comes as a
// whole from a file or a client.
var errCorrupt = errors.New("listpack: corrupt")

// Validate checks bytes from outside completely: the header, every entry and its back, the count
// and the terminator.
func Validate(lp []byte) error {
	if len(lp) < headerLen+1 || Size(lp) != len(lp) {
		return errCorrupt
	}
	end := len(lp) - 1
	pos, count := headerLen, 0
	for lp[pos] != terminator {
		n := entryLen(lp[pos:end])
		if n == 0 || n+backLen(n) > end-pos {
			return errCorrupt
		}
		var back [5]byte
		putBack(back[:], n)
		w := backLen(n)
		if string(lp[pos+n:pos+n+w]) != string(back[:w]) {
			return errCorrupt
		}
		pos += n + w
		count++
	}
	if h := int(binary.LittleEndian.Uint16(lp[4:])); pos != end || h != countUnknown && h != count {
		return errCorrupt
	}
	return nil
}

// entryLen returns the length of encoding and string of the entry that b begins with, or 0 if its
// header is broken or cut off. The result may exceed b.
func entryLen(b []byte) int {
	if len(b) == 0 || b[0] > 0xf4 {
		return 0
	}
	switch c := b[0]; {
	case c < 0x80:
		return 1
	case c < 0xc0:
		return 1 + int(c&63)
	case c >= 0xe0 && c < 0xf0 && len(b) < 2, c == 0xf0 && len(b) < 5:
		return 0
	}
	return longLen(b, 0)
}
