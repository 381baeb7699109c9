package command

import (
	"math"

	"godwit/internal/engine"
	"godwit/internal/object"
)

var _ = family(waitHandlers)

func waitHandlers() engine.Handlers {
	return engine.Handlers{
		"waitaof": waitaofCmd,
	}
}

// waitaofCmd replies with two numbers: 1 if this server has the client's writes on disk, else 0,
// and the number of replicas that have. There are no replicas, so the second is 0.
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
