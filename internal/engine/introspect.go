package engine

import (
	"errors"
	"slices"

	"godwit/internal/object"
)

// aclCategories are the categories of access control in the order in which COMMAND INFO prints them.
var aclCategories = [...]string{
	"keyspace", "read", "write", "set", "sortedset", "list", "hash", "string", "bitmap", "hyperloglog", "geo", "stream",
	"pubsub", "admin", "fast", "slow", "blocking", "dangerous", "connection", "transaction", "scripting",
}

// groupCategory is the category that a command has for its documentation group. Pub/sub has none: the PubSub flag decides there.
var groupCategory = map[Group]string{
	GroupString: "string", GroupList: "list", GroupSet: "set", GroupSortedSet: "sortedset", GroupHash: "hash",
	GroupBitmap: "bitmap", GroupHyperLogLog: "hyperloglog", GroupGeo: "geo", GroupStream: "stream", GroupGeneric: "keyspace",
	GroupConnection: "connection", GroupTransactions: "transaction", GroupScripting: "scripting",
}

// behaviour are the categories that say how a command behaves rather than what it works on.
var behaviour = []string{"read", "write", "admin", "dangerous", "fast", "slow", "blocking", "pubsub"}

// derive fills what follows from the entry: the movablekeys flag and the ACL categories.
func (c *Command) derive() {
	if len(c.Sub) == 0 && len(c.Keys) > 0 && c.Keys[0].fixed() {
		c.firstKey = c.Keys[0].Begin.Index
	}
	for i := range c.Keys {
		if !c.Keys[i].fixed() {
			c.Flags |= MovableKeys
		}
	}
	c.cats = c.categories()
}

// categories derives the ACL categories from flags, group and the Categories of the entry. A bare container has none of its group:
// nobody runs it. A command whose Categories name a family of their own is not of its group's.
func (c *Command) categories() []string {
	has := map[string]bool{}
	ownFamily := false
	for _, name := range c.Categories {
		has[name] = true
		ownFamily = ownFamily || !slices.Contains(behaviour, name)
	}
	if name := groupCategory[c.Group]; name != "" && !ownFamily && c.Run != nil {
		has[name] = true
	}
	for name, on := range map[string]bool{
		"write": c.Is(Write),
		// A script reads what its keys allow; counting it as a read as well would open scripting to whoever may only read.
		"read":  c.Is(ReadOnly) && !has["scripting"],
		"admin": c.Is(Admin), "dangerous": c.Is(Admin), "pubsub": c.Is(PubSub), "fast": c.Is(Fast), "blocking": c.Is(Blocking),
	} {
		if on {
			has[name] = true
		}
	}
	has["slow"] = !has["fast"]
	var out []string
	for _, name := range aclCategories {
		if has[name] {
			out = append(out, name)
			delete(has, name)
		}
	}
	return out
}

// ACL is the command's categories of access control, without '@', in the order of COMMAND INFO.
func (c *Command) ACL() []string { return c.cats }

// unknown reports that no rule finds where the keys begin: index 0 is the command's name.
func (b BeginSearch) unknown() bool { return b == BeginSearch{} }

// unknown reports that no rule finds the keys.
func (f FindKeys) unknown() bool { return f == FindKeys{} }

// Unknown reports that the spec's keys cannot be found by rule; COMMAND INFO says "unknown" then, and KeysFn knows.
func (k *KeySpec) Unknown() bool { return k.Begin.unknown() || k.Find.unknown() }

// fixed reports whether the positions do not depend on the arguments, only on their number.
func (k *KeySpec) fixed() bool { return !k.Unknown() && k.Begin.Keyword == "" && !k.Find.KeyNum }

// LegacyRange is what COMMAND INFO shows as first key, last key and step, the way of saying it before key specs: the range that covers
// the adjacent fixed specs, or zeros.
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
		// Specs that leave a gap, or that follow one which is open to the end, cannot be joined to the range.
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

// absLast is the index of the last key of a fixed spec; negative ones count from the end.
func (k *KeySpec) absLast() int {
	if k.Find.LastKey >= 0 {
		return k.Begin.Index + k.Find.LastKey
	}
	return k.Find.LastKey
}

// HasKeys reports whether the command can have key arguments; names that are only routed like keys do not count.
func (c *Command) HasKeys() bool {
	return c.KeysFn != nil || slices.ContainsFunc(c.Keys, func(k KeySpec) bool { return k.Access&NotKey == 0 })
}

// ErrBadKeys is the error of KeyRefs for arguments from which the keys cannot be told.
var ErrBadKeys = errors.New("arguments do not say where the keys are")

// KeyRefs appends to dst the key arguments of argv, a call of the command, in the order of the specs; a spec of NotKey is included,
// with that flag. It is the only way to tell a command's keys: COMMAND GETKEYS, cluster routing, ACL and tracking all use it.
// argv has passed the arity check. ErrBadKeys means that it is no valid call; a command without mandatory keys then has none.
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

// refs appends the keys of one spec. An optional keyword that is not there is no error; a range that does not fit is.
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
		n, ok := object.ParseInt(argv[first+f.KeyNumIdx])
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

// search is the index behind the keyword, 0 when it is missing.
func (b BeginSearch) search(argv [][]byte) int {
	if b.From >= 0 {
		for i := b.From; i < len(argv); i++ {
			if upper(string(argv[i])) == b.Keyword {
				return i + 1
			}
		}
		return 0
	}
	for i := len(argv) + b.From; i > 0; i-- {
		if upper(string(argv[i])) == b.Keyword {
			return i + 1
		}
	}
	return 0
}

// accessNames in the order in which COMMAND prints the flags of keys.
var accessNames = [...]struct {
	f    Access
	name string
}{
	{RO, "RO"}, {RW, "RW"}, {OW, "OW"}, {RM, "RM"}, {AccessFlag, "access"}, {Update, "update"}, {Insert, "insert"},
	{Delete, "delete"}, {NotKey, "not_key"}, {Incomplete, "incomplete"}, {VariableFlags, "variable_flags"},
}

// Names are the flags as COMMAND prints them.
func (a Access) Names() []string {
	var names []string
	for _, f := range accessNames {
		if a&f.f != 0 {
			names = append(names, f.name)
		}
	}
	return names
}
