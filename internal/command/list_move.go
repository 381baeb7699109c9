package command

import (
	"math"
	"strconv"

	"godwit/internal/engine"
)

// sideArg reads LEFT, the head, or RIGHT, the tail.
func sideArg(c *engine.Ctx, arg []byte) (head, ok bool) {
	switch {
	case is(arg, "left"):
		return true, true
	case is(arg, "right"):
		return false, true
	}
	c.Err(engine.ErrSyntax)
	return false, false
}

func lmoveCmd(c *engine.Ctx) {
	fromHead, ok := sideArg(c, c.Args[3])
	if !ok {
		return
	}
	toHead, ok := sideArg(c, c.Args[4])
	if !ok {
		return
	}
	if !moveElement(c, c.Args[1], c.Args[2], fromHead, toHead) {
		c.Null()
	}
}

func rpoplpushCmd(c *engine.Ctx) {
	if !moveElement(c, c.Args[1], c.Args[2], false, true) {
		c.Null()
	}
}

// moveElement moves the element at an end of the list at src to an end of the list at dst, and
// replies with it. dst may be missing, or be the same list. It reports false, without a reply, if
// there is no list at src. If a key holds another type, it replies with an error and reports true.
func moveElement(c *engine.Ctx, src, dst []byte, fromHead, toHead bool) bool {
	from, ok := openList(c, src)
	if !ok {
		return true
	}
	if from.Edit == nil {
		return false
	}
	// A list that moves to itself needs one Edit: a second one would not see that the first
	// relocates it.
	to := from
	if string(src) != string(dst) {
		if to, ok = openList(c, dst); !ok {
			return true
		}
	}
	v := from.Pop(fromHead)
	if to.Edit == nil {
		to = newList(c, dst)
	}
	c.Changed(dst)
	// Redis makes room for the bytes of a string, and for none if the element is an integer.
	to.MakeRoom(len(v.B), 1)
	to.PushValue(v, toHead)
	pushed(c, dst, toHead)
	bulkValue(c, v)
	popped(c, from, src, fromHead, 1)
	return true
}

func lmpopCmd(c *engine.Ctx) {
	keys, head, count, ok := mpopArgs(c, 1)
	if ok && !popFromFirst(c, keys, head, count) {
		c.NullArray()
	}
}

// mpopArgs reads numkeys, the keys, the side and COUNT from argument i on.
func mpopArgs(c *engine.Ctx, i int) (keys [][]byte, head bool, count int64, ok bool) {
	n, ok := rangeArg(c, c.Args[i], 1, math.MaxInt64, "ERR numkeys should be greater than 0")
	if !ok {
		return
	}
	args := c.Args[i+1:]
	if n >= int64(len(args)) {
		c.Err(engine.ErrSyntax)
		return keys, head, count, false
	}
	keys, args = args[:n], args[n:]
	if head, ok = sideArg(c, args[0]); !ok {
		return
	}
	count, ok = mpopCount(c, args[1:])
	return
}

// mpopCount reads [COUNT count].
func mpopCount(c *engine.Ctx, args [][]byte) (int64, bool) {
	switch {
	case len(args) == 0:
		return 1, true
	case !is(args[0], "count") || len(args) == 1:
		c.Err(engine.ErrSyntax)
		return 0, false
	}
	n, ok := rangeArg(c, args[1], 1, math.MaxInt64, "ERR count should be greater than 0")
	if ok && len(args) > 2 {
		c.Err(engine.ErrSyntax)
		return 0, false
	}
	return n, ok
}

// popFromFirst finds the first key that has a list, removes up to count elements at an end of it,
// replies with the key and the elements, and propagates that as LPOP or RPOP. It reports false,
// without a reply, if no key has a list. If a key holds another type, it replies with an error and
// reports true.
func popFromFirst(c *engine.Ctx, keys [][]byte, head bool, count int64) bool {
	for _, key := range keys {
		l, ok := openList(c, key)
		if !ok {
			return true
		}
		if l.Edit == nil {
			continue
		}
		c.Array(2)
		c.Bulk(key)
		n := popMany(c, l, key, head, count)
		var digits [20]byte
		c.PropagateAs(popName(head), key, strconv.AppendInt(digits[:0], int64(n), 10))
		return true
	}
	return false
}

// popName returns the name of the command that pops at an end.
func popName(head bool) []byte {
	if head {
		return []byte("LPOP")
	}
	return []byte("RPOP")
}
