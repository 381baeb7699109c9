package command

import (
	"godwit/internal/engine"
	"godwit/internal/keyspace"
	"godwit/internal/listpack"
	"godwit/internal/object"
)

var _ = family(listHandlers)

func listHandlers() engine.Handlers {
	return engine.Handlers{
		"lpush":     func(c *engine.Ctx) { push(c, true, false) },
		"rpush":     func(c *engine.Ctx) { push(c, false, false) },
		"lpushx":    func(c *engine.Ctx) { push(c, true, true) },
		"rpushx":    func(c *engine.Ctx) { push(c, false, true) },
		"lpop":      func(c *engine.Ctx) { pop(c, true) },
		"rpop":      func(c *engine.Ctx) { pop(c, false) },
		"llen":      llenCmd,
		"lindex":    lindexCmd,
		"lrange":    lrangeCmd,
		"ltrim":     ltrimCmd,
		"lset":      lsetCmd,
		"linsert":   linsertCmd,
		"lrem":      lremCmd,
		"lmove":     lmoveCmd,
		"lmovem":    lmovemCmd,
		"rpoplpush": rpoplpushCmd,
		"lmpop":     lmpopCmd,
		"lpos":      lposCmd,
	}
}

// openList opens the list at key for a command that may change it. It reports false after a
// WRONGTYPE reply. If the key is absent, the Edit of the result is nil.
func openList(c *engine.Ctx, key []byte) (l object.Elements, ok bool) {
	x, ok := openWrite(c, key, object.List)
	return object.AsList(x), ok
}

// readList does what openList does, for a command that only reads.
func readList(c *engine.Ctx, key []byte) (l object.Elements, ok bool) {
	x, ok := openRead(c, key, object.List)
	return object.AsList(x), ok
}

// newList creates an empty list at an absent key. The caller must add elements at once.
func newList(c *engine.Ctx, key []byte) object.Elements {
	return object.AsList(c.DB.Create(key, object.List, object.EncListpack, listpack.Empty()))
}

func push(c *engine.Ctx, head, mustExist bool) {
	key, elems := c.Args[1], c.Args[2:]
	l, ok := openList(c, key)
	if !ok {
		return
	}
	if l.Edit == nil {
		if mustExist {
			c.Int(0)
			return
		}
		l = newList(c, key)
	}
	l.MakeRoomFor(elems...)
	for _, e := range elems {
		l.Push(e, head)
	}
	c.Dirty(len(elems))
	c.Int(int64(l.Len()))
	pushed(c, key, head)
}

// pushed announces that elements were added at an end of the list at key.
func pushed(c *engine.Ctx, key []byte, head bool) {
	event := "rpush"
	if head {
		event = "lpush"
	}
	c.Changed(key)
	c.Notify(keyspace.EvList, event, key)
}

// popped announces that n elements were removed at an end of the list at key. It deletes the key if
// the list is empty.
func popped(c *engine.Ctx, l object.Elements, key []byte, head bool, n int) {
	event := "rpop"
	if head {
		event = "lpop"
	}
	c.Notify(keyspace.EvList, event, key)
	removedFrom(c, l, key)
	c.Changed(key)
	c.Dirty(n)
}

// removedFrom must follow every removal from the list at key. It deletes an empty list and packs a
// small one.
func removedFrom(c *engine.Ctx, l object.Elements, key []byte) {
	if l.Len() == 0 {
		emptied(c, l.Edit, key)
		return
	}
	l.Shrunk()
}

func pop(c *engine.Ctx, head bool) {
	if len(c.Args) > 3 {
		c.Err(errArity(c))
		return
	}
	key, count, counted := c.Args[1], int64(1), len(c.Args) == 3
	if counted {
		var ok bool
		if count, ok = positiveArg(c, c.Args[2]); !ok {
			return
		}
	}
	l, ok := openList(c, key)
	switch {
	case !ok:
	case l.Edit == nil && counted:
		c.NullArray()
	case l.Edit == nil:
		c.Null()
	case counted && count == 0:
		c.Array(0)
	case counted:
		popMany(c, l, key, head, count)
	default:
		popOne(c, l, key, head)
	}
}

// popOne removes the element at an end of the list and replies with it.
func popOne(c *engine.Ctx, l object.Elements, key []byte, head bool) {
	bulkValue(c, l.End(head))
	l.Drop(head)
	popped(c, l, key, head, 1)
}

// popMany removes up to count elements at an end of the list and replies with them, the outermost
// first. It returns their number.
func popMany(c *engine.Ctx, l object.Elements, key []byte, head bool, count int64) int {
	size := l.Len()
	n := int(min(count, int64(size)))
	first, from := 0, 0
	if !head {
		first, from = size-n, size-1
	}
	replyRange(c, l, from, n, !head)
	l.DeleteRange(first, n)
	popped(c, l, key, head, n)
	return n
}

// replyRange replies with an array of n elements from the index on, backwards if reverse is set.
// The list must have them.
func replyRange(c *engine.Ctx, l object.Elements, from, n int, reverse bool) {
	c.Array(n)
	it := l.Iter(from, reverse)
	for n > 0 {
		if !reverse {
			n -= replyChunk(c, &it, n)
		}
		if n > 0 {
			v, _ := it.Next()
			bulkValue(c, v)
			n--
		}
	}
}

// replyChunk replies with up to n elements of one node. It returns their number.
func replyChunk(c *engine.Ctx, it *object.ListIter, n int) int {
	lp, pos := it.Chunk()
	if pos == 0 {
		return 0
	}
	w, end, left := c.Writer, listpack.End(lp), n
	for ; pos < end && left > 0; left-- {
		if b, ok := listpack.Short(lp, pos); ok {
			w.Bulk(b)
			pos += len(b) + 2
			continue
		}
		bulkValue(c, listpack.Get(lp, pos))
		pos = listpack.After(lp, pos)
	}
	return n - left
}

func llenCmd(c *engine.Ctx) {
	l, ok := readList(c, c.Args[1])
	switch {
	case !ok:
	case l.Edit == nil:
		c.Int(0)
	default:
		c.Int(int64(l.Len()))
	}
}

func lindexCmd(c *engine.Ctx) {
	l, ok := readList(c, c.Args[1])
	if !ok {
		return
	}
	if l.Edit == nil {
		c.Null()
		return
	}
	i, ok := intArg(c, c.Args[2])
	if !ok {
		return
	}
	if v, ok := l.At(int(i)); ok {
		bulkValue(c, v)
	} else {
		c.Null()
	}
}
