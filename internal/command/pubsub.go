package command

import (
	"slices"
	"strings"

	"godwit/internal/engine"
	"godwit/internal/pubsub"
	"godwit/internal/scan"
)

const (
	subscribeFlags = engine.PubSub | engine.NoScript | engine.Loading | engine.Stale | engine.WhileSubscribed
	publishFlags   = engine.PubSub | engine.Loading | engine.Stale | engine.Fast
	pubsubFlags    = engine.PubSub | engine.Loading | engine.Stale
)

func pubsubCommands() []*engine.Command {
	return append(subscribeCommands(), publishCommand(), spublishCommand(), pubsubCommand())
}

// shardKeys finds shard channels, which are routed like keys.
func shardKeys(last int) []engine.KeySpec {
	return []engine.KeySpec{{Begin: engine.At(1), Find: engine.Range(last, 1, 0), Access: engine.NotKey}}
}

// subscription is what a command of the family is about.
type subscription struct {
	kind      pubsub.Kind
	name      string // as replies spell it
	confirmed string // of the opposite
}

func subscribeCommands() []*engine.Command {
	channels := subscription{pubsub.Channels, "subscribe", "unsubscribe"}
	patterns := subscription{pubsub.Patterns, "psubscribe", "punsubscribe"}
	shards := subscription{pubsub.Shards, "ssubscribe", "sunsubscribe"}
	channel, pattern, shard := engine.Str("channel"), engine.Pattern("pattern"), engine.Str("shardchannel")
	entry := func(name, since, summary, complexity string, arity int, run func(c *engine.Ctx), args ...engine.Arg) *engine.Command {
		return &engine.Command{Name: name, Arity: arity, Flags: subscribeFlags, Group: engine.GroupPubSub, Since: since,
			Summary: summary, Complexity: complexity, Args: args, Run: run}
	}
	list := []*engine.Command{
		entry("subscribe", "2.0.0", "Begins to listen to channels.", "O(N) in the number of channels", -2,
			func(c *engine.Ctx) { subscribeCmd(c, channels) }, channel.Many()),
		entry("unsubscribe", "2.0.0", "Ends listening to channels, or to all.", "O(N) in the number of channels", -1,
			func(c *engine.Ctx) { unsubscribeCmd(c, channels) }, channel.Opt().Many()),
		entry("psubscribe", "2.0.0", "Begins to listen to all channels that match patterns.", "O(N) in the number of patterns", -2,
			func(c *engine.Ctx) { subscribeCmd(c, patterns) }, engine.Block("pattern", pattern).Many()),
		entry("punsubscribe", "2.0.0", "Ends listening to patterns, or to all.", "O(N) in the number of patterns", -1,
			func(c *engine.Ctx) { unsubscribeCmd(c, patterns) }, pattern.Opt().Many()),
		entry("ssubscribe", "7.0.0", "Begins to listen to shard channels.", "O(N) in the number of shard channels", -2,
			func(c *engine.Ctx) { subscribeCmd(c, shards) }, shard.Many()),
		entry("sunsubscribe", "7.0.0", "Ends listening to shard channels, or to all.", "O(N) in the number of shard channels", -1,
			func(c *engine.Ctx) { unsubscribeCmd(c, shards) }, shard.Opt().Many()),
	}
	list[0].Channels, list[2].Channels, list[4].Channels = engine.ManyChannels, engine.ChannelPatterns, engine.ManyChannels
	list[4].Keys, list[5].Keys = shardKeys(-1), shardKeys(-1)
	return list
}

func publishCommand() *engine.Command {
	return &engine.Command{
		Name: "publish", Arity: 3, Flags: publishFlags, Group: engine.GroupPubSub, Since: "2.0.0",
		Summary:    "Sends a message to all who listen to a channel.",
		Complexity: "O(N+M) with N listeners of the channel and M patterns that begin like it",
		Channels:   engine.OneChannel,
		Args:       []engine.Arg{engine.Str("channel"), engine.Str("message")},
		Run:        func(c *engine.Ctx) { c.Int(int64(c.E.Publish(pubsub.Channels, c.Args[1], c.Args[2]))) },
	}
}

func spublishCommand() *engine.Command {
	return &engine.Command{
		Name: "spublish", Arity: 3, Flags: publishFlags, Group: engine.GroupPubSub, Since: "7.0.0",
		Summary: "Sends a message to all who listen to a shard channel.", Complexity: "O(N) in the number of listeners",
		Keys: shardKeys(0), Channels: engine.OneChannel, Args: []engine.Arg{engine.Str("shardchannel"), engine.Str("message")},
		Run: func(c *engine.Ctx) { c.Int(int64(c.E.Publish(pubsub.Shards, c.Args[1], c.Args[2]))) },
	}
}

