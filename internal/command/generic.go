package command

import (
	"godwit/internal/engine"
	"godwit/internal/keyspace"
	"godwit/internal/object"
)

var _ = family(genericHandlers)

func genericHandlers() engine.Handlers {
	return engine.Handlers{
		"del":             func(c *engine.Ctx) { deleteKeys(c, c.DB.Delete) },
		"unlink":          func(c *engine.Ctx) { deleteKeys(c, c.DB.Unlink) },
		"exists":          func(c *engine.Ctx) { countKeys(c, c.DB.Query) },
		"touch":           touchCmd,
		"type":            typeCmd,
		"rename":          func(c *engine.Ctx) { rename(c, false) },
		"renamenx":        func(c *engine.Ctx) { rename(c, true) },
		"copy":            copyCmd,
		"move":            moveCmd,
		"randomkey":       randomkeyCmd,
		"swapdb":          swapdbCmd,
		"dbsize":          func(c *engine.Ctx) { c.Int(int64(c.DB.Shown())) },
		"flushdb":         func(c *engine.Ctx) { flush(c, c.DB) },
		"flushall":        flushallCmd,
		"object|encoding": objectEncodingCmd,
		"object|freq":     objectFreqCmd,
		"object|idletime": objectIdletimeCmd,
		"object|refcount": objectRefcountCmd,
		"object|help":     helpOf(objectHelp...),
	}
}

// objectHelp lists the lines of OBJECT HELP.
var objectHelp = []string{
	"ENCODING <key>",
	"    How the value of <key> is stored.",
	"FREQ <key>",
	"    The logarithmic counter of recent uses of <key>, under an LFU policy.",
	"IDLETIME <key>",
	"    Seconds since <key> was last used, under an LRU policy.",
	"REFCOUNT <key>",
	"    The number of references to the value of <key>.",
}

func touchCmd(c *engine.Ctx) {
	c.E.KS.NoTouch = false // TOUCH touches even under CLIENT NO-TOUCH.
	countKeys(c, c.DB.LookupRead)
}

func flushallCmd(c *engine.Ctx) {
	all := make([]*keyspace.DB, c.E.KS.Databases())
	for i := range all {
		all[i] = c.E.KS.DB(i)
	}
	if flush(c, all...) && c.E.Flushed() {
		c.Saved()
	}
}

func deleteKeys(c *engine.Ctx, del func(key []byte) bool) {
	n, keys := 0, c.Args[1:]
	ahead := c.DB.Lookahead(keys, 1)
	for i, k := range keys {
		ahead.Reach(i)
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
	n, keys := 0, c.Args[1:]
	ahead := c.DB.Lookahead(keys, 1)
	for i, k := range keys {
		ahead.Reach(i)
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
		was := c.DB.TypeAt(dst)
		c.DB.Rename(src, dst)
		c.Changed(src)
		c.Changed(dst)
		c.Notify(keyspace.EvGeneric, "rename_from", src)
		c.Notify(keyspace.EvGeneric, "rename_to", dst)
		c.DB.Overwritten(dst, was, c.DB.TypeAt(dst))
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
	was := to.TypeAt(dst)
	c.DB.Copy(c.DB.Peek(src), to, dst)
	c.ChangedIn(to, dst)
	c.E.KS.Notify(keyspace.EvGeneric, "copy_to", dst, to.ID())
	to.Overwritten(dst, was, to.TypeAt(dst))
	c.Dirty(1)
	c.Int(1)
}

// oneDatabase reports whether the server is a node of a cluster that has one database, as those of
// Redis have.
func oneDatabase(c *engine.Ctx) bool { return c.E.ClusterEnabled() && c.E.KS.Databases() == 1 }

func moveCmd(c *engine.Ctx) {
	replace := len(c.Args) == 4 && is(c.Args[3], "replace")
	if len(c.Args) > 3 && !replace {
		c.Err(errArity(c))
		return
	}
	if oneDatabase(c) {
		c.Err("ERR MOVE is not allowed in cluster mode")
		return
	}
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
	if !c.DB.Lookup(key).Exists() || to.Lookup(key).Exists() && !replace {
		c.Int(0)
		return
	}
	was := to.TypeAt(key)
	c.DB.MoveTo(key, to)
	c.Changed(key)
	c.ChangedIn(to, key)
	c.Notify(keyspace.EvGeneric, "move_from", key)
	c.E.KS.Notify(keyspace.EvGeneric, "move_to", key, to.ID())
	to.Overwritten(key, was, to.TypeAt(key))
	c.Dirty(1)
	c.Int(1)
	if replace {
		c.PropagateIn(to.ID(), wordDel, key)
		c.PropagateEach(c.Args[:3]...)
	}
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
	if c.E.ClusterEnabled() {
		c.Err("ERR SWAPDB is not allowed in cluster mode")
		return
	}
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

// flush empties databases: SYNC at once, ASYNC in the background, and without either as
// lazyfree-lazy-user-flush says. It reports whether the arguments were valid.
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
	if !c.FlushOwn(dbs) {
		for _, db := range dbs {
			c.Dirty(c.E.FlushDB(db, async))
		}
	}
	c.E.InvalidateAll()
	c.OK()
	return true
}

// objectEntry finds the key of an OBJECT subcommand. It replies with null if the key is missing.
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
		c.Err("ERR An LFU maxmemory policy is not selected, access frequency not tracked. Please " +
			"note that when switching between policies at runtime LRU and LFU data will take " +
			"some time to adjust.")
	default:
		c.Int(int64(c.E.KS.Freq(e)))
	}
}

func objectIdletimeCmd(c *engine.Ctx) {
	e, ok := objectEntry(c)
	switch {
	case !ok:
	case c.E.KS.LFU():
		c.Err("ERR An LFU maxmemory policy is selected, idle time not tracked. Please note that " +
			"when switching between policies at runtime LRU and LFU data will take some time to " +
			"adjust.")
	default:
		c.Int(c.E.KS.IdleSeconds(e))
	}
}
