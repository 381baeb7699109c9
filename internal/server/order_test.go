package server

import (
	"strconv"

	"godwit/internal/engine"
	"godwit/internal/pubsub"
	"godwit/internal/spec"
)

// orderCommands returns commands about other clients.
func orderCommands() []testCommand {
	cmd := func(name string, flags spec.Flag, run func(*engine.Ctx)) testCommand {
		return cmd(name, 2, flags, run)
	}
	unblock := func(withError bool) func(c *engine.Ctx) {
		return func(c *engine.Ctx) {
			id, _ := strconv.ParseUint(string(c.Args[1]), 10, 64)
			c.E.Unblock(id, withError)
			c.OK()
		}
	}
	see := cmd("see", spec.ReadOnly, func(c *engine.Ctx) { c.OK() })
	see.Keys = []spec.KeySpec{{
		Begin: spec.At(1), Find: spec.Range(0, 1, 0), Access: spec.RO | spec.AccessFlag,
	}}
	see.Args = []spec.Arg{spec.Key("key", 0)}
	return []testCommand{
		see,
		cmd("unblock", 0, unblock(false)),
		cmd("unblockerror", 0, unblock(true)),
		cmd("listen", 0, func(c *engine.Ctx) {
			c.E.Subscribe(c.Client, pubsub.Channels, c.Args[1])
			c.OK()
		}),
		cmd("tell", 0, func(c *engine.Ctx) {
			c.E.Publish(pubsub.Channels, c.Args[1], []byte("hi"))
			c.OK()
		}),
		cmd("tellshard", 0, func(c *engine.Ctx) {
			c.E.Publish(pubsub.Shards, c.Args[1], []byte("hi"))
			c.OK()
		}),
		cmd("listenshard", 0, func(c *engine.Ctx) {
			c.E.Subscribe(c.Client, pubsub.Shards, c.Args[1])
			c.OK()
		}),
		cmd("track", 0, func(c *engine.Ctx) {
			c.Client.W.Proto = 3
			c.E.Track(c.Client, engine.TrackingMode{}, 0, nil)
			c.OK()
		}),
		cmd("flush", 0, func(c *engine.Ctx) {
			c.E.InvalidateAll()
			c.OK()
		}),
	}
}
