package spec

var _ = family(GroupModule, throttleCommands)

// throttleCommands are the commands of the module redis-cell.
var throttleCommands = []*Command{
	{
		Name: "cl.throttle", Arity: -5, Flags: Write | DenyOOM | Fast, Since: "1.0.0",
		Summary: "Takes tokens from a rate limit and returns whether the request is allowed.",
		Keys:    []KeySpec{keyAt(1, RW|AccessFlag|Update)},
		Args: []Arg{
			Key("key", 0), Int("max-burst"), Int("count"), Int("period"), Int("quantity").Opt(),
		},
	},
}
