package diff

import (
	"math/rand/v2"
	"slices"
)

// Rounds about transactions: the connections take turns of a few commands, so that what one watches
// or has queued changes under it. Any command may be queued, and any may change a watched key. What
// is compared is which of them a WATCH notices.

// TxRound generates about n commands.
func (g *Generator) TxRound(seed uint64, r, n int) []Cmd {
	g.rnd = rand.New(rand.NewPCG(seed, uint64(r)))
	g.inMulti = make([]bool, g.cfg.Clients)
	g.serial, g.after = 0, nil
	g.sorts, g.logs = hasSort(r), false
	var out []Cmd
	for len(out) < n {
		client := g.rnd.IntN(g.cfg.Clients)
		for run := 1 + g.rnd.IntN(5); run > 0 || len(g.after) > 0; run-- {
			out = append(out, g.txNext(client))
		}
		if g.chance(0.004) {
			out = append(out, g.expiry()...)
		}
	}
	return out
}

// txNext returns the next command of a connection.
func (g *Generator) txNext(client int) Cmd {
	if len(g.after) > 0 {
		return g.next(client)
	}
	var c Cmd
	switch k := g.rnd.IntN(100); {
	case k < 12 && !g.inMulti[client]:
		c = cmdOf("WATCH")
		for range 1 + g.rnd.IntN(3) {
			c.Args = append(c.Args, []byte(g.txKey()))
		}
	case k < 22 && !g.inMulti[client]:
		c = cmdOf("MULTI")
		g.inMulti[client] = true
	case k < 24:
		// not EXEC with an argument: that is a condition to later servers
		c = cmdOf(g.pick("UNWATCH", "UNWATCH", "WATCH k3", "MULTI", "MULTI x", "DISCARD x"))
		c.Args = split(string(c.Args[0]))
		if c.Name() == "multi" && len(c.Args) == 1 {
			g.inMulti[client] = true
		}
	case k < 34:
		if key := g.txKey(); g.has("lpush") { // what others watch changes often
			c = cmdOf(slices.Clone([][]string{
				{"SET", key, "v"}, {"DEL", key}, {"INCR", key}, {"EXPIRE", key, "1000000"},
				{"PERSIST", key}, {"RPUSH", key, "e"}, {"LPOP", key}, {"SADD", key, "m"},
				{"SREM", key, "m"}, {"HSET", key, "f", "v"}, {"ZADD", key, "1", "m"},
				{"ZREM", key, "m"}, {"RENAME", g.txKey(), key}, {"COPY", g.txKey(), key, "REPLACE"},
				{"SWAPDB", "0", "1"}, {"FLUSHDB"}, {"FLUSHALL"}, {"MOVE", key, "1"},
				{"XADD", key, g.nextID(), "f", "v"}, {"XDEL", key, g.recentID()},
			}[g.rnd.IntN(20)])...)
			break
		}
		return g.next(client)
	default:
		return g.next(client)
	}
	c.Client = client
	return c
}

// txKey returns one of few keys, those that other commands use most.
func (g *Generator) txKey() string {
	if g.chance(0.5) {
		return g.sharedKey(g.rnd.IntN(min(g.cfg.Keys, 5)))
	}
	return g.pick("li", "ha", "se", "so", "st") + g.pick("0", "1", "2")
}
