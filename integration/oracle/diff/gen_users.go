package diff

import (
	"slices"
	"strings"
)

// Rounds about users: they are created, changed and deleted by all forms of rules. Meanwhile
// several connections work as one of them, subscribe, queue transactions and run scripts.

const (
	userClients = 6 // client 0 does most of the administration, as a user whom nobody changes
	rootUser    = "root"
)

// UserRound generates about n commands.
func (g *Generator) UserRound(seed uint64, r, n int) []Cmd {
	g.begin(seed, r, userClients)
	out := []Cmd{told(0, "ACL", "SETUSER", rootUser, "on", "nopass", "~*", "&*", "+@all"),
		told(0, "AUTH", rootUser, "x"),
		told(0, "CONFIG", "SET", "acllog-max-len", g.pick("128", "128", "2", "0")),
		told(2, "HELLO", "3"), told(4, "HELLO", "3"), told(5, "HELLO", "3")}
	for len(out) < n {
		client := g.rnd.IntN(userClients)
		for range 1 + g.rnd.IntN(4) {
			out = append(out, g.note(g.userCommand(client)))
		}
	}
	return out
}

func (g *Generator) userName() string {
	if g.chance(0.04) {
		return g.pick("nobody", "U0", "a b", "u0\x00", "default", "u\xff", "ünï")
	}
	return g.pick("u0", "u1", "u2", "u0", "u1", "u2", "u3", "default")
}

func (g *Generator) password() string { return g.pick("p1", "p1", "p1", "p2", "p3", "", "x y") }

// The SHA-256 of p1 and p2.
const (
	hashP1 = "f64551fcd6f07823cb87971cfb91446425da18286b3ab1ef935e0cbd7a69f68a"
	hashP2 = "6694f83c9f476da31f5df6bcc520034e7e57d421d247b9d34f49edbfc84a764c"
)

// userKey returns one of the keys that the patterns are about.
func (g *Generator) userKey() string {
	return g.pick("a1", "a2", "b1", "b2", "ab", "c:1", "c:2", "", "A1")
}

// userCommand returns one command of a connection.
func (g *Generator) userCommand(client int) Cmd {
	if g.inMulti[client] && g.chance(0.25) {
		return told(client, g.pick("EXEC", "EXEC", "EXEC", "DISCARD"))
	}
	if client == 0 && g.chance(0.4) {
		return g.administer(client)
	}
	switch k := g.rnd.IntN(100); {
	case k < 12:
		return g.login(client)
	case k < 17:
		return g.administer(client)
	case k < 24:
		return g.askACL(client)
	// a listener queues nothing: in 7.0 the messages would stand within the reply of EXEC
	case k < 32 && client%2 == 0:
		return g.listenTo(client)
	case k < 38:
		return told(client, g.pick("PUBLISH", "PUBLISH", "SPUBLISH"), g.channel(), "m")
	case k < 41 && !g.inMulti[client] && client%2 == 1:
		return told(client, "MULTI")
	case k < 43:
		return Cmd{Client: client, Tell: true, Close: client != 0, Args: nil}.orPing()
	case k < 45 && client%2 == 1:
		return told(client, "EVAL",
			g.pick("return redis.acl_check_cmd('set', KEYS[1], 'v')",
				"return redis.pcall('set', KEYS[1], 'v')", "return redis.call('get', KEYS[1])",
				"redis.call('set', 'b1', 'w') return redis.call('get', 'a1')",
				"return redis.acl_check_cmd('nosuch')",
				"return redis.call('publish', KEYS[1], 'm')",
				"return redis.call('select', KEYS[1])",
				"return redis.acl_check_cmd('config', 'get', 'x')",
				"return redis.pcall('acl', 'whoami')"), "1", g.userKey())
	case k < 75:
		return g.simple(client, g.userKey)
	}
	c := g.tellable(client)
	if len(c.Args) > 1 && g.chance(0.5) { // keys that patterns know
		for i := 1; i < len(c.Args); i++ {
			if strings.HasPrefix(string(c.Args[i]), "k") {
				c.Args[i] = []byte(g.userKey())
			}
		}
	}
	if (c.Name() == "multi" || c.Name() == "eval") && client%2 == 0 {
		return told(client, "PING")
	}
	return c
}

