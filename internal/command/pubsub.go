package command

import (
	"slices"
	"strings"

	"godwit/internal/engine"
	"godwit/internal/pubsub"
	"godwit/internal/scan"
)

var _ = family(pubsubHandlers)

func pubsubHandlers() engine.Handlers {
	return engine.Handlers{
		"subscribe":            func(c *engine.Ctx) { subscribeCmd(c, toChannels) },
		"unsubscribe":          func(c *engine.Ctx) { unsubscribeCmd(c, toChannels) },
		"psubscribe":           func(c *engine.Ctx) { subscribeCmd(c, toPatterns) },
		"punsubscribe":         func(c *engine.Ctx) { unsubscribeCmd(c, toPatterns) },
		"ssubscribe":           func(c *engine.Ctx) { subscribeCmd(c, toShards) },
		"sunsubscribe":         func(c *engine.Ctx) { unsubscribeCmd(c, toShards) },
		"publish":              func(c *engine.Ctx) { publish(c, pubsub.Channels) },
		"spublish":             func(c *engine.Ctx) { publish(c, pubsub.Shards) },
		"pubsub|channels":      func(c *engine.Ctx) { pubsubChannelsCmd(c, pubsub.Channels) },
		"pubsub|numsub":        func(c *engine.Ctx) { pubsubNumsubCmd(c, pubsub.Channels) },
		"pubsub|numpat":        pubsubNumpatCmd,
		"pubsub|shardchannels": func(c *engine.Ctx) { pubsubChannelsCmd(c, pubsub.Shards) },
		"pubsub|shardnumsub":   func(c *engine.Ctx) { pubsubNumsubCmd(c, pubsub.Shards) },
		"pubsub|help":          helpOf(pubsubHelp...),
	}
}

// pubsubHelp lists the lines of PUBSUB HELP.
var pubsubHelp = []string{
	"CHANNELS [<pattern>]",
	"    Channels with listeners.",
	"NUMPAT",
	"    The number of patterns with listeners.",
	"NUMSUB [<channel> ...]",
	"    The number of listeners of each channel, those to patterns not counted.",
	"SHARDCHANNELS [<pattern>]",
	"    Shard channels with listeners.",
	"SHARDNUMSUB [<shardchannel> ...]",
	"    The number of listeners of each shard channel.",
}

func pubsubNumpatCmd(c *engine.Ctx) { c.Int(int64(c.E.Hub().Count(pubsub.Patterns))) }

func publish(c *engine.Ctx, kind pubsub.SubscriptionKind) {
	c.Forward(kind, c.Args[1], c.Args[2])
	c.Int(int64(c.E.Publish(kind, c.Args[1], c.Args[2])))
}

// subscription is one of the three kinds of subscription, with the names that its replies use.
type subscription struct {
	kind      pubsub.SubscriptionKind
	name      string // The name of the command, as replies spell it.
	confirmed string // The name of its opposite.
}

var (
	toChannels = subscription{pubsub.Channels, "subscribe", "unsubscribe"}
	toPatterns = subscription{pubsub.Patterns, "psubscribe", "punsubscribe"}
	toShards   = subscription{pubsub.Shards, "ssubscribe", "sunsubscribe"}
)

// mayListen reports whether the client can receive messages later. If it cannot, it replies with an
// error.
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

// unsubscribeCmd ends the named subscriptions, or all of the kind. It confirms a name that was not
// subscribed like any other.
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

// confirm tells a client of a change to its subscriptions and how many it has now. Shard channels
// are counted separately. It is a push: the client gets it in any reply mode.
func confirm(c *engine.Ctx, k pubsub.SubscriptionKind, event string, name []byte) {
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

func pubsubChannelsCmd(c *engine.Ctx, k pubsub.SubscriptionKind) {
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

// tooManyPubSub replies with the error for surplus arguments that the arity lets through.
func tooManyPubSub(c *engine.Ctx) {
	c.Err("ERR unknown subcommand or wrong number of arguments for '" + string(c.Args[1]) +
		"'. Try PUBSUB HELP.")
}

func pubsubNumsubCmd(c *engine.Ctx, k pubsub.SubscriptionKind) {
	c.Array(2 * (len(c.Args) - 2))
	for _, name := range c.Args[2:] {
		c.Bulk(name)
		c.Int(int64(c.E.Hub().Topic(k, name).Len()))
	}
}
