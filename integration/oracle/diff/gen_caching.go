package diff

import (
	"strconv"
	"strings"
)

// Rounds about client-side caching: connections of both protocols track keys in all modes, some of
// them through others, and all change keys.

// Connections 0 and 2 use RESP3. Connections 1 and 4 use RESP2 and listen for others. Connections 3
// and 5 use RESP2 and redirect.
const (
	cachingClients = 6
	// runs scripts. It does not broadcast with NOLOOP, where redis tells a client what its own
	// scripts have changed.
	scripter = 5
)

// CachingRound generates about n commands.
func (g *Generator) CachingRound(seed uint64, r, n int) []Cmd {
	g.begin(seed, r, cachingClients)
	out := []Cmd{told(0, "HELLO", "3"), told(2, "HELLO", "3"), told(1, "SUBSCRIBE", invalidations)}
	for len(out) < n {
		client := g.rnd.IntN(cachingClients)
		for range 1 + g.rnd.IntN(4) {
			out = append(out, g.note(g.cachingCommand(client)))
		}
	}
	return out
}

const invalidations = "__redis__:invalidate"

func (g *Generator) cachedKey() string { return g.pick("k1", "k2", "k3", "x1", "x2", "kk", "") }

func (g *Generator) cachingCommand(client int) Cmd {
	if g.inMulti[client] && g.chance(0.3) {
		return told(client, g.pick("EXEC", "EXEC", "EXEC", "DISCARD"))
	}
	listens := client == 1 || client == 4
	switch k := g.rnd.IntN(100); {
	// redis decides at the end of a transaction who hears of its changes, Godwit with each change
	case k < 14 && !g.inMulti[client]:
		return g.tracking(client)
	case k < 20:
		return told(client, "CLIENT", "CACHING", g.pick("YES", "YES", "yes", "NO", "NO", "maybe"))
	case k < 23:
		return told(client, "CLIENT", g.pick("TRACKINGINFO", "TRACKINGINFO", "GETREDIR"))
	case k < 27 && listens:
		return told(client, g.pick("SUBSCRIBE", "SUBSCRIBE", "UNSUBSCRIBE"), invalidations)
	case k < 28:
		return Cmd{Client: client, Tell: true, Close: true}
	case k < 30:
		return told(client, g.pick("RESET", "HELLO 2", "HELLO 3")).fields()
	// nobody tracks through these: 7.0 would tell them in the middle of EXEC's reply
	case k < 36 && !g.inMulti[client] && (client == 3 || client == scripter):
		return told(client, g.pick("MULTI", "MULTI", "MULTI", "WATCH k1")).fields()
	case k < 50:
		return told(client, g.pick("GET", "MGET", "STRLEN", "EXISTS", "TYPE"), g.cachedKey())
	case k < 60:
		return told(client, "SET", g.cachedKey(), "v"+strconv.Itoa(g.rnd.IntN(3)))
	}
	c := g.simple(client, g.cachedKey)
	if g.chance(0.2) && !listens {
		c = g.tellable(client)
	}
	n := c.Name()
	if n == "client" || n == "multi" || n == "hello" ||
		client != scripter && (strings.HasPrefix(n, "eval") || strings.HasPrefix(n, "fcall")) {
		return told(client, "PING")
	}
	return c
}

// fields splits the command's only argument, a line, at its spaces.
func (c Cmd) fields() Cmd {
	c.Args = split(string(c.Args[0]))
	return c
}

// tracking returns a command that turns tracking on or off.
func (g *Generator) tracking(client int) Cmd {
	c := told(client, "CLIENT", "TRACKING", g.pick("ON", "ON", "ON", "ON", "ON", "on", "OFF", "x"))
	add := func(words ...string) {
		for _, w := range words {
			c.Args = append(c.Args, []byte(w))
		}
	}
	if client >= 3 && g.chance(0.8) || g.chance(0.08) {
		add("REDIRECT", idOf([]int{0, 1, 2, 4}[g.rnd.IntN(4)]))
		if g.chance(0.7) {
			c.Args[len(c.Args)-1] = []byte(idOf([]int{1, 1, 4, 0}[g.rnd.IntN(4)]))
		}
	}
	if g.chance(0.04) {
		add("REDIRECT", g.pick("0", "x", "-1", "999999999", "1.5"))
	}
	bcast := g.chance(0.35)
	if bcast {
		add("BCAST")
	}
	if bcast && g.chance(0.7) || g.chance(0.04) {
		for range 1 + g.rnd.IntN(2) {
			add("PREFIX", g.pick("k", "x", "k1", "x1", "", "nosuch", "kk"))
		}
	}
	if g.chance(0.25) {
		add(g.pick("OPTIN", "OPTOUT", "optin"))
	}
	if g.chance(0.25) && !(bcast && client == scripter) {
		add("NOLOOP")
	}
	if g.chance(0.03) {
		add(g.pick("OPTIN", "OPTOUT", "PREFIX", "REDIRECT", "nosuch"))
	}
	return c
}

