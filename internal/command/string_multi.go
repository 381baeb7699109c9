package command

import (
	"math"

	"godwit/internal/engine"
	"godwit/internal/keyspace"
	"godwit/internal/object"
)

// setPairs stores the pairs key, value, key, value, …
func setPairs(c *engine.Ctx, pairs [][]byte, deadline int64) {
	ahead := c.DB.Lookahead(pairs, 2)
	for i := 0; i < len(pairs); i += 2 {
		ahead.Reach(i)
		c.DB.OverwriteString(pairs[i], pairs[i+1], deadline)
		changed(c, "set", pairs[i])
		if deadline > 0 {
			c.Notify(keyspace.EvGeneric, "expire", pairs[i])
		}
	}
	c.Dirty(len(pairs) / 2)
}

// countPresent returns how many keys of the pairs key, value, key, value, … exist.
func countPresent(c *engine.Ctx, pairs [][]byte) int {
	n := 0
	ahead := c.DB.Lookahead(pairs, 2)
	for i := 0; i < len(pairs); i += 2 {
		ahead.Reach(i)
		if c.DB.Lookup(pairs[i]).Exists() {
			n++
		}
	}
	return n
}

// evenPairs replies with an error and reports false if a key has no value.
func evenPairs(c *engine.Ctx) bool {
	if len(c.Args)%2 == 0 {
		c.Err("ERR wrong number of arguments for '" + c.Cmd.FullName() + "' command")
		return false
	}
	return true
}

func msetCmd(c *engine.Ctx) {
	if evenPairs(c) {
		setPairs(c, c.Args[1:], 0)
		c.OK()
	}
}

func msetnxCmd(c *engine.Ctx) {
	if !evenPairs(c) {
		return
	}
	if countPresent(c, c.Args[1:]) > 0 {
		c.Int(0)
		return
	}
	setPairs(c, c.Args[1:], 0)
	c.Int(1)
}

func msetexCmd(c *engine.Ctx) {
	n, ok := object.ParseInt(c.Args[1])
	if !ok || n < 1 || n > math.MaxInt32 {
		c.Err("ERR invalid numkeys value")
		return
	}
	if int64(len(c.Args)-2) < 2*n {
		c.Err("ERR wrong number of key-value pairs")
		return
	}
	pairs := c.Args[2 : 2+2*n]
	var o writeOptions
	if !o.parse(c, c.Args[2+2*n:], allowExists|allowKeep) {
		return
	}
	deadline, ok := o.deadline(c)
	if !ok {
		return
	}
	if o.cond == ifMissing && countPresent(c, pairs) > 0 ||
		o.cond == ifPresent && countPresent(c, pairs) < int(n) {
		c.Int(0)
		return
	}
	if o.past(c, deadline) {
		for i := 0; i < len(pairs); i += 2 {
			if c.DB.Lookup(pairs[i]).Exists() {
				deleteKey(c, pairs[i])
			}
		}
		c.Int(1)
		return
	}
	setPairs(c, pairs, deadline)
	for i := 0; i < len(pairs); i += 2 {
		propagateSet(c, pairs[i], pairs[i+1], deadline)
	}
	c.Int(1)
}
