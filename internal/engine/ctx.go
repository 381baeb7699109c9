package engine

import (
	"slices"

	"godwit/internal/keyspace"
	"godwit/internal/resp"
	"godwit/internal/spec"
)

// Ctx is what a handler sees of the running command. It lives as long as the handler runs; Args are
// borrowed: what is to be kept must be copied.
//
// The reply methods of resp.Writer are promoted: c.OK(), c.Int(n), c.Bulk(b) …
type Ctx struct {
	*resp.Writer
	E      *Engine
	Client *Client
	Cmd    *spec.Command
	DB     *keyspace.DB // the client's selected database
	Args   [][]byte     // Args[0] is the command name
	Now    int64        // unix time in ms, read once for the command

	dirty    int64
	prop     propMode
	propCmds [][][]byte
	failed   bool
	saved    bool  // see Saved
	rerun    bool  // of a command that has waited
	blocked  bool  // the handler called Block
	noBlock  bool  // within a transaction or script
	redacted []int // arguments that are never shown
}

type propMode uint8

const (
	propAuto propMode = iota // as received when the command was dirty
	propNone
	propAs // propCmds instead
)

// Err answers with an error reply (msg begins with its code: "ERR …", "WRONGTYPE …") and counts it.
func (c *Ctx) Err(msg string) {
	c.failed = true
	c.E.countError(msg)
	c.Writer.Error(msg)
}

// WrongArity answers that there are too few or too many arguments, for what the arity cannot say.
func (c *Ctx) WrongArity() { c.Err(wrongArity(c.Cmd)) }

// Dirty records n changes to the data set: the command is propagated as it came unless
// PropagateAs or NoPropagate said otherwise.
func (c *Ctx) Dirty(n int) { c.dirty += int64(n) }

// Saved tells that the changes of this command are in the snapshot file already: they do not count towards the next one.
func (c *Ctx) Saved() { c.saved = true }

// Past reports whether the deadline, unix ms, has passed, so that what gets it is to be deleted at
// once. Where time may not delete, none has: the key is stored with it.
func (c *Ctx) Past(deadline int64) bool {
	return deadline <= c.E.now && c.E.KS.ExpireMode() == keyspace.ExpireDelete
}

// PropagateAs propagates argv (copied) in place of the command as it came; several calls propagate several
// commands, atomically. No call may follow NoPropagate.
func (c *Ctx) PropagateAs(argv ...[]byte) {
	c.prop = propAs
	if c.E.Feed.Attached() == 0 {
		return // nobody listens: spare the copies
	}
	cp := make([][]byte, len(argv))
	for i, a := range argv {
		cp[i] = append([]byte(nil), a...)
	}
	c.propCmds = append(c.propCmds, cp)
}

// Propagating reports whether anybody listens to what is propagated. If not, a handler may spare itself collecting what PropagateAs wants and call
// NoPropagate.
func (c *Ctx) Propagating() bool { return c.E.Feed.Attached() != 0 }

// NoPropagate keeps the command out of AOF and replication although it was dirty.
func (c *Ctx) NoPropagate() { c.prop = propNone }

// Redact keeps argument i, a password, out of MONITOR and the slow log.
func (c *Ctx) Redact(i int) { c.redacted = append(c.redacted, i) }

// shown is Args as others may see them.
func (c *Ctx) shown() [][]byte {
	if len(c.redacted) == 0 {
		return c.Args
	}
	args := slices.Clone(c.Args)
	for _, i := range c.redacted {
		args[i] = []byte("(redacted)")
	}
	return args
}

// Notify announces a keyspace event (class as in notify-keyspace-events, event name as Redis's) of key in the client's database.
func (c *Ctx) Notify(class keyspace.EventClass, event string, key []byte) {
	c.E.KS.Notify(class, event, key, c.DB.ID())
}

// MayListen reports whether the client may subscribe, to a shard channel or to another: a script has nobody to hear the messages, and a transaction may
// not begin to listen to shards.
func (c *Ctx) MayListen(shard bool) bool {
	return c.Client.Origin == OriginConnection && !(c.noBlock && shard)
}

// Obeyed reports whether the command must not be refused for a limit: the log or the master has
// sent it, or a script that one of them has called.
func (c *Ctx) Obeyed() bool { return c.E.obeys(c.Client) }
