package diff

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// Kinds of rounds. Most rounds are of any commands on connections that take long turns. The others
// are about what needs several connections, or more of one family than comes by chance.
const (
	kindPlain     = "plain"
	kindBlock     = "block"
	kindTx        = "tx"
	kindUsers     = "users"
	kindCaching   = "caching"
	kindMessages  = "messages"
	kindFunctions = "functions"
)

// kinds returns the makers of rounds by kind, as far as both servers have the commands they need.
func (g *Generator) kinds() map[string]func(seed uint64, r, n int) []Cmd {
	k := map[string]func(seed uint64, r, n int) []Cmd{kindPlain: g.Round}
	for _, o := range []struct {
		kind  string
		needs []string
		round func(seed uint64, r, n int) []Cmd
	}{
		// The rounds whose steps wait for both servers are shorter.
		{kindBlock, []string{"blpop", "rpush"}, func(seed uint64, r, n int) []Cmd {
			return g.BlockRound(seed, r, max(n/12, 50))
		}},
		{kindTx, []string{"multi", "watch"}, g.TxRound},
		{kindUsers, []string{"acl|setuser", "get"}, func(seed uint64, r, n int) []Cmd {
			return g.UserRound(seed, r, max(n/4, 50))
		}},
		{kindCaching, []string{"client|id", "get"}, func(seed uint64, r, n int) []Cmd {
			return g.CachingRound(seed, r, max(n/4, 50))
		}},
		{kindMessages, []string{"publish", "get"}, func(seed uint64, r, n int) []Cmd {
			return g.MessageRound(seed, r, max(n/4, 50))
		}},
		{kindFunctions, []string{"function|load", "fcall"}, g.FunctionRound},
	} {
		if !slices.ContainsFunc(o.needs, func(name string) bool { return !g.has(name) }) {
			k[o.kind] = o.round
		}
	}
	return k
}

// Kinds returns the names of all kinds of rounds.
func Kinds() []string {
	return []string{kindPlain, kindBlock, kindTx, kindUsers, kindCaching, kindMessages,
		kindFunctions}
}

// kind returns the kind of round number r.
func (g *Generator) kind(r int) string {
	if len(g.cfg.Kinds) > 0 {
		return g.cfg.Kinds[r%len(g.cfg.Kinds)]
	}
	switch r % 8 {
	case 1:
		return kindUsers
	case 3:
		return kindTx
	case 5:
		return []string{kindFunctions, kindCaching, kindMessages}[r/8%3]
	case 7:
		return kindBlock
	}
	return kindPlain
}

// Stream generates round number r of about n commands.
func (g *Generator) Stream(seed uint64, r, n int) []Cmd {
	kinds := g.kinds()
	if round := kinds[g.kind(r)]; round != nil {
		return round(seed, r, n)
	}
	return g.Round(seed, r, n)
}

// CheckKinds returns an error if the list names a kind that does not exist.
func CheckKinds(list []string) error {
	for _, k := range list {
		if !slices.Contains(Kinds(), k) {
			return fmt.Errorf("no rounds of kind %q; there are %s", k, strings.Join(Kinds(), ", "))
		}
	}
	return nil
}

// begin prepares a round on the given number of connections.
func (g *Generator) begin(seed uint64, r, clients int) {
	g.rnd = rand.New(rand.NewPCG(seed, uint64(r)))
	g.inMulti = make([]bool, clients)
	g.serial, g.after, g.sorts, g.logs = 0, nil, false, false
}

func told(client int, args ...string) Cmd {
	c := cmdOf(args...)
	c.Client, c.Tell = client, true
	return c
}

// tellable returns any command whose replies and effects are the same on both servers, whoever runs
// it and whoever listens. It leaves out commands that wait, choose at random, or write what has
// already expired.
func (g *Generator) tellable(client int) Cmd {
	for range 100 {
		gr := g.any()
		if slices.Contains(gr.Flags, "blocking") || slices.Contains(untellable, gr.Name) ||
			isSort(gr.Name) {
			continue
		}
		args := g.generate(gr)
		if len(args) == 0 {
			continue
		}
		// 7.0 has no WITHSCORE, which matters to MULTI and ACL DRYRUN
		if gr.Name == "zrank" || gr.Name == "zrevrank" {
			args = args[:min(len(args), 3)]
		}
		c := Cmd{Client: client, Args: args, Tell: true}
		if c.swaps() || strings.EqualFold(c.Name(), "spop") || setsUntil(args) {
			continue
		}
		return c
	}
	return told(client, "PING")
}

