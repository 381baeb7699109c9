package diff

import (
	"math/rand/v2"
	"strconv"
	"strings"
	"time"
)

// Rounds about blocking: several connections issue blocking commands on few keys, and others push
// to them. Every command is a step of its own (see step.go). All pushed values are different, so a
// reply tells who was served in which order.

const (
	blockClients = 7                     // client 0 never blocks
	shortWait    = 25 * time.Millisecond // a timeout that is waited for
	longWait     = 4 * shortWait
)

// BlockRound generates about n steps.
func (g *Generator) BlockRound(seed uint64, r, n int) []Cmd {
	g.rnd = rand.New(rand.NewPCG(seed, uint64(r)))
	g.serial = 0
	var out []Cmd
	for c := range blockClients {
		if c%3 == 1 {
			out = append(out, stepOf(c, "HELLO", "3"))
		}
	}
	for len(out) < n {
		out = append(out, g.blockSteps()...)
	}
	return out
}

func stepOf(client int, args ...string) Cmd {
	c := cmdOf(args...)
	c.Client, c.Step = client, true
	return c
}

// blockSteps returns the next few steps of a round about blocking.
func (g *Generator) blockSteps() []Cmd {
	client := 1 + g.rnd.IntN(blockClients-1)
	switch k := g.rnd.IntN(100); {
	case k < 47:
		args := g.blockingCommand("0")
		return append(g.groupFirst(args), g.supported(stepOf(client, args...))...)
	case k < 48: // a few that time out, all of them before anything else happens
		var out []Cmd
		for range 1 + g.rnd.IntN(3) {
			out = append(out,
				g.supported(stepOf(1+g.rnd.IntN(blockClients-1),
					g.blockingCommand(seconds(shortWait))...))...)
		}
		return append(out, Cmd{Client: 0, Step: true, Sleep: longWait})
	case k < 52 && g.has("multi"): // inside a transaction nothing blocks
		out := []Cmd{stepOf(client, "MULTI")}
		for range 1 + g.rnd.IntN(3) {
			args := g.driverCommand(false)
			if g.chance(0.3) {
				args = g.blockingCommand("0")
			}
			out = append(out, g.driverSteps(client, args)...)
		}
		return append(out, stepOf(client, "EXEC"))
	case k < 60 && g.has("multi"): // several keys become ready at once
		out := []Cmd{stepOf(0, "MULTI")}
		for range 2 + g.rnd.IntN(4) {
			out = append(out, g.driverSteps(0, g.driverCommand(false))...)
		}
		return append(out, stepOf(0, "EXEC"))
	case k >= 60 && k < 64:
		return []Cmd{stepOf(0, "CLIENT", "UNBLOCK", idOf(client),
			g.pick("TIMEOUT", "ERROR", "timeout", "x"))}
	case k >= 64 && k < 66:
		return []Cmd{{Client: client, Step: true, Close: true}}
	case k == 66: // a key that goes by itself while clients wait
		return []Cmd{stepOf(0, "PEXPIRE", g.expiringKey(), seconds(1000*shortWait)),
			{Client: 0, Step: true, Sleep: longWait}}
	case k == 67:
		return g.swapSteps()
	}
	if g.chance(0.7) {
		client = 0
	}
	return g.driverSteps(client, g.driverCommand(true))
}

// driverSteps sends a command. It deletes a destination first: redis does not tell the waiting
// clients of a value that replaces one of another type, Godwit does.
func (g *Generator) driverSteps(client int, args []string) []Cmd {
	c := stepOf(client, args...)
	steps := g.supported(c)
	switch c.Name() {
	case "zunionstore", "zrangestore":
		steps = append(g.supported(stepOf(client, "DEL", args[1])), steps...)
	case "sort":
		steps = append(g.supported(stepOf(client, "DEL", args[len(args)-1])), steps...)
	}
	return steps
}

// swapSteps makes one key appear by SWAPDB, and no others: redis looks at the keys of a swapped
// database in the order of a hash table.
func (g *Generator) swapSteps() []Cmd {
	out := []Cmd{stepOf(0, "SELECT", "1"), stepOf(0, "FLUSHDB")}
	push := stepOf(0, "RPUSH", g.listKey(), g.newValue(), g.newValue())
	if g.chance(0.3) && g.has("zadd") {
		push = stepOf(0, "ZADD", g.zsetKey(), "1", g.newValue(), "2", g.newValue())
	}
	return append(out, push, stepOf(0, "SELECT", "0"), stepOf(0, "SWAPDB", "0", "1"))
}

// supported returns the command as a stream, or nothing if one of the servers lacks it.
func (g *Generator) supported(c Cmd) []Cmd {
	if !g.has(c.Name()) && !g.has(c.FullName()) {
		return nil
	}
	return []Cmd{c}
}

func seconds(d time.Duration) string { return strconv.FormatFloat(d.Seconds(), 'f', -1, 64) }

// idOf returns a word that stands for the id of a client's connection, which differs between the
// servers.
func idOf(client int) string { return "{id:" + strconv.Itoa(client) + "}" }

// The keys: l and z change their types now and then, and elements are moved between them. m and y
// do not change. A client that waits for several keys waits for m or y, and only one of them gets
// elements at a time. Redis 7.0 serves it from the key that became ready. Later servers run its
// command again from its first key on, and that key may have become ready meanwhile or have the
// wrong type.

// blockKey returns any of the keys l and z, or one of streams.
func (g *Generator) blockKey() string {
	if g.chance(0.15) && g.hasReads() {
		return g.pick("x0", "x1")
	}
	return g.pick("l0", "l1", "l2", "z0", "z1")
}

