package command

import (
	"slices"

	"godwit/internal/engine"
	"godwit/internal/object"
)

// stringCommands are the entries of all string commands; each part stands beside its handlers.
func stringCommands() []*engine.Command {
	return slices.Concat(stringReadCommands(), stringRangeCommands(), stringSetCommands(), stringMultiCommands(),
		stringIncrCommands(), stringCompareCommands(), []*engine.Command{increxCommand(), lcsCommand()})
}

// stringCommand is entry for the string commands.
func stringCommand(cmd engine.Command, access engine.Access, args ...engine.Arg) *engine.Command {
	return entry(engine.GroupString, cmd, access, args...)
}

func stringReadCommands() []*engine.Command {
	key := engine.Key("key", 0)
	return []*engine.Command{
		stringCommand(engine.Command{
			Name: "get", Arity: 2, Flags: engine.ReadOnly | engine.Fast, Since: "1.0.0",
			Summary: "Returns the string at a key.", Run: getCmd,
		}, engine.RO|engine.AccessFlag, key),
		stringCommand(engine.Command{
			Name: "strlen", Arity: 2, Flags: engine.ReadOnly | engine.Fast, Since: "2.2.0",
			Summary: "Returns how many bytes the string at a key has.", Run: strlenCmd,
		}, engine.RO, key),
		stringCommand(engine.Command{
			Name: "mget", Arity: -2, Flags: engine.ReadOnly | engine.Fast, Since: "1.0.0",
			Summary: "Returns the strings at several keys at once.", Complexity: "O(N) in the number N of keys",
			Tips: []string{"request_policy:multi_shard"},
			Keys: []engine.KeySpec{keysFrom(1, engine.RO|engine.AccessFlag)}, Run: mgetCmd,
		}, 0, key.Many()),
	}
}

// bulkString answers with the string of e, which must be one.
func bulkString(c *engine.Ctx, e object.Entry) {
	if e.Encoding() == object.EncInt {
		c.BulkInt(e.Int())
		return
	}
	var scratch [24]byte
	c.Bulk(c.DB.StringBytes(e, &scratch))
}

// replyString answers with the string at key, null when there is none, and reports false after a WRONGTYPE.
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
	c.Array(len(c.Args) - 1)
	for _, key := range c.Args[1:] {
		if e := c.DB.LookupRead(key); e.Exists() && e.Type() == object.String {
			bulkString(c, e)
		} else {
			c.Null()
		}
	}
}
