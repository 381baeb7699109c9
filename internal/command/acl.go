package command

import (
	"crypto/rand"
	"encoding/hex"
	"slices"
	"strings"

	"godwit/internal/acl"
	"godwit/internal/engine"
)

var _ = family(aclHandlers)

func aclHandlers() engine.Handlers {
	return engine.Handlers{
		"acl|cat":     aclCatCmd,
		"acl|deluser": aclDeluserCmd,
		"acl|dryrun":  aclDryrunCmd,
		"acl|genpass": aclGenpassCmd,
		"acl|getuser": aclGetuserCmd,
		"acl|list":    aclListCmd,
		"acl|load":    aclLoadCmd,
		"acl|log":     aclLogCmd,
		"acl|save":    aclSaveCmd,
		"acl|setuser": aclSetuserCmd,
		"acl|users":   func(c *engine.Ctx) { bulks(c, c.E.Users().Names()) },
		"acl|whoami":  func(c *engine.Ctx) { c.BulkString(c.Client.UserName()) },
		"acl|help":    helpOf(aclHelp...),
	}
}

// aclHelp lists the lines of ACL HELP.
var aclHelp = []string{
	"CAT [<category>]",
	"    The categories of commands, or the commands of one.",
	"DELUSER <username> [<username> ...]",
	"    Delete users; their connections are closed.",
	"DRYRUN <username> <command> [<arg> ...]",
	"    Whether the user might run the command.",
	"GENPASS [<bits>]",
	"    A random password in hexadecimal, of 256 bits if not said otherwise.",
	"GETUSER <username>",
	"    A user's flags, passwords (hashed), commands, keys, channels and selectors.",
	"LIST",
	"    All users as they are written in files.",
	"LOAD",
	"    Read the ACL file again. If any line is wrong, nothing changes.",
	"LOG [<count> | RESET]",
	"    What was refused lately, newest first; or forget it.",
	"SAVE",
	"    Write the ACL file.",
	"SETUSER <username> [<rule> ...]",
	"    Make or change a user. If any rule is wrong, nothing changes.",
	"USERS",
	"    The names of all users.",
	"WHOAMI",
	"    The name of this connection's user.",
}

// bulks replies with an array of bulk strings.
func bulks(c *engine.Ctx, list []string) {
	c.Array(len(list))
	for _, s := range list {
		c.BulkString(s)
	}
}

// tooManyACL replies with the error for surplus arguments that the arity lets through.
func tooManyACL(c *engine.Ctx) {
	c.Err("ERR unknown subcommand or wrong number of arguments for '" + cString(c.Args[1], 128) +
		"'. Try ACL HELP.")
}

func aclCatCmd(c *engine.Ctx) {
	table := c.E.Table()
	switch len(c.Args) {
	case 2:
		bulks(c, table.Categories())
	case 3:
		cmds, ok := table.InCategory(strings.ToLower(string(c.Args[2])))
		if !ok {
			c.Err("ERR Unknown category '" + cString(c.Args[2], 128) + "'")
			return
		}
		names := make([]string, len(cmds))
		for i, cmd := range cmds {
			names[i] = cmd.FullName()
		}
		slices.Sort(names)
		bulks(c, names)
	default:
		tooManyACL(c)
	}
}

// aclSetuserCmd redacts its rules in MONITOR and the slow log: they may hold passwords.
func aclSetuserCmd(c *engine.Ctx) {
	for i := 2; i < len(c.Args); i++ {
		c.Redact(i)
	}
	name := string(c.Args[2])
	if !acl.ValidName(name) {
		c.Err("ERR Usernames can't contain spaces or null characters")
		return
	}
	words := make([]string, 0, len(c.Args)-3)
	for _, a := range c.Args[3:] {
		words = append(words, string(a))
	}
	rules, bad, ok := acl.Merge(words)
	if !ok {
		c.Err("ERR Unmatched parenthesis in acl selector starting at '" + bad + "'.")
		return
	}
	if rule, err := c.E.SetUser(name, rules); err != nil {
		c.Err("ERR Error in ACL SETUSER modifier '" + cString([]byte(rule), len(rule)) + "': " +
			err.Error())
		return
	}
	c.OK()
}

func aclGetuserCmd(c *engine.Ctx) {
	c.Redact(2) // As Redis does.
	u := c.E.Users().Get(string(c.Args[2]))
	if u == nil {
		c.Null()
		return
	}
	// Redis knows no databases here. They are shown for users whom they matter to.
	fields := 3
	if u.ChecksDatabases() {
		fields = 4
	}
	selector := func(s *acl.Selector) {
		c.BulkString("commands")
		c.BulkString(s.Commands())
		c.BulkString("keys")
		c.BulkString(s.Keys())
		c.BulkString("channels")
		c.BulkString(s.Channels())
		if fields == 4 {
			c.BulkString("databases")
			c.BulkString(s.Databases())
		}
	}
	c.Map(3 + fields)
	c.BulkString("flags")
	flags := u.Flags()
	c.Set(len(flags))
	for _, f := range flags {
		c.BulkString(f)
	}
	c.BulkString("passwords")
	bulks(c, u.Passwords())
	selector(u.Root())
	c.BulkString("selectors")
	c.Array(len(u.Others()))
	for _, s := range u.Others() {
		c.Map(fields)
		selector(s)
	}
}

