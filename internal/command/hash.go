package command

import (
	"godwit/internal/engine"
	"godwit/internal/keyspace"
	"godwit/internal/listpack"
	"godwit/internal/object"
)

var _ = family(hashHandlers)

func hashHandlers() engine.Handlers {
	return engine.Handlers{
		"hget":         hgetCmd,
		"hmget":        hmgetCmd,
		"hgetall":      func(c *engine.Ctx) { replyAll(c, true, true) },
		"hkeys":        func(c *engine.Ctx) { replyAll(c, true, false) },
		"hvals":        func(c *engine.Ctx) { replyAll(c, false, true) },
		"hlen":         hlenCmd,
		"hexists":      hexistsCmd,
		"hstrlen":      hstrlenCmd,
		"hset":         hsetCmd,
		"hmset":        hmsetCmd,
		"hsetnx":       hsetnxCmd,
		"hdel":         hdelCmd,
		"hincrby":      hincrbyCmd,
		"hincrbyfloat": hincrbyfloatCmd,
		"hrandfield":   hrandfieldCmd,
		"hscan":        hscanCmd,
		"hexpire":      func(c *engine.Ctx) { hexpire(c, 1000, false) },
		"hpexpire":     func(c *engine.Ctx) { hexpire(c, 1, false) },
		"hexpireat":    func(c *engine.Ctx) { hexpire(c, 1000, true) },
		"hpexpireat":   func(c *engine.Ctx) { hexpire(c, 1, true) },
		"httl":         httlCmd,
		"hpttl":        hpttlCmd,
		"hexpiretime":  hexpiretimeCmd,
		"hpexpiretime": hpexpiretimeCmd,
		"hpersist":     hpersistCmd,
		"hgetex":       hgetexCmd,
		"hsetex":       hsetexCmd,
		"hgetdel":      hgetdelCmd,
	}
}

// readHash opens the hash at the command's key for reading. found tells whether there is one. ok is
// false after a WRONGTYPE reply.
func readHash(c *engine.Ctx) (h object.Fields, found, ok bool) {
	x, ok := openRead(c, c.Args[1], object.Hash)
	return object.AsHash(x), x != nil, ok
}

// readField returns the value of a field of the hash at the command's key. ok is false after a
// WRONGTYPE reply.
func readField(c *engine.Ctx, field []byte) (v listpack.Value, found, ok bool) {
	h, found, ok := readHash(c)
	if !found {
		return v, false, ok
	}
	v, found = h.Get(field)
	return v, found, true
}

// writeHash does what readHash does, for a command that may change the hash.
func writeHash(c *engine.Ctx) (h object.Fields, found, ok bool) {
	x, ok := openWrite(c, c.Args[1], object.Hash)
	return object.AsHash(x), x != nil, ok
}

// makeHash does what writeHash does, for a command that adds fields. It creates a missing hash. The
// caller must not leave it empty.
func makeHash(c *engine.Ctx) (h object.Fields, ok bool) {
	h, found, ok := writeHash(c)
	if ok && !found {
		h = newHash(c)
	}
	return h, ok
}

// newHash creates an empty hash at the command's key, which must be absent.
func newHash(c *engine.Ctx) object.Fields {
	empty := listpack.PairsEmpty()
	return object.AsHash(c.DB.Create(c.Args[1], object.Hash, object.EncPairs, empty))
}

// hashChanged records n changes of the hash at the command's key and sends the event. Somebody may
// want to hear which fields have changed: every step-th of the list.
func hashChanged(c *engine.Ctx, event string, n int, fields [][]byte, step int) {
	c.Changed(c.Args[1])
	names := keyspace.FieldNames{List: fields, Step: step}
	c.E.KS.NotifyFields(event, c.Args[1], names, c.DB.ID())
	c.Dirty(n)
}

func hgetCmd(c *engine.Ctx) {
	v, found, ok := readField(c, c.Args[2])
	switch {
	case found:
		bulkValue(c, v)
	case ok:
		c.Null()
	}
}

func hmgetCmd(c *engine.Ctx) {
	h, found, ok := readHash(c)
	if !ok {
		return
	}
	fields := c.Args[2:]
	c.Array(len(fields))
	ahead := h.Lookahead(fields, 1)
	for i, field := range fields {
		ahead.Reach(i)
		replyField(c, h, found, field)
	}
}

// replyField replies with the value of a field, or null if the hash (found) or the field is
// missing.
func replyField(c *engine.Ctx, h object.Fields, found bool, field []byte) bool {
	if found {
		if v, ok := h.Get(field); ok {
			bulkValue(c, v)
			return true
		}
	}
	c.Null()
	return false
}

// replyAll replies with all fields, all values or both.
func replyAll(c *engine.Ctx, fields, values bool) {
	h, found, ok := readHash(c)
	if !ok {
		return
	}
	n := 0
	if found {
		n = h.Len()
	}
	if fields && values {
		c.Map(n)
	} else {
		c.Array(n)
	}
	if n == 0 {
		return
	}
	h.Each(func(field, value listpack.Value) bool {
		if fields {
			bulkValue(c, field)
		}
		if values {
			bulkValue(c, value)
		}
		return true
	})
}

func hlenCmd(c *engine.Ctx) {
	h, found, ok := readHash(c)
	switch {
	case found:
		c.Int(int64(h.QuickLen()))
	case ok:
		c.Int(0)
	}
}

func hexistsCmd(c *engine.Ctx) {
	_, found, ok := readField(c, c.Args[2])
	switch {
	case found:
		c.Int(1)
	case ok:
		c.Int(0)
	}
}

func hstrlenCmd(c *engine.Ctx) {
	v, found, ok := readField(c, c.Args[2])
	switch {
	case found:
		c.Int(int64(v.Len()))
	case ok:
		c.Int(0)
	}
}
