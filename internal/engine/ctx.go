package engine

import (
	"slices"

	"godwit/internal/keyspace"
	"godwit/internal/resp"
	"godwit/internal/spec"
)

// Ctx is what a handler sees of the running command. It is valid while the handler runs. Args are
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
	saved    bool // see Saved
	rerun    bool // of a command that has waited
	blocked  bool // the handler called Block
	noBlock  bool // within a transaction or script
	moved    bool // the cluster's gate has refused it
	slot     slotRef
	redacted []int // arguments that are never shown
}

// Slot returns the slot of the command's keys, -1 if it has none or the server is in no cluster.
func (c *Ctx) Slot() int { return c.slot.slot() }

type propMode uint8

const (
	propAuto propMode = iota // as received when the command was dirty
	propNone
	propAs   // propCmds instead
	propSent // what PropagateEach has sent
)

// Err sends an error reply and counts it. msg begins with its code: "ERR …", "WRONGTYPE …".
func (c *Ctx) Err(msg string) {
	c.failed = true
	c.E.countError(msg)
	if c.Client.Origin == OriginMaster {
		c.E.noteMasterError(c.Cmd, msg)
	}
	if c.Client.Origin == OriginImport {
		c.E.importError = msg
	}
	c.Writer.Error(msg)
}

// WrongArity replies that there are too few or too many arguments, for what the command's arity
// cannot say.
func (c *Ctx) WrongArity() { c.Err(wrongArity(c.Cmd)) }

// Dirty records n changes to the data set. The command is then propagated as it came, unless
// PropagateAs or NoPropagate is called too.
func (c *Ctx) Dirty(n int) { c.dirty += int64(n) }

// Saved records that the snapshot file has this command's changes already. They do not count
// towards the next one.
func (c *Ctx) Saved() { c.saved = true }

// Past reports whether the deadline, unix ms, has passed, so that its key or field must be deleted
// at once. While time may not delete (see keyspace.ExpireMode) it reports false, and the deadline
// is stored.
func (c *Ctx) Past(deadline int64) bool {
	return deadline <= c.E.now && c.E.KS.ExpireMode() == keyspace.ExpireDelete
}

// NoPropagate keeps the command out of the append-only file and of replication although it is
// dirty.
func (c *Ctx) NoPropagate() { c.prop = propNone }

// Redact keeps argument i, a password, out of MONITOR and the slow log.
func (c *Ctx) Redact(i int) { c.redacted = append(c.redacted, i) }

// shown returns Args as others may see them.
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

// Notify announces a keyspace event of a key in the client's database. class is as in
// notify-keyspace-events; the names of events are Redis's.
func (c *Ctx) Notify(class keyspace.EventClass, event string, key []byte) {
	c.E.KS.Notify(class, event, key, c.DB.ID())
}

// MayListen reports whether the client may subscribe to a channel, or with shard to a shard
// channel. A script cannot: nobody would hear the messages. A transaction cannot subscribe to shard
// channels.
func (c *Ctx) MayListen(shard bool) bool {
	return c.Client.Origin == OriginConnection && !(c.noBlock && shard)
}

// Obeyed reports whether the command must not be refused for a limit. The log or the master has
// sent it, or a script that one of them has called.
func (c *Ctx) Obeyed() bool { return c.E.obeys(c.Client) }
