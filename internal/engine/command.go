package engine

import "godwit/internal/keyspace"

// Flag is one command flag; COMMAND INFO prints the names that flagNames gives them.
type Flag uint64

// The command flags of Redis 7, in the order in which COMMAND prints them.
const (
	Write           Flag = 1 << iota // may change the data set
	ReadOnly                         // never changes the data set
	DenyOOM                          // refused when used memory is over maxmemory and nothing can be evicted
	Admin                            // administration: SHUTDOWN, MONITOR …
	PubSub                           // publish and subscribe
	NoScript                         // not allowed from scripts
	Blocking                         // may block the client
	Loading                          // allowed while the data set is loading
	Stale                            // allowed on a replica with stale data
	SkipMonitor                      // not shown to MONITOR
	SkipSlowlog                      // never in the slow log
	Asking                           // accepts ASKING implicitly
	Fast                             // O(1) or O(log N): counted in the latency event fast-command
	NoAuth                           // allowed before authentication
	MayReplicate                     // may propagate although it is not a write
	NoMandatoryKeys                  // the key arguments are optional
	AllowBusy                        // allowed while a script is over its time limit
	NoAsyncLoading                   // refused during diskless loading with swapdb
	NoMulti                          // refused inside MULTI
	MovableKeys                      // derived: key positions need KeysFn or a keyword search
	TellsDiskErrors                  // refused like a write when the data cannot be kept, so that health checks notice; not shown
	WhileSubscribed                  // allowed to RESP2 clients that have subscribed; not shown
	KeepsCaching                     // leaves what CLIENT CACHING said for the next command; not shown
	InMulti                          // runs within MULTI instead of being queued; not shown
	LeavesMulti                      // InMulti, and ends the transaction: never refused for lack of memory by itself; not shown
	RunsQueue                        // runs what MULTI has queued: has the flags of these commands as well; not shown
)

// Group is the documentation group of a command (COMMAND DOCS "group").
type Group string