// Rounds about messages: connections of both protocols subscribe to channels, patterns and shard
// channels, and messages and events come from everywhere.

// MessageRound generates about n commands.
func (g *Generator) MessageRound(seed uint64, r, n int) []Cmd {
	g.begin(seed, r, userClients)
	out := []Cmd{told(0, "HELLO", "3"), told(2, "HELLO", "3"), told(5, "HELLO", "3")}
	if g.chance(0.7) {
		out = append(out,
			told(4, "CONFIG", "SET", "notify-keyspace-events",
				g.pick("KEA", "KEA", "KEAmn", "KEAmn", "Eg$", "Kl", "Ezsh", "Kn")),
			told(0, "PSUBSCRIBE", "__key*__:*"), told(1, "PSUBSCRIBE", "__keyevent@0__:*"))
	}
	for len(out) < n {
		client := g.rnd.IntN(userClients)
		for range 1 + g.rnd.IntN(3) {
			out = append(out, g.note(g.messageCommand(client)))
		}
	}
	return out
}

// messageCommand returns one command. Connections 0 to 3 listen. They start no transactions: in 7.0
// messages would stand in the middle of EXEC's reply.
func (g *Generator) messageCommand(client int) Cmd {
	if g.inMulti[client] && g.chance(0.3) {
		return told(client, g.pick("EXEC", "EXEC", "EXEC", "DISCARD"))
	}
	switch k := g.rnd.IntN(100); {
	case k < 30 && client < 4:
		return g.listenTo(client)
	case k < 50:
		return told(client, g.pick("PUBLISH", "PUBLISH", "PUBLISH", "SPUBLISH"), g.channel(),
			g.pick("m", "", "two\r\nlines"))
	case k < 56:
		switch g.rnd.IntN(4) {
		case 0:
			return told(client, "PUBSUB", g.pick("NUMSUB", "SHARDNUMSUB"), g.channel(), g.channel())
		case 1:
			return told(client, "PUBSUB", "NUMPAT")
		}
		return told(client, "PUBSUB", g.pick("CHANNELS", "SHARDCHANNELS"),
			g.pick("*", "ch*", "news.?", ""))
	case k < 58:
		return Cmd{Client: client, Tell: true, Close: true}
	case k < 60:
		return told(client, g.pick("RESET", "HELLO 2", "HELLO 3")).fields()
	case k < 63 && client >= 4 && !g.inMulti[client]:
		return told(client, "MULTI")
	case k < 65 && client >= 4:
		return told(client, "EVAL",
			"redis.call('publish', 'ch1', 's') return redis.call('publish', KEYS[1], 't')", "1",
			g.channel())
	case k < 67 && !g.inMulti[client]:
		return told(client,
			g.pick("PING", "PING x", "CLIENT REPLY SKIP", "CLIENT REPLY OFF", "CLIENT REPLY ON",
				"CLIENT REPLY ON")).fields()
	}
	// 7.0 would put the events of a listener's own changes in the middle of its reply
	if client < 4 {
		return told(client,
			g.pick("PING", "GET k1", "PSUBSCRIBE __keyspace@0__:k*", "SUBSCRIBE __keyevent@0__:set",
				"PUNSUBSCRIBE __keyspace@0__:k*")).fields()
	}
	if c := g.tellable(client); g.chance(0.6) && c.Name() != "client" && c.Name() != "hello" &&
		c.Name() != "config" {
		return c
	}
	return g.simple(client, g.cachedKey)
}
