package command

import (
	"godwit/internal/engine"
	"godwit/internal/stream"
)

// xinfoHelp lists the lines of XINFO HELP.
var xinfoHelp = []string{
	"STREAM <key> [FULL [COUNT <count>]]",
	"    Describe a stream. FULL lists entries, groups and pending entries, at most <count> each.",
	"GROUPS <key>",
	"    Describe the consumer groups of a stream.",
	"CONSUMERS <key> <group>",
	"    Describe the consumers of a group.",
}

// errNoGroup says that a stream has no such group.
func errNoGroup(group, key []byte) string {
	return "NOGROUP No such consumer group '" + untilNUL(group) + "' for key name '" +
		untilNUL(key) + "'"
}

// existingStream opens the stream at key for reading. It replies with an error and reports false if
// there is none.
func existingStream(c *engine.Ctx, key []byte) (s *stream.Stream, ok bool) {
	s, ok = readStream(c, key)
	if ok && s == nil {
		c.Err(errNoSuchKey)
	}
	return s, ok && s != nil
}

// xinfoCount is how many entries and pending entries FULL lists unless COUNT says so.
const xinfoCount = 10

func xinfoStreamCmd(c *engine.Ctx) {
	s, ok := existingStream(c, c.Args[2])
	if !ok {
		return
	}
	args := c.Args[3:]
	if len(args) == 0 {
		xinfoStream(c, s)
		return
	}
	if len(args) != 1 && len(args) != 3 || !is(args[0], "full") ||
		len(args) == 3 && !is(args[1], "count") {
		c.Err("ERR unknown subcommand or wrong number of arguments for '" + string(c.Args[1]) +
			"'. Try XINFO HELP.")
		return
	}
	count := int64(xinfoCount)
	if len(args) == 3 {
		if count, ok = intArg(c, args[2]); !ok {
			return
		}
		if count < 0 {
			count = xinfoCount
		}
	}
	xinfoFull(c, s, count)
}

// infoInt replies with a pair of a map.
func infoInt(c *engine.Ctx, name string, n int64) {
	c.BulkString(name)
	c.Int(n)
}

// infoID replies with a pair of a map.
func infoID(c *engine.Ctx, name string, id stream.ID) {
	c.BulkString(name)
	bulkID(c, id)
}

// xinfoHead replies with the pairs that both forms of XINFO STREAM begin with, of which there are
// xinfoPairs. The nodes are shown as if a radix tree led to them.
func xinfoHead(c *engine.Ctx, s *stream.Stream) {
	infoInt(c, "length", int64(s.Len()))
	infoInt(c, "radix-tree-keys", int64(s.Nodes()))
	infoInt(c, "radix-tree-nodes", int64(s.Nodes()+1))
	infoID(c, "last-generated-id", s.LastID)
	infoID(c, "max-deleted-entry-id", s.MaxDeleted)
	infoInt(c, "entries-added", int64(s.Added))
	infoID(c, "recorded-first-entry-id", s.First())
	m := idmpOf(s)
	producers, records := s.Tracked()
	infoInt(c, "idmp-duration", m.Duration)
	infoInt(c, "idmp-maxsize", int64(m.MaxSize))
	infoInt(c, "pids-tracked", int64(producers))
	infoInt(c, "iids-tracked", int64(records))
	infoInt(c, "iids-added", m.Added)
	infoInt(c, "iids-duplicates", m.Duplicate)
}

const xinfoPairs = 13

func xinfoStream(c *engine.Ctx, s *stream.Stream) {
	c.Map(xinfoPairs + 3)
	xinfoHead(c, s)
	infoInt(c, "groups", int64(len(s.Groups())))
	for _, end := range []struct {
		name    string
		reverse bool
	}{{"first-entry", false}, {"last-entry", true}} {
		c.BulkString(end.name)
		if it := s.Range(stream.ID{}, stream.MaxID, end.reverse); it.Next() {
			replyEntry(c, &it)
		} else {
			c.Null()
		}
	}
}

