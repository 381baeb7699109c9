package spec

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
)

// Table is a set of commands that have been checked and numbered.
//
// Commands have two names. The full name is that of the entry and never changes. ACL rules and
// handlers use it. The other name is what clients call. rename-command changes it, in one Table
// without affecting others.
type Table struct {
	all        []*Command            // Commands and subcommands, by ID.
	byFullName map[string]*Command   // All of them.
	byCategory map[string][]*Command // By ID.
	names                            // What clients call.
}

// families are the commands of this server, as the files of the families add them.
var families []*Command

// family adds the commands of one family to those of this server. group is the group of those that
// name none. A file calls it to initialize a blank variable, so the result means nothing.
func family(group Group, cmds []*Command) bool {
	for _, c := range cmds {
		c.Group = cmp.Or(c.Group, group)
	}
	families = append(families, cmds...)
	return true
}

// standard returns the table of this server, with the names of the entries.
var standard = sync.OnceValue(func() *Table { return NewTable(families) })

// New returns the table of all commands of this server. All such tables share their commands, but
// not their renames.
func New() *Table {
	t := *standard()
	t.names = t.names.clone()
	return &t
}

// NewTable makes a table of the entries and takes ownership of them. Their names define the IDs, so
// that these do not depend on the order in which Go initializes the files of the families. It
// panics if an entry contradicts itself, which is a programming error that any test finds.
func NewTable(cmds []*Command) *Table {
	slices.SortFunc(cmds, func(a, b *Command) int { return cmp.Compare(a.Name, b.Name) })
	t := &Table{byFullName: map[string]*Command{}, byCategory: map[string][]*Command{}}
	for _, name := range categories {
		t.byCategory[name] = nil
	}
	for _, c := range cmds {
		t.add(c, nil)
		for _, s := range c.Sub {
			t.add(s, c)
		}
	}
	t.names = newNames(cmds)
	return t
}

// add completes an entry from its container and its flags, checks it and numbers it.
func (t *Table) add(c, parent *Command) {
	c.derived = derived{id: len(t.all), parent: parent, fullName: c.Name}
	if parent != nil {
		c.fullName = parent.Name + "|" + c.Name
		c.Group = cmp.Or(c.Group, parent.Group)
		c.Protected = cmp.Or(c.Protected, parent.Protected)
		parent.subs[c.Name] = c
	}
	if len(c.Sub) > 0 {
		c.subs = map[string]*Command{}
	}
	c.derive()
	c.check()
	if t.byFullName[c.fullName] != nil {
		panic("command table: duplicate " + c.fullName)
	}
	t.byFullName[c.fullName] = c
	for _, name := range c.cats {
		t.byCategory[name] = append(t.byCategory[name], c)
	}
	t.all = append(t.all, c)
}

// derive fills in what follows from the entry.
func (c *Command) derive() {
	if len(c.Sub) == 0 && len(c.Keys) > 0 && c.Keys[0].fixed() {
		c.firstKey = c.Keys[0].Begin.Index
	}
	c.numKeys = c.keyCount()
	var reads, stores bool
	for i := range c.Keys {
		k := &c.Keys[i]
		if !k.fixed() {
			c.Flags |= MovableKeys
		}
		reads = reads || k.Access&RO != 0
		stores = stores || k.Access&(OW|RW) != 0
	}
	c.copies = c.Is(Write|DenyOOM) && reads && stores
	switch c.Complexity {
	case "":
		c.Complexity = "O(1)"
	case noComplexity:
		c.Complexity = ""
	}
	c.quick = c.Flags&(Write|Blocking) == Write && (c.Is(Fast) || c.Complexity == "O(1)")
	c.cats = c.categories()
	c.data = c.HasKeys() || slices.ContainsFunc(c.cats, func(name string) bool {
		return name == "keyspace" || name == "read" || name == "write"
	})
	c.unnamed = c.Is(Write) && !c.HasKeys() && slices.Contains(c.cats, "keyspace")
}

// check panics if the entry is incomplete or contradicts itself.
func (c *Command) check() {
	bad := func(ok bool, what string) {
		if !ok {
			panic(fmt.Sprintf("command table: %s: %s", c.fullName, what))
		}
	}
	bad(c.Name == strings.ToLower(c.Name) && c.Name != "" && len(c.Name) <= maxName, "name")
	bad(c.Arity != 0, "no arity")
	bad(c.Summary != "" && c.Since != "" && c.Group != "", "no documentation")
	bad(!c.Is(Write|ReadOnly), "both write and readonly")
	checkArgs(c.Args, len(c.Keys), bad)
}

func checkArgs(args []Arg, specs int, bad func(bool, string)) {
	for _, a := range args {
		bad(a.Name != "" && a.Type != "", "argument without name or type")
		bad(a.Type != ArgKey || a.KeySpec < specs, "argument "+a.Name+": key spec out of range")
		checkArgs(a.Args, specs, bad)
	}
}

// LeaveOut makes the table one that does not have a command, nor its subcommands. Their IDs and
// entries stay. It does nothing if the table does not have it.
func (t *Table) LeaveOut(name string) {
	c := t.byFullName[name]
	if c == nil {
		return
	}
	gone := func(o *Command) bool { return o == c || o.parent == c }
	t.byFullName, t.byCategory = maps.Clone(t.byFullName), maps.Clone(t.byCategory)
	maps.DeleteFunc(t.byFullName, func(_ string, o *Command) bool { return gone(o) })
	for category, cmds := range t.byCategory {
		t.byCategory[category] = slices.DeleteFunc(slices.Clone(cmds), gone)
	}
	t.leaveOut(c)
}

// All returns the commands and subcommands, by ID.
func (t *Table) All() []*Command { return t.all }

// Named returns the command with that full name, in lower case, or nil.
func (t *Table) Named(fullName string) *Command { return t.byFullName[fullName] }

// Categories returns the names of all ACL categories, in the order of ACL CAT.
func (t *Table) Categories() []string { return categories }

// InCategory returns the commands and subcommands of a category, by ID. It reports whether the
// category exists: it may be empty.
func (t *Table) InCategory(name string) (cmds []*Command, ok bool) {
	cmds, ok = t.byCategory[name]
	return cmds, ok
}
