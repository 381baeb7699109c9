package command

import (
	"slices"

	"godwit/internal/engine"
	"godwit/internal/keyspace"
	"godwit/internal/listpack"
	"godwit/internal/object"
)

// listCommands are the entries of the list commands that do not block; each part stands beside its handlers.
func listCommands() []*engine.Command {
	return slices.Concat(listPushCommands(), listPopCommands(), listRangeCommands(), listEditCommands(), listMoveCommands(),
		[]*engine.Command{lposCommand()})
}

// listCommand is entry for the list commands; those without keys of their own have one, their first argument.
func listCommand(cmd engine.Command, access engine.Access, args ...engine.Arg) *engine.Command {
	if cmd.Keys == nil {
		args = append([]engine.Arg{engine.Key("key", 0)}, args...)
	}
	return entry(engine.GroupList, cmd, access, args...)
}

func listPushCommands() []*engine.Command {
	push := func(name, since, manySince, summary string, head, mustExist bool) *engine.Command {
		return listCommand(engine.Command{
			Name: name, Arity: -3, Flags: engine.Write | engine.DenyOOM | engine.Fast, Since: since,
			Summary: summary, Complexity: "O(N) in the number N of elements that are added",
			History: []engine.History{{Since: manySince, Change: "Takes several elements."}},
			Run:     func(c *engine.Ctx) { push(c, head, mustExist) },
		}, engine.RW|engine.Insert, engine.Str("element").Many())
	}
	return []*engine.Command{
		push("lpush", "1.0.0", "2.4.0", "Adds elements at the head of a list, which is made if it is missing.", true, false),
		push("rpush", "1.0.0", "2.4.0", "Adds elements at the tail of a list, which is made if it is missing.", false, false),
		push("lpushx", "2.2.0", "4.0.0", "Adds elements at the head of a list that exists.", true, true),
		push("rpushx", "2.2.0", "4.0.0", "Adds elements at the tail of a list that exists.", false, true),
	}
}

func listPopCommands() []*engine.Command {
	pop := func(name, summary string, head bool) *engine.Command {
		return listCommand(engine.Command{
			Name: name, Arity: -2, Flags: engine.Write | engine.Fast, Since: "1.0.0",
			Summary: summary, Complexity: "O(N) in the number N of elements that are removed",
			History: []engine.History{{Since: "6.2.0", Change: "Takes `count`."}},
			Run:     func(c *engine.Ctx) { pop(c, head) },
		}, engine.RW|engine.AccessFlag|engine.Delete, engine.Int("count").Opt().From("6.2.0"))
	}
	return []*engine.Command{
		pop("lpop", "Removes and returns elements at the head of a list.", true),
		pop("rpop", "Removes and returns elements at the tail of a list.", false),
		listCommand(engine.Command{
			Name: "llen", Arity: 2, Flags: engine.ReadOnly | engine.Fast, Since: "1.0.0",
			Summary: "Returns how many elements a list has.", Complexity: "O(1)", Run: llenCmd,
		}, engine.RO),
		listCommand(engine.Command{
			Name: "lindex", Arity: 3, Flags: engine.ReadOnly, Since: "1.0.0",
			Summary:    "Returns the element at an index of a list.",
			Complexity: "O(N) in the distance N from the nearer end; whole nodes are skipped", Run: lindexCmd,
		}, engine.RO|engine.AccessFlag, engine.Int("index")),
	}
}

// openList opens the list at key for a command that may change it. It reports false after answering WRONGTYPE; there is no list if the Edit of
// the result is nil.
func openList(c *engine.Ctx, key []byte) (l object.Elements, ok bool) {
	x, ok := openWrite(c, key, object.List)
	return object.AsList(x), ok
}

// readList is openList for a reading command.
func readList(c *engine.Ctx, key []byte) (l object.Elements, ok bool) {
	x, ok := openRead(c, key, object.List)
	return object.AsList(x), ok
}

// newList makes an empty list at an absent key. Elements have to be added at once.
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

// popped announces that n elements were removed at an end of the list at key and removes the key if that was all of them.
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

// removedFrom follows every removal from the list at key: an empty list goes, a small one is packed.
func removedFrom(c *engine.Ctx, l object.Elements, key []byte) {
	if l.Len() == 0 {
		emptied(c, l.Edit, key)
		return
	}
	l.Shrunk()
}

func pop(c *engine.Ctx, head bool) {
	if len(c.Args) > 3 {
		c.Err("ERR wrong number of arguments for '" + c.Cmd.FullName() + "' command")
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

// popOne answers with the element at an end of the list and removes it.
func popOne(c *engine.Ctx, l object.Elements, key []byte, head bool) {
	bulkValue(c, l.End(head))
	l.Drop(head)
	popped(c, l, key, head, 1)
}

// popMany answers with up to count elements, the outermost first, and removes them. It returns how many there were.
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

// replyRange answers with an array of n elements from the index on, backwards in reverse. There have to be so many.
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

// replyChunk answers with up to n elements of one node and returns how many it were.
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
