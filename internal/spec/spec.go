// Package spec describes the commands: names, arity, flags, keys, arguments, categories and
// documentation. It knows nothing that runs: package command has the handlers, and package engine
// brings the two together.
//
//	string.go, list.go, …   the commands, one family in each file
//	New                     the table of all of them, checked
//	Table.Find              the command that a call names
//	Command.KeyRefs         where the keys of a call are
//
// ACL rules, COMMAND, the propagation of calls, cluster routing and the test tools all read this
// table; nobody else says what a command is.
//
// A command is added with an entry here and a handler in package command. An entry says only what
// is its own: the group is its family's or its container's, the complexity is O(1), unless it says
// otherwise.
package spec

// Command describes one command, or a subcommand of one. Entries do not change after NewTable.
type Command struct {
	Name  string // lower case; of a subcommand without its container's name
	Arity int    // argument count with the name (and container); negative: at least
	Flags Flag
	derived
	Protected Protection // of a subcommand: also its container's
	Channels  Channels   // what of the arguments are channels of pub/sub
	Keys      []KeySpec
	// KeysFn finds the keys where the specs alone cannot, nil elsewhere.
	KeysFn func(argv [][]byte) ([]KeyRef, error)
	Sub    []*Command

	Group           Group
	Categories      []string // ACL categories beyond those that flags and group imply, without '@'
	Since           string
	Summary         string
	Complexity      string
	DocFlags        []string // beyond "deprecated": "syscmd"
	DeprecatedSince string
	ReplacedBy      string
	History         []History
	Tips            []string
	Args            []Arg
}

// derived is what NewTable adds to an entry.
type derived struct {
	id       int
	firstKey int  // index of the first key in argv where it is fixed, else 0
	copies   bool // see CopiesValues
	parent   *Command
	subs     map[string]*Command
	fullName string
	cats     []string
}

// noComplexity is the Complexity of commands for which COMMAND DOCS gives none.
const noComplexity = "-"

// History is one line of a command's history: a version, and what it changed.
type History struct{ Since, Change string }

// Protection names the directive that opens a command.
type Protection uint8

// The protections of commands.
const (
	Open            Protection = iota
	ByDebugCommand             // enable-debug-command
	ByModuleCommand            // enable-module-command
)

// Channels says which arguments are channels that the user must be allowed.
type Channels uint8

// The arguments that are channels. Everybody may end a subscription, so those commands have none.
const (
	NoChannels      Channels = iota
	OneChannel               // the first
	ManyChannels             // all
	ChannelPatterns          // all, and they are patterns
)

// FullName returns the name with the container's: "client|id".
func (c *Command) FullName() string { return c.fullName }

// ID returns the command's number, dense and unique within the table.
func (c *Command) ID() int { return c.id }

// Parent returns the container of a subcommand, nil for other commands.
func (c *Command) Parent() *Command { return c.parent }

// AcceptsArgs reports whether n arguments satisfy the arity. The name and the container's name
// count among them.
func (c *Command) AcceptsArgs(n int) bool { return n == c.Arity || c.Arity < 0 && n >= -c.Arity }

// Is reports whether the command has all of the flags.
func (c *Command) Is(f Flag) bool { return c.Flags&f == f }

// Runs reports whether the command can be run by itself. A container such as CLIENT cannot: only
// its subcommands can.
func (c *Command) Runs() bool { return len(c.Sub) == 0 || c.AcceptsArgs(1) }

// ACL returns the command's categories of access control, without '@', as COMMAND INFO orders
// them.
func (c *Command) ACL() []string { return c.cats }

// FirstKey returns the index in argv of the first key if it is the same in all calls, else 0.
func (c *Command) FirstKey() int { return c.firstKey }

// CopiesValues reports whether the command stores what it reads under another key.
func (c *Command) CopiesValues() bool { return c.copies }

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