// The groups of Redis's documentation.
const (
	GroupGeneric      Group = "generic"
	GroupString       Group = "string"
	GroupList         Group = "list"
	GroupSet          Group = "set"
	GroupSortedSet    Group = "sorted-set"
	GroupHash         Group = "hash"
	GroupPubSub       Group = "pubsub"
	GroupTransactions Group = "transactions"
	GroupConnection   Group = "connection"
	GroupServer       Group = "server"
	GroupScripting    Group = "scripting"
	GroupHyperLogLog  Group = "hyperloglog"
	GroupCluster      Group = "cluster"
	GroupGeo          Group = "geo"
	GroupStream       Group = "stream"
	GroupBitmap       Group = "bitmap"
	GroupModule       Group = "module"
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
func After(keyword string, from int) BeginSearch { return BeginSearch{Keyword: keyword, From: from} }

// FindKeys says how keys follow from where the search began: either a range or a key count.
type FindKeys struct {
	KeyNum              bool
	LastKey, Step       int // range: last key relative to the begin (negative: from the last argument)
	Limit               int // range: with LastKey -1, use only 1/Limit of the remaining arguments
	KeyNumIdx, FirstKey int // keynum: where the count is, where the first key is, relative to the begin
}

// Range finds the keys begin, begin+step … begin+last.
func Range(last, step, limit int) FindKeys { return FindKeys{LastKey: last, Step: step, Limit: limit} }

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

// Channels says which arguments are channels that the user must be allowed.
type Channels uint8

// The arguments that are channels. Ending a subscription is everybody's right, so those commands have none.
const (
	NoChannels      Channels = iota
	OneChannel               // the first
	ManyChannels             // all
	ChannelPatterns          // all, and they are patterns
)

// KeyRef is one key argument found: its index in argv and how it is used.
type KeyRef struct {
	Pos    int
	Access Access
}

// ArgType is the type of a documented argument.
type ArgType string

// The argument types of COMMAND DOCS.
const (
	ArgString    ArgType = "string"
	ArgInteger   ArgType = "integer"
	ArgDouble    ArgType = "double"
	ArgKey       ArgType = "key"
	ArgPattern   ArgType = "pattern"
	ArgUnixTime  ArgType = "unix-time"
	ArgPureToken ArgType = "pure-token"
	ArgOneOf     ArgType = "oneof"
	ArgBlock     ArgType = "block"
)

// Arg documents one argument; COMMAND DOCS, client hints and the oracle's generator read it.
type Arg struct {
	Name          string
	Type          ArgType
	KeySpec       int // index of the key spec; meaningful for ArgKey only
	Token         string
	Summary       string
	Since         string
	Deprecated    string
	Display       string
	Optional      bool
	Multiple      bool
	MultipleToken bool
	Args          []Arg
}

// Key documents a key argument found by key spec number spec.
func Key(name string, spec int) Arg { return Arg{Name: name, Type: ArgKey, KeySpec: spec} }

// Str documents a string argument.
func Str(name string) Arg { return Arg{Name: name, Type: ArgString} }

// Int documents an integer argument.
func Int(name string) Arg { return Arg{Name: name, Type: ArgInteger} }

// Dbl documents a floating-point argument.
func Dbl(name string) Arg { return Arg{Name: name, Type: ArgDouble} }

// Pattern documents a glob pattern.
func Pattern(name string) Arg { return Arg{Name: name, Type: ArgPattern} }

// UnixTime documents an absolute time.
func UnixTime(name string) Arg { return Arg{Name: name, Type: ArgUnixTime} }

// Tok documents a bare token; the token is the upper-cased name unless Tokened changes it.
func Tok(name string) Arg { return Arg{Name: name, Type: ArgPureToken, Token: upper(name)} }

// OneOf documents a choice.
func OneOf(name string, args ...Arg) Arg { return Arg{Name: name, Type: ArgOneOf, Args: args} }

// Block documents arguments that belong together.
func Block(name string, args ...Arg) Arg { return Arg{Name: name, Type: ArgBlock, Args: args} }

// Opt marks the argument optional.
func (a Arg) Opt() Arg { a.Optional = true; return a }

// Many marks the argument repeatable.
func (a Arg) Many() Arg { a.Multiple = true; return a }

// ManyTokens marks the argument repeatable together with its token.
func (a Arg) ManyTokens() Arg { a.Multiple, a.MultipleToken = true, true; return a }

// Tokened sets the token that precedes the argument (or is it, for a bare token).
func (a Arg) Tokened(token string) Arg { a.Token = token; return a }

// Renamed gives the argument another name and keeps the old one as its display text.
func (a Arg) Renamed(name string) Arg {
	a.Name, a.Display = name, a.Name
	return a
}

// From sets the version that introduced the argument.
func (a Arg) From(version string) Arg { a.Since = version; return a }

// Shown sets the display text where it is not the name.
func (a Arg) Shown(text string) Arg { a.Display = text; return a }

// History is one line of a command's history: version and what it changed.
type History struct{ Since, Change string }

// Protection names the directive that opens a command, or the subcommands of one.
type Protection uint8

// The protections of commands.
const (
	Open            Protection = iota
	ByDebugCommand             // enable-debug-command
	ByModuleCommand            // enable-module-command
)

// Command is one entry of the command table, or a subcommand of one. Everything that the server says
// about a command derives from it.
type Command struct {
	Name            string // lower case; of a subcommand without its container's name
	Arity           int    // argument count with the name (and container); negative: at least
	Flags           Flag
	Group           Group
	Since           string
	Summary         string
	Complexity      string
	DocFlags        []string // "deprecated", "syscmd"
	DeprecatedSince string
	ReplacedBy      string
	History         []History
	Tips            []string
	Categories      []string // ACL categories beyond those that flags and group imply, without '@'
	Keys            []KeySpec
	KeysFn          func(argv [][]byte) ([]KeyRef, error) // only where positions or access depend on the arguments
	Channels        Channels                              // what of the arguments are channels of pub/sub
	Args            []Arg
	Sub             []*Command
	Protected       Protection
	Run             func(c *Ctx)

	// Touch, if set, begins to bring into the cache what Run will read of the first key's value. It is called for commands that are read ahead, when the key's entry
	// has been fetched. It must cost less than the misses that it saves, and change nothing.
	Touch func(db *keyspace.DB, argv [][]byte)

	// Set by Seal.
	parent   *Command
	id       int
	copies   bool   // see copiesValues
	firstKey int    // index of the first key in argv where it is fixed, else 0
	fullName string // "client|id"
	subs     map[string]*Command
	cats     []string
}

// FullName is the name with its container: "client|id".
func (c *Command) FullName() string { return c.fullName }

// ID is a dense number unique within the sealed table; statistics are indexed by it.
func (c *Command) ID() int { return c.id }

// Parent is the container command of a subcommand, nil otherwise.
func (c *Command) Parent() *Command { return c.parent }

// AcceptsArgs reports whether n arguments, the name and the container's name among them, satisfy the arity.
func (c *Command) AcceptsArgs(n int) bool { return n == c.Arity || c.Arity < 0 && n >= -c.Arity }

// Is reports whether the command has all of the flags.
func (c *Command) Is(f Flag) bool { return c.Flags&f == f }

func upper(s string) string {
	b := []byte(s)
	for i, ch := range b {
		if 'a' <= ch && ch <= 'z' {
			b[i] = ch - 32
		}
	}
	return string(b)
}
