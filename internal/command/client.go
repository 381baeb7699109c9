package command

import (
	"math"

	"godwit/internal/engine"
)

const (
	clientFlags      = engine.NoScript | engine.Loading | engine.Stale
	clientAdminFlags = clientFlags | engine.Admin
)

func clientCommands() []*engine.Command {
	return []*engine.Command{{
		Name: "client", Arity: -2, Group: engine.GroupConnection, Since: "2.4.0",
		Summary: "Shows and controls connections.", Complexity: "Depends on the subcommand.",
		Sub: append(append(clientSelfCommands(), clientOtherCommands()...), clientHelp()),
	}}
}

// clientSub is a subcommand of CLIENT that costs O(1) unless it says otherwise.
func clientSub(cmd engine.Command, args ...engine.Arg) *engine.Command {
	cmd.Group = engine.GroupConnection
	if cmd.Flags == 0 {
		cmd.Flags = clientFlags
	}
	if cmd.Complexity == "" {
		cmd.Complexity = "O(1)"
	}
	cmd.Flags |= engine.KeepsCaching
	cmd.Args = args
	return &cmd
}

// clientSelfCommands look at or change the connection that sends them.
func clientSelfCommands() []*engine.Command {
	onOff := engine.OneOf("enabled", engine.Tok("on"), engine.Tok("off"))
	return []*engine.Command{
		clientSub(engine.Command{Name: "id", Arity: 2, Since: "5.0.0",
			Summary: "Shows the connection's ID.",
			Run:     func(c *engine.Ctx) { c.Int(int64(c.Client.ID)) }}),
		clientSub(engine.Command{Name: "info", Arity: 2, Since: "6.2.0",
			Summary: "Describes the connection.", Tips: []string{"nondeterministic_output"},
			Run: func(c *engine.Ctx) { c.Verbatim("txt", string(appendClientLine(nil, c, c.Client))) }}),
		clientSub(engine.Command{Name: "setname", Arity: 3, Since: "2.6.9",
			Summary: "Names the connection.", Run: clientSetnameCmd}, engine.Str("connection-name")),
		clientSub(engine.Command{Name: "getname", Arity: 2, Since: "2.6.9",
			Summary: "Shows the connection's name.", Run: clientGetnameCmd}),
		clientSub(engine.Command{Name: "setinfo", Arity: 4, Since: "7.2.0",
			Summary: "Notes which client library the connection uses.",
			Tips:    []string{"request_policy:all_nodes", "response_policy:all_succeeded"},
			Run:     clientSetinfoCmd,
		}, engine.OneOf("attr", engine.Str("libname").Tokened("LIB-NAME"), engine.Str("libver").Tokened("LIB-VER"))),
		clientSub(engine.Command{Name: "reply", Arity: 3, Since: "3.2.0",
			Summary: "Turns the replies to the connection on or off.", Run: clientReplyCmd,
		}, engine.OneOf("on_off_skip", engine.Tok("on"), engine.Tok("off"), engine.Tok("skip"))),
		clientSub(engine.Command{Name: "no-evict", Arity: 3, Flags: clientAdminFlags, Since: "7.0.0",
			Summary: "Spares the connection when maxmemory-clients is reached.",
			Run:     func(c *engine.Ctx) { clientSwitch(c, &c.Client.NoEvict) }}, onOff),
		clientSub(engine.Command{Name: "no-touch", Arity: 3, Since: "7.2.0",
			Summary: "Lets the connection's commands leave keys' access times and counters alone.",
			Run:     func(c *engine.Ctx) { clientSwitch(c, &c.Client.NoTouch) }}, onOff),
		clientSub(engine.Command{Name: "getredir", Arity: 2, Since: "6.0.0",
			Summary: "Shows the ID of the client that gets the connection's invalidation messages.",
			Run:     func(c *engine.Ctx) { c.Int(c.Client.RedirectID()) }}),
		clientTrackingCommand(), clientCachingCommand(),
		clientSub(engine.Command{Name: "trackinginfo", Arity: 2, Since: "6.2.0",
			Summary: "Shows the state of client-side caching for the connection.", Run: clientTrackinginfoCmd}),
	}
}

