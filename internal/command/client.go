package command

import (
	"math"

	"godwit/internal/engine"
)

var _ = family(clientHandlers)

func clientHandlers() engine.Handlers {
	return engine.Handlers{
		"client|id":            func(c *engine.Ctx) { c.Int(int64(c.Client.ID)) },
		"client|info":          clientInfoCmd,
		"client|setname":       clientSetnameCmd,
		"client|getname":       clientGetnameCmd,
		"client|setinfo":       clientSetinfoCmd,
		"client|reply":         clientReplyCmd,
		"client|no-evict":      func(c *engine.Ctx) { clientSwitch(c, &c.Client.NoEvict) },
		"client|no-touch":      func(c *engine.Ctx) { clientSwitch(c, &c.Client.NoTouch) },
		"client|import-source": clientImportSourceCmd,
		"client|capa":          clientCapaCmd,
		"client|getredir":      func(c *engine.Ctx) { c.Int(c.Client.RedirectID()) },
		"client|tracking":      clientTrackingCmd,
		"client|caching":       clientCachingCmd,
		"client|trackinginfo":  clientTrackinginfoCmd,
		"client|list":          clientListCmd,
		"client|kill":          clientKillCmd,
		"client|pause":         clientPauseCmd,
		"client|unpause":       clientUnpauseCmd,
		"client|unblock":       clientUnblockCmd,
		"client|help":          helpOf(clientHelp...),
	}
}

// clientHelp lists the lines of CLIENT HELP.
var clientHelp = []string{
	"CACHING (YES|NO)",
	"    Track the keys of the next command, under OPTIN, or do not, under OPTOUT.",
	"CAPA <capability> [<capability> ...]",
	"    Tell the server what this connection can do: redirect.",
	"GETNAME",
	"    The name of this connection.",
	"GETREDIR",
	"    The ID of the client that invalidation messages are redirected to.",
	"ID",
	"    The ID of this connection.",
	"IMPORT-SOURCE (ON|OFF)",
	"    Mark this connection as one that copies data to a server in import mode.",
	"INFO",
	"    This connection's line of CLIENT LIST.",
	"KILL <ip:port>",
	"    Close the connection from <ip:port>.",
	"KILL <filter> <value> [<filter> <value> ...]",
	"    Close the connections that pass all filters, see LIST. SKIPME is yes by default.",
	"LIST [<filter> <value> ...]",
	"    Describe the connections that pass all filters:",
	"    * ID <id> [<id> ...]",
	"    * TYPE (NORMAL|MASTER|REPLICA|PUBSUB)",
	"    * ADDR <ip:port>, LADDR <ip:port>, IP <ip>",
	"    * USER <username>, NAME <name>, LIB-NAME <name>, LIB-VER <version>",
	"    * DB <index>, FLAGS <letters>, CAPA <letters>",
	"    * IDLE <seconds>, MAXAGE <seconds>: idle or connected for at least so long",
	"    * SKIPME (YES|NO): leave this connection out",
	"    A filter but SKIPME with NOT- before its name passes the others.",
	"NO-EVICT (ON|OFF)",
	"    Spare this connection when maxmemory-clients is reached.",
	"NO-TOUCH (ON|OFF)",
	"    Let this connection's commands leave access times and counters alone.",
	"PAUSE <milliseconds> [WRITE|ALL]",
	"    Hold back commands that may write, or all of them.",
	"REPLY (ON|OFF|SKIP)",
	"    Answer this connection, answer it not, or not the next command.",
	"SETINFO (LIB-NAME <name>|LIB-VER <version>)",
	"    Note the library that this connection uses.",
	"SETNAME <name>",
	"    Name this connection.",
	"TRACKING (ON|OFF) [REDIRECT <id>] [BCAST] [PREFIX <prefix> ...] [OPTIN] [OPTOUT] [NOLOOP]",
	"    Tell this connection, or another, when keys change that it may have cached.",
	"TRACKINGINFO",
	"    The state of client-side caching for this connection.",
	"UNBLOCK <id> [TIMEOUT|ERROR]",
	"    End the wait of a blocked client.",
	"UNPAUSE",
	"    End a pause.",
}

func clientInfoCmd(c *engine.Ctx) {
	c.Verbatim("txt", string(appendClientLine(nil, c, c.Client)))
}

func clientUnpauseCmd(c *engine.Ctx) {
	c.E.Unpause(engine.PauseByClient)
	c.OK()
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
		c.Err("ERR Unrecognized option '" + untilNUL(attr) + "'")
		return
	}
	if !validName(value) {
		c.Err("ERR " + string(attr) + " cannot contain spaces, newlines or special characters.")
		return
	}
	*to = string(value)
	c.OK()
}

// clientReplyCmd changes the reply mode. ON replies even if replies were off. OFF and SKIP do not
// reply.
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

// tooManyArgs replies with the error of subcommands that refuse surplus arguments although their
// arity lets them through.
func tooManyArgs(c *engine.Ctx) {
	c.Err("ERR unknown subcommand or wrong number of arguments for '" + string(c.Args[1]) +
		"'. Try CLIENT HELP.")
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
		c.E.Pause(engine.PauseByClient, c.E.Steady()+ms, all)
		c.OK()
	}
}

// clientUnblockCmd ends the wait of a client that is blocked in a command. A client held back by
// CLIENT PAUSE does not count as blocked.
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
