package config

import (
	"strings"
)

// NotifyFlags say which keyspace events are published, and on which channels.
type NotifyFlags int

// The classes of events, with their letters in notify-keyspace-events.
const (
	NotifyKeyspace    NotifyFlags = 1 << iota // K: __keyspace@<db>__:<key> channels
	NotifyKeyevent                            // E: __keyevent@<db>__:<event> channels
	NotifyGeneric                             // g
	NotifyString                              // $
	NotifyList                                // l
	NotifySet                                 // s
	NotifyHash                                // h
	NotifyZset                                // z
	NotifyExpired                             // x
	NotifyEvicted                             // e
	NotifyStream                              // t
	NotifyKeyMiss                             // m, not part of A
	NotifyModule                              // d
	NotifyNew                                 // n, not part of A
	NotifyOverwritten                         // o, not part of A
	NotifyTypeChanged                         // c, not part of A

	// The channels on which the fields of hashes are announced. None is part of A.
	NotifyFieldspace // S: __subkeyspace@<db>__:<key> channels
	NotifyFieldevent // T: __subkeyevent@<db>__:<event> channels
	NotifyFielditem  // I: __subkeyspaceitem@<db>__:<key>\n<field> channels
	NotifyFieldboth  // V: __subkeyspaceevent@<db>__:<event>|<key> channels

	// NotifyAll is the letter A.
	NotifyAll = NotifyGeneric | NotifyString | NotifyList | NotifySet | NotifyHash | NotifyZset |
		NotifyExpired | NotifyEvicted | NotifyStream | NotifyModule

	// NotifyFields is all channels for fields.
	NotifyFields = NotifyFieldspace | NotifyFieldevent | NotifyFielditem | NotifyFieldboth
)

// notifyLetters lists the letters in the order in which CONFIG GET shows them.
var notifyLetters = []struct {
	letter byte
	flag   NotifyFlags
}{
	{'g', NotifyGeneric}, {'$', NotifyString}, {'l', NotifyList}, {'s', NotifySet},
	{'h', NotifyHash}, {'z', NotifyZset}, {'x', NotifyExpired}, {'e', NotifyEvicted},
	{'t', NotifyStream}, {'d', NotifyModule}, {'n', NotifyNew},
	{'o', NotifyOverwritten}, {'c', NotifyTypeChanged},
	{'K', NotifyKeyspace}, {'E', NotifyKeyevent}, {'m', NotifyKeyMiss}, {'S', NotifyFieldspace},
	{'T', NotifyFieldevent}, {'I', NotifyFielditem}, {'V', NotifyFieldboth},
}

// String returns the letters of f as CONFIG GET shows them: A hides n, o and c, as in Redis.
func (f NotifyFlags) String() string {
	return f.letters(NotifyAll | NotifyNew | NotifyOverwritten | NotifyTypeChanged)
}

// exact returns the letters of f, from which parseNotify makes f again.
func (f NotifyFlags) exact() string { return f.letters(NotifyAll) }

// letters returns the letters of f. If f has all of A, hidden are those that A stands for.
func (f NotifyFlags) letters(hidden NotifyFlags) string {
	var b strings.Builder
	if f&NotifyAll == NotifyAll {
		b.WriteByte('A')
		f &^= hidden
	}
	for _, l := range notifyLetters {
		if f&l.flag != 0 {
			b.WriteByte(l.letter)
		}
	}
	return b.String()
}

func notifyFlags(at func(*Config) *NotifyFlags) value {
	return field[NotifyFlags]{codec[NotifyFlags]{
		syntax: "letters of Ag$lshzxeKEtmdnocSTIV",
		read:   one(parseNotify),
		show:   NotifyFlags.String,
		exact:  NotifyFlags.exact,
		lines: func(name string, v NotifyFlags) []string {
			return []string{name + " " + quote(v.exact())}
		},
	}, at}
}

func parseNotify(s string) (NotifyFlags, error) {
	var v NotifyFlags
next:
	for i := 0; i < len(s); i++ {
		if s[i] == 'A' {
			v |= NotifyAll
			continue
		}
		for _, l := range notifyLetters {
			if l.letter == s[i] {
				v |= l.flag
				continue next
			}
		}
		return 0, reason("Invalid event class character. Use 'Ag$lshzxeKEtmdn'.")
	}
	return v, nil
}
