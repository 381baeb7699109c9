package spec

import "slices"

// Group is the documentation group of a command (COMMAND DOCS "group").
type Group string

// These are the groups of Redis's documentation.
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
	GroupSentinel     Group = "sentinel"
)

// categories are the ACL categories, in the order of COMMAND INFO.
var categories = []string{
	"keyspace", "read", "write", "set", "sortedset", "list", "hash", "string", "bitmap",
	"hyperloglog", "geo", "stream", "pubsub", "admin", "fast", "slow", "blocking", "dangerous",
	"connection", "transaction", "scripting",
}

// groupCategory maps a documentation group to the ACL category of its commands. It has no entry for
// pub/sub, where the PubSub flag decides.
var groupCategory = map[Group]string{
	GroupString: "string", GroupList: "list", GroupSet: "set", GroupSortedSet: "sortedset",
	GroupHash: "hash", GroupBitmap: "bitmap", GroupHyperLogLog: "hyperloglog", GroupGeo: "geo",
	GroupStream: "stream", GroupGeneric: "keyspace", GroupConnection: "connection",
	GroupTransactions: "transaction", GroupScripting: "scripting",
}

// behaviour are the categories that say how a command behaves, not what it works on.
var behaviour = []string{
	"read", "write", "admin", "dangerous", "fast", "slow", "blocking", "pubsub",
}

// categories derives the ACL categories from flags, group and the entry's Categories. A container
// that cannot be run does not get its group's category. Nor does a command whose Categories name
// another family.
func (c *Command) categories() []string {
	has := map[string]bool{}
	ownFamily := false
	for _, name := range c.Categories {
		has[name] = true
		ownFamily = ownFamily || !slices.Contains(behaviour, name)
	}
	if name := groupCategory[c.Group]; name != "" && !ownFamily && c.Runs() {
		has[name] = true
	}
	for name, on := range map[string]bool{
		"write": c.Is(Write),
		// A script reads what its keys allow. If it also counted as a read, a user who may only
		// read could run scripts.
		"read":  c.Is(ReadOnly) && !has["scripting"],
		"admin": c.Is(Admin), "dangerous": c.Is(Admin), "pubsub": c.Is(PubSub),
		"fast": c.Is(Fast), "blocking": c.Is(Blocking),
	} {
		if on {
			has[name] = true
		}
	}
	has["slow"] = !has["fast"]
	var out []string
	for _, name := range categories {
		if has[name] {
			out = append(out, name)
		}
	}
	return out
}