func aclListCmd(c *engine.Ctx) {
	us := c.E.Users()
	names := us.Names()
	c.Array(len(names))
	for _, name := range names {
		c.BulkString("user " + name + " " + us.Get(name).String())
	}
}

func aclDeluserCmd(c *engine.Ctx) {
	for i := 2; i < len(c.Args); i++ {
		c.Redact(i)
	}
	for _, name := range c.Args[2:] {
		if string(name) == acl.Default {
			c.Err("ERR The 'default' user cannot be removed")
			return
		}
	}
	n := int64(0)
	for _, name := range c.Args[2:] {
		if c.E.DelUser(string(name)) {
			n++
		}
	}
	c.Int(n)
}

func aclDryrunCmd(c *engine.Ctx) {
	u := c.E.Users().Get(string(c.Args[2]))
	if u == nil {
		c.Err("ERR User '" + cString(c.Args[2], len(c.Args[2])) + "' not found")
		return
	}
	argv := c.Args[3:]
	cmd := c.E.Table().Find(argv)
	switch {
	case cmd == nil:
		c.Err("ERR Command '" + cString(argv[0], len(argv[0])) + "' not found")
		return
	case !cmd.AcceptsArgs(len(argv)):
		c.Err("ERR wrong number of arguments for '" + cmd.FullName() + "' command")
		return
	}
	if refused := c.E.DryRun(u, c.Client, cmd, argv); refused != "" {
		c.BulkString(refused)
		return
	}
	c.OK()
}

// aclGenpassCmd replies with a random password of the requested number of bits, rounded up to
// hexadecimal digits. The bits come from the operating system. The engine's random source would not
// do: a client that has seen some of its numbers can guess the next.
func aclGenpassCmd(c *engine.Ctx) {
	const most = 4096
	bits := int64(256)
	switch len(c.Args) {
	case 2:
	case 3:
		var ok bool
		if bits, ok = intArg(c, c.Args[2]); !ok {
			return
		}
		if bits <= 0 || bits > most {
			c.Err("ERR ACL GENPASS argument must be the number of bits for the output password, " +
				"a positive number up to 4096")
			return
		}
	default:
		tooManyACL(c)
		return
	}
	digits := (bits + 3) / 4
	var raw [most / 8]byte
	rand.Read(raw[:(digits+1)/2]) // It ends the process rather than fail.
	c.BulkString(hex.EncodeToString(raw[:(digits+1)/2])[:digits])
}

func aclLogCmd(c *engine.Ctx) {
	log := c.E.ACLLog()
	n := 10
	switch len(c.Args) {
	case 2:
	case 3:
		if is(c.Args[2], "reset") {
			log.Trim(0)
			c.OK()
			return
		}
		count, ok := intArg(c, c.Args[2])
		if !ok {
			return
		}
		n = int(min(max(count, 0), int64(log.Len())))
	default:
		tooManyACL(c)
		return
	}
	n = min(n, log.Len())
	c.Array(n)
	for i := range n {
		aclLogReply(c, log.Newest(i))
	}
}

// aclLogReply replies with one entry, with the fields of Redis 7.2.
func aclLogReply(c *engine.Ctx, e *acl.Entry) {
	c.Map(10)
	c.BulkString("count")
	c.Int(e.Count)
	c.BulkString("reason")
	c.BulkString(e.Reason.String())
	c.BulkString("context")
	c.BulkString(e.Context.String())
	c.BulkString("object")
	c.BulkString(e.Object)
	c.BulkString("username")
	c.BulkString(e.User)
	c.BulkString("age-seconds")
	c.Double(float64(c.E.Steady()-e.At) / 1000)
	c.BulkString("client-info")
	c.BulkString(e.Client)
	c.BulkString("entry-id")
	c.Int(e.ID)
	c.BulkString("timestamp-created")
	c.Int(e.Created)
	c.BulkString("timestamp-last-updated")
	c.Int(e.Updated)
}

func aclLoadCmd(c *engine.Ctx) {
	if c.E.Cfg.ACLFile == "" {
		c.Err(engine.ErrNoACLFile)
		return
	}
	if err := c.E.LoadACLFile(); err != nil {
		c.Err("ERR " + err.Error())
		return
	}
	c.OK()
}

func aclSaveCmd(c *engine.Ctx) {
	if c.E.Cfg.ACLFile == "" {
		c.Err(engine.ErrNoACLFile)
		return
	}
	if err := c.E.SaveACLFile(); err != nil {
		c.E.Log.Warning("Saving the ACL file '%s': %s", c.E.Cfg.ACLFile, err)
		c.Err("ERR There was an error trying to save the ACLs. Please check the server logs for " +
			"more information")
		return
	}
	c.OK()
}