// listKey returns one of the keys l, seldom a z.
func (g *Generator) listKey() string {
	if g.chance(0.06) {
		return g.blockKey()
	}
	return g.pick("l0", "l1", "l2")
}

// zsetKey returns one of the keys z, seldom an l.
func (g *Generator) zsetKey() string {
	if g.chance(0.06) {
		return g.blockKey()
	}
	return g.pick("z0", "z1")
}

// keysOf returns one key of those that change type, or several of those that do not.
func (g *Generator) keysOf(one func() string, several ...string) []string {
	if g.chance(0.5) {
		return []string{one()}
	}
	out := []string{g.pick(several...), g.pick(several...)}
	if g.chance(0.3) {
		out = append(out, g.pick(several...))
	}
	return out
}

func (g *Generator) listKeys() []string { return g.keysOf(g.listKey, "m0", "m1", "m2") }

func (g *Generator) zsetKeys() []string { return g.keysOf(g.zsetKey, "y0", "y1") }

func (g *Generator) side() string { return g.pick("LEFT", "RIGHT") }

func (g *Generator) newValue() string {
	g.serial++
	return "v" + strconv.Itoa(g.serial)
}

// blockingCommand returns a command that blocks when it finds nothing. Half of the time it has a
// timeout that is never reached in place of "0".
func (g *Generator) blockingCommand(timeout string) []string {
	if timeout == "0" && g.chance(0.25) && g.hasReads() {
		return g.blockingRead()
	}
	if timeout == "0" {
		timeout = g.pick("0", "0", "0.0", "1000", "1000.5", "1e3", "0x3e8")
		if g.chance(0.03) {
			timeout = g.pick("-1", "x", "inf", "nan", "1e20", "-0.5", "")
		}
	}
	many := func(name string, keys, tail []string) []string {
		args := append([]string{name, timeout, strconv.Itoa(len(keys))}, keys...)
		args = append(args, tail...)
		if g.chance(0.4) {
			args = append(args, "COUNT", g.pick("1", "2", "3", "10"))
		}
		return args
	}
	switch g.rnd.IntN(9) {
	case 0, 1:
		return append(append([]string{"BLPOP"}, g.listKeys()...), timeout)
	case 2:
		return append(append([]string{"BRPOP"}, g.listKeys()...), timeout)
	case 3, 4:
		return []string{"BLMOVE", g.listKey(), g.listKey(), g.side(), g.side(), timeout}
	case 5:
		return []string{"BRPOPLPUSH", g.listKey(), g.listKey(), timeout}
	case 6:
		return many("BLMPOP", g.listKeys(), []string{g.side()})
	case 7:
		return append(append([]string{g.pick("BZPOPMIN", "BZPOPMAX")}, g.zsetKeys()...), timeout)
	}
	return many("BZMPOP", g.zsetKeys(), []string{g.pick("MIN", "MAX")})
}

// driverCommand returns a command that makes keys ready, or changes them in other ways while
// clients wait. alone reports that it is not one of several in a transaction.
func (g *Generator) driverCommand(alone bool) []string {
	if g.chance(0.25) && g.hasReads() {
		return g.readDriver()
	}
	l, l2, z, any := g.listKey(), g.listKey(), g.zsetKey(), g.blockKey()
	switch g.rnd.IntN(28) {
	case 0, 1, 2, 3, 4, 5, 6, 7:
		args := []string{g.pick("LPUSH", "RPUSH"), l, g.newValue()}
		for g.chance(0.4) {
			args = append(args, g.newValue())
		}
		if alone && g.chance(0.5) {
			args[1] = g.pick("m0", "m1", "m2")
		}
		return args
	case 8, 9, 10, 11, 12:
		args := []string{"ZADD", z}
		for range 1 + g.rnd.IntN(3) {
			args = append(args, g.pick("1", "2", "3", "-inf"), g.newValue())
		}
		if alone && g.chance(0.5) {
			args[1] = g.pick("y0", "y1")
		}
		return args
	case 13:
		return []string{g.pick("LPUSHX", "RPUSHX"), l, g.newValue()}
	case 14:
		return []string{"LMOVE", l, l2, g.side(), g.side()}
	case 15:
		return []string{"ZINCRBY", z, "1", g.newValue()}
	case 16:
		return []string{"ZUNIONSTORE", z, "2", g.zsetKey(), g.zsetKey()}
	case 17:
		return []string{"ZRANGESTORE", z, g.zsetKey(), "0", "1"}
	case 18:
		return []string{"SORT", l, "ALPHA", "STORE", l2}
	case 19:
		return []string{"RENAME", any, g.blockKey()}
	case 20:
		return []string{"COPY", any, g.blockKey(), "REPLACE"}
	case 21:
		return []string{"DEL", any}
	case 22:
		return []string{"SET", any, g.newValue()}
	case 23:
		return []string{g.pick("LPOP", "RPOP"), l}
	case 24:
		return []string{g.pick("ZPOPMIN", "ZPOPMAX"), z}
	case 25:
		return []string{"MOVE", any, g.pick("0", "1")}
	case 26:
		return []string{"LRANGE", l, "0", "-1"}
	}
	return strings.Fields(g.pick("SADD l1 a", "FLUSHALL", "PING", "CLIENT UNBLOCK 999999999",
		"CLIENT UNBLOCK x", "LINSERT l0 BEFORE v1 w", "ZREM z0 v1", "RENAME m0 m1", "RENAME y0 y1",
		"LPOP m0", "COPY m1 m2 REPLACE", "RPUSHX m1 x"))
}
