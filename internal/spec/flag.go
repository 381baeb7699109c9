package spec

// Flag is a set of command flags.
type Flag uint64

// These are the command flags of Redis. COMMAND shows those in flagNames.
const (
	Write           Flag = 1 << iota // May change the data set.
	ReadOnly                         // Never changes the data set.
	DenyOOM                          // Refused when memory is full and nothing can be evicted.
	Admin                            // Administration: SHUTDOWN, MONITOR …
	PubSub                           // Publish and subscribe.
	NoScript                         // Not allowed from scripts.
	Blocking                         // May block the client.
	Loading                          // Allowed while the data set is loading.
	Stale                            // Allowed on a replica with stale data.
	SkipMonitor                      // Not shown to MONITOR.
	SkipSlowlog                      // Never in the slow log.
	Asking                           // Accepts ASKING implicitly.
	Fast                             // O(1) or O(log N). Counted as the event fast-command.
	NoAuth                           // Allowed before authentication.
	MayReplicate                     // May propagate although it is not a write.
	NoMandatoryKeys                  // The key arguments are optional.
	AllowBusy                        // Allowed while a script exceeds its time limit.
	NoAsyncLoading                   // Refused during diskless loading with swapdb.
	NoMulti                          // Refused inside MULTI.
	MovableKeys                      // Set by NewTable: finding the keys needs the arguments.
)

// These flags are Godwit's own. COMMAND does not show them.
const (
	TellsDiskErrors Flag = 1 << (iota + 20) // Refused like a write when data cannot be saved.
	WhileSubscribed                         // Allowed to RESP2 clients that have subscribed.
	KeepsCaching                            // Keeps the effect of CLIENT CACHING.
	InMulti                                 // Runs inside MULTI instead of being queued.
	LeavesMulti                             // InMulti, ends MULTI.
	TakesLocalKeys                          // Takes keys from here while their slot moves.
	RunsQueue                               // Runs what MULTI queued, has those commands' flags.
	AwaitsCluster                           // Waits for other nodes, see Ctx.Await.
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
