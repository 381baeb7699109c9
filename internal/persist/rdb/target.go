package rdb

import (
	"bytes"
	"fmt"
)

// Target is the version of the format that an Encoder writes for (directive rdb-version).
type Target uint8

// The targets. A file of Valkey differs from Redis's in its head too.
const (
	Auto      Target = iota // Version, or what something asks for
	Redis5                  // 9: Redis 5 and 6; ziplists, no functions
	Redis70                 // 10
	Redis72                 // 11: Redis 7.2, Valkey 7.2 and 8
	Redis74                 // 12: Redis 7.4 to 8.4
	ValkeyOwn               // 80: Valkey 9
)

var targetVersions = [...]int{Version, 9, 10, 11, VersionFieldDeadlines, versionValkey}

// Fixed reports whether the version is known before anything is written.
func (t Target) Fixed() bool { return t != Auto }

// Version returns the version that a file's header names at first.
func (t Target) Version() int { return targetVersions[t] }

// Functions reports whether a file can have function libraries.
func (t Target) Functions() bool { return t != Redis5 }

// FieldDeadlines reports whether a file can tell the deadlines of a hash's fields.
func (t Target) FieldDeadlines() bool { return t.tells(VersionFieldDeadlines) }

// tells reports whether a file can have what asks for the version, if need be in another form.
func (t Target) tells(version int) bool {
	if t == ValkeyOwn {
		return version <= VersionFieldDeadlines
	}
	return t == Auto || version <= t.Version()
}

// Reads reports whether those who read files for the target read one of Auto with a version, and
// whether such a file tells what the target can.
func (t Target) Reads(version int) bool {
	switch t {
	case Auto:
		return true
	case ValkeyOwn:
		return version <= targetVersions[Redis72]
	}
	return version <= t.Version()
}

// ziplists reports whether packed collections are ziplists.
func (t Target) ziplists() bool { return t == Redis5 }

// setListpacks reports whether a set can be a listpack.
func (t Target) setListpacks() bool { return t >= Redis72 }

// AppendHeader appends a file's first bytes.
func AppendHeader(dst []byte, version int) []byte {
	if version == versionValkey {
		return fmt.Appendf(dst, magicValkey+"%03d", version)
	}
	return fmt.Appendf(dst, magic+"%04d", version)
}

// Census is how many there are, or may be, of what asks for a later version than Version.
type Census struct {
	Timed  int // hashes whose fields have deadlines
	Groups int // groups of streams
	IDMP   int // streams that may know producers
	Nacked int // groups with NACKed entries
}

// Needs returns the least version of a file for the target with all that is counted. A fixed target
// has its own: what that cannot tell is left out.
func (t Target) Needs(c Census) int {
	switch {
	case t.Fixed():
		return t.Version()
	case c.Nacked > 0:
		return VersionNacked
	case c.IDMP > 0:
		return VersionProducers
	case c.Timed > 0:
		return VersionFieldDeadlines
	case c.Groups > 0:
		return VersionStreams
	}
	return Version
}

// Tally counts keys of a kind.
type Tally struct {
	N     int64
	First []byte // one of them, nil if there is none
}

func (t *Tally) count(key []byte) {
	if t.N++; t.N == 1 {
		t.First = bytes.Clone(key)
	}
}
