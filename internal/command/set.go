package command

import (
	"slices"

	"godwit/internal/engine"
	"godwit/internal/keyspace"
	"godwit/internal/listpack"
	"godwit/internal/object"
)

// setCommands are the entries of all set commands; each part stands beside its handlers.
func setCommands() []*engine.Command {
	return slices.Concat(setWriteCommands(), setReadCommands(), setRandomCommands(), setOpCommands())
}

// setTypeCommand is entry for the set commands.
func setTypeCommand(cmd engine.Command, access engine.Access, args ...engine.Arg) *engine.Command {
	return entry(engine.GroupSet, cmd, access, args...)
}

func setWriteCommands() []*engine.Command {
	key, members := engine.Key("key", 0), engine.Str("member").Many()
	several := []engine.History{{Since: "2.4.0", Change: "Takes several members."}}
	return []*engine.Command{
		setTypeCommand(engine.Command{
			Name: "sadd", Arity: -3, Flags: engine.Write | engine.DenyOOM | engine.Fast, Since: "1.0.0",
			Summary: "Adds members to a set, which is created if need be.", Complexity: "O(N) in the number N of members given",
			History: several, Run: saddCmd,
		}, engine.RW|engine.Insert, key, members),
		setTypeCommand(engine.Command{
			Name: "srem", Arity: -3, Flags: engine.Write | engine.Fast, Since: "1.0.0",
			Summary: "Removes members from a set; one without members is deleted.", Complexity: "O(N) in the number N of members given",
			History: several, Run: sremCmd,
		}, engine.RW|engine.Delete, key, members),
		setTypeCommand(engine.Command{
			Name: "smove", Arity: 4, Flags: engine.Write | engine.Fast, Since: "1.0.0",
			Summary: "Moves a member from one set to another.",
			Keys:    []engine.KeySpec{keyAt(1, engine.RW|engine.AccessFlag|engine.Delete), keyAt(2, engine.RW|engine.Insert)},
			Run:     smoveCmd,
		}, 0, engine.Key("source", 0), engine.Key("destination", 1), engine.Str("member")),
	}
}

func setReadCommands() []*engine.Command {
	key := engine.Key("key", 0)
	return []*engine.Command{
		setTypeCommand(engine.Command{
			Name: "sismember", Arity: 3, Flags: engine.ReadOnly | engine.Fast, Since: "1.0.0",
			Summary: "Tells whether a value is a member of a set.", Run: sismemberCmd,
		}, engine.RO, key, engine.Str("member")),
		setTypeCommand(engine.Command{
			Name: "smismember", Arity: -3, Flags: engine.ReadOnly | engine.Fast, Since: "6.2.0",
			Summary: "Tells of each of several values whether it is a member of a set.", Complexity: "O(N) in the number N of values",
			Run: smismemberCmd,
		}, engine.RO|engine.AccessFlag, key, engine.Str("member").Many()),
		setTypeCommand(engine.Command{
			Name: "scard", Arity: 2, Flags: engine.ReadOnly | engine.Fast, Since: "1.0.0",
			Summary: "Counts the members of a set.", Run: scardCmd,
		}, engine.RO, key),
		setTypeCommand(engine.Command{
			Name: "smembers", Arity: 2, Flags: engine.ReadOnly, Since: "1.0.0",
			Summary: "Lists the members of a set.", Complexity: "O(N) in the number N of members",
			Tips: []string{"nondeterministic_output_order"}, Run: smembersCmd,
		}, engine.RO|engine.AccessFlag, key),
		setTypeCommand(engine.Command{
			Name: "sscan", Arity: -3, Flags: engine.ReadOnly, Since: "2.8.0",
			Summary: "Walks the members of a set step by step.", Complexity: "O(1) a call, O(N) for a full walk",
			Tips: []string{"nondeterministic_output"}, Run: sscanCmd,
		}, engine.RO|engine.AccessFlag, key, engine.Int("cursor"), engine.Pattern("pattern").Tokened("MATCH").Opt(),
			engine.Int("count").Tokened("COUNT").Opt()),
	}
}

// readSet opens the set at key for a reading command. found is false if there is none; ok is false after a WRONGTYPE.
func readSet(c *engine.Ctx, key []byte) (s object.Members, found, ok bool) {
	x, ok := openRead(c, key, object.Set)
	return object.AsSet(x), x != nil, ok
}

// createSet makes an empty set at an absent key; n members will be added, beginning with first.
func createSet(c *engine.Ctx, key, first []byte, n int) *object.Edit {
	kind, packed := object.NewSetEncoding(&c.E.KS.P.Limits, first, n)
	return c.DB.Create(key, object.Set, kind, packed)
}

