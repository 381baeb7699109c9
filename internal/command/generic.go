package command

import (
	"slices"

	"godwit/internal/engine"
	"godwit/internal/keyspace"
	"godwit/internal/object"
)

var (
	tipsAggSum    = []string{"request_policy:multi_shard", "response_policy:agg_sum"}
	tipsAllShards = []string{"request_policy:all_shards", "response_policy:all_succeeded"}
)

func genericCommands() []*engine.Command {
	return slices.Concat(keyCommands(), nameCommands(), databaseCommands(), []*engine.Command{objectCommand(), waitCommand()})
}

func keyCommands() []*engine.Command {
	return []*engine.Command{
		{
			Name: "del", Arity: -2, Flags: engine.Write, Group: engine.GroupGeneric, Since: "1.0.0",
			Summary: "Deletes keys.", Complexity: "O(N) in the number of keys; big values are freed in slices",
			Tips: tipsAggSum,
			Keys: []engine.KeySpec{keysFrom(1, engine.RM|engine.Delete)},
			Args: []engine.Arg{engine.Key("key", 0).Many()},
			Run:  func(c *engine.Ctx) { deleteKeys(c, c.DB.Delete) },
		},
		{
			Name: "unlink", Arity: -2, Flags: engine.Write | engine.Fast, Group: engine.GroupGeneric, Since: "4.0.0",
			Summary: "Deletes keys and leaves freeing their memory to the background.", Complexity: "O(1) a key",
			Tips: tipsAggSum,
			Keys: []engine.KeySpec{keysFrom(1, engine.RM|engine.Delete)},
			Args: []engine.Arg{engine.Key("key", 0).Many()},
			Run:  func(c *engine.Ctx) { deleteKeys(c, c.DB.Unlink) },
		},
		{
			Name: "exists", Arity: -2, Flags: engine.ReadOnly | engine.Fast, Group: engine.GroupGeneric, Since: "1.0.0",
			Summary: "Counts how many of the keys exist.", Complexity: "O(N) in the number of keys",
			History: []engine.History{{Since: "3.0.3", Change: "Takes several keys."}},
			Tips:    tipsAggSum,
			Keys:    []engine.KeySpec{keysFrom(1, engine.RO)},
			Args:    []engine.Arg{engine.Key("key", 0).Many()},
			Run:     func(c *engine.Ctx) { countKeys(c, c.DB.Query) },
		},
		{
			Name: "touch", Arity: -2, Flags: engine.ReadOnly | engine.Fast, Group: engine.GroupGeneric, Since: "3.2.1",
			Summary: "Marks keys as just used and counts those that exist.", Complexity: "O(N) in the number of keys",
			Tips: tipsAggSum,
			Keys: []engine.KeySpec{keysFrom(1, engine.RO)},
			Args: []engine.Arg{engine.Key("key", 0).Many()},
			Run: func(c *engine.Ctx) {
				c.E.KS.NoTouch = false // what is asked for outright is done under CLIENT NO-TOUCH too
				countKeys(c, c.DB.LookupRead)
			},
		},
		{
			Name: "type", Arity: 2, Flags: engine.ReadOnly | engine.Fast, Group: engine.GroupGeneric, Since: "1.0.0",
			Summary: "Names the type of a key's value.", Complexity: "O(1)",
			Keys: []engine.KeySpec{keyAt(1, engine.RO)},
			Args: []engine.Arg{engine.Key("key", 0)},
			Run:  typeCmd,
		},
	}
}