func pubsubCommand() *engine.Command {
	sub := func(name, since, summary, complexity string, arity int, run func(c *engine.Ctx), args ...engine.Arg) *engine.Command {
		return &engine.Command{Name: name, Arity: arity, Flags: pubsubFlags, Group: engine.GroupPubSub, Since: since,
			Summary: summary, Complexity: complexity, Args: args, Run: run}
	}
	pattern := engine.Pattern("pattern").Opt()
	return &engine.Command{
		Name: "pubsub", Arity: -2, Group: engine.GroupPubSub, Since: "2.8.0",
		Summary: "Shows who listens to what.", Complexity: "Depends on the subcommand.",
		Sub: []*engine.Command{
			sub("channels", "2.8.0", "Lists the channels that somebody listens to.", "O(N) in the number of channels", -2,
				func(c *engine.Ctx) { pubsubChannelsCmd(c, pubsub.Channels) }, pattern),
			sub("numsub", "2.8.0", "Counts the listeners of channels.", "O(N) in the number of channels asked for", -2,
				func(c *engine.Ctx) { pubsubNumsubCmd(c, pubsub.Channels) }, engine.Str("channel").Opt().Many()),
			sub("numpat", "2.8.0", "Counts the patterns that somebody listens to.", "O(1)", 2,
				func(c *engine.Ctx) { c.Int(int64(c.E.Hub().Count(pubsub.Patterns))) }),
			sub("shardchannels", "7.0.0", "Lists the shard channels that somebody listens to.", "O(N) in the number of shard channels", -2,
				func(c *engine.Ctx) { pubsubChannelsCmd(c, pubsub.Shards) }, pattern),
			sub("shardnumsub", "7.0.0", "Counts the listeners of shard channels.", "O(N) in the number of shard channels asked for", -2,
				func(c *engine.Ctx) { pubsubNumsubCmd(c, pubsub.Shards) }, engine.Str("shardchannel").Opt().Many()),
			helpSub(engine.GroupPubSub, "6.2.0",
				"CHANNELS [<pattern>]", "    Channels with listeners.",
				"NUMPAT", "    The number of patterns with listeners.",
				"NUMSUB [<channel> ...]", "    The number of listeners of each channel, those to patterns not counted.",
				"SHARDCHANNELS [<pattern>]", "    Shard channels with listeners.",
				"SHARDNUMSUB [<shardchannel> ...]", "    The number of listeners of each shard channel."),
		},
	}
}

// mayListen reports whether the client can get messages later; it answers if not.
func mayListen(c *engine.Ctx, s subscription) bool {
	if c.MayListen(s.kind == pubsub.Shards) {
		return true
	}
	c.Err("ERR " + strings.ToUpper(s.name) + " isn't allowed for a DENY BLOCKING client")
	return false
}

func subscribeCmd(c *engine.Ctx, s subscription) {
	if !mayListen(c, s) {
		return
	}
	for _, name := range c.Args[1:] {
		c.E.Subscribe(c.Client, s.kind, name)
		confirm(c, s.kind, s.name, name)
	}
}

// unsubscribeCmd ends the named subscriptions, or all of the kind; one that does not exist is confirmed like any other.
func unsubscribeCmd(c *engine.Ctx, s subscription) {
	if len(c.Args) > 1 {
		for _, name := range c.Args[1:] {
			c.E.Unsubscribe(c.Client, s.kind, name)
			confirm(c, s.kind, s.confirmed, name)
		}
		return
	}
	names := c.Client.Subscriptions().Names(s.kind)
	for _, name := range names {
		c.E.Unsubscribe(c.Client, s.kind, []byte(name))
		confirm(c, s.kind, s.confirmed, []byte(name))
	}
	if len(names) == 0 {
		confirm(c, s.kind, s.confirmed, nil)
	}
}

// confirm tells a client of a change to its subscriptions and how many it has now; shard channels are counted by themselves. It is a push, which the client
// gets whatever its reply mode.
func confirm(c *engine.Ctx, k pubsub.Kind, event string, name []byte) {
	w := &c.Client.W
	subs := c.Client.Subscriptions()
	n := subs.Len(pubsub.Channels) + subs.Len(pubsub.Patterns)
	if k == pubsub.Shards {
		n = subs.Len(pubsub.Shards)
	}
	w.Push(3)
	w.BulkString(event)
	if name == nil {
		w.Null()
	} else {
		w.Bulk(name)
	}
	w.Int(int64(n))
}

func pubsubChannelsCmd(c *engine.Ctx, k pubsub.Kind) {
	if len(c.Args) > 3 {
		tooManyPubSub(c)
		return
	}
	var names []string
	c.E.Hub().Topics(k, func(t *pubsub.Topic[*engine.Client]) {
		if len(c.Args) == 2 || scan.Match(c.Args[2], []byte(t.Name), false) {
			names = append(names, t.Name)
		}
	})
	slices.Sort(names)
	c.Array(len(names))
	for _, name := range names {
		c.BulkString(name)
	}
}

// tooManyPubSub is the error for surplus arguments that the arity lets through.
func tooManyPubSub(c *engine.Ctx) {
	c.Err("ERR unknown subcommand or wrong number of arguments for '" + string(c.Args[1]) + "'. Try PUBSUB HELP.")
}

func pubsubNumsubCmd(c *engine.Ctx, k pubsub.Kind) {
	c.Array(2 * (len(c.Args) - 2))
	for _, name := range c.Args[2:] {
		c.Bulk(name)
		c.Int(int64(c.E.Hub().Topic(k, name).Len()))
	}
}
