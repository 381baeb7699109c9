package command

import (
	"math"

	"godwit/internal/engine"
	"godwit/internal/object"
)

func waitCommands() []*engine.Command {
	return []*engine.Command{{
		Name: "waitaof", Arity: 4, Flags: engine.Blocking, Group: engine.GroupGeneric, Since: "7.2.0",
		Summary:    "Waits until what the connection has written is in the append-only file on disk, here and on replicas.",
		Complexity: "O(1)",
		Categories: []string{"connection"},
		Tips:       []string{"request_policy:all_shards", "response_policy:agg_min"},
		Args:       []engine.Arg{engine.Int("numlocal"), engine.Int("numreplicas"), engine.Int("timeout")},
		Run:        waitaofCmd,
	}}
}

// waitaofCmd replies how many have the client's writes on disk: itself (0 or 1) and replicas, of which there are none.
func waitaofCmd(c *engine.Ctx) {
	local, ok := object.ParseInt(c.Args[1])
	switch {
	case !ok:
		c.Err(engine.ErrNotInteger)
		return
	case local < 0 || local > 1:
		c.Err("ERR value is out of range, value must between 0 and 1")
		return
	}
	replicas, ok := object.ParseInt(c.Args[2])
	if !ok || replicas < 0 {
		c.Err("ERR value is out of range, must be positive")
		return
	}
	ms, ok := timeoutArg(c, c.Args[3])
	if !ok {
		return
	}
	if ms > math.MaxInt64-c.E.Steady() {
		c.Err("ERR timeout is out of range")
		return
	}
	if local > 0 && !c.E.LogOn() {
		c.Err("ERR WAITAOF cannot be used when numlocal is set but appendonly is disabled.")
		return
	}
	if replicas == 0 && (local == 0 || c.E.LogSynced(c.Client)) || !c.MayBlock() {
		replySynced(c)
		return
	}
	deadline := int64(0)
	if ms > 0 {
		deadline = c.E.Steady() + ms
	}
	c.BlockUntilSynced(replicas > 0, deadline, replySynced)
}

func replySynced(c *engine.Ctx) {
	c.Array(2)
	local := int64(0)
	if c.E.LogSynced(c.Client) {
		local = 1
	}
	c.Int(local)
	c.Int(0)
}
