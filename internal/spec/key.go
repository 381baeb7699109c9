package spec

import (
	"errors"

	"godwit/internal/listpack"
)

// Access says what a command does with the keys of one key spec.
type Access uint16

// These are the flags of key specs, as COMMAND INFO names them.
const (
	RO            Access = 1 << iota // Reads the value.
	RW                               // Reads and changes the value.
	OW                               // Overwrites the value.
	RM                               // Removes the key.
	AccessFlag                       // Returns or uses the user's data in the value.
	Update                           // Changes existing user data.
	Insert                           // Adds user data.
	Delete                           // Removes user data.
	NotKey                           // Not a key, but routed like one.
	Incomplete                       // The spec does not find every key.
	VariableFlags                    // The flags depend on the arguments.
)

// accessNames are the names of the flags, in the order in which COMMAND prints them.
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

// BeginSearch says where a key spec starts to look for keys. If Keyword is "", it starts at Index.
// Else it starts at the first occurrence of Keyword at or after From. If From is negative, it
// counts from the end, and the search goes backwards.
type BeginSearch struct {
	Index   int
	Keyword string
	From    int
}

// At begins at a fixed argument index.
func At(i int) BeginSearch { return BeginSearch{Index: i} }

// After begins after the argument that equals keyword, searched from argument from.
func After(keyword string, from int) BeginSearch {
	return BeginSearch{Keyword: keyword, From: from}
}

// FindKeys says where the keys are, relative to the begin of the search. If KeyNum is false, they
// are a range. Else an argument holds their number.
type FindKeys struct {
	KeyNum    bool
	LastKey   int // Range: the last key. A negative one counts from the last argument.
	Step      int // The distance from one key to the next.
	Limit     int // Range with LastKey -1: use only 1/Limit of the remaining arguments.
	KeyNumIdx int // KeyNum: the argument with the number of keys.
	FirstKey  int // KeyNum: the first key.
}

// Range finds the keys begin, begin+step … begin+last.
func Range(last, step, limit int) FindKeys {
	return FindKeys{LastKey: last, Step: step, Limit: limit}
}

// KeyNum finds keys from begin+first on. The argument at begin+idx holds their number.
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

// keyAt returns the spec of the key at argument i.
func keyAt(i int, access Access) KeySpec {
	return KeySpec{Begin: At(i), Find: Range(0, 1, 0), Access: access}
}

// keysFrom returns the spec of the keys from argument i to the last.
func keysFrom(i int, access Access) KeySpec {
	return KeySpec{Begin: At(i), Find: Range(-1, 1, 0), Access: access}
}

// keysBeforeLast returns the spec of the keys from argument i to the one before the last.
func keysBeforeLast(i int, access Access) KeySpec {
	return KeySpec{Begin: At(i), Find: Range(-2, 1, 0), Access: access}
}

// countedKeys returns the spec of the keys after argument i, which holds their number.
func countedKeys(i int, access Access) KeySpec {
	return KeySpec{Begin: At(i), Find: KeyNum(0, 1, 1), Access: access}
}

// noted adds the notes that COMMAND INFO shows for the spec.
func (k KeySpec) noted(notes string) KeySpec { k.Notes = notes; return k }

// Unknown reports whether only KeysFn finds the spec's keys. COMMAND INFO then says "unknown". A
// search cannot begin at index 0, which is the command's name.
func (k *KeySpec) Unknown() bool { return k.Begin == BeginSearch{} || k.Find == FindKeys{} }

// fixed reports whether the positions depend only on the number of arguments.
func (k *KeySpec) fixed() bool { return !k.Unknown() && k.Begin.Keyword == "" && !k.Find.KeyNum }

// keyCount returns the index in argv of the number of keys, if the keys follow right behind it, one
// after the other. Else it returns 0.
func (c *Command) keyCount() int {
	if len(c.Sub) > 0 || len(c.Keys) == 0 {
		return 0
	}
	k := &c.Keys[0]
	want := FindKeys{KeyNum: true, FirstKey: 1, Step: 1}
	if k.Unknown() || k.Begin.Keyword != "" || k.Find != want {
		return 0
	}
	return k.Begin.Index
}

// LeadingKeys returns keys that argv begins with, as far as that can be told at a glance: the first
// one if its place is fixed, or up to nine that follow their number. The arguments need not be a
// valid call. It is for prefetching; KeyRefs knows all keys.
func (c *Command) LeadingKeys(argv [][]byte) [][]byte {
	from, n := c.firstKey, 1
	if i := c.numKeys; from == 0 && i != 0 && i < len(argv) && len(argv[i]) == 1 {
		from, n = i+1, int(argv[i][0])-'0'
	}
	if from == 0 || n < 1 || n > 9 || from+n > len(argv) {
		return nil
	}
	return argv[from : from+n]
}

// absLast returns the index of the last key of a fixed spec. A negative one counts from the end.
func (k *KeySpec) absLast() int {
	if k.Find.LastKey >= 0 {
		return k.Begin.Index + k.Find.LastKey
	}
	return k.Find.LastKey
}

// LegacyRange returns the first key, last key and step that COMMAND INFO shows, a form that is
// older than key specs. They are the range that covers the adjacent fixed specs, or zeros.
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
		// A spec cannot be joined to the range if there is a gap before it, or if it follows
		// one that is open to the end.
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

// KeyRef is one key argument: its index in argv and how it is used.
type KeyRef struct {
	Pos    int
	Access Access
}

// ErrBadKeys reports arguments from which KeyRefs cannot tell the keys.
var ErrBadKeys = errors.New("arguments do not say where the keys are")

// KeyRefs appends to dst the key arguments of argv, in the order of the specs. argv must satisfy
// the command's arity. Arguments that are only routed like keys are included, with the flag NotKey.
// ErrBadKeys reports that argv is no valid call. A command without mandatory keys then has no keys,
// and no error.
// COMMAND GETKEYS, cluster routing, ACL and tracking all use KeyRefs. Nothing else finds keys.
func (c *Command) KeyRefs(dst []KeyRef, argv [][]byte) ([]KeyRef, error) {
	if c.KeysFn != nil {
		return c.KeysFn(dst, argv)
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

// refs appends the keys of one spec. It reports false if a range does not fit. A missing optional
// keyword is no error.
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

// search returns the index after the keyword, or 0 if it is missing.
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

// is reports whether the argument is the token, ignoring case. The token must be upper case.
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
