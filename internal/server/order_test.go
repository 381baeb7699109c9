package server

import (
	"strconv"

	"godwit/internal/engine"
	"godwit/internal/pubsub"
)

// orderCommands are commands about other clients.
func orderCommands() []*engine.Command {
	cmd := func(name string, flags engine.Flag, run func(*engine.Ctx)) *engine.Command {
		return &engine.Command{
			Name: name, Arity: 2, Flags: flags, Group: engine.GroupConnection, Since: "1",
			Summary: "test", Run: run,
		}
	}
	unblock := func(withError bool) func(c *engine.Ctx) {
		return func(c *engine.Ctx) {
			id, _ := strconv.ParseUint(string(c.Args[1]), 10, 64)
			c.E.Unblock(id, withError)
			c.OK()
		}
	}
	see := cmd("see", engine.ReadOnly, func(c *engine.Ctx) { c.OK() })
	see.Keys = []engine.KeySpec{{
		Begin: engine.At(1), Find: engine.Range(0, 1, 0), Access: engine.RO | engine.AccessFlag,
	}}
	see.Args = []engine.Arg{engine.Key("key", 0)}
	return []*engine.Command{
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