// untellable lists commands that tellable leaves out.
var untellable = []string{"spop", "wait", "debug", "quit", "client|kill", "acl|setuser",
	"acl|deluser", "command|info", "command|docs", "command|list", "command"}

// setsUntil reports whether a command is a SET with an absolute deadline, which may have passed.
func setsUntil(args [][]byte) bool {
	return strings.EqualFold(string(args[0]), "set") &&
		slices.ContainsFunc(args, func(arg []byte) bool {
			return strings.EqualFold(string(arg), "EXAT") ||
				strings.EqualFold(string(arg), "PXAT")
		})
}

// any returns a random command, by the weights.
func (g *Generator) any() *Grammar {
	at := g.rnd.IntN(g.cum[len(g.cum)-1])
	i, _ := slices.BinarySearch(g.cum, at+1)
	return &g.grams[i]
}

// simple returns a command on few keys. Most such commands succeed.
func (g *Generator) simple(client int, key func() string) Cmd {
	k := key()
	pools := [][]string{
		{"GET", k}, {"SET", k, g.pick("1", "v")}, {"INCR", k}, {"APPEND", k, "x"}, {"DEL", k},
		{"EXISTS", k}, {"MGET", k, key()}, {"MSET", k, "1", key(), "2"}, {"GETSET", k, "z"},
		{"STRLEN", k}, {"TYPE", k}, {"RENAME", k, key()}, {"COPY", k, key(), "REPLACE"},
		{"UNLINK", k, key()}, {"TOUCH", k}, {"EXPIRE", k, "1000000"}, {"PERSIST", k},
		{"LPUSH", k, "a"}, {"LRANGE", k, "0", "-1"}, {"SADD", k, "m"}, {"SMEMBERS", k},
		{"HSET", k, "f", "v"}, {"HGETALL", k}, {"ZADD", k, "1", "m"}, {"ZRANGE", k, "0", "-1"},
		{"SINTERSTORE", k, key(), key()}, {"LMOVE", k, key(), "LEFT", "RIGHT"},
		{"BITOP", "NOT", k, key()}, {"GETDEL", k}, {"GETEX", k, "PERSIST"},
		{"SET", k, "n", "GET"}, {"SETRANGE", k, "1", "q"},
		{"EVAL", "return redis.call('get', KEYS[1])", "1", k},
		{"EVAL", "redis.call('set', KEYS[1], 'e') return redis.call('incr', KEYS[1])", "1", k},
		{"EVAL_RO", "return redis.pcall('get', KEYS[1])", "1", k}, {"OBJECT", "ENCODING", k},
		{"DUMP", "nosuch"}, {"SELECT", g.pick("0", "0", "1")}, {"FLUSHALL"}, {"FLUSHDB"},
		{"SWAPDB", "0", "1"}, {"MOVE", k, "1"}, {"DBSIZE"}, {"PING"}, {"ECHO", "x"},
	}
	i := g.rnd.IntN(len(pools))
	if i >= len(pools)-7 && g.chance(0.6) { // those that empty the databases are seldom wanted
		i = g.rnd.IntN(20)
	}
	c := told(client, pools[i]...)
	if !g.has(c.Name()) && !slices.Contains([]string{"object", "swapdb"}, c.Name()) {
		return told(client, "GET", k)
	}
	return c
}

// note remembers whether the client is in a transaction, and returns the command.
func (g *Generator) note(c Cmd) Cmd {
	switch c.Name() {
	case "multi":
		g.inMulti[c.Client] = true
	case "exec", "discard", "reset", "quit":
		g.inMulti[c.Client] = false
	}
	if c.Close {
		g.inMulti[c.Client] = false
	}
	return c
}