// nameCommands are those that give values other names.
func nameCommands() []*engine.Command {
	return []*engine.Command{
		{
			Name: "rename", Arity: 3, Flags: engine.Write, Group: engine.GroupGeneric, Since: "1.0.0",
			Summary: "Renames a key, replacing the new name's value.", Complexity: "O(1)",
			Keys: []engine.KeySpec{keyAt(1, engine.RW|engine.AccessFlag|engine.Delete), keyAt(2, engine.OW|engine.Update)},
			Args: []engine.Arg{engine.Key("key", 0), engine.Key("newkey", 1)},
			Run:  func(c *engine.Ctx) { rename(c, false) },
		},
		{
			Name: "renamenx", Arity: 3, Flags: engine.Write | engine.Fast, Group: engine.GroupGeneric, Since: "1.0.0",
			Summary: "Renames a key unless the new name is taken.", Complexity: "O(1)",
			History: []engine.History{{Since: "3.2.0", Change: "Equal names are no error any more."}},
			Keys:    []engine.KeySpec{keyAt(1, engine.RW|engine.AccessFlag|engine.Delete), keyAt(2, engine.OW|engine.Insert)},
			Args:    []engine.Arg{engine.Key("key", 0), engine.Key("newkey", 1)},
			Run:     func(c *engine.Ctx) { rename(c, true) },
		},
		{
			Name: "copy", Arity: -3, Flags: engine.Write | engine.DenyOOM, Group: engine.GroupGeneric, Since: "6.2.0",
			Summary: "Copies a value to another key.", Complexity: "O(1) for a string, O(N) in the number of elements otherwise",
			Keys: []engine.KeySpec{keyAt(1, engine.RO|engine.AccessFlag), keyAt(2, engine.OW|engine.Update)},
			Args: []engine.Arg{engine.Key("source", 0), engine.Key("destination", 1),
				engine.Int("destination-db").Tokened("DB").Opt(), engine.Tok("replace").Opt()},
			Run: copyCmd,
		},
		{
			Name: "move", Arity: 3, Flags: engine.Write | engine.Fast, Group: engine.GroupGeneric, Since: "1.0.0",
			Summary: "Moves a key to another database.", Complexity: "O(1)",
			Keys: []engine.KeySpec{keyAt(1, engine.RW|engine.AccessFlag|engine.Update)},
			Args: []engine.Arg{engine.Key("key", 0), engine.Int("db")},
			Run:  moveCmd,
		},
		{
			Name: "randomkey", Arity: 1, Flags: engine.ReadOnly, Group: engine.GroupGeneric, Since: "1.0.0",
			Summary: "Names a key chosen at random.", Complexity: "O(1)",
			Tips: []string{"request_policy:all_shards", "nondeterministic_output"},
			Run:  randomkeyCmd,
		},
	}
}

func databaseCommands() []*engine.Command {
	flushArgs := []engine.Arg{engine.OneOf("async", engine.Tok("async").From("4.0.0"), engine.Tok("sync").From("6.2.0")).Opt()}
	flushHistory := []engine.History{{Since: "4.0.0", Change: "Takes `ASYNC`."}, {Since: "6.2.0", Change: "Takes `SYNC`."}}
	return []*engine.Command{
		{
			Name: "swapdb", Arity: 3, Flags: engine.Write | engine.Fast, Group: engine.GroupServer, Since: "4.0.0",
			Summary: "Exchanges two databases.", Complexity: "O(N) in the number of clients that watch or wait for keys of either",
			Categories: []string{"keyspace", "dangerous"},
			Args:       []engine.Arg{engine.Int("index1"), engine.Int("index2")},
			Run:        swapdbCmd,
		},
		{
			Name: "dbsize", Arity: 1, Flags: engine.ReadOnly | engine.Fast, Group: engine.GroupServer, Since: "1.0.0",
			Summary: "Counts the keys of the selected database.", Complexity: "O(1)",
			Categories: []string{"keyspace"},
			Tips:       []string{"request_policy:all_shards", "response_policy:agg_sum"},
			Run:        func(c *engine.Ctx) { c.Int(int64(c.DB.Len())) },
		},
		{
			Name: "flushdb", Arity: -1, Flags: engine.Write, Group: engine.GroupServer, Since: "1.0.0",
			Summary: "Removes all keys of the selected database.", Complexity: "O(N) in the number of its keys",
			Categories: []string{"keyspace", "dangerous"}, History: flushHistory, Tips: tipsAllShards, Args: flushArgs,
			Run: func(c *engine.Ctx) { flush(c, c.DB) },
		},
		{
			Name: "flushall", Arity: -1, Flags: engine.Write, Group: engine.GroupServer, Since: "1.0.0",
			Summary: "Removes all keys of all databases.", Complexity: "O(N) in the number of keys",
			Categories: []string{"keyspace", "dangerous"}, History: flushHistory, Tips: tipsAllShards, Args: flushArgs,
			Run: func(c *engine.Ctx) {
				all := make([]*keyspace.DB, c.E.KS.Databases())
				for i := range all {
					all[i] = c.E.KS.DB(i)
				}
				if flush(c, all...) && c.E.Flushed() {
					c.Saved()
				}
			},
		},
	}
}

