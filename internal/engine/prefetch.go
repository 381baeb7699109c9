package engine

// Prefetch starts to bring into the cache what the lookup of the command's first key will touch, and returns the key's hash for
// PrefetchEntry and the command for PrefetchValue; cmd is nil when there is nothing to do. The executor is held. It is for commands that are read ahead of their turn: the
// misses of a whole pipeline overlap then, which is most of the cost of a lookup in a large data set.
func (e *Engine) Prefetch(c *Client, argv [][]byte) (h uint64, cmd *Command) {
	if len(argv) < 2 {
		return 0, nil
	}
	cmd = e.table.top(argv[0])
	if cmd == nil || cmd.firstKey == 0 || cmd.firstKey >= len(argv) {
		return 0, nil
	}
	h = e.KS.Hash(argv[cmd.firstKey])
	c.db.PrefetchBucket(h)
	return h, cmd
}

// PrefetchEntry goes on with what Prefetch has begun, after as much other work as there is.
func (e *Engine) PrefetchEntry(c *Client, h uint64) { c.db.PrefetchEntry(h) }

// PrefetchValue goes on with the value for commands that know what they will read of it.
func (e *Engine) PrefetchValue(c *Client, cmd *Command, argv [][]byte) {
	if cmd.AcceptsArgs(len(argv)) {
		cmd.Touch(c.db, argv)
	}
}
