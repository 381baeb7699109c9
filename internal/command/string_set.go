package command

import (
	"strconv"

	"godwit/internal/engine"
	"godwit/internal/keyspace"
	"godwit/internal/object"
)

// timeArgs are the options EX, PX, EXAT and PXAT.
func timeArgs() []engine.Arg {
	return []engine.Arg{
		engine.Int("seconds").Tokened("EX"), engine.Int("milliseconds").Tokened("PX"),
		engine.UnixTime("unix-time-seconds").Tokened("EXAT"), engine.UnixTime("unix-time-milliseconds").Tokened("PXAT"),
	}
}

// compareArgs are the conditions IFEQ, IFNE, IFDEQ and IFDNE.
func compareArgs() []engine.Arg {
	return []engine.Arg{
		engine.Str("ifeq-value").Tokened("IFEQ"), engine.Str("ifne-value").Tokened("IFNE"),
		engine.Int("ifdeq-digest").Tokened("IFDEQ"), engine.Int("ifdne-digest").Tokened("IFDNE"),
	}
}

func setCommand() *engine.Command {
	conditions := []engine.Arg{engine.Tok("nx"), engine.Tok("xx")}
	for _, a := range compareArgs() {
		conditions = append(conditions, a.From("8.4.0"))
	}
	since := []string{"2.6.12", "2.6.12", "6.2.0", "6.2.0"}
	times := timeArgs()
	for i := range times {
		times[i] = times[i].From(since[i])
	}
	return stringCommand(engine.Command{
		Name: "set", Arity: -3, Flags: engine.Write | engine.DenyOOM, Since: "1.0.0",
		Summary: "Stores a string at a key, whatever was there.",
		History: []engine.History{
			{Since: "2.6.12", Change: "Takes `EX`, `PX`, `NX` and `XX`."},
			{Since: "6.0.0", Change: "Takes `KEEPTTL`."},
			{Since: "6.2.0", Change: "Takes `GET`, `EXAT` and `PXAT`."},
			{Since: "7.0.0", Change: "`NX` and `GET` go together."},
			{Since: "8.4.0", Change: "Takes `IFEQ`, `IFNE`, `IFDEQ` and `IFDNE`."},
		},
		Keys: []engine.KeySpec{{
			Begin: engine.At(1), Find: engine.Range(0, 1, 0),
			Access: engine.RW | engine.AccessFlag | engine.Update | engine.VariableFlags,
			Notes:  "Reads the value only with `GET` or when it compares it",
		}},
		KeysFn: setKeys, Run: setCmd,
	}, 0, engine.Key("key", 0), engine.Str("value"),
		engine.OneOf("condition", conditions...).Opt().From("2.6.12"),
		engine.Tok("get").Opt().From("6.2.0"),
		engine.OneOf("expiration", append(times, engine.Tok("keepttl").From("6.0.0"))...).Opt())
}

func stringSetCommands() []*engine.Command {
	key, value := engine.Key("key", 0), engine.Str("value")
	return []*engine.Command{
		setCommand(),
		stringCommand(engine.Command{
			Name: "setnx", Arity: 3, Flags: engine.Write | engine.DenyOOM | engine.Fast, Since: "1.0.0",
			Summary: "Stores a string at a key that does not exist.", Run: setnxCmd,
		}, engine.OW|engine.Insert, key, value),
		stringCommand(engine.Command{
			Name: "setex", Arity: 4, Flags: engine.Write | engine.DenyOOM, Since: "2.0.0",
			Summary: "Stores a string at a key with a time to live in seconds.",
			Run:     func(c *engine.Ctx) { setWithTTL(c, expireEX) },
		}, engine.OW|engine.Update, key, engine.Int("seconds"), value),
		stringCommand(engine.Command{
			Name: "psetex", Arity: 4, Flags: engine.Write | engine.DenyOOM, Since: "2.6.0",
			Summary: "Stores a string at a key with a time to live in milliseconds.",
			Run:     func(c *engine.Ctx) { setWithTTL(c, expirePX) },
		}, engine.OW|engine.Update, key, engine.Int("milliseconds"), value),
		stringCommand(engine.Command{
			Name: "getset", Arity: 3, Flags: engine.Write | engine.DenyOOM | engine.Fast, Since: "1.0.0",
			Summary:  "Stores a string at a key and returns the one before it.",
			DocFlags: []string{"deprecated"}, DeprecatedSince: "6.2.0", ReplacedBy: "`SET` with the `!GET` argument",
			Run: getsetCmd,
		}, engine.RW|engine.AccessFlag|engine.Update, key, value),
		stringCommand(engine.Command{
			Name: "getdel", Arity: 2, Flags: engine.Write | engine.Fast, Since: "6.2.0",
			Summary: "Returns the string at a key and deletes the key.", Run: getdelCmd,
		}, engine.RW|engine.AccessFlag|engine.Delete, key),
		stringCommand(engine.Command{
			Name: "getex", Arity: -2, Flags: engine.Write | engine.Fast, Since: "6.2.0",
			Summary: "Returns the string at a key and changes the key's time to live.",
			Keys: []engine.KeySpec{{
				Begin: engine.At(1), Find: engine.Range(0, 1, 0), Access: engine.RW | engine.AccessFlag | engine.Update,
				Notes: "Updates the time to live, not the value",
			}},
			Run: getexCmd,
		}, 0, key, engine.OneOf("expiration", append(timeArgs(), engine.Tok("persist"))...).Opt()),
	}
}

// setKeys says how SET uses its key: it reads it only with GET or when it compares the value.
func setKeys(argv [][]byte) ([]engine.KeyRef, error) {
	access := engine.OW | engine.Update
	for _, arg := range argv[min(3, len(argv)):] {
		if is(arg, "get") || compareToken(arg) != always {
			access = engine.RW | engine.AccessFlag | engine.Update
		}
	}
	return []engine.KeyRef{{Pos: 1, Access: access}}, nil
}

func setCmd(c *engine.Ctx) {
	var o writeOptions
	if !o.parse(c, c.Args[3:], allowExists|allowCompare|allowGet|allowKeep) {
		return
	}
	if deadline, ok := o.deadline(c); ok && validOperand(c, o.cond, o.operand) {
		set(c, &o, c.Args[2], deadline)
	}
}

// set is SET after its options have been read.
func set(c *engine.Ctx, o *writeOptions, value []byte, deadline int64) {
	key := c.Args[1]
	if o.get && !replyString(c, key) {
		return
	}
	if o.cond != always || o.past(c, deadline) {
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
		if o.past(c, deadline) {
			if e.Exists() {
				deleteKey(c, key)
			}
			okUnless(c, o.get)
			return
		}
	}
	store(c, key, value, deadline)
	if !o.plain() {
		propagateSet(c, key, value, deadline)
	}
	okUnless(c, o.get)
}

// okUnless answers OK unless there is an answer already.
func okUnless(c *engine.Ctx, answered bool) {
	if !answered {
		c.OK()
	}
}

// store sets the string at key and announces it; deadline is in unix ms, 0 or keyspace.KeepTTL.
func store(c *engine.Ctx, key, value []byte, deadline int64) {
	c.DB.Set(key, object.StringValue(value), deadline)
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

// setWithTTL is SETEX and PSETEX.
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
