package spec

import (
	"errors"

	"godwit/internal/listpack"
)

// Access says what a command does with the keys of one key spec.
type Access uint16

// Key spec flags, as COMMAND INFO names them.
const (
	RO            Access = 1 << iota // reads the value
	RW                               // reads and changes the value
	OW                               // overwrites the value
	RM                               // removes the key
	AccessFlag                       // returns or uses the user's data in the value
	Update                           // changes user data that is there
	Insert                           // adds user data
	Delete                           // removes user data
	NotKey                           // not a key, but routed like one
	Incomplete                       // the spec does not find every key
	VariableFlags                    // the flags depend on the arguments
)

// accessNames are in the order in which COMMAND prints the flags of keys.
var accessNames = [...]struct {
	f    Access
	name string
}{
	{RO, "RO"}, {RW, "RW"}, {OW, "OW"}, {RM, "RM"}, {AccessFlag, "access"}, {Update, "update"},
	{Insert, "insert"}, {Delete, "delete"}, {NotKey, "not_key"}, {Incomplete, "incomplete"},
	{VariableFlags, "variable_flags"},
}

// Names returns the names of the flags as COMMAND prints them.
func (a Access) Names() []string {
	var names []string
	for _, f := range accessNames {
		if a&f.f != 0 {
			names = append(names, f.name)
		}
	}
	return names
}

// BeginSearch says where a key spec starts to look for keys. With Keyword "" it is Index,
// otherwise the first occurrence of Keyword at or after From (From < 0: from the end, backwards).
type BeginSearch struct {
	Index   int
	Keyword string
	From    int
}

// At begins at a fixed argument index.
func At(i int) BeginSearch { return BeginSearch{Index: i} }

// After begins behind the argument that equals keyword, searched from argument from.
func After(keyword string, from int) BeginSearch {
	return BeginSearch{Keyword: keyword, From: from}
}

// FindKeys says how keys follow from where the search began. With KeyNum false they are a range,
// otherwise an argument says how many there are. All indexes are relative to the begin.
type FindKeys struct {
	KeyNum    bool
	LastKey   int // range: the last key; negative: counted from the last argument
	Step      int // from one key to the next
	Limit     int // range with LastKey -1: use only 1/Limit of the remaining arguments
	KeyNumIdx int // keynum: the argument with the number of keys
	FirstKey  int // keynum: the first key
}

// Range finds the keys begin, begin+step … begin+last.
func Range(last, step, limit int) FindKeys {
	return FindKeys{LastKey: last, Step: step, Limit: limit}
}

// KeyNum finds as many keys as the argument at begin+idx says, from begin+first on.
func KeyNum(idx, first, step int) FindKeys {
	return FindKeys{KeyNum: true, KeyNumIdx: idx, FirstKey: first, Step: step}
}

// KeySpec finds key arguments and says how they are used.
type KeySpec struct {
	Begin  BeginSearch
	Find   FindKeys
	Access Access
	Notes  string
}

// keyAt is the spec of the key at argument i.
func keyAt(i int, access Access) KeySpec {
	return KeySpec{Begin: At(i), Find: Range(0, 1, 0), Access: access}
}

// keysFrom is the spec of the keys from argument i to the last.
func keysFrom(i int, access Access) KeySpec {
	return KeySpec{Begin: At(i), Find: Range(-1, 1, 0), Access: access}
}

// keysBeforeLast is the spec of the keys from argument i to the one before the last.
func keysBeforeLast(i int, access Access) KeySpec {
	return KeySpec{Begin: At(i), Find: Range(-2, 1, 0), Access: access}
}

// countedKeys is the spec of the keys behind argument i, which is their number.
func countedKeys(i int, access Access) KeySpec {
	return KeySpec{Begin: At(i), Find: KeyNum(0, 1, 1), Access: access}
}

// noted adds what COMMAND INFO says about the spec.
func (k KeySpec) noted(notes string) KeySpec { k.Notes = notes; return k }

// Unknown reports that no rule finds the spec's keys: KeysFn does. COMMAND INFO says "unknown".
// A search cannot begin at index 0, which is the command's name.
func (k *KeySpec) Unknown() bool { return k.Begin == BeginSearch{} || k.Find == FindKeys{} }

// fixed reports whether the positions do not depend on the arguments, only on their number.
func (k *KeySpec) fixed() bool { return !k.Unknown() && k.Begin.Keyword == "" && !k.Find.KeyNum }

