// Package spec describes the commands: names, arity, flags, keys, arguments, categories and
// documentation. It runs nothing: package command has the handlers, and package engine brings the
// two together.
//
//	string.go, list.go, …   the commands, one family in each file
//	family                  puts those of a file into the table
//	New                     the table of all of them, checked
//	Table.Find              the command that a call names
//	Command.KeyRefs         where the keys of a call are
//
// ACL rules, COMMAND, propagation, cluster routing and the test tools all read this table. No other
// place says what a command is.
//
// To add a command, add an entry here and a handler in package command. An entry says only what is
// specific to it. Unless it says otherwise, its group is that of its family or container, and its
// complexity is O(1). If it writes and Redis 7.0 does not know it, integration/replication wants a
// case of what replicas are sent (newer_cases_test.go).
package spec

// Command describes one command, or a subcommand of one. Entries do not change after NewTable.
type Command struct {
	Name  string // In lower case. A subcommand's does not include the container's name.
	Arity int    // The argument count with the name (and container). Negative: at least.
	Flags Flag
	derived
	Protected Protection // A subcommand also has its container's.
	Channels  Channels   // The arguments that are channels of pub/sub.
	Databases Databases  // The databases that it reaches.
	Keys      []KeySpec
	// KeysFn appends to refs the keys where the specs alone cannot tell them. It is nil elsewhere.
	KeysFn func(refs []KeyRef, argv [][]byte) ([]KeyRef, error)
	Sub    []*Command

	Group           Group
	Categories      []string // ACL categories that flags and group do not imply, without '@'.
	Since           string
	Summary         string
	Complexity      string
	DocFlags        []string // Flags in addition to "deprecated": "syscmd".
	DeprecatedSince string
	ReplacedBy      string
	History         []History
	Tips            []string
	Args            []Arg
}

// derived holds what NewTable adds to an entry.
type derived struct {
	id       int
	firstKey int  // The index of the first key in argv if it is fixed, else 0.
	numKeys  int  // The index of the number of keys, if firstKey depends on it: see LeadingKeys.
	copies   bool // See CopiesValues.
	quick    bool // See QuickWrite.
	data     bool // It reads, changes or names what is in a database.
	unnamed  bool // See WritesUnnamed.
	parent   *Command
	subs     map[string]*Command
	fullName string
	cats     []string
}

// noComplexity is the Complexity of commands for which COMMAND DOCS gives none.
const noComplexity = "-"

// History is one line of a command's history: a version and what it changed.
type History struct{ Since, Change string }

// Protection names the directive that allows a command.
type Protection uint8

// These are the protections of commands.
const (
	Open            Protection = iota
	ByDebugCommand             // enable-debug-command.
	ByModuleCommand            // enable-module-command.
)

// Channels says which arguments are channels for which the user needs permission.
type Channels uint8

// These say which arguments are channels. Anybody may unsubscribe, so those commands have none.
const (
	NoChannels      Channels = iota
	OneChannel               // The first.
	ManyChannels             // All.
	ChannelPatterns          // All, and they are patterns.
)

// FullName returns the name with its container's: "client|id".
func (c *Command) FullName() string { return c.fullName }

// ID returns the command's number, dense and unique within the table.
func (c *Command) ID() int { return c.id }

// Parent returns the container of a subcommand, nil for other commands.
func (c *Command) Parent() *Command { return c.parent }

// AcceptsArgs reports whether n arguments satisfy the arity. The count includes the name and the
// container's name.
func (c *Command) AcceptsArgs(n int) bool { return n == c.Arity || c.Arity < 0 && n >= -c.Arity }

// Is reports whether the command has all of the flags.
func (c *Command) Is(f Flag) bool { return c.Flags&f == f }

// Runs reports whether the command itself can be run. A container such as CLIENT cannot: only its
// subcommands can.
func (c *Command) Runs() bool { return len(c.Sub) == 0 || c.AcceptsArgs(1) }

// ACL returns the command's ACL categories, without '@', in the order of COMMAND INFO.
func (c *Command) ACL() []string { return c.cats }

// FirstKey returns the index in argv of the first key if it is the same in all calls, else 0.
func (c *Command) FirstKey() int { return c.firstKey }

// OnlyKey returns the index in argv of the key if every call has exactly one, always there. Else it
// returns 0.
func (c *Command) OnlyKey() int {
	if len(c.Keys) != 1 || !c.Keys[0].fixed() || c.Keys[0].Find.LastKey != 0 {
		return 0
	}
	// The arguments of SET and its kin only say how the key is used.
	if c.KeysFn != nil && c.Keys[0].Access&VariableFlags == 0 {
		return 0
	}
	return c.Keys[0].Begin.Index
}

// UsesShardChannels reports whether the command listens or sends to shard channels. It is routed by
// them instead of keys.
func (c *Command) UsesShardChannels() bool {
	return c.Is(PubSub) && len(c.Keys) > 0 && c.Channels != NoChannels
}

// CopiesValues reports whether the command stores what it reads at another key.
func (c *Command) CopiesValues() bool { return c.copies }

// QuickWrite reports whether the command writes, and takes next to no time if it has few arguments.
func (c *Command) QuickWrite() bool { return c.quick }

// WritesUnnamed reports whether the command changes keys that its arguments do not name, as
// FLUSHALL does. What scripts do is not meant.
func (c *Command) WritesUnnamed() bool { return c.unnamed }

// HasKeys reports whether the command can have key arguments. Names that are only routed like keys
// do not count.
func (c *Command) HasKeys() bool {
	if c.KeysFn != nil {
		return true
	}
	for i := range c.Keys {
		if c.Keys[i].Access&NotKey == 0 {
			return true
		}
	}
	return false
}
