package command

import (
	"fmt"
	"strings"

	"godwit/internal/arena"
	"godwit/internal/engine"
	"godwit/internal/object"
	"godwit/internal/persist/rdb"
)

// debugObject shows where and how a value is stored. The address is the entry's place in the arena.
func debugObject(c *engine.Ctx) {
	e := c.DB.Peek(c.Args[2])
	if !e.Exists() {
		c.Err(engine.ErrNoSuchKey)
		return
	}
	idle := c.E.KS.IdleSeconds(e)
	if c.E.KS.LFU() {
		idle = 0
	}
	x, more := c.DB.Open(e), ""
	if e.Encoding() == object.EncQuicklist {
		more = quicklistFacts(object.AsList(x).Quicklist())
	}
	c.Simple(fmt.Sprintf(
		"Value at:0x%x refcount:1 encoding:%s serializedlength:%d lru:%d lru_seconds_idle:%d%s",
		uint64(e.Ref), e.Encoding(), rdb.SavedLen(x), e.LRU(), idle, more))
}

// debugSdslen shows lengths, spare room and allocated sizes. A key has no spare room, nor has a
// value that shares its block.
func debugSdslen(c *engine.Ctx) {
	e := c.DB.Peek(c.Args[2])
	switch {
	case !e.Exists():
		c.Err(engine.ErrNoSuchKey)
		return
	case e.Type() != object.String || e.Encoding() == object.EncInt:
		c.Err("ERR Not an sds encoded string.")
		return
	}
	n, avail, alloc := e.StringLen(), 0, arena.ClassSize(e.StringLen())
	if e.Encoding() == object.EncSDS {
		s := e.SDS()
		alloc = int(s.Cap)
		avail = alloc - n
	}
	c.Simple(fmt.Sprintf(
		"key_sds_len:%d, key_sds_avail:0, key_zmalloc: %d, val_sds_len:%d, val_sds_avail:%d, "+
			"val_zmalloc: %d",
		len(e.Key()), arena.ClassSize(len(e.Key())), n, avail, alloc))
}

// debugHtstats describes a database's table.
func debugHtstats(c *engine.Ctx) {
	n, ok := intArg(c, c.Args[2])
	if !ok {
		return
	}
	if n < 0 || n >= int64(c.E.KS.Databases()) {
		c.Err("ERR Out of range database")
		return
	}
	db := c.E.KS.DB(int(n))
	var b strings.Builder
	b.WriteString("[Dictionary HT]\nHash table 0 stats (main hash table):\n")
	if db.Len() == 0 {
		b.WriteString("No stats available for empty dictionaries\n")
	} else {
		fmt.Fprintf(&b,
			" number of elements: %d\n table bytes: %d\n bytes per element: %.2f\n rehashing: %t\n",
			db.Len(), db.TableBytes(), float64(db.TableBytes())/float64(db.Len()), db.Rehashing())
	}
	fmt.Fprintf(&b, "[Expires HT]\n number of elements: %d (deadlines are in the entries)\n",
		db.Expires())
	c.Verbatim("txt", b.String())
}

const protocolTypes = "ERR Wrong protocol type name. Please use one of the following: " +
	"string|integer|double|bignum|null|array|set|map|attrib|push|verbatim|true|false"

// debugProtocol replies with an example of each RESP type, for tests of clients. The values are
// Redis's.
func debugProtocol(c *engine.Ctx) {
	switch strings.ToLower(string(c.Args[2])) {
	case "string":
		c.BulkString("Hello World")
	case "integer":
		c.Int(12345)
	case "double":
		c.Double(3.141)
	case "null":
		c.Null()
	case "array":
		c.Array(3)
		for i := range 3 {
			c.Int(int64(i))
		}
	case "set":
		c.Set(3)
		for i := range 3 {
			c.Int(int64(i))
		}
	case "map":
		c.Map(3)
		for i := range 3 {
			c.Int(int64(i))
			c.Bool(i == 1)
		}
	case "attrib":
		debugAttrib(c)
	case "push":
		if c.Writer.Proto < 3 {
			c.Err("ERR RESP2 is not supported by this command")
			return
		}
		c.Push(2)
		c.BulkString("server-cpu-usage")
		c.Int(42)
		c.BulkString("Some real reply following the push reply")
	case "verbatim":
		c.Verbatim("txt", "This is a verbatim\nstring")
	case "true":
		c.Bool(true)
	case "false":
		c.Bool(false)
	case "bignum":
		c.BigNumber("1234567999999999999999999999999999999")
	default:
		c.Err(protocolTypes)
	}
}

func debugAttrib(c *engine.Ctx) {
	if c.Writer.Proto > 2 {
		c.Attr(1)
		c.BulkString("key-popularity")
		c.Array(2)
		c.BulkString("key:123")
		c.Int(90)
	}
	c.BulkString("Some real reply following the attribute")
}
