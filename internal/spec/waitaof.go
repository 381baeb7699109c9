package spec

var _ = family(GroupGeneric, waitCommands)

// waitCommands wait until writes are durable.
var waitCommands = []*Command{
	{
		Name: "waitaof", Arity: 4, Flags: Blocking, Since: "7.2.0",
		Categories: []string{"connection"},
		Summary: "Blocks until the connection's writes are synced to the append-only file, here " +
			"and on replicas.",
		Tips: []string{"request_policy:all_shards", "response_policy:agg_min"},
		Args: []Arg{Int("numlocal"), Int("numreplicas"), Int("timeout")},
	},
}