// clientOtherCommands look at or act on other connections.
func clientOtherCommands() []*engine.Command {
	return []*engine.Command{
		clientListCommand(), clientKillCommand(),
		clientSub(engine.Command{Name: "pause", Arity: -3, Flags: clientAdminFlags, Since: "2.9.50",
			Summary: "Holds commands back for some time.", Run: clientPauseCmd,
			History: []engine.History{{Since: "6.2.0", Change: "Takes a mode; `WRITE` lets reads pass."}},
		}, engine.Int("timeout"), engine.OneOf("mode", engine.Tok("write"), engine.Tok("all")).Opt().From("6.2.0")),
		clientSub(engine.Command{Name: "unpause", Arity: 2, Flags: clientAdminFlags, Since: "6.2.0",
			Summary: "Lets held-back commands run.", Complexity: "O(N) in the number of paused clients",
			Run: func(c *engine.Ctx) {
				c.E.Unpause()
				c.OK()
			}}),
		clientSub(engine.Command{Name: "unblock", Arity: -3, Flags: clientAdminFlags, Since: "5.0.0",
			Summary: "Ends another connection's wait in a blocking command.", Complexity: "O(1)",
			Run: clientUnblockCmd,
		}, engine.Int("client-id"), engine.OneOf("timeout_error", engine.Tok("timeout"), engine.Tok("error")).Opt()),
	}
}

func clientHelp() *engine.Command {
	return helpSub(engine.GroupConnection, "5.0.0",
		"CACHING (YES|NO)", "    Track the keys of the next command, under OPTIN, or do not, under OPTOUT.",
		"GETNAME", "    The name of this connection.",
		"GETREDIR", "    The ID of the client that invalidation messages are redirected to.",
		"ID", "    The ID of this connection.",
		"INFO", "    This connection's line of CLIENT LIST.",
		"KILL <ip:port>", "    Close the connection from <ip:port>.",
		"KILL <filter> <value> [<filter> <value> ...]", "    Close the connections that pass all filters, see LIST. SKIPME is yes by default.",
		"LIST [<filter> <value> ...]", "    Describe the connections that pass all filters:",
		"    * ID <id> [<id> ...]", "    * TYPE (NORMAL|MASTER|REPLICA|PUBSUB)",
		"    * ADDR <ip:port>, LADDR <ip:port>, IP <ip>", "    * USER <username>, NAME <name>, LIB-NAME <name>, LIB-VER <version>",
		"    * DB <index>, FLAGS <letters>", "    * IDLE <seconds>, MAXAGE <seconds>: idle or connected for at least so long",
		"    * SKIPME (YES|NO): leave this connection out", "    A filter but SKIPME with NOT- before its name passes the others.",
		"NO-EVICT (ON|OFF)", "    Spare this connection when maxmemory-clients is reached.",
		"NO-TOUCH (ON|OFF)", "    Let this connection's commands leave access times and counters alone.",
		"PAUSE <milliseconds> [WRITE|ALL]", "    Hold back commands that may write, or all of them.",
		"REPLY (ON|OFF|SKIP)", "    Answer this connection, answer it not, or not the next command.",
		"SETINFO (LIB-NAME <name>|LIB-VER <version>)", "    Note the library that this connection uses.",
		"SETNAME <name>", "    Name this connection.",
		"TRACKING (ON|OFF) [REDIRECT <id>] [BCAST] [PREFIX <prefix> ...] [OPTIN] [OPTOUT] [NOLOOP]",
		"    Tell this connection, or another, when keys change that it may have cached.",
		"TRACKINGINFO", "    The state of client-side caching for this connection.",
		"UNBLOCK <id> [TIMEOUT|ERROR]", "    End the wait of a blocked client.",
		"UNPAUSE", "    End a pause.")
}