// xinfoFull replies with all there is to say of a stream, but with at most count entries and
// pending entries of each kind if count is above 0.
func xinfoFull(c *engine.Ctx, s *stream.Stream, count int64) {
	c.Map(xinfoPairs + 2)
	xinfoHead(c, s)
	c.BulkString("entries")
	replyEntries(c, s, stream.ID{}, stream.MaxID, false, count)
	c.BulkString("groups")
	groups := s.Groups()
	c.Array(len(groups))
	for _, g := range groups {
		c.Map(8)
		groupName(c, g)
		infoID(c, "last-delivered-id", g.LastID)
		groupCounts(c, s, g)
		infoInt(c, "pel-count", int64(g.Pending()))
		infoInt(c, "nacked-count", int64(g.Nacked()))
		groupPending(c, g, count)
		groupConsumers(c, g, count)
	}
}

func groupName(c *engine.Ctx, g *stream.Group) {
	c.BulkString("name")
	c.BulkString(g.Name)
}

// groupCounts replies with how many entries the group has read and has not, null if that is not
// known.
func groupCounts(c *engine.Ctx, s *stream.Stream, g *stream.Group) {
	c.BulkString("entries-read")
	intOrNull(c, g.Read, g.Read != stream.ReadUnknown)
	c.BulkString("lag")
	lag, ok := groupLag(s, g)
	intOrNull(c, lag, ok)
}

func intOrNull(c *engine.Ctx, n int64, ok bool) {
	if !ok {
		c.Null()
		return
	}
	c.Int(n)
}

// atMost returns n, or count if that is less and above 0.
func atMost(n int, count int64) int {
	if count > 0 && int64(n) > count {
		return int(count)
	}
	return n
}

// groupPending replies with what the group has pending.
func groupPending(c *engine.Ctx, g *stream.Group, count int64) {
	n := atMost(g.Pending(), count)
	c.BulkString("pending")
	c.Array(n)
	it := g.Range(stream.ID{}, stream.MaxID)
	for i := 0; i < n && it.Next() && !overOutput(c); i++ {
		c.Array(4)
		bulkID(c, it.ID)
		if it.Owner != nil {
			c.BulkString(it.Owner.Name)
		} else {
			c.BulkString("")
		}
		c.Int(it.Time)
		c.Int(it.Count)
	}
}

// groupConsumers replies with the consumers of the group and what they have pending.
func groupConsumers(c *engine.Ctx, g *stream.Group, count int64) {
	consumers := g.Consumers()
	c.BulkString("consumers")
	c.Array(len(consumers))
	for _, owner := range consumers {
		c.Map(5)
		c.BulkString("name")
		c.BulkString(owner.Name)
		infoInt(c, "seen-time", owner.Seen)
		infoInt(c, "active-time", owner.Active)
		infoInt(c, "pel-count", int64(owner.Pending()))
		n := atMost(owner.Pending(), count)
		c.BulkString("pending")
		c.Array(n)
		it := g.Owned(owner, stream.ID{}, stream.MaxID)
		for i := 0; i < n && it.Next() && !overOutput(c); i++ {
			c.Array(3)
			bulkID(c, it.ID)
			c.Int(it.Time)
			c.Int(it.Count)
		}
	}
}

func xinfoGroupsCmd(c *engine.Ctx) {
	s, ok := existingStream(c, c.Args[2])
	if !ok {
		return
	}
	groups := s.Groups()
	c.Array(len(groups))
	for _, g := range groups {
		c.Map(6)
		groupName(c, g)
		infoInt(c, "consumers", int64(len(g.Consumers())))
		infoInt(c, "pending", int64(g.Pending()))
		infoID(c, "last-delivered-id", g.LastID)
		groupCounts(c, s, g)
	}
}

func xinfoConsumersCmd(c *engine.Ctx) {
	s, ok := existingStream(c, c.Args[2])
	if !ok {
		return
	}
	g := s.Group(c.Args[3])
	if g == nil {
		c.Err(errNoGroup(c.Args[3], c.Args[2]))
		return
	}
	consumers := g.Consumers()
	c.Array(len(consumers))
	for _, owner := range consumers {
		c.Map(4)
		c.BulkString("name")
		c.BulkString(owner.Name)
		infoInt(c, "pending", int64(owner.Pending()))
		infoInt(c, "idle", max(c.Now-owner.Seen, 0))
		inactive := int64(-1)
		if owner.Active != stream.NeverActive {
			inactive = max(c.Now-owner.Active, 0)
		}
		infoInt(c, "inactive", inactive)
	}
}
