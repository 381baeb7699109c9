package engine

// Origin says who sent a command: what may refuse it, hold it back, and hear of what it reads.
type Origin uint8

// The origins.
const (
	// OriginConnection is a client with a connection. All gates are for it. Only it waits for keys,
	// subscribes, and counts towards maxmemory-clients.
	OriginConnection Origin = iota
	// OriginScript is a running script. It may do what its caller may do, see scriptRefuses. What
	// it reads is remembered for its caller.
	OriginScript
	// OriginLog is the append-only file that is being replayed. It is obeyed: what it holds was
	// allowed when it was written.
	OriginLog
	// OriginBase is a log's base that was rewritten as commands. It is obeyed like the log. What it
	// does not tell of a key is what the directives are by default, as with an RDB file: those of
	// today say nothing of the time when the key was made.
	OriginBase
	// OriginMaster is the server that this one replicates. It is obeyed like the log. While its
	// commands run, no key and no field expires: the master decides when they go. Of all gates only
	// CLIENT PAUSE holds it back. Its connection must not offer a command while a script is busy.
	OriginMaster
	// OriginImport is the source of a migration of slots. It is obeyed like the master, and time
	// does to keys what it says. But what it changes is this server's own: its replicas get it as
	// such. A command that fails ends the migration.
	OriginImport
)

// Feeds reports whether the origin is another server whose stream this one applies.
func (o Origin) Feeds() bool { return o == OriginMaster || o == OriginImport }

// obeyed reports whether commands are carried out whatever the configuration, a user's rights, the
// disk, memory and time say against them.
func (o Origin) obeyed() bool {
	return o == OriginLog || o == OriginBase || o.Feeds()
}

// obeys reports whether the client's commands are carried out whatever speaks against them, see
// obeyed. A script is treated as its caller.
func (e *Engine) obeys(c *Client) bool {
	if c.Origin == OriginScript && e.script.run != nil {
		c = e.script.run.caller
	}
	return c.Origin.obeyed()
}

// heldByPause reports whether CLIENT PAUSE is for the origin's commands.
func (o Origin) heldByPause() bool { return o == OriginConnection || o.Feeds() }
