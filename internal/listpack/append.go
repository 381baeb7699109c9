package listpack

import "encoding/binary"

// A listpack of many entries, all known when it is made, is appended to bytes at once: Begin, then
// AppendEntry for each, then Seal.

// Begin appends the start of a listpack to dst. What is in dst stays in front of it.
func Begin(dst []byte) []byte { return append(dst, empty[:headerLen]...) }

// AppendEntry appends an entry. A string that spells an integer becomes one.
func AppendEntry(dst []byte, v Value) []byte {
	e := intElem(v.N)
	if !v.IsInt {
		e = stringElem(v.B)
	}
	at, size := len(dst), e.size()
	if cap(dst)-at < size {
		dst = append(dst, make([]byte, size)...)
	}
	dst = dst[:at+size]
	e.put(dst[at:])
	return dst
}

// Seal completes the listpack of count entries that Begin began at offset at.
func Seal(dst []byte, at, count int) []byte {
	dst = append(dst, terminator)
	binary.LittleEndian.PutUint32(dst[at:], uint32(len(dst)-at))
	binary.LittleEndian.PutUint16(dst[at+4:], uint16(min(count, countUnknown)))
	return dst
}
