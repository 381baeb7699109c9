package command

import "godwit/internal/engine"

const transactionFlags = engine.NoScript | engine.Loading | engine.Stale

func transactionCommands() []*engine.Command {
	const fast = transactionFlags | engine.Fast | engine.AllowBusy
	entry := func(c engine.Command) *engine.Command {
		c.Group = engine.GroupTransactions
		return &c
	}
	return []*engine.Command{
		entry(engine.Command{
			Name: "multi", Arity: 1, Flags: fast | engine.InMulti, Since: "1.2.0",
			Summary: "Begins a transaction: commands are queued from here on.", Complexity: "O(1)",
			Run: multiCmd,
		}),
		entry(engine.Command{
			Name: "exec", Arity: 1, Flags: transactionFlags | engine.SkipSlowlog | engine.LeavesMulti | engine.RunsQueue, Since: "1.2.0",
			Summary: "Runs the queued commands, and nothing in between.", Complexity: "Depends on the queued commands",
			Run: execCmd,
		}),
		entry(engine.Command{
			Name: "discard", Arity: 1, Flags: fast | engine.LeavesMulti, Since: "2.0.0",
			Summary: "Drops the queued commands and ends the transaction.", Complexity: "O(N) in the number of queued commands",
			Run: discardCmd,
		}),
		entry(engine.Command{
			Name: "watch", Arity: -2, Flags: fast | engine.InMulti, Since: "2.2.0",
			Summary: "Has the next transaction run only if the keys do not change before it.", Complexity: "O(1) for each key",
			Keys: []engine.KeySpec{{Begin: engine.At(1), Find: engine.Range(-1, 1, 0), Access: engine.RO}},
			Args: []engine.Arg{engine.Key("key", 0).Many()},
			Run:  watchCmd,
		}),
		entry(engine.Command{
			Name: "unwatch", Arity: 1, Flags: fast, Since: "2.2.0",
			Summary: "Forgets the watched keys, and whether they have changed.", Complexity: "O(N) in the number of watched keys",
			Run: func(c *engine.Ctx) {
				c.E.Unwatch(c.Client)
				c.OK()
			},
		}),
	}
}

func multiCmd(c *engine.Ctx) {
	if c.Client.InMulti() {
		c.Err("ERR MULTI calls can not be nested")
		return
	}
	c.E.BeginMulti(c.Client)
	c.OK()
}

func execCmd(c *engine.Ctx) {
	if !c.Client.InMulti() {
		c.Err("ERR EXEC without MULTI")
		return
	}
	c.ExecMulti()
}

func discardCmd(c *engine.Ctx) {
	if !c.Client.InMulti() {
		c.Err("ERR DISCARD without MULTI")
		return
	}
	c.E.Discard(c.Client)
	c.OK()
}

func watchCmd(c *engine.Ctx) {
	if c.Client.InMulti() {
		c.Err("ERR WATCH inside MULTI is not allowed")
		return
	}
	for _, key := range c.Args[1:] {
		c.E.Watch(c.Client, key)
	}
	c.OK()
}