// orPing returns the command, or a PING in place of one that closes the connection.
func (c Cmd) orPing() Cmd {
	if !c.Close {
		c.Args = split("PING")
	}
	return c
}

func (g *Generator) channel() string { return g.pick("ch1", "ch2", "news.a", "news.b", "x") }

// listenTo returns a command that begins or ends subscriptions.
func (g *Generator) listenTo(client int) Cmd {
	args := []string{g.pick("SUBSCRIBE", "SUBSCRIBE", "PSUBSCRIBE", "PSUBSCRIBE", "SSUBSCRIBE",
		"UNSUBSCRIBE", "PUNSUBSCRIBE", "SUNSUBSCRIBE")}
	for range 1 + g.rnd.IntN(2) {
		if strings.HasPrefix(args[0], "P") {
			args = append(args, g.pick("ch*", "ch1", "news.*", "*", "ne[wv]s.*", "news.a"))
		} else {
			args = append(args, g.channel())
		}
	}
	if strings.Contains(args[0], "UNSUB") && g.chance(0.5) {
		args = args[:2] // one: redis ends several in the order of a hash table when none is named
	}
	return told(client, args...)
}

// login returns a command that authenticates, with right or wrong credentials.
func (g *Generator) login(client int) Cmd {
	user := g.userName()
	if client == 0 {
		user = g.pick(rootUser, rootUser, rootUser, rootUser, user)
	}
	switch g.rnd.IntN(12) {
	case 0:
		return told(client, "AUTH", g.password())
	case 1, 2:
		if !g.inMulti[client] {
			return told(client, "HELLO", g.pick("2", "3", "3"), "AUTH", user, g.password())
		}
	case 3:
		if !g.inMulti[client] && client != 0 {
			return told(client, "RESET")
		}
	case 4:
		return told(client, "AUTH", user, g.password(), "x")
	}
	return told(client, "AUTH", user, g.password())
}

// administer returns a command that changes users.
func (g *Generator) administer(client int) Cmd {
	switch k := g.rnd.IntN(40); {
	case k < 3:
		args := []string{"ACL", "DELUSER", g.userName()}
		if g.chance(0.2) {
			args = append(args, g.userName())
		}
		return told(client, args...)
	case k < 5: // so that not everybody ends up with nothing
		return told(client, "ACL", "SETUSER", g.pick("u0", "u1", "u2", "default"), "reset", "on",
			"nopass", "~*", "&*", "+@all")
	case k == 5:
		return told(client, "CONFIG", "SET", "requirepass", g.pick("", "", "p1"))
	case k == 6:
		return told(client, "CONFIG", "SET", "acl-pubsub-default",
			g.pick("allchannels", "resetchannels"))
	case k == 8:
		return told(client, "CLIENT", "KILL", "USER", g.pick("u0", "u1", "u2", "nobody"))
	}
	args := []string{"ACL", "SETUSER", g.userName()}
	if g.chance(0.01) { // nothing of this begins another selector, from which 7.0 would begin anew
		return told(client, append(args, g.keyRule(), "(+get", g.commandRule(), g.keyRule())...)
	}
	for n := 1 + g.rnd.IntN(5); n > 0; n-- {
		args = append(args, g.rule()...)
	}
	return told(client, args...)
}

// rule returns one rule, in one argument or several.
func (g *Generator) rule() []string {
	switch k := g.rnd.IntN(100); {
	case k < 12:
		return []string{g.pick("on", "on", "on", "ON", "off", "nopass", "nopass", "resetpass",
			"reset", "clearselectors", "sanitize-payload", "skip-sanitize-payload", "allkeys",
			"allchannels",
			"allcommands", "nocommands", "resetkeys", "resetchannels")}
	case k < 20:
		return []string{g.pick(">p1", ">p2", ">p1", ">", "<p1", "<p2", "<p3", "#"+hashP1,
			"#"+hashP2, "!"+hashP1, "!"+hashP2)}
	case k < 40:
		return []string{g.keyRule()}
	case k < 50:
		return []string{g.channelRule()}
	case k < 58:
		return g.selectorRule()
	case k < 62:
		return []string{g.pick("", "x", "@read", "+", "-", "+@", "+@nosuch", "+nosuch", "-get|x",
			"+get|", "+config|nosuch", "+select|0|1", "%~x", "%X~a", "%RR~a", "%a1", "~a b", "&a b",
			"#123", "!123", "#"+strings.ToUpper(hashP1),
			"+get)", "()", "( )", "(x)", "((+get))", "+get +set", "~", "%R~", "&", "+acl|cat|x",
			"-select|0", "+client|id|x")}
	}
	return []string{g.commandRule()}
}

