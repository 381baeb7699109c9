package spec

// Flag is a set of command flags.
type Flag uint64

// The command flags of Redis. COMMAND shows those that flagNames has.
const (
	Write           Flag = 1 << iota // may change the data set
	ReadOnly                         // never changes the data set
	DenyOOM                          // refused when memory is full and nothing can be evicted
	Admin                            // administration: SHUTDOWN, MONITOR …
	PubSub                           // publish and subscribe
	NoScript                         // not allowed from scripts
	Blocking                         // may block the client
	Loading                          // allowed while the data set is loading
	Stale                            // allowed on a replica with stale data
	SkipMonitor                      // not shown to MONITOR
	SkipSlowlog                      // never in the slow log
	Asking                           // accepts ASKING implicitly
	Fast                             // O(1) or O(log N); counted as the event fast-command
	NoAuth                           // allowed before authentication
	MayReplicate                     // may propagate although it is not a write
	NoMandatoryKeys                  // the key arguments are optional
	AllowBusy                        // allowed while a script is over its time limit
	NoAsyncLoading                   // refused during diskless loading with swapdb
	NoMulti                          // refused inside MULTI
	MovableKeys                      // set by NewTable: finding the keys needs the arguments
)

// The flags of this server's own. COMMAND does not show them.
const (
	TellsDiskErrors Flag = 1 << (iota + 20) // refused like a write when data cannot be kept
	WhileSubscribed                         // allowed to RESP2 clients that have subscribed
	KeepsCaching                            // leaves alone what CLIENT CACHING said
	InMulti                                 // runs within MULTI instead of being queued
	LeavesMulti                             // InMulti, ends MULTI, is never refused for memory
	RunsQueue                               // runs what MULTI queued, has those commands' flags
)

// flagNames are the flags that COMMAND shows, in its order.
var flagNames = [...]struct {
	f    Flag
	name string
}{
	{Write, "write"}, {ReadOnly, "readonly"}, {DenyOOM, "denyoom"}, {Admin, "admin"},
	{PubSub, "pubsub"}, {NoScript, "noscript"}, {Blocking, "blocking"}, {Loading, "loading"},
	{Stale, "stale"}, {SkipMonitor, "skip_monitor"}, {SkipSlowlog, "skip_slowlog"},
	{Asking, "asking"}, {Fast, "fast"}, {NoAuth, "no_auth"}, {NoMandatoryKeys, "no_mandatory_keys"},
	{NoAsyncLoading, "no_async_loading"}, {NoMulti, "no_multi"}, {MovableKeys, "movablekeys"},
	{AllowBusy, "allow_busy"},
}

// FlagNames returns the names of the command's flags as COMMAND INFO prints them.
func (c *Command) FlagNames() []string {
	var names []string
	for _, f := range flagNames {
		if c.Is(f.f) {
			names = append(names, f.name)
		}
	}
	return names
}