// absLast returns the index of the last key of a fixed spec. Negative ones count from the end.
func (k *KeySpec) absLast() int {
	if k.Find.LastKey >= 0 {
		return k.Begin.Index + k.Find.LastKey
	}
	return k.Find.LastKey
}

// LegacyRange returns what COMMAND INFO shows as first key, last key and step, the way of saying
// it before key specs: the range that covers the adjacent fixed specs, or zeros.
func (c *Command) LegacyRange() (first, last, step int) {
	if len(c.Keys) == 1 && c.Keys[0].fixed() {
		k := &c.Keys[0]
		return k.Begin.Index, k.absLast(), k.Find.Step
	}
	for i := range c.Keys {
		k := &c.Keys[i]
		if !k.fixed() {
			continue
		}
		// Specs that leave a gap cannot be joined to the range, nor those behind one that is open
		// to the end.
		if k.Find.Step != 1 || first != 0 && last != k.Begin.Index-1 {
			break
		}
		if first == 0 {
			first, step = k.Begin.Index, 1
		}
		last = k.absLast()
	}
	return first, last, step
}

// KeyRef is one key argument found: its index in argv and how it is used.
type KeyRef struct {
	Pos    int
	Access Access
}

// ErrBadKeys is the error of KeyRefs for arguments from which the keys cannot be told.
var ErrBadKeys = errors.New("arguments do not say where the keys are")

// KeyRefs appends to dst the key arguments of argv, a call of the command that satisfies its
// arity. They are in the order of the specs. Arguments that are only routed like keys are included
// with the flag NotKey. ErrBadKeys reports that argv is no valid call; a command without mandatory
// keys has no keys then.
//
// Nothing else tells a command's keys: COMMAND GETKEYS, cluster routing, ACL and tracking use it.
func (c *Command) KeyRefs(dst []KeyRef, argv [][]byte) ([]KeyRef, error) {
	if c.KeysFn != nil {
		refs, err := c.KeysFn(argv)
		return append(dst, refs...), err
	}
	n := len(dst)
	for i := range c.Keys {
		var ok bool
		if dst, ok = c.Keys[i].refs(dst, argv); !ok {
			if c.Is(NoMandatoryKeys) {
				return dst[:n], nil
			}
			return dst[:n], ErrBadKeys
		}
	}
	return dst, nil
}

// refs appends the keys of one spec. It is no error if an optional keyword is missing, but it is
// one if a range does not fit.
func (k *KeySpec) refs(dst []KeyRef, argv [][]byte) ([]KeyRef, bool) {
	if k.Unknown() {
		return dst, true
	}
	first := k.Begin.Index
	if k.Begin.Keyword != "" {
		if first = k.Begin.search(argv); first == 0 {
			return dst, true
		}
	}
	argc, step := len(argv), max(k.Find.Step, 1)
	var last int
	switch f := k.Find; {
	case f.KeyNum:
		if first+f.KeyNumIdx >= argc {
			return dst, false
		}
		n, ok := listpack.ParseInt(argv[first+f.KeyNumIdx])
		if !ok || n < 0 || n > int64(argc) {
			return dst, false
		}
		first += f.FirstKey
		last = first + (int(n)-1)*step
	case f.LastKey >= 0:
		last = first + f.LastKey
	case f.Limit <= 1:
		last = argc + f.LastKey
	default:
		last = first + (argc-first)/f.Limit + f.LastKey
	}
	if last >= argc || last < first || first >= argc {
		return dst, false
	}
	for i := first; i <= last; i += step {
		dst = append(dst, KeyRef{Pos: i, Access: k.Access})
	}
	return dst, true
}

// search returns the index behind the keyword, 0 when it is missing.
func (b BeginSearch) search(argv [][]byte) int {
	if b.From >= 0 {
		for i := b.From; i < len(argv); i++ {
			if is(argv[i], b.Keyword) {
				return i + 1
			}
		}
		return 0
	}
	for i := len(argv) + b.From; i > 0; i-- {
		if is(argv[i], b.Keyword) {
			return i + 1
		}
	}
	return 0
}

// is reports whether the argument is the token, which is in upper case, whatever its own case.
func is(arg []byte, token string) bool {
	if len(arg) != len(token) {
		return false
	}
	for i, ch := range arg {
		if 'a' <= ch && ch <= 'z' {
			ch -= 32
		}
		if ch != token[i] {
			return false
		}
	}
	return true
}
