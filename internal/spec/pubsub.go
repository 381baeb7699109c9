package spec

var _ = family(GroupPubSub, pubsubCommands)

// pubsubCommands subscribe to channels, publish, and show who has subscribed. Shard channels are
// routed like keys.
var pubsubCommands = []*Command{
	{
		Name: "subscribe", Arity: -2, Flags: PubSub | NoScript | Loading | Stale | WhileSubscribed,
		Since: "2.0.0", Channels: ManyChannels,
		Summary:    "Subscribes to channels.",
		Complexity: "O(N) in the number of channels",
		Args:       []Arg{Str("channel").Many()},
	},
	{
		Name: "unsubscribe", Arity: -1,
		Flags: PubSub | NoScript | Loading | Stale | WhileSubscribed, Since: "2.0.0",
		Summary:    "Unsubscribes from channels, or from all of them.",
		Complexity: "O(N) in the number of channels",
		Args:       []Arg{Str("channel").Many().Opt()},
	},
	{
		Name: "psubscribe", Arity: -2, Flags: PubSub | NoScript | Loading | Stale | WhileSubscribed,
		Since: "2.0.0", Channels: ChannelPatterns,
		Summary:    "Subscribes to channels by glob patterns.",
		Complexity: "O(N) in the number of patterns",
		Args:       []Arg{Pattern("pattern").Many()},
	},
	{
		Name: "punsubscribe", Arity: -1,
		Flags: PubSub | NoScript | Loading | Stale | WhileSubscribed, Since: "2.0.0",
		Summary:    "Unsubscribes from patterns, or from all of them.",
		Complexity: "O(N) in the number of patterns",
		Args:       []Arg{Pattern("pattern").Many().Opt()},
	},
	{
		Name: "ssubscribe", Arity: -2, Flags: PubSub | NoScript | Loading | Stale | WhileSubscribed,
		Since: "7.0.0", Channels: ManyChannels,
		Summary:    "Subscribes to shard channels.",
		Complexity: "O(N) in the number of shard channels",
		Keys:       []KeySpec{keysFrom(1, NotKey)},
		Args:       []Arg{Str("shardchannel").Many()},
	},
	{
		Name: "sunsubscribe", Arity: -1,
		Flags: PubSub | NoScript | Loading | Stale | WhileSubscribed, Since: "7.0.0",
		Summary:    "Unsubscribes from shard channels, or from all of them.",
		Complexity: "O(N) in the number of shard channels",
		Keys:       []KeySpec{keysFrom(1, NotKey)},
		Args:       []Arg{Str("shardchannel").Many().Opt()},
	},
	{
		Name: "publish", Arity: 3, Flags: PubSub | Loading | Stale | Fast | MayReplicate,
		Since:      "2.0.0",
		Channels:   OneChannel,
		Summary:    "Sends a message to the subscribers of a channel and returns their number.",
		Complexity: "O(N+M) with N listeners of the channel and M patterns that begin like it",
		Args:       []Arg{Str("channel"), Str("message")},
	},
	{
		Name: "spublish", Arity: 3, Flags: PubSub | Loading | Stale | Fast | MayReplicate,
		Since:    "7.0.0",
		Channels: OneChannel,
		Summary: "Sends a message to the subscribers of a shard channel and returns their " +
			"number.",
		Complexity: "O(N) in the number of listeners",
		Keys:       []KeySpec{keyAt(1, NotKey)},
		Args:       []Arg{Str("shardchannel"), Str("message")},
	},
	{
		Name: "pubsub", Arity: -2, Since: "2.8.0",
		Summary:    "Inspects channels and their subscribers.",
		Complexity: "Depends on the subcommand.",
		Sub: []*Command{
			{
				Name: "channels", Arity: -2, Flags: PubSub | Loading | Stale, Since: "2.8.0",
				Summary:    "Returns the channels that have subscribers.",
				Complexity: "O(N) in the number of channels",
				Args:       []Arg{Pattern("pattern").Opt()},
			},
			{
				Name: "numsub", Arity: -2, Flags: PubSub | Loading | Stale, Since: "2.8.0",
				Summary:    "Returns the number of subscribers of each channel.",
				Complexity: "O(N) in the number of channels asked for",
				Args:       []Arg{Str("channel").Many().Opt()},
			},
			{
				Name: "numpat", Arity: 2, Flags: PubSub | Loading | Stale, Since: "2.8.0",
				Summary: "Returns the number of patterns that have subscribers.",
			},
			{
				Name: "shardchannels", Arity: -2, Flags: PubSub | Loading | Stale, Since: "7.0.0",
				Summary:    "Returns the shard channels that have subscribers.",
				Complexity: "O(N) in the number of shard channels",
				Args:       []Arg{Pattern("pattern").Opt()},
			},
			{
				Name: "shardnumsub", Arity: -2, Flags: PubSub | Loading | Stale, Since: "7.0.0",
				Summary:    "Returns the number of subscribers of each shard channel.",
				Complexity: "O(N) in the number of shard channels asked for",
				Args:       []Arg{Str("shardchannel").Many().Opt()},
			},
			{
				Name: "help", Arity: 2, Flags: Loading | Stale, Since: "6.2.0",
				Summary: "Returns help about the subcommands.",
			},
		},
	},
}
