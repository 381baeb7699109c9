package command

import (
	"godwit/internal/engine"
	"godwit/internal/object"
)

var _ = family(stringHandlers)

func stringHandlers() engine.Handlers {
	return engine.Handlers{
		"get":         getCmd,
		"strlen":      strlenCmd,
		"mget":        mgetCmd,
		"getrange":    getrangeCmd,
		"substr":      getrangeCmd,
		"append":      appendCmd,
		"setrange":    setrangeCmd,
		"set":         setCmd,
		"setnx":       setnxCmd,
		"setex":       func(c *engine.Ctx) { setWithTTL(c, expireEX) },
		"psetex":      func(c *engine.Ctx) { setWithTTL(c, expirePX) },
		"getset":      getsetCmd,
		"getdel":      getdelCmd,
		"getex":       getexCmd,
		"mset":        msetCmd,
		"msetnx":      msetnxCmd,
		"msetex":      msetexCmd,
		"incr":        func(c *engine.Ctx) { incrBy(c, 1) },
		"decr":        func(c *engine.Ctx) { incrBy(c, -1) },
		"incrby":      incrbyCmd,
		"decrby":      decrbyCmd,
		"incrbyfloat": incrbyfloatCmd,
		"delex":       delexCmd,
		"delifeq":     delifeqCmd,
		"digest":      digestCmd,
		"increx":      increxCmd,
		"lcs":         lcsCmd,
	}
}

// bulkString replies with the string at e, which must be one.
func bulkString(c *engine.Ctx, e object.Entry) {
	if e.Encoding() == object.EncInt {
		c.BulkInt(e.Int())
		return
	}
	var scratch [24]byte
	c.Bulk(c.DB.StringBytes(e, &scratch))
}

// replyString replies with the string at key, or null if the key is missing. It reports false after
// a WRONGTYPE reply.
func replyString(c *engine.Ctx, key []byte) bool {
	e := c.DB.LookupRead(key)
	if !e.Exists() {
		c.Null()
		return true
	}
	if !isString(c, e) {
		return false
	}
	bulkString(c, e)
	return true
}

func getCmd(c *engine.Ctx) { replyString(c, c.Args[1]) }

func strlenCmd(c *engine.Ctx) {
	e := c.DB.LookupRead(c.Args[1])
	switch {
	case !e.Exists():
		c.Int(0)
	case isString(c, e):
		c.Int(int64(e.StringLen()))
	}
}

func mgetCmd(c *engine.Ctx) {
	keys := c.Args[1:]
	c.Array(len(keys))
	ahead := c.DB.Lookahead(keys, 1)
	for i, key := range keys {
		ahead.Reach(i)
		if e := c.DB.LookupRead(key); e.Exists() && e.Type() == object.String {
			bulkString(c, e)
		} else {
			c.Null()
		}
	}
}
