package spec

import (
	"encoding/binary"
	"maps"
	"slices"
	"strings"
)

// names finds commands by the names that clients use, ignoring case.
type names struct {
	byName map[string]*Command
	short  [shortSlots]shortName // A copy of the names in byName that have a shortKey.
	list   []*Command            // The top level, sorted by the entries' names.
	former map[string]*Command   // The commands by the names that Rename took away. nil: none.
}

// shortSlots is the size of names.short, a power of two several times the number of commands.
const shortSlots = 1 << shortBits

const shortBits = 11

// shortName is a slot of an open hash table. It holds a name as shortKey packs it, or 0.
type shortName struct {
	key uint64
	cmd *Command
}

// maxName bounds the entries' names, in bytes, and maxRename those that rename-command gives.
// People take random ones, which are long.
const (
	maxName   = 64
	maxRename = 16 << 10
)

// newNames returns the names of the commands, which are sorted.
func newNames(cmds []*Command) names {
	n := names{byName: make(map[string]*Command, len(cmds)), list: slices.Clone(cmds)}
	for _, c := range cmds {
		n.byName[c.Name] = c
	}
	n.indexShort()
	return n
}

func (n names) clone() names {
	n.byName, n.list, n.former = maps.Clone(n.byName), slices.Clone(n.list), maps.Clone(n.former)
	return n
}

// indexShort fills short from byName.
func (n *names) indexShort() {
	n.short = [shortSlots]shortName{}
	for name, c := range n.byName {
		key := shortKey([]byte(name))
		if key == 0 {
			continue
		}
		i := shortSlot(key)
		for n.short[i].key != 0 {
			i = (i + 1) % shortSlots
		}
		n.short[i] = shortName{key, c}
	}
}

// shortKey packs a name of at most eight letters, or of ten letters and dots, into a word, ignoring
// case. It returns 0 for all other names. Each command is looked up twice: when it is read ahead
// and when it runs.
func shortKey(name []byte) uint64 {
	n := len(name)
	if n == 0 || n > 8 {
		return longKey(name)
	}
	const ones = 0x0101010101010101
	have := uint64(ones) >> (64 - 8*n) // the bytes that there are
	key := load(name) | 0x20*have
	// The top bit of a byte of the sums says whether it is at least 'a', and whether it is beyond
	// 'z'.
	from, beyond := key+(0x80-'a')*have, key+(0x7f-'z')*have
	if top := 0x80 * have; from&top == top && (beyond|key)&top == 0 {
		return key
	}
	return longKey(name)
}

// load returns the bytes of a name of one to eight bytes as a word.
func load(name []byte) uint64 {
	switch n := len(name); {
	case n == 8:
		return binary.LittleEndian.Uint64(name)
	case n >= 4:
		return uint64(binary.LittleEndian.Uint32(name)) |
			uint64(binary.LittleEndian.Uint32(name[n-4:]))<<(8*(n-4))
	default:
		return uint64(name[0]) | uint64(name[n/2])<<(8*(n/2)) | uint64(name[n-1])<<(8*(n-1))
	}
}

// longKey is shortKey for the names that are not eight letters or fewer. The top bit of its keys is
// set, of the others' it is not.
func longKey(name []byte) (key uint64) {
	if len(name) > 10 {
		return 0
	}
	for _, ch := range name {
		switch lower := ch | 32; {
		case 'a' <= lower && lower <= 'z':
			key = key<<6 | uint64(lower-'a'+1)
		case ch == '.':
			key = key<<6 | 27
		default:
			return 0
		}
	}
	return key | 1<<63
}

func shortSlot(key uint64) int { return int(key * 0x9e3779b97f4a7c15 >> (64 - shortBits)) }

// Top returns the command with that name, ignoring case, or nil. It does not search subcommands. It
// does not allocate. Nearly every call is for a short name.
func (n *names) Top(name []byte) *Command {
	key := shortKey(name)
	if key == 0 {
		return lookup(n.byName, name)
	}
	for i := shortSlot(key); ; i = (i + 1) % shortSlots {
		if s := &n.short[i]; s.key == key || s.key == 0 {
			return s.cmd
		}
	}
}

// Find returns the command or subcommand that argv calls, or nil.
func (n *names) Find(argv [][]byte) *Command {
	c := n.Top(argv[0])
	if c == nil || c.subs == nil || len(argv) < 2 {
		return c
	}
	return lookup(c.subs, argv[1])
}

// FindLogged returns the command that argv in a log calls, or nil. A log has the server's own
// commands, such as SELECT or the DEL of an expired key, under their names before Rename.
func (n *names) FindLogged(argv [][]byte) *Command {
	if c := n.Find(argv); c != nil {
		return c
	}
	c := lookup(n.former, argv[0])
	if c == nil || c.subs == nil || len(argv) < 2 {
		return c
	}
	return lookup(c.subs, argv[1])
}

// Get returns the command with that name or "container|sub" name, or nil.
func (n *names) Get(name string) *Command {
	name, sub, has := strings.Cut(strings.ToLower(name), "|")
	c := n.byName[name]
	if c == nil || !has {
		return c
	}
	return c.subs[sub]
}

// List returns the commands that clients can call, without subcommands, sorted by the names of
// their entries.
func (n *names) List() []*Command { return n.list }

// lookup finds a name, ignoring case. It allocates for none of the entries' names.
func lookup(m map[string]*Command, name []byte) *Command {
	var buf [maxName]byte
	lower := buf[:]
	switch {
	case len(name) > maxRename:
		return nil
	case len(name) > maxName:
		lower = make([]byte, len(name))
	}
	for i, ch := range name {
		if 'A' <= ch && ch <= 'Z' {
			ch += 32
		}
		lower[i] = ch
	}
	return m[string(lower[:len(name)])]
}

// renameError is the reason why a rename-command is refused, in the words that Redis prints at
// startup.
type renameError string

func (e renameError) Error() string { return string(e) }

const (
	errNoSuchCommand renameError = "No such command in rename-command"
	errNameTaken     renameError = "Target command name already exists"
)

// Rename applies a rename-command before the server starts. It gives the command another name, or
// none if to is "". It fails if there is no such command, or if the name is taken.
func (n *names) Rename(from, to string) error {
	from, to = strings.ToLower(from), strings.ToLower(to)
	c := n.byName[from]
	if c == nil {
		return errNoSuchCommand
	}
	if to != "" && n.byName[to] != nil {
		return errNameTaken
	}
	defer n.indexShort()
	delete(n.byName, from)
	if n.former == nil {
		n.former = map[string]*Command{}
	}
	n.former[from] = c
	if to == "" {
		n.list = slices.DeleteFunc(n.list, func(o *Command) bool { return o == c })
		return nil
	}
	n.byName[to] = c
	return nil
}

// leaveOut takes a command away, under whatever name.
func (n *names) leaveOut(c *Command) {
	same := func(o *Command) bool { return o == c }
	isIt := func(_ string, o *Command) bool { return o == c }
	maps.DeleteFunc(n.byName, isIt)
	maps.DeleteFunc(n.former, isIt)
	n.list = slices.DeleteFunc(n.list, same)
	n.indexShort()
}
