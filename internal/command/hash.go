package command

import (
	"slices"

	"godwit/internal/engine"
	"godwit/internal/keyspace"
	"godwit/internal/listpack"
	"godwit/internal/object"
)

// hashCommands are the entries of all hash commands; each part stands beside its handlers.
func hashCommands() []*engine.Command {
	return slices.Concat(hashReadCommands(), hashWriteCommands(), hashIncrCommands(), hashWalkCommands(),
		hashExpireCommands(), hashGetexCommands())
}

// hashCommand is entry for the hash commands, whose first argument is their only key.
func hashCommand(cmd engine.Command, access engine.Access, args ...engine.Arg) *engine.Command {
	return entry(engine.GroupHash, cmd, access, append([]engine.Arg{engine.Key("key", 0)}, args...)...)
}

func hashReadCommands() []*engine.Command {
	field := engine.Str("field")
	const fast = engine.ReadOnly | engine.Fast
	unordered := []string{"nondeterministic_output_order"}
	return []*engine.Command{
		hashCommand(engine.Command{
			Name: "hget", Arity: 3, Flags: fast, Since: "2.0.0",
			Summary: "Returns the value of a field.", Run: hgetCmd,
		}, engine.RO|engine.AccessFlag, field),
		hashCommand(engine.Command{
			Name: "hmget", Arity: -3, Flags: fast, Since: "2.0.0",
			Summary: "Returns the values of several fields.", Complexity: "O(N) in the number N of fields asked for", Run: hmgetCmd,
		}, engine.RO|engine.AccessFlag, field.Many()),
		hashCommand(engine.Command{
			Name: "hgetall", Arity: 2, Flags: engine.ReadOnly, Since: "2.0.0",
			Summary: "Returns all fields and values of a hash.", Complexity: "O(N) in the number of fields of the hash", Tips: unordered,
			Run: func(c *engine.Ctx) { replyAll(c, true, true) },
		}, engine.RO|engine.AccessFlag),
		hashCommand(engine.Command{
			Name: "hkeys", Arity: 2, Flags: engine.ReadOnly, Since: "2.0.0",
			Summary: "Returns all fields of a hash.", Complexity: "O(N) in the number of fields of the hash", Tips: unordered,
			Run: func(c *engine.Ctx) { replyAll(c, true, false) },
		}, engine.RO|engine.AccessFlag),
		hashCommand(engine.Command{
			Name: "hvals", Arity: 2, Flags: engine.ReadOnly, Since: "2.0.0",
			Summary: "Returns all values of a hash.", Complexity: "O(N) in the number of fields of the hash", Tips: unordered,
			Run: func(c *engine.Ctx) { replyAll(c, false, true) },
		}, engine.RO|engine.AccessFlag),
		hashCommand(engine.Command{
			Name: "hlen", Arity: 2, Flags: fast, Since: "2.0.0",
			Summary: "Returns how many fields a hash has.", Run: hlenCmd,
		}, engine.RO),
		hashCommand(engine.Command{
			Name: "hexists", Arity: 3, Flags: fast, Since: "2.0.0",
			Summary: "Tells whether a hash has a field.", Run: hexistsCmd,
		}, engine.RO, field),
		hashCommand(engine.Command{
			Name: "hstrlen", Arity: 3, Flags: fast, Since: "3.2.0",
			Summary: "Returns how many bytes the value of a field has.", Run: hstrlenCmd,
		}, engine.RO, field),
	}
}

// readHash opens the hash at the command's key for reading; ok is false after WRONGTYPE, found when there is no hash.
func readHash(c *engine.Ctx) (h object.Fields, found, ok bool) {
	x, ok := openRead(c, c.Args[1], object.Hash)
	return object.AsHash(x), x != nil, ok
}

// readField is the value of a field of the hash at the command's key; ok is false after WRONGTYPE.
func readField(c *engine.Ctx, field []byte) (v listpack.Value, found, ok bool) {
	h, found, ok := readHash(c)
	if !found {
		return v, false, ok
	}
	v, found = h.Get(field)
	return v, found, true
}

// writeHash is readHash for a command that may change the hash.
func writeHash(c *engine.Ctx) (h object.Fields, found, ok bool) {
	x, ok := openWrite(c, c.Args[1], object.Hash)
	return object.AsHash(x), x != nil, ok
}

// makeHash is writeHash for a command that puts fields in: a missing hash is created, and must not stay empty.
func makeHash(c *engine.Ctx) (h object.Fields, ok bool) {
	h, found, ok := writeHash(c)
	if ok && !found {
		h = newHash(c)
	}
	return h, ok
}

// newHash creates an empty hash at the command's key, where there is none.
func newHash(c *engine.Ctx) object.Fields {
	return object.AsHash(c.DB.Create(c.Args[1], object.Hash, object.EncListpack, listpack.Empty()))
}

// hashChanged announces n changes of the hash at the command's key.
func hashChanged(c *engine.Ctx, event string, n int) {
	c.Changed(c.Args[1])
	c.Notify(keyspace.EvHash, event, c.Args[1])
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
	c.Array(len(c.Args) - 2)
	for _, field := range c.Args[2:] {
		replyField(c, h, found, field)
	}
}

// replyField answers with the value of a field, null when the hash (found) or the field is missing.
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

// replyAll answers with all fields, all values or both.
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