func (g *Generator) keyRule() string {
	p := g.pick("a*", "b*", "*", "c:*", "a1", "[ab]1", "?1", "", "\\a1", "a?")
	return g.pick("~", "~", "%R~", "%W~", "%RW~", "%wr~", "%r~") + p
}

func (g *Generator) channelRule() string {
	return "&" + g.pick("ch*", "ch1", "news.*", "*", "news.a", "", "x", "ne[wv]s.*")
}

// commandRule returns a rule that allows or forbids commands.
func (g *Generator) commandRule() string {
	sign := g.pick("+", "+", "-")
	switch k := g.rnd.IntN(10); {
	case k < 4:
		return sign + "@" +
			g.casing(g.pick("all", "read", "write", "string", "keyspace", "admin", "dangerous",
				"fast", "slow", "pubsub", "connection", "transaction", "scripting", "hash", "list",
				"set", "sortedset", "bitmap", "geo", "hyperloglog", "blocking"))
	case k < 6:
		return sign +
			g.pick("config|get", "config|set", "client|id", "client|list", "acl|whoami",
				"acl|setuser", "acl|getuser", "object|encoding", "function|load", "script|load",
				"memory|usage", "client", "config", "acl", "object", "CONFIG|GET")
	case k < 7:
		return "+" + g.pick("select|0", "select|1", "SELECT|0", "get|a1", "set|a1", "incr|b1",
			"mget|a1", "flushall|async", "publish|ch1")
	}
	for range 20 {
		if gr := g.any(); !strings.Contains(gr.Name, "|") || g.chance(0.3) {
			return sign + g.casing(gr.Name)
		}
	}
	return sign + "get"
}

// selectorRule returns a selector, in one argument or split at its spaces.
func (g *Generator) selectorRule() []string {
	var words []string
	for n := 1 + g.rnd.IntN(4); n > 0; n-- {
		switch g.rnd.IntN(8) {
		case 0, 1, 2:
			words = append(words, g.keyRule())
		case 3:
			words = append(words, g.channelRule())
		case 4:
			words = append(words,
				g.pick("allkeys", "resetkeys", "allchannels", "resetchannels", "allcommands",
					"nocommands", "on", "nopass", ">p1", "reset"))
		default:
			words = append(words, g.commandRule())
		}
	}
	all := "(" + strings.Join(words, " ") + ")"
	if g.chance(0.2) {
		return strings.Split(all, " ")
	}
	return []string{all}
}

// askACL returns a command that asks about users.
func (g *Generator) askACL(client int) Cmd {
	switch k := g.rnd.IntN(20); {
	case k < 5:
		return told(client, "ACL", "GETUSER", g.userName())
	case k < 7:
		return told(client, "ACL", "LIST")
	case k < 9:
		return told(client, "ACL", "LOG")
	case k == 9:
		return told(client, "ACL", "LOG",
			g.pick("1", "3", "0", "-1", "100", "RESET", "reset", "x", "99999999999999999999"))
	case k == 10:
		return told(client, "ACL", "USERS")
	case k < 13:
		return told(client, "ACL", g.pick("WHOAMI", "whoami"))
	case k == 13:
		c := told(client, "ACL", "CAT")
		if g.chance(0.8) {
			c.Args = append(c.Args,
				[]byte(g.pick("read", "WRITE", "string", "nosuch", "pubsub", "all", "", "bloom",
					"dangerous")))
		}
		return c
	case k == 14:
		return told(client, "ACL", g.pick("GENPASS", "SAVE", "LOAD", "NOSUCH", "HELP", "WHOAMI"),
			g.pick("0", "1", "x", "5000"))
	}
	c := g.tellable(client)
	if g.chance(0.6) {
		c = g.simple(client, g.userKey)
	}
	c.Args = slices.Concat([][]byte{[]byte("ACL"), []byte("DRYRUN"), []byte(g.userName())}, c.Args)
	return c
}
