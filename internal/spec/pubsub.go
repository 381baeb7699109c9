package spec

// pubsubCommands subscribe to channels, publish, and show who has subscribed. Shard channels are
// routed like keys.
var pubsubCommands = []*Command{
	{
		Name: "subscribe", Arity: -2, Flags: PubSub | NoScript | Loading | Stale | WhileSubscribed,
		Since: "2.0.0", Channels: ManyChannels,
		Summary:    "Begins to listen to channels.",
		Complexity: "O(N) in the number of channels",
		Args:       []Arg{Str("channel").Many()},
	},
	{
		Name: "unsubscribe", Arity: -1,
		Flags: PubSub | NoScript | Loading | Stale | WhileSubscribed, Since: "2.0.0",
		Summary:    "Ends listening to channels, or to all.",
		Complexity: "O(N) in the number of channels",
		Args:       []Arg{Str("channel").Many().Opt()},
	},
	{
		Name: "psubscribe", Arity: -2, Flags: PubSub | NoScript | Loading | Stale | WhileSubscribed,
		Since: "2.0.0", Channels: ChannelPatterns,
		Summary:    "Begins to listen to all channels that match patterns.",
		Complexity: "O(N) in the number of patterns",
		Args:       []Arg{Block("pattern", Pattern("pattern")).Many()},
	},
	{
		Name: "punsubscribe", Arity: -1,
		Flags: PubSub | NoScript | Loading | Stale | WhileSubscribed, Since: "2.0.0",
		Summary:    "Ends listening to patterns, or to all.",
		Complexity: "O(N) in the number of patterns",
		Args:       []Arg{Pattern("pattern").Many().Opt()},
	},
	{
		Name: "ssubscribe", Arity: -2, Flags: PubSub | NoScript | Loading | Stale | WhileSubscribed,
		Since: "7.0.0", Channels: ManyChannels,
		Summary:    "Begins to listen to shard channels.",
		Complexity: "O(N) in the number of shard channels",
		Keys:       []KeySpec{keysFrom(1, NotKey)},
		Args:       []Arg{Str("shardchannel").Many()},
	},
	{
		Name: "sunsubscribe", Arity: -1,
		Flags: PubSub | NoScript | Loading | Stale | WhileSubscribed, Since: "7.0.0",
		Summary:    "Ends listening to shard channels, or to all.",
		Complexity: "O(N) in the number of shard channels",
		Keys:       []KeySpec{keysFrom(1, NotKey)},
		Args:       []Arg{Str("shardchannel").Many().Opt()},
	},
	{
		Name: "publish", Arity: 3, Flags: PubSub | Loading | Stale | Fast | MayReplicate,
		Since:      "2.0.0",
		Channels:   OneChannel,
		Summary:    "Sends a message to all who listen to a channel.",
		Complexity: "O(N+M) with N listeners of the channel and M patterns that begin like it",
		Args:       []Arg{Str("channel"), Str("message")},
	},
	{
		Name: "spublish", Arity: 3, Flags: PubSub | Loading | Stale | Fast | MayReplicate,
		Since:      "7.0.0",
		Channels:   OneChannel,
		Summary:    "Sends a message to all who listen to a shard channel.",
		Complexity: "O(N) in the number of listeners",
		Keys:       []KeySpec{keyAt(1, NotKey)},
		Args:       []Arg{Str("shardchannel"), Str("message")},
	},
	{
		Name: "pubsub", Arity: -2, Since: "2.8.0",
		Summary:    "Shows who listens to what.",
		Complexity: "Depends on the subcommand.",
		Sub: []*Command{
			{
				Name: "channels", Arity: -2, Flags: PubSub | Loading | Stale, Since: "2.8.0",
				Summary:    "Lists the channels that somebody listens to.",
				Complexity: "O(N) in the number of channels",
				Args:       []Arg{Pattern("pattern").Opt()},
			},
			{
				Name: "numsub", Arity: -2, Flags: PubSub | Loading | Stale, Since: "2.8.0",
				Summary:    "Counts the listeners of channels.",
				Complexity: "O(N) in the number of channels asked for",
				Args:       []Arg{Str("channel").Many().Opt()},
			},
			{
				Name: "numpat", Arity: 2, Flags: PubSub | Loading | Stale, Since: "2.8.0",
				Summary: "Counts the patterns that somebody listens to.",
			},
			{
				Name: "shardchannels", Arity: -2, Flags: PubSub | Loading | Stale, Since: "7.0.0",
				Summary:    "Lists the shard channels that somebody listens to.",
				Complexity: "O(N) in the number of shard channels",
				Args:       []Arg{Pattern("pattern").Opt()},
			},
			{
				Name: "shardnumsub", Arity: -2, Flags: PubSub | Loading | Stale, Since: "7.0.0",
				Summary:    "Counts the listeners of shard channels.",
				Complexity: "O(N) in the number of shard channels asked for",
				Args:       []Arg{Str("shardchannel").Many().Opt()},
			},
			{
				Name: "help", Arity: 2, Flags: Loading | Stale, Since: "6.2.0",
				Summary: "Lists the subcommands.",
			},
		},
	},
}