func deleteKeys(c *engine.Ctx, del func(key []byte) bool) {
	n := 0
	for _, k := range c.Args[1:] {
		if del(k) {
			n++
			c.Changed(k)
			c.Notify(keyspace.EvGeneric, "del", k)
		}
	}
	c.Dirty(n)
	c.Int(int64(n))
}

func countKeys(c *engine.Ctx, find func(key []byte) object.Entry) {
	n := 0
	for _, k := range c.Args[1:] {
		if find(k).Exists() {
			n++
		}
	}
	c.Int(int64(n))
}

func typeCmd(c *engine.Ctx) {
	e := c.DB.Query(c.Args[1])
	if !e.Exists() {
		c.Simple("none")
		return
	}
	c.Simple(e.Type().String())
}

func rename(c *engine.Ctx, nx bool) {
	src, dst := c.Args[1], c.Args[2]
	if !c.DB.Lookup(src).Exists() {
		c.Err(engine.ErrNoSuchKey)
		return
	}
	same := string(src) == string(dst)
	if nx && (same || c.DB.Lookup(dst).Exists()) {
		c.Int(0)
		return
	}
	if !same {
		c.DB.Rename(src, dst)
		c.Changed(src)
		c.Changed(dst)
		c.Notify(keyspace.EvGeneric, "rename_from", src)
		c.Notify(keyspace.EvGeneric, "rename_to", dst)
		c.Dirty(1)
	}
	if nx {
		c.Int(1)
		return
	}
	c.OK()
}

func copyCmd(c *engine.Ctx) {
	src, dst := c.Args[1], c.Args[2]
	to, replace := c.DB, false
	for i := 3; i < len(c.Args); i++ {
		switch {
		case is(c.Args[i], "replace"):
			replace = true
		case is(c.Args[i], "db") && i+1 < len(c.Args):
			n, ok := dbArg(c, c.Args[i+1])
			if !ok {
				return
			}
			to = c.E.KS.DB(n)
			i++
		default:
			c.Err(engine.ErrSyntax)
			return
		}
	}
	if to == c.DB && string(src) == string(dst) {
		c.Err(engine.ErrSameObject)
		return
	}
	e := c.DB.LookupRead(src)
	if !e.Exists() {
		c.Int(0)
		return
	}
	if to.Lookup(dst).Exists() && !replace {
		c.Int(0)
		return
	}
	c.DB.Copy(c.DB.Peek(src), to, dst)
	c.ChangedIn(to, dst)
	c.E.KS.Notify(keyspace.EvGeneric, "copy_to", dst, to.ID())
	c.Dirty(1)
	c.Int(1)
}

func moveCmd(c *engine.Ctx) {
	n, ok := dbArg(c, c.Args[2])
	if !ok {
		return
	}
	to := c.E.KS.DB(n)
	if to == c.DB {
		c.Err(engine.ErrSameObject)
		return
	}
	key := c.Args[1]
	if !c.DB.Lookup(key).Exists() || to.Lookup(key).Exists() {
		c.Int(0)
		return
	}
	c.DB.MoveTo(key, to)
	c.Changed(key)
	c.ChangedIn(to, key)
	c.Notify(keyspace.EvGeneric, "move_from", key)
	c.E.KS.Notify(keyspace.EvGeneric, "move_to", key, to.ID())
	c.Dirty(1)
	c.Int(1)
}

func randomkeyCmd(c *engine.Ctx) {
	e := c.DB.Random()
	if !e.Exists() {
		c.Null()
		return
	}
	c.Bulk(e.Key())
}

func swapdbCmd(c *engine.Ctx) {
	i, ok := object.ParseInt(c.Args[1])
	if !ok || i != int64(int32(i)) {
		c.Err("ERR invalid first DB index")
		return
	}
	j, ok := object.ParseInt(c.Args[2])
	if !ok || j != int64(int32(j)) {
		c.Err("ERR invalid second DB index")
		return
	}
	if n := int64(c.E.KS.Databases()); i < 0 || j < 0 || i >= n || j >= n {
		c.Err(engine.ErrDBIndex)
		return
	}
	c.E.SwapDBs(int(i), int(j))
	c.Dirty(1)
	c.OK()
}

