package command

import (
	"math"

	"godwit/internal/engine"
	"godwit/internal/object"
)

var _ = family(waitHandlers)

func waitHandlers() engine.Handlers {
	return engine.Handlers{
		"wait":    waitCmd,
		"waitaof": waitaofCmd,
	}
}

// The replies of WAIT and WAITAOF on a replica.
const (
	errWaitOnReplica = "ERR WAIT cannot be used with replica instances. Please also note that " +
		"since Redis 4.0 if a replica is configured to be writable (which is not the default) " +
		"writes to replicas are just local and are not propagated."
	errWaitAOFOnReplica = "ERR WAITAOF cannot be used with replica instances. Please also note " +
		"that writes to replicas are just local and are not propagated."
)

// waitCmd replies with the number of replicas that have what the client has written. It waits until
// there are as many as it asks for, or the time is up.
func waitCmd(c *engine.Ctx) {
	if c.E.IsReplica() {
		c.Err(errWaitOnReplica)
		return
	}
	replicas, ok := intArg(c, c.Args[1])
	if !ok {
		return
	}
	ms, ok := timeoutArg(c, c.Args[2])
	if !ok {
		return
	}
	if n := c.E.AckedBy(c.Client, false); n >= replicas || !c.MayBlock() {
		c.Int(n)
		return
	}
	c.BlockUntilAcked(false, waitDeadline(c, ms), func(c *engine.Ctx) {
		c.Int(c.E.AckedBy(c.Client, false))
	})
}

// waitDeadline returns when a wait of so many ms ends, by the steady clock; 0 for never.
func waitDeadline(c *engine.Ctx, ms int64) int64 {
	if ms == 0 {
		return 0
	}
	return c.E.Steady() + min(ms, math.MaxInt64-c.E.Steady())
}

// waitaofCmd replies with two numbers: 1 if this server has the client's writes on disk, else 0,
// and the number of replicas that have.
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
	switch {
	case !ok:
		return
	case ms > math.MaxInt64-c.E.Steady():
		c.Err("ERR timeout is out of range")
		return
	case c.E.IsReplica():
		c.Err(errWaitAOFOnReplica)
		return
	case local > 0 && !c.E.LogOn():
		c.Err("ERR WAITAOF cannot be used when numlocal is set but appendonly is disabled.")
		return
	}
	here := local == 0 || c.E.LogSynced(c.Client)
	there := c.E.AckedBy(c.Client, true) >= replicas
	switch {
	case here && there || !c.MayBlock():
		replySynced(c)
	case replicas == 0:
		c.BlockUntilSynced(waitDeadline(c, ms), replySynced)
	default:
		c.BlockUntilAcked(!here, waitDeadline(c, ms), replySynced)
	}
}

func replySynced(c *engine.Ctx) {
	c.Array(2)
	local := int64(0)
	if c.E.LogSynced(c.Client) {
		local = 1
	}
	c.Int(local)
	c.Int(c.E.AckedBy(c.Client, true))
}
