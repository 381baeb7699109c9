package engine

import (
	"fmt"
	"slices"
	"strings"
)

// Table is the sealed command table. Looking up is case-insensitive.
type Table struct {
	byName map[string]*Command
	short  [shortSlots]shortName // those of byName with at most ten letters, once more
	list   []*Command            // top level, sorted by name
	all    []*Command            // with subcommands, by ID
	former map[string]*Command   // by the names that rename-command took away; nil: none
}

// shortSlots is the size of Table.short, a power of two several times the number of commands.
const shortSlots = 2048

// shortName is a slot of an open hash table: a name as shortKey packs it, 0 for none.
type shortName struct {
	key uint64
	cmd *Command
}

// maxName is longer than any command name, in bytes.
const maxName = 64

// NewTable seals a table: it links subcommands, numbers all, and panics on entries that contradict themselves — a duplicate, a
// missing doc, Write with ReadOnly, a key argument without its spec. These are programming errors, found by any test.
func NewTable(cmds []*Command) *Table {
	t := &Table{byName: make(map[string]*Command, len(cmds))}
	for _, c := range cmds {
		if t.byName[c.Name] != nil {
			panic("command table: duplicate " + c.Name)
		}
		t.byName[c.Name] = c
		t.list = append(t.list, c)
		t.seal(c, nil)
		if len(c.Sub) > 0 {
			c.subs = make(map[string]*Command, len(c.Sub))
		}
		for _, s := range c.Sub {
			if c.subs[s.Name] != nil {
				panic("command table: duplicate " + c.Name + "|" + s.Name)
			}
			c.subs[s.Name] = s
			t.seal(s, c)
		}
	}
	slices.SortFunc(t.list, func(a, b *Command) int { return strings.Compare(a.Name, b.Name) })
	t.indexShort()
	return t
}

// indexShort fills short from byName.
func (t *Table) indexShort() {
	t.short = [shortSlots]shortName{}
	for name, c := range t.byName {
		key := shortKey([]byte(name))
		if key == 0 {
			continue
		}
		i := shortSlot(key)
		for t.short[i].key != 0 {
			i = (i + 1) % shortSlots
		}
		t.short[i] = shortName{key, c}
	}
}

// shortKey packs a name of at most ten letters and dots, whatever the case of the letters, into a word; 0 stands for all others.
func shortKey(name []byte) (key uint64) {
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
	return key
}

func shortSlot(key uint64) int { return int(key * 0x9e3779b97f4a7c15 >> (64 - 11)) }

// top finds a top-level command by its name, whatever its case, without allocating. Nearly every call is for a short name, and each command
// asks twice: when it is read ahead and when it runs.
func (t *Table) top(name []byte) *Command {
	key := shortKey(name)
	if key == 0 {
		return lookup(t.byName, name)
	}
	for i := shortSlot(key); ; i = (i + 1) % shortSlots {
		if s := &t.short[i]; s.key == key || s.key == 0 {
			return s.cmd
		}
	}
}

// seal checks one command and gives it its number.
func (t *Table) seal(c, parent *Command) {
	c.parent, c.fullName = parent, c.Name
	if parent != nil {
		c.fullName = parent.Name + "|" + c.Name
	}
	bad := func(ok bool, what string) {
		if !ok {
			panic(fmt.Sprintf("command table: %s: %s", c.fullName, what))
		}
	}
	bad(c.Name == strings.ToLower(c.Name) && c.Name != "" && len(c.Name) <= maxName, "name")
	bad(c.Arity != 0, "no arity")
	bad(c.Summary != "" && c.Since != "" && c.Group != "", "no documentation")
	bad(c.Run != nil || len(c.Sub) > 0, "no handler")
	bad(!c.Is(Write|ReadOnly), "both write and readonly")
	checkArgs(c.Args, len(c.Keys), bad)
	c.id = len(t.all)
	c.copies = c.copiesValues()
	t.all = append(t.all, c)
	c.derive()
}

func checkArgs(args []Arg, specs int, bad func(bool, string)) {
	for _, a := range args {
		bad(a.Name != "" && a.Type != "", "argument without name or type")
		bad(a.Type != ArgKey || a.KeySpec < specs, "argument "+a.Name+": key spec out of range")
		checkArgs(a.Args, specs, bad)
	}
}

