package rdb

import (
	"bytes"
	"fmt"
	"unicode/utf8"
)

// signature is how the files of a format begin.
type signature struct{ head, name string }

var signatures = []signature{
	{"\x1f\x8b", "gzip-compressed data: unpack it first"},
	{"\x28\xb5\x2f\xfd", "zstd-compressed data: unpack it first"},
	{"BZh", "bzip2-compressed data: unpack it first"},
	{"\xfd7zXZ\x00", "xz-compressed data: unpack it first"},
	{"\x04\x22\x4d\x18", "lz4-compressed data: unpack it first"},
	{"PK\x03\x04", "a zip archive: unpack it first"},
	{"REDIS", "an RDB file"},
	{"VALKEY", "an RDB file of Valkey"},
	{"*", "an append-only file"},
	{"#TS:", "an append-only file"},
	{"file ", "the manifest of an append-only file"},
}

// IsFile reports whether a file that begins with head is an RDB file, also one of a version that is
// not read.
func IsFile(head []byte) bool {
	return bytes.HasPrefix(head, []byte(magic)) || bytes.HasPrefix(head, []byte(magicValkey))
}

// Describe returns what kind of file begins with head. It looks at no more than some hundred bytes.
func Describe(head []byte) string {
	if len(head) == 0 {
		return "empty"
	}
	for _, s := range signatures {
		if bytes.HasPrefix(head, []byte(s.head)) {
			return s.name
		}
	}
	head = head[:min(len(head), 256)]
	switch {
	case len(bytes.Trim(head, "\x00")) == 0:
		return "zeros: what was in it is lost, as after a power failure"
	case isText(head):
		return "text"
	}
	return fmt.Sprintf("of no known format (it begins with %.16q)", head)
}

func isText(b []byte) bool {
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		if r == utf8.RuneError && len(b) >= utf8.UTFMax ||
			r < ' ' && r != '\n' && r != '\r' && r != '\t' {
			return false
		}
		b = b[n:]
	}
	return true
}

// parseHeader reads the first HeaderLen bytes of a file.
func parseHeader(b []byte) (version int, valkey bool, err error) {
	if !IsFile(b) {
		return 0, false, &Error{
			Reason: "Wrong signature trying to load DB from file: this is " + Describe(b)}
	}
	name := magic
	if valkey = bytes.HasPrefix(b, []byte(magicValkey)); valkey {
		name = magicValkey
	}
	digits := b[len(name):HeaderLen]
	for _, c := range digits {
		if c < '0' || c > '9' {
			return 0, valkey, &Error{Offset: int64(len(name)),
				Reason: fmt.Sprintf("%q is no version", digits)}
		}
		version = version*10 + int(c-'0')
	}
	switch {
	case valkey && version != versionValkey:
		err = &Error{Offset: int64(len(name)),
			Reason: fmt.Sprintf("Can't handle RDB format version %d of Valkey; %d is read, "+
				"and Redis's 1 to %d", version, versionValkey, VersionMax)}
	case !valkey && (version < 1 || version > VersionMax):
		err = &Error{Offset: int64(len(name)),
			Reason: fmt.Sprintf("Can't handle RDB format version %d; 1 to %d are read, and "+
				"Valkey's %d", version, VersionMax, versionValkey)}
	}
	return version, valkey, err
}
