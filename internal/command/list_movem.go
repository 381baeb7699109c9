package command

import (
	"math"
	"strconv"

	"godwit/internal/engine"
	"godwit/internal/object"
)

// moveMany is a call of LMOVEM or BLMOVEM.
type moveMany struct {
	fromHead, toHead bool
	count            int64
	exactly          bool // Move count elements or none.
	oneByOne         bool // OBO: as if each were pushed as it is popped. Else BULK: in their order.
}

// sides reads the ends.
func (m *moveMany) sides(c *engine.Ctx) (ok bool) {
	if m.fromHead, ok = sideArg(c, c.Args[3]); !ok {
		return false
	}
	m.toHead, ok = sideArg(c, c.Args[4])
	return ok
}

// options reads [COUNT|EXACTLY count OBO|BULK].
func (m *moveMany) options(c *engine.Ctx, args [][]byte) (ok bool) {
	m.count = 1
	if len(args) == 0 {
		return true
	}
	if len(args) != 3 || !is(args[0], "count") && !is(args[0], "exactly") {
		c.Err(engine.ErrSyntax)
		return false
	}
	m.exactly = is(args[0], "exactly")
	const wrong = "ERR count should be greater than 0"
	if m.count, ok = rangeArg(c, args[1], 1, math.MaxInt64, wrong); !ok {
		return false
	}
	m.oneByOne = is(args[2], "obo")
	if !m.oneByOne && !is(args[2], "bulk") {
		c.Err(engine.ErrSyntax)
		return false
	}
	return true
}

// run moves the elements from the list at the first argument to the list at the second. It replies
// with them as they then stand in the destination, and returns their number. If the source has too
// few, it does nothing and reports false. If a key holds another type, it replies with an error and
// reports true.
func (m *moveMany) run(c *engine.Ctx) (n int, ok bool) {
	src, dst := c.Args[1], c.Args[2]
	from, ok := openList(c, src)
	if !ok {
		return 0, true
	}
	if from.Edit == nil || m.exactly && int64(from.Len()) < m.count {
		return 0, false
	}
	to := from
	if string(src) != string(dst) {
		if to, ok = openList(c, dst); !ok {
			return 0, true
		}
	}
	n = int(min(m.count, int64(from.Len())))
	// For a moment what is moved is there twice.
	if !c.E.HasRoom(c.DB.Footprint(src) / int64(from.Len()) * int64(n)) {
		c.Err(engine.ErrNoMemory)
		return 0, true
	}
	first := 0
	if !m.fromHead {
		first = from.Len() - n
	}
	// Pushed one by one to the end that they came from, they change their order.
	reverse := m.oneByOne && m.fromHead == m.toHead
	replyRange(c, from, m.begin(first, n, reverse), n, reverse)
	all := n == from.Len()
	if string(src) == string(dst) {
		m.rotate(from, first, n, reverse)
	} else {
		if to.Edit == nil {
			to = newList(c, dst)
		}
		m.push(from, to, first, n, reverse)
		from.DeleteRange(first, n)
		all = false
	}
	m.propagate(c, to, n, all)
	pushed(c, dst, m.toHead)
	popped(c, from, src, m.fromHead, n)
	return n, true
}

// begin returns the index at which a walk over n elements from first on begins.
func (m *moveMany) begin(first, n int, reverse bool) int {
	if reverse {
		return first + n - 1
	}
	return first
}

// push copies n elements from first on to the end of the list to. There they are in their order or
// in reverse.
func (m *moveMany) push(from, to object.Elements, first, n int, reverse bool) {
	bytes := 0
	it := from.Iter(first, false)
	for range n {
		v, _ := it.Next()
		bytes += len(v.B) // Redis makes room for the bytes of strings, and for none of integers.
	}
	to.MakeRoom(bytes, n)
	reverse = reverse != m.toHead // The last pushed to the head stands first.
	it = from.Iter(m.begin(first, n, reverse), reverse)
	var buf []byte
	for range n {
		v, _ := it.Next()
		buf = v.Append(buf[:0])
		to.Push(buf, m.toHead)
	}
}

// rotate takes n elements from first on out of the list and pushes them to it.
func (m *moveMany) rotate(l object.Elements, first, n int, reverse bool) {
	reverse = reverse != m.toHead
	it := l.Iter(m.begin(first, n, reverse), reverse)
	var buf []byte
	ends := make([]int, n)
	for i := range ends {
		v, _ := it.Next()
		buf = v.Append(buf)
		ends[i] = len(buf)
	}
	l.DeleteRange(first, n)
	at := 0
	for _, end := range ends {
		l.Push(buf[at:end], m.toHead)
		at = end
	}
}

// propagate sends, instead of the command, what of it Redis 7.0 knows: n elements, which stand at
// their end of the list to now, were taken from the other one. all says that it is the same list,
// and that they are all of it. Then they are pushed first, so that the key does not go meanwhile
// with its deadline.
func (m *moveMany) propagate(c *engine.Ctx, to object.Elements, n int, all bool) {
	if !c.Propagating() {
		return
	}
	src, dst := c.Args[1], c.Args[2]
	if n == 1 {
		c.PropagateEach([]byte("LMOVE"), src, dst, c.Args[3], c.Args[4])
		return
	}
	count := strconv.AppendInt(nil, int64(n), 10)
	if !all {
		c.PropagateEach(popName(m.fromHead), src, count)
	}
	name, first := "RPUSH", to.Len()-n
	if m.toHead {
		name, first = "LPUSH", n-1 // the last pushed stands first
	}
	args := newManyArgs(c, []byte(name), dst)
	for it := to.Iter(first, m.toHead); n > 0; n-- {
		v, _ := it.Next()
		args.text = v.Append(args.text)
		args.added()
	}
	args.end()
	if all {
		c.PropagateEach(popName(!m.toHead), dst, count)
	}
}

func lmovemCmd(c *engine.Ctx) {
	var m moveMany
	if !m.sides(c) || !m.options(c, c.Args[5:]) {
		return
	}
	if _, ok := m.run(c); !ok {
		c.NullArray()
	}
}

// blmovemCmd does what LMOVEM does, once the source has enough elements.
func blmovemCmd(c *engine.Ctx) {
	var m moveMany
	if !m.sides(c) {
		return
	}
	deadline, ok := deadlineArg(c, c.Args[5])
	if !ok || !m.options(c, c.Args[6:]) {
		return
	}
	if _, ok := m.run(c); !ok {
		m.wait(c, deadline)
	}
}

// wait blocks the client until the source may have enough elements.
func (m *moveMany) wait(c *engine.Ctx, deadline int64) {
	if !c.MayBlock() {
		c.NullArray()
		return
	}
	w := engine.Wait{Keys: c.Args[1:2], Type: object.List, Deadline: deadline,
		OnTimeout: replyNullArray}
	if m.exactly && m.count > 1 {
		w.Events = engine.WaitChange // A list that is there may grow.
	}
	c.Block(w)
}