// Len is the number of commands and subcommands.
func (t *Table) Len() int { return len(t.all) }

// List is the commands, sorted by name.
func (t *Table) List() []*Command { return t.list }

// All is the commands and subcommands, by ID.
func (t *Table) All() []*Command { return t.all }

// Count is the number of commands, subcommands not counted (COMMAND COUNT).
func (t *Table) Count() int { return len(t.list) }

// Get is the command of that name or "container|sub" name, nil if there is none.
func (t *Table) Get(name string) *Command {
	name, sub, has := strings.Cut(strings.ToLower(name), "|")
	c := t.byName[name]
	if c == nil || !has {
		return c
	}
	return c.subs[sub]
}

// Find is the command that argv calls, or nil and the error text for the client.
func (t *Table) Find(argv [][]byte) (*Command, string) {
	c := t.top(argv[0])
	if c == nil {
		return nil, unknownCommand(argv)
	}
	if c.subs == nil || len(argv) < 2 {
		return c, ""
	}
	if s := lookup(c.subs, argv[1]); s != nil {
		return s, ""
	}
	return nil, unknownSubcommand(argv)
}

// FindLogged is the command that argv in a log calls, nil if there is none. The server's own commands are there under the names that they had before
// rename-command: SELECT, or the DEL of a key that expired.
func (t *Table) FindLogged(argv [][]byte) *Command {
	if c, _ := t.Find(argv); c != nil {
		return c
	}
	c := lookup(t.former, argv[0])
	if c == nil || c.subs == nil || len(argv) < 2 {
		return c
	}
	return lookup(c.subs, argv[1])
}

// lookup finds a name whatever its case, without allocating.
func lookup(m map[string]*Command, name []byte) *Command {
	var buf [maxName]byte
	if len(name) > maxName {
		return nil
	}
	for i, ch := range name {
		if 'A' <= ch && ch <= 'Z' {
			ch += 32
		}
		buf[i] = ch
	}
	return m[string(buf[:len(name)])]
}

// renameError is why a rename-command line is refused, in the words that Redis prints at the start.
type renameError string

func (e renameError) Error() string { return string(e) }

const (
	errNoSuchCommand renameError = "No such command in rename-command"
	errNameTaken     renameError = "Target command name already exists"
)

// Rename applies rename-command before the server starts: the command answers to another name, or to none with "". Unknown names and
// names that are taken are errors.
func (t *Table) Rename(from, to string) error {
	from, to = strings.ToLower(from), strings.ToLower(to)
	c := t.byName[from]
	if c == nil {
		return errNoSuchCommand
	}
	if to != "" && t.byName[to] != nil {
		return errNameTaken
	}
	defer t.indexShort()
	delete(t.byName, from)
	if t.former == nil {
		t.former = map[string]*Command{}
	}
	t.former[from] = c
	if to == "" {
		t.list = slices.DeleteFunc(t.list, func(o *Command) bool { return o == c })
		return nil
	}
	t.byName[to] = c
	return nil
}

// flagNames in the order in which COMMAND prints them.
var flagNames = [...]struct {
	f    Flag
	name string
}{
	{Write, "write"}, {ReadOnly, "readonly"}, {DenyOOM, "denyoom"}, {Admin, "admin"}, {PubSub, "pubsub"},
	{NoScript, "noscript"}, {Blocking, "blocking"}, {Loading, "loading"}, {Stale, "stale"},
	{SkipMonitor, "skip_monitor"}, {SkipSlowlog, "skip_slowlog"}, {Asking, "asking"}, {Fast, "fast"},
	{NoAuth, "no_auth"}, {NoMandatoryKeys, "no_mandatory_keys"},
	{NoAsyncLoading, "no_async_loading"}, {NoMulti, "no_multi"}, {MovableKeys, "movablekeys"}, {AllowBusy, "allow_busy"},
}

// FlagNames are the names of the command's flags as COMMAND INFO prints them.
func (c *Command) FlagNames() []string {
	var names []string
	for _, f := range flagNames {
		if c.Is(f.f) {
			names = append(names, f.name)
		}
	}
	return names
}
