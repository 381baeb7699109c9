package engine

import "godwit/internal/spec"

// Prefetch begins to bring into the cache what the lookup of the command's first key will touch.
// It returns the key's hash and the command, for PrefetchEntry; the command is nil if there is
// nothing to do. The executor is held.
//
// It is for commands that are read ahead of their turn. The misses of a whole pipeline overlap
// then, which is most of the cost of a lookup in a large data set.
func (e *Engine) Prefetch(c *Client, argv [][]byte) (h uint64, cmd *spec.Command) {
	if len(argv) < 2 {
		return 0, nil
	}
	cmd = e.table.Top(argv[0])
	if cmd == nil || cmd.FirstKey() == 0 || cmd.FirstKey() >= len(argv) {
		return 0, nil
	}
	h = e.KS.Hash(argv[cmd.FirstKey()])
	c.db.PrefetchBucket(h)
	return h, cmd
}

// PrefetchEntry goes on with what Prefetch has begun, after as much other work as possible. It
// reports whether PrefetchChain and PrefetchValue have something to do for the command.
func (e *Engine) PrefetchEntry(c *Client, cmd *spec.Command, h uint64) (chain, value bool) {
	return c.db.PrefetchEntry(h), e.table.touch[cmd.ID()] != nil
}

// PrefetchChain goes on for a key that PrefetchEntry has not found.
func (e *Engine) PrefetchChain(c *Client, h uint64) { c.db.PrefetchChain(h) }

// PrefetchValue goes on with the value, for commands that know what they will read of it.
func (e *Engine) PrefetchValue(c *Client, cmd *spec.Command, argv [][]byte) {
	if touch := e.table.touch[cmd.ID()]; touch != nil && cmd.AcceptsArgs(len(argv)) {
		touch(c.db, argv)
	}
}