func clientSetnameCmd(c *engine.Ctx) {
	if !validName(c.Args[2]) {
		c.Err(errClientName)
		return
	}
	c.Client.Name = string(c.Args[2])
	c.OK()
}

func clientGetnameCmd(c *engine.Ctx) {
	if c.Client.Name == "" {
		c.Null()
		return
	}
	c.BulkString(c.Client.Name)
}

func clientSetinfoCmd(c *engine.Ctx) {
	attr, value := c.Args[2], c.Args[3]
	var to *string
	switch {
	case is(attr, "lib-name"):
		to = &c.Client.LibName
	case is(attr, "lib-ver"):
		to = &c.Client.LibVer
	default:
		c.Err("ERR Unrecognized option '" + string(attr) + "'")
		return
	}
	if !validName(value) {
		c.Err("ERR " + string(attr) + " cannot contain spaces, newlines or special characters.")
		return
	}
	*to = string(value)
	c.OK()
}

// clientReplyCmd changes the reply mode. ON answers even if replies were off until now; OFF and SKIP answer nothing.
func clientReplyCmd(c *engine.Ctx) {
	cl := c.Client
	switch arg := c.Args[2]; {
	case is(arg, "on"):
		cl.Reply = engine.ReplyOn
		c.Writer = &cl.W
		c.OK()
	case is(arg, "off"):
		cl.Reply = engine.ReplyOff
	case is(arg, "skip"):
		if cl.Reply != engine.ReplyOff {
			cl.Reply = engine.ReplySkipNext
		}
	default:
		c.Err(engine.ErrSyntax)
	}
}

// clientSwitch sets a property of the connection to ON or OFF.
func clientSwitch(c *engine.Ctx, to *bool) {
	switch arg := c.Args[2]; {
	case is(arg, "on"):
		*to = true
	case is(arg, "off"):
		*to = false
	default:
		c.Err(engine.ErrSyntax)
		return
	}
	c.OK()
}

// tooManyArgs is the error of subcommands that refuse surplus arguments although their arity does not.
func tooManyArgs(c *engine.Ctx) {
	c.Err("ERR unknown subcommand or wrong number of arguments for '" + string(c.Args[1]) + "'. Try CLIENT HELP.")
}

func clientPauseCmd(c *engine.Ctx) {
	all := true
	switch {
	case len(c.Args) > 4:
		tooManyArgs(c)
		return
	case len(c.Args) == 4 && is(c.Args[3], "write"):
		all = false
	case len(c.Args) == 4 && !is(c.Args[3], "all"):
		c.Err("ERR CLIENT PAUSE mode must be WRITE or ALL")
		return
	}
	ms, ok := timeoutArg(c, c.Args[2])
	switch {
	case !ok:
	case ms > math.MaxInt64-c.E.Steady():
		c.Err("ERR timeout is out of range")
	default:
		c.E.Pause(c.E.Steady()+ms, all)
		c.OK()
	}
}

// clientUnblockCmd ends the wait of a client that is blocked in a command; one that a pause holds back does not wait in that sense.
func clientUnblockCmd(c *engine.Ctx) {
	switch {
	case len(c.Args) > 4:
		tooManyArgs(c)
		return
	case len(c.Args) == 4 && !is(c.Args[3], "timeout") && !is(c.Args[3], "error"):
		c.Err("ERR CLIENT UNBLOCK reason should be TIMEOUT or ERROR")
		return
	}
	id, ok := intArg(c, c.Args[2])
	if !ok {
		return
	}
	unblocked := int64(0)
	if c.E.Unblock(uint64(id), len(c.Args) == 4 && is(c.Args[3], "error")) {
		unblocked = 1
	}
	c.Int(unblocked)
}