func saddCmd(c *engine.Ctx) {
	key, members := c.Args[1], c.Args[2:]
	x, ok := openWrite(c, key, object.Set)
	if !ok {
		return
	}
	if x == nil {
		x = createSet(c, key, members[0], len(members))
	}
	s := object.AsSet(x)
	s.Reserve(len(members))
	n := 0
	for _, m := range members {
		if s.Add(m) {
			n++
		}
	}
	if n > 0 {
		c.Changed(key)
		c.Notify(keyspace.EvSet, "sadd", key)
		c.Dirty(n)
	}
	c.Int(int64(n))
}

func sremCmd(c *engine.Ctx) {
	key := c.Args[1]
	x, ok := openWrite(c, key, object.Set)
	if !ok {
		return
	}
	if x == nil {
		c.Int(0)
		return
	}
	s := object.AsSet(x)
	n, left := 0, s.Len()
	for _, m := range c.Args[2:] {
		if s.Remove(m) {
			n++
			if left--; left == 0 {
				break
			}
		}
	}
	if n > 0 {
		c.Changed(key)
		c.Notify(keyspace.EvSet, "srem", key)
		if left == 0 {
			emptied(c, x, key)
		}
		c.Dirty(n)
	}
	c.Int(int64(n))
}

func smoveCmd(c *engine.Ctx) {
	src, dst, m := c.Args[1], c.Args[2], c.Args[3]
	// Both are looked up before either is checked: the order in which Redis expires and touches them.
	from, to := c.DB.Lookup(src), c.DB.Lookup(dst)
	if !from.Exists() {
		c.Int(0)
		return
	}
	x, ok := opened(c, from, object.Set)
	if !ok {
		return
	}
	y, ok := opened(c, to, object.Set)
	if !ok {
		return
	}
	s := object.AsSet(x)
	if from.Ref == to.Ref {
		c.Int(oneIf(s.Has(m)))
		return
	}
	if !s.Remove(m) {
		c.Int(0)
		return
	}
	c.Changed(src)
	c.Notify(keyspace.EvSet, "srem", src)
	if s.Len() == 0 {
		emptied(c, x, src)
	}
	c.Dirty(1)
	if y == nil {
		y = createSet(c, dst, m, 1)
	}
	d := object.AsSet(y)
	d.Reserve(1)
	if d.Add(m) {
		c.Changed(dst)
		c.Notify(keyspace.EvSet, "sadd", dst)
		c.Dirty(1)
	}
	c.Int(1)
}

// oneIf is 1 for true.
func oneIf(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

func sismemberCmd(c *engine.Ctx) {
	if s, found, ok := readSet(c, c.Args[1]); ok {
		c.Int(oneIf(found && s.Has(c.Args[2])))
	}
}

func smismemberCmd(c *engine.Ctx) {
	s, found, ok := readSet(c, c.Args[1])
	if !ok {
		return
	}
	c.Array(len(c.Args) - 2)
	for _, m := range c.Args[2:] {
		c.Int(oneIf(found && s.Has(m)))
	}
}

func scardCmd(c *engine.Ctx) {
	s, found, ok := readSet(c, c.Args[1])
	switch {
	case !ok:
	case found:
		c.Int(int64(s.Len()))
	default:
		c.Int(0)
	}
}

func smembersCmd(c *engine.Ctx) {
	s, found, ok := readSet(c, c.Args[1])
	switch {
	case !ok:
	case found:
		wholeSet(c, s)
	default:
		c.Set(0)
	}
}

// wholeSet answers with all members.
func wholeSet(c *engine.Ctx, s object.Members) {
	c.Set(s.Len())
	s.Each(func(v listpack.Value) bool {
		bulkValue(c, v)
		return true
	})
}

func sscanCmd(c *engine.Ctx) {
	var o scanOptions
	x, ok := o.open(c, object.Set, scanElems)
	if !ok {
		return
	}
	s, r := object.AsSet(x), o.reply(c)
	if s.Base() == object.EncHashtable {
		r.done(o.walk(func(cursor uint64) (next uint64, seen int) {
			next = s.Scan(cursor, func(m []byte) {
				seen++
				if r.wants(m) {
					r.bulk(m)
				}
			})
			return next, seen
		}))
		return
	}
	var digits [20]byte
	s.Each(func(v listpack.Value) bool {
		if m := valueText(v, &digits); r.wants(m) {
			r.bulk(m)
		}
		return true
	})
	r.done(0)
}
