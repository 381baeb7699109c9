package engine

import (
	"godwit/internal/invariant"
	"godwit/internal/spec"
)

// multi is a transaction that a client has begun with MULTI: the commands that EXEC will run.
//
// Arguments are borrowed from the input, so they are copied once, into chunks that never move. One
// slice has the headers of all arguments, in order:
//
//	cmds    {SET 3}           {INCR 2}       {GET 2}
//	args    SET  a  1         INCR  b        GET  a
//	chunk   "SETa1INCRbGETa"                                 full ones are only known to args
//
// A finished transaction leaves its memory, if it is small, to the next transaction of any client.
// Then queueing allocates nothing.
//
// Invariants: Client.multi is nil outside of MULTI. A transaction that is aborted, or whose client
// is watchDirty, keeps no further commands. They are answered QUEUED all the same; EXEC will run
// none.
type multi struct {
	cmds    []queuedCmd
	args    [][]byte
	chunk   []byte
	bytes   int64     // capacity of all chunks
	argMem  int64     // bytes of the arguments
	any     spec.Flag // of any command
	all     spec.Flag // of every command
	aborted bool      // a command was refused
	slot    slotRef   // of the first command that has keys
	slots   bool      // others have keys of other slots
	keys    bool      // a command has keys
	shards  bool      // a command is routed by shard channels
	wide    bool      // a command changes keys that it does not name
}

type queuedCmd struct {
	cmd  *spec.Command
	argc int
}

const (
	firstChunk = 1 << 10
	maxChunk   = 64 << 10
	// keptMultis bounds how many finished transactions leave their memory. The others bound the
	// bytes and the commands of each.
	keptMultis     = 16
	keptMultiBytes = 16 << 10
	keptMultiArgs  = 1024

	queuedCmdSize = 16 // bytes of a queuedCmd
	sliceSize     = 24 // and of the header of an argument
)

// InMulti reports whether the client has begun a transaction. It has until EXEC is through.
func (c *Client) InMulti() bool { return c.multi != nil }

// QueuedCommands returns how many commands wait for EXEC, -1 outside of a transaction.
func (c *Client) QueuedCommands() int {
	if c.multi == nil {
		return -1
	}
	return len(c.multi.cmds)
}

// QueuedBytes returns the size of the arguments that wait for EXEC.
func (c *Client) QueuedBytes() int64 {
	if c.multi == nil {
		return 0
	}
	return c.multi.argMem
}

// MultiMemory returns the memory in bytes of the client's transaction.
func (c *Client) MultiMemory() int64 {
	m := c.multi
	if m == nil {
		return 0
	}
	return m.bytes + int64(cap(m.cmds))*queuedCmdSize + int64(cap(m.args))*sliceSize
}

// BeginMulti begins a transaction.
func (e *Engine) BeginMulti(c *Client) {
	if n := len(e.multis); n > 0 {
		c.multi = e.multis[n-1]
		e.multis = e.multis[:n-1]
		return
	}
	c.multi = &multi{}
}

// keep copies an argument.
func (m *multi) keep(a []byte) []byte {
	if cap(m.chunk)-len(m.chunk) < len(a) {
		size := min(max(2*cap(m.chunk), firstChunk), maxChunk)
		if len(a) > size/4 { // one of its own: the chunk goes on being filled
			m.bytes += int64(len(a))
			return append(make([]byte, 0, len(a)), a...)
		}
		m.chunk = make([]byte, 0, size)
		m.bytes += int64(size)
	}
	from := len(m.chunk)
	m.chunk = append(m.chunk, a...)
	return m.chunk[from:len(m.chunk):len(m.chunk)]
}

// endMulti ends the client's transaction, run or not.
func (e *Engine) endMulti(c *Client) {
	m := c.multi
	if m == nil {
		return
	}
	c.multi, c.awaits = nil, nil
	if len(e.multis) >= keptMultis || cap(m.chunk) > keptMultiBytes ||
		cap(m.args) > keptMultiArgs || cap(m.cmds) > keptMultiArgs {
		return
	}
	clear(m.args)
	clear(m.cmds)
	*m = multi{cmds: m.cmds[:0], args: m.args[:0], chunk: m.chunk[:0], bytes: int64(cap(m.chunk))}
	if invariant.Enabled {
		spoil(m.chunk[:cap(m.chunk)])
	}
	e.multis = append(e.multis, m)
}

// spoil overwrites memory that will be used again, so that tests find out who has kept an argument
// without copying it.
func spoil(b []byte) {
	for i := range b {
		b[i] = 0xdd
	}
}

// Discard drops the client's transaction and its watches, for DISCARD, RESET and the end of the
// connection.
func (e *Engine) Discard(c *Client) {
	e.endMulti(c)
	e.Unwatch(c)
}

// abortMulti notes that a command of the transaction was refused: EXEC will run none.
func (c *Client) abortMulti() {
	if c.multi != nil {
		c.multi.aborted = true
	}
}