// flush empties databases: SYNC now, ASYNC in the background, neither as lazyfree-lazy-user-flush says. It reports whether it has.
func flush(c *engine.Ctx, dbs ...*keyspace.DB) bool {
	async := c.E.KS.P.LazyUserFlush
	switch {
	case len(c.Args) == 1:
	case len(c.Args) == 2 && is(c.Args[1], "async"):
		async = true
	case len(c.Args) == 2 && is(c.Args[1], "sync"):
		async = false
	default:
		c.Err(engine.ErrSyntax)
		return false
	}
	for _, db := range dbs {
		c.Dirty(c.E.FlushDB(db, async))
	}
	c.E.InvalidateAll()
	c.OK()
	return true
}

func objectCommand() *engine.Command {
	sub := func(name, since, summary string, tips []string, run func(c *engine.Ctx)) *engine.Command {
		return &engine.Command{
			Name: name, Arity: 3, Flags: engine.ReadOnly, Group: engine.GroupGeneric, Since: since,
			Summary: summary, Complexity: "O(1)", Tips: tips,
			Keys: []engine.KeySpec{keyAt(2, engine.RO)},
			Args: []engine.Arg{engine.Key("key", 0)},
			Run:  run,
		}
	}
	tips := []string{"nondeterministic_output"}
	return &engine.Command{
		Name: "object", Arity: -2, Group: engine.GroupGeneric, Since: "2.2.3",
		Summary: "Looks into how a value is kept.", Complexity: "Depends on the subcommand.",
		Sub: []*engine.Command{
			sub("encoding", "2.2.3", "Names the encoding of a value.", tips, objectEncodingCmd),
			sub("freq", "4.0.0", "Shows the access counter of a key under an LFU policy.", tips, objectFreqCmd),
			sub("idletime", "2.2.3", "Shows for how many seconds a key was not used.", tips, objectIdletimeCmd),
			sub("refcount", "2.2.3", "Shows the reference count of a value: always 1.", tips, objectRefcountCmd),
			helpSub(engine.GroupGeneric, "6.2.0",
				"ENCODING <key>", "    How the value of <key> is stored.",
				"FREQ <key>", "    The logarithmic counter of recent uses of <key>, under an LFU policy.",
				"IDLETIME <key>", "    Seconds since <key> was last used, under an LRU policy.",
				"REFCOUNT <key>", "    The number of references to the value of <key>."),
		},
	}
}

// objectEntry finds the key of an OBJECT subcommand; a missing one is answered with null.
func objectEntry(c *engine.Ctx) (object.Entry, bool) {
	e := c.DB.Inspect(c.Args[2])
	if !e.Exists() {
		c.Null()
	}
	return e, e.Exists()
}

func objectEncodingCmd(c *engine.Ctx) {
	if e, ok := objectEntry(c); ok {
		c.BulkString(e.Encoding().String())
	}
}

func objectRefcountCmd(c *engine.Ctx) {
	if _, ok := objectEntry(c); ok {
		c.Int(1)
	}
}

func objectFreqCmd(c *engine.Ctx) {
	e, ok := objectEntry(c)
	switch {
	case !ok:
	case !c.E.KS.LFU():
		c.Err("ERR An LFU maxmemory policy is not selected, access frequency not tracked. Please note that when switching between policies at runtime LRU and LFU data will take some time to adjust.")
	default:
		c.Int(int64(c.E.KS.Freq(e)))
	}
}

func objectIdletimeCmd(c *engine.Ctx) {
	e, ok := objectEntry(c)
	switch {
	case !ok:
	case c.E.KS.LFU():
		c.Err("ERR An LFU maxmemory policy is selected, idle time not tracked. Please note that when switching between policies at runtime LRU and LFU data will take some time to adjust.")
	default:
		c.Int(c.E.KS.IdleSeconds(e))
	}
}

func waitCommand() *engine.Command {
	return &engine.Command{
		Name: "wait", Arity: 3, Flags: engine.NoScript, Group: engine.GroupGeneric, Since: "3.0.0",
		Summary: "Waits until replicas have confirmed this connection's writes.", Complexity: "O(1)",
		Categories: []string{"connection"}, Tips: []string{"request_policy:all_shards", "response_policy:agg_min"},
		Args: []engine.Arg{engine.Int("numreplicas"), engine.Int("timeout")},
		Run:  waitCmd,
	}
}

// waitCmd answers at once: without replicas there is nothing that waiting could change before the timeout.
func waitCmd(c *engine.Ctx) {
	if _, ok := intArg(c, c.Args[1]); !ok {
		return
	}
	if _, ok := timeoutArg(c, c.Args[2]); ok {
		c.Int(0)
	}
}
