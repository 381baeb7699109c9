package command

import (
	"godwit/internal/acl"
	"godwit/internal/engine"
	"godwit/internal/object"
)

var _ = family(connectionHandlers)

func connectionHandlers() engine.Handlers {
	return engine.Handlers{
		"ping":   pingCmd,
		"echo":   func(c *engine.Ctx) { c.Bulk(c.Args[1]) },
		"auth":   authCmd,
		"hello":  helloCmd,
		"quit":   quitCmd,
		"reset":  resetCmd,
		"select": selectCmd,
	}
}

func quitCmd(c *engine.Ctx) {
	c.OK()
	c.Client.CloseAfterReply = true
}

func resetCmd(c *engine.Ctx) {
	if c.Client.Reply == engine.ReplyOff {
		c.Writer = &c.Client.W // Replies are on again, from this one on.
	}
	c.E.ResetClient(c.Client)
	c.Writer.Proto = c.Client.W.Proto
	c.Simple("RESET")
}

// pingCmd replies to a RESP2 subscriber in the form of a message: it expects nothing else.
func pingCmd(c *engine.Ctx) {
	switch subscriber := c.Client.Class == engine.ClassPubSub && c.Writer.Proto != 3; {
	case len(c.Args) > 2:
		c.Err("ERR wrong number of arguments for 'ping' command")
	case subscriber:
		c.Array(2)
		c.BulkString("pong")
		if len(c.Args) == 1 {
			c.BulkString("")
			return
		}
		c.Bulk(c.Args[1])
	case len(c.Args) == 1:
		c.Simple("PONG")
	default:
		c.Bulk(c.Args[1])
	}
}

func authCmd(c *engine.Ctx) {
	for i := 1; i < len(c.Args); i++ {
		c.Redact(i)
	}
	switch {
	case len(c.Args) > 3:
		c.Err(engine.ErrSyntax)
	case len(c.Args) == 2 && c.E.DefaultUser().NoPass():
		c.Err("ERR AUTH <password> called without any password configured for the default user. " +
			"Are you sure your configuration is correct?")
	case len(c.Args) == 2:
		if login(c, []byte(acl.Default), c.Args[1]) {
			c.OK()
		}
	default:
		if login(c, c.Args[1], c.Args[2]) {
			c.OK()
		}
	}
}

// login authenticates the client or replies with WRONGPASS.
func login(c *engine.Ctx, user, pass []byte) bool {
	if !c.E.Login(c, user, pass) {
		c.Err(engine.ErrWrongPass)
		return false
	}
	return true
}

func helloCmd(c *engine.Ctx) {
	cl := c.Client
	proto := 0
	i := 1
	for j := range c.Args { // Before any other argument can be found wrong.
		if j > 0 && is(c.Args[j], "auth") {
			for k := j + 1; k < min(j+3, len(c.Args)); k++ {
				c.Redact(k)
			}
			break
		}
	}
	if len(c.Args) >= 2 {
		n, ok := object.ParseInt(c.Args[1])
		if !ok {
			c.Err("ERR Protocol version is not an integer or out of range")
			return
		}
		if n < 2 || n > 3 {
			c.Err(engine.ErrNoProto)
			return
		}
		proto, i = int(n), 2
	}
	var user, pass, name []byte
	for ; i < len(c.Args); i++ {
		left := len(c.Args) - i - 1
		switch {
		case is(c.Args[i], "auth") && left >= 2:
			user, pass = c.Args[i+1], c.Args[i+2]
			i += 2
		case is(c.Args[i], "setname") && left >= 1:
			name = c.Args[i+1]
			if !validName(name) {
				c.Err(errClientName)
				return
			}
			i++
		default:
			c.Err("ERR Syntax error in HELLO option '" + cString(c.Args[i], len(c.Args[i])) + "'")
			return
		}
	}
	if user != nil && !login(c, user, pass) {
		return
	}
	// Whoever connected while a password was asked for needs one even after it has been removed.
	if !cl.Authenticated {
		c.Err("NOAUTH HELLO must be called with the client already authenticated, otherwise the " +
			"HELLO <proto> AUTH <user> <pass> option can be used to authenticate the client and " +
			"select the RESP protocol version at the same time")
		return
	}
	if name != nil {
		cl.Name = string(name)
	}
	if proto != 0 {
		cl.W.Proto = proto
		c.Writer.Proto = proto
	}
	replyHello(c)
}

func replyHello(c *engine.Ctx) {
	zone := c.E.Cfg.AvailabilityZone
	c.Map(7 + int(boolInt(zone != "")))
	c.BulkString("server")
	c.BulkString("redis")
	c.BulkString("version")
	c.BulkString(c.E.Cfg.CompatVersion)
	c.BulkString("proto")
	c.Int(int64(c.Client.W.Proto))
	c.BulkString("id")
	c.Int(int64(c.Client.ID))
	c.BulkString("mode")
	c.BulkString(serverMode(c.E))
	c.BulkString("role")
	if c.E.IsReplica() {
		c.BulkString("replica")
	} else {
		c.BulkString("master")
	}
	c.BulkString("modules")
	replyModules(c)
	if zone != "" {
		c.BulkString("availability_zone")
		c.BulkString(zone)
	}
}

const errClientName = "ERR Client names cannot contain spaces, newlines or special characters."

// validName reports whether b may be a client's name, library name or version: printable ASCII
// without spaces. A NUL ends the check, as in Redis since 7.2. Lists of clients show what is before
// it.
func validName(b []byte) bool {
	for _, ch := range b {
		if ch == 0 {
			return true
		}
		if ch < '!' || ch > '~' {
			return false
		}
	}
	return true
}

func selectCmd(c *engine.Ctx) {
	if oneDatabase(c) {
		if n, ok := int32Arg(c, c.Args[1]); ok && n == 0 {
			c.OK()
		} else if ok {
			c.Err("ERR SELECT is not allowed in cluster mode")
		}
		return
	}
	if n, ok := dbArg(c, c.Args[1]); ok {
		c.E.SelectDB(c.Client, n)
		c.OK()
	}
}
