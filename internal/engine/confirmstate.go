package engine

import (
	"hash/maphash"
	"slices"

	"godwit/internal/spec"
)

// # Acknowledged means kept
//
// With min-replicas-to-ack N, the reply to a write waits until N replicas have what it wrote. So do
// the replies to the commands that follow it on its connection, because replies have an order.
// Nobody else waits, and no command does: a pipeline is carried out while the replicas answer.
//
//	command ─ reply ─→ held   [SET a 1, offset 120: +OK] [GET b: $1…] [INCR c, offset 157: :3]
//	replica ─ ACK 140 ────→   [SET a 1] and [GET b] go to the connection
//	min-replicas-ack-timeout  [INCR c] becomes an error: applied here, not confirmed
//
// The replicas are asked once for each batch that has written (REPLCONF GETACK). Replicas that are
// Redis or Valkey answer that too.
//
// What has not been confirmed can be read by others meanwhile, unless min-replicas-ack-reads holds
// such reads. It knows the keys by a table of hashes, so now and then a read waits in vain.

// confirming is the state of all held replies.
type confirming struct {
	on    bool // min-replicas-to-ack is above 0
	queue []heldBy
	head  int   // of queue: those before it are done with
	upto  int64 // offset that enough replicas have
	need  int   // how many that are, and
	fsync bool  // whether on disk
	acks  []int64

	seed    maphash.Seed
	written []int64  // by hash of a key: the offset of its last write; nil: reads do not wait
	floor   int64    // likewise, of what has changed all keys
	fresh   []uint64 // hashes of keys that the running command has changed
	all     bool     // it has changed all keys
	refs    []spec.KeyRef

	timeouts int64
}

// heldBy is a held reply that waits for an offset. They are in the order in which they came, which
// is that of the offsets of writes, and of the deadlines while the timeout is the same. A read that
// is held may be released later than it could be.
type heldBy struct {
	c      *Client
	offset int64
	until  int64 // steady ms
}

// unconfirmed holds replies that a client must not get yet.
type unconfirmed struct {
	buf   []byte // of all parts
	parts []heldReply
	gone  int // parts that have been released, at the front
	off   int // their bytes
}

// heldReply is a part of unconfirmed.buf: the replies to one command.
type heldReply struct {
	n      int
	offset int64 // that it waits for; that of the one before it, if it has nothing of its own
	own    bool  // it becomes an error when the time is up
	leased bool  // this node's lease was over when it had been read: see Client.Leased
}

// ackTable is the number of hashes that min-replicas-ack-reads tells apart.
const ackTable = 1 << 16

// heldBytes returns the memory of the client's held replies.
func (c *Client) heldBytes() int {
	if c.held == nil {
		return 0
	}
	return cap(c.held.buf) + cap(c.held.parts)*heldReplyBytes
}

// heldReplyBytes is the size of a heldReply.
const heldReplyBytes = 24

// HeldReplies reports whether replies of the client wait for replicas. Its connection must not end
// before they have gone, and what it is pushed has to stay behind them.
func (c *Client) HeldReplies() bool { return c.held != nil }

// add appends a reply. It reports whether that is the first one which waits for its offset.
func (u *unconfirmed) add(part heldReply, reply []byte) (first bool) {
	last := int64(0)
	if n := len(u.parts); n > 0 {
		last = u.parts[n-1].offset
	}
	first = part.own && part.offset > last
	part.offset = max(part.offset, last)
	u.buf = append(u.buf, reply...)
	u.parts = append(u.parts, part)
	return first
}

// push appends to the queue, and moves it to the front of its memory when half of that is done
// with.
func (f *confirming) push(h heldBy) {
	if f.head > 64 && f.head > len(f.queue)/2 {
		n := copy(f.queue, f.queue[f.head:])
		clear(f.queue[n:])
		f.queue, f.head = f.queue[:n], 0
	}
	f.queue = append(f.queue, h)
}

// keyWritten notes that the running command has changed a key.
func (f *confirming) keyWritten(key []byte) {
	f.fresh = append(f.fresh, maphash.Bytes(f.seed, key))
}

// noteWritten gives the changes of the command that has run its offset.
func (f *confirming) noteWritten(offset int64) {
	for _, h := range f.fresh {
		f.written[h%ackTable] = offset
	}
	f.fresh = f.fresh[:0]
	if f.all {
		f.floor, f.all = offset, false
	}
}

// newHistory forgets offsets of another history.
func (f *confirming) newHistory(offset int64) {
	f.upto = 0
	clear(f.written)
	f.floor = offset
}

// waiting reports whether replies are held.
func (f *confirming) waiting() bool { return f.head < len(f.queue) }

// nthLargest returns the n-th largest of the numbers, 0 if there are fewer. It changes their order.
func nthLargest(list []int64, n int) int64 {
	if n < 1 || n > len(list) {
		return 0
	}
	slices.Sort(list)
	return list[len(list)-n]
}
