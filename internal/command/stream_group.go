package command

import (
	"strings"

	"godwit/internal/engine"
	"godwit/internal/keyspace"
	"godwit/internal/object"
	"godwit/internal/stream"
)

// xgroupHelp lists the lines of XGROUP HELP.
var xgroupHelp = []string{
	"CREATE <key> <group> (<id>|$) [MKSTREAM] [ENTRIESREAD <count>]",
	"    Make a consumer group that is delivered what follows <id>. MKSTREAM makes the",
	"    stream too, ENTRIESREAD says how many entries it counts as read.",
	"SETID <key> <group> (<id>|$) [ENTRIESREAD <count>]",
	"    Let a group go on behind <id>.",
	"DESTROY <key> <group>",
	"    Delete a group with all that it has pending.",
	"CREATECONSUMER <key> <group> <consumer>",
	"    Make a consumer of a group.",
	"DELCONSUMER <key> <group> <consumer>",
	"    Delete a consumer. What it has pending is not pending any more.",
}

const (
	errGroupNoKey = "ERR The XGROUP subcommand requires the key to exist. Note that for CREATE " +
		"you may want to use the MKSTREAM option to create an empty stream automatically."
	errGroupExists = "BUSYGROUP Consumer Group name already exists"
)

// The most arguments that XGROUP CREATE and SETID have: enough for each option once.
const maxCreateArgs, maxSetIDArgs = 8, 7

// groupOptions are the options of XGROUP CREATE and SETID.
type groupOptions struct {
	makeStream bool
	read       int64
}

// groupOptionsArg reads the options from argument 5 on. MKSTREAM is one of CREATE only. It replies
// with Redis's errors and reports false if they are wrong.
func groupOptionsArg(c *engine.Ctx, create bool) (o groupOptions, ok bool) {
	o.read = stream.ReadUnknown
	for i := 5; i < len(c.Args); i++ {
		switch {
		case create && is(c.Args[i], "mkstream"):
			o.makeStream = true
		case is(c.Args[i], "entriesread") && i+1 < len(c.Args):
			i++
			if o.read, ok = intArg(c, c.Args[i]); !ok {
				return o, false
			}
			if o.read < 0 && o.read != stream.ReadUnknown {
				c.Err("ERR value for ENTRIESREAD must be positive or -1")
				return o, false
			}
		default:
			wrongGroupArgs(c)
			return o, false
		}
	}
	return o, true
}

// wrongGroupArgs replies that an XGROUP has unknown arguments or too many.
func wrongGroupArgs(c *engine.Ctx) {
	c.Err("ERR unknown subcommand or wrong number of arguments for '" + cString(c.Args[1], 128) +
		"'. Try " + strings.ToUpper(string(c.Args[0])) + " HELP.")
}

// readOf returns Group.Read for the stream: it cannot have read more than there ever was.
func (o *groupOptions) readOf(s *stream.Stream) int64 { return min(o.read, int64(s.Added)) }

// openForGroup opens the stream at the key of an XGROUP. It replies with Redis's error and reports
// false if there is none.
func openForGroup(c *engine.Ctx) (x *object.Edit, ok bool) {
	x, ok = openWrite(c, c.Args[2], object.Stream)
	if ok && x == nil {
		c.Err(errGroupNoKey)
		return nil, false
	}
	return x, ok
}

// openGroup opens the stream at the key of an XGROUP, and finds the group. It replies with Redis's
// errors and reports false if one of them is missing.
func openGroup(c *engine.Ctx) (x *object.Edit, g *stream.Group, ok bool) {
	if x, ok = openForGroup(c); !ok {
		return nil, nil, false
	}
	if g = x.Stream().Group(c.Args[3]); g == nil {
		c.Err(errNoGroup(c.Args[3], c.Args[2]))
	}
	return x, g, g != nil
}

func xgroupCreateCmd(c *engine.Ctx) {
	o, ok := groupOptionsArg(c, true)
	if !ok {
		return
	}
	key, name := c.Args[2], c.Args[3]
	x, ok := openWrite(c, key, object.Stream)
	if !ok {
		return
	}
	if x == nil && !o.makeStream {
		c.Err(errGroupNoKey)
		return
	}
	if len(c.Args) > maxCreateArgs {
		wrongGroupArgs(c)
		return
	}
	var last stream.ID
	if !is(c.Args[4], "$") {
		if last, ok = streamIDArg(c, c.Args[4], 0); !ok {
			return
		}
	} else if x != nil {
		last = x.Stream().LastID
	}
	switch {
	case x == nil:
		x = createStream(c, key)
		c.Changed(key)
	case x.Stream().Group(name) != nil:
		c.Err(errGroupExists)
		return
	}
	s := x.ChangingStream()
	s.CreateGroup(name, last, o.readOf(s))
	c.Notify(keyspace.EvStream, "xgroup-create", key)
	c.Dirty(1)
	c.OK()
}

func xgroupSetIDCmd(c *engine.Ctx) {
	o, ok := groupOptionsArg(c, false)
	if !ok {
		return
	}
	x, g, ok := openGroup(c)
	if !ok {
		return
	}
	if len(c.Args) > maxSetIDArgs {
		wrongGroupArgs(c)
		return
	}
	last := x.Stream().LastID
	if !is(c.Args[4], "$") {
		if last, ok = anyStreamIDArg(c, c.Args[4], 0); !ok {
			return
		}
	}
	s := x.ChangingStream()
	g.LastID, g.Read = last, o.readOf(s)
	c.Notify(keyspace.EvStream, "xgroup-setid", c.Args[2])
	c.Dirty(1)
	c.OK()
}

func xgroupDestroyCmd(c *engine.Ctx) {
	x, ok := openForGroup(c)
	if !ok {
		return
	}
	g := x.Stream().Group(c.Args[3])
	if g == nil {
		c.Int(0)
		return
	}
	key := c.Args[2]
	x.ChangingStream().DestroyGroup(g)
	c.E.KS.FreeDropped(g)
	c.Notify(keyspace.EvStream, "xgroup-destroy", key)
	c.Happened(key, object.Stream, engine.WaitLoss)
	c.Dirty(1)
	c.Int(1)
}

func xgroupCreateConsumerCmd(c *engine.Ctx) {
	x, g, ok := openGroup(c)
	if !ok {
		return
	}
	if g.Consumer(c.Args[4]) != nil {
		c.Int(0)
		return
	}
	x.ChangingStream()
	g.CreateConsumer(c.Args[4], c.Now)
	c.Notify(keyspace.EvStream, "xgroup-createconsumer", c.Args[2])
	c.Dirty(1)
	c.Int(1)
}

func xgroupDelConsumerCmd(c *engine.Ctx) {
	x, g, ok := openGroup(c)
	if !ok {
		return
	}
	consumer := g.Consumer(c.Args[4])
	if consumer == nil {
		c.Int(0)
		return
	}
	pending := consumer.Pending()
	x.ChangingStream()
	g.DeleteConsumer(consumer)
	c.E.KS.FreeDropped(consumer)
	c.Notify(keyspace.EvStream, "xgroup-delconsumer", c.Args[2])
	c.Dirty(1)
	c.Int(int64(pending))
}
