package command

import (
	"strconv"

	"godwit/internal/engine"
	"godwit/internal/keyspace"
)

func setCmd(c *engine.Ctx) {
	var o writeOptions
	if !o.parse(c, c.Args[3:], allowExists|allowCompare|allowGet|allowKeep) {
		return
	}
	if deadline, ok := o.deadline(c); ok && validOperand(c, o.cond, o.operand) {
		set(c, &o, c.Args[2], deadline)
	}
}

// set runs SET once its options have been read.
func set(c *engine.Ctx, o *writeOptions, value []byte, deadline int64) {
	key := c.Args[1]
	if o.get && !replyString(c, key) {
		return
	}
	if o.cond != always {
		e := c.DB.Lookup(key)
		if o.cond.operand() && !isString(c, e) {
			return
		}
		if !o.cond.holds(c, e, o.operand) {
			if !o.get {
				c.Null()
			}
			return
		}
	}
	store(c, key, value, deadline)
	if !o.plain() {
		propagateSet(c, key, value, deadline)
	}
	if !o.get {
		c.OK()
	}
}

// store sets the string at key and sends the event. deadline is in unix ms, or 0, or
// keyspace.KeepTTL.
func store(c *engine.Ctx, key, value []byte, deadline int64) {
	c.DB.OverwriteString(key, value, deadline)
	c.Dirty(1)
	changed(c, "set", key)
	if deadline > 0 {
		c.Notify(keyspace.EvGeneric, "expire", key)
	}
}

func setnxCmd(c *engine.Ctx) {
	key := c.Args[1]
	if c.DB.Lookup(key).Exists() {
		c.Int(0)
		return
	}
	store(c, key, c.Args[2], 0)
	c.Int(1)
}

// setWithTTL runs SETEX and PSETEX.
func setWithTTL(c *engine.Ctx, option expireOption) {
	o := writeOptions{expire: option, time: c.Args[2]}
	if deadline, ok := o.deadline(c); ok {
		set(c, &o, c.Args[3], deadline)
	}
}

func getsetCmd(c *engine.Ctx) {
	key, value := c.Args[1], c.Args[2]
	if !replyString(c, key) {
		return
	}
	store(c, key, value, 0)
	propagateSet(c, key, value, 0)
}

func getdelCmd(c *engine.Ctx) {
	key := c.Args[1]
	e := c.DB.LookupRead(key)
	switch {
	case !e.Exists():
		c.Null()
	case isString(c, e):
		bulkString(c, e)
		deleteKey(c, key)
	}
}

func getexCmd(c *engine.Ctx) {
	var o writeOptions
	if !o.parse(c, c.Args[2:], allowPersist) {
		return
	}
	key := c.Args[1]
	e := c.DB.LookupRead(key)
	if !e.Exists() {
		c.Null()
		return
	}
	if !isString(c, e) {
		return
	}
	deadline, ok := o.deadline(c)
	if !ok {
		return
	}
	bulkString(c, e)
	switch {
	case o.past(c, deadline):
		deleteKey(c, key)
	case o.expire.timed():
		c.DB.SetDeadline(e, deadline)
		c.Changed(key)
		c.Notify(keyspace.EvGeneric, "expire", key)
		c.Dirty(1)
		var buf [20]byte
		c.PropagateAs([]byte("PEXPIREAT"), key, strconv.AppendInt(buf[:0], deadline, 10))
	case o.expire == expirePersist && e.Deadline() != 0:
		c.DB.SetDeadline(e, 0)
		c.Changed(key)
		c.Notify(keyspace.EvGeneric, "persist", key)
		c.Dirty(1)
		c.PropagateAs([]byte("PERSIST"), key)
	}
}
