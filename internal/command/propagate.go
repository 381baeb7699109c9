package command

import (
	"strconv"

	"godwit/internal/engine"
	"godwit/internal/object"
)

// What a command has changed is propagated in the words of Redis 7.0, whatever the words were that
// asked for it, if it can be said in them: then every replica understands it. What cannot be said
// in them is kept from replicas that lack it (engine/specials.go). The cases of testdata/newer.txt
// are all commands and arguments that are newer, and a test holds them against the command table.

// The words that several commands propagate.
var (
	wordDel       = []byte("DEL")
	wordSet       = []byte("SET")
	wordHSet      = []byte("HSET")
	wordPExpireAt = []byte("PEXPIREAT")
)

// manyArgs propagates a command with many arguments behind its head: as several commands, if there
// are very many. The caller appends each to the text and calls added, and in the end calls end. The
// command must be dirty.
type manyArgs struct {
	c    *engine.Ctx
	head [][]byte
	text []byte
	ends []int
}

// manyMax is the number of arguments behind the head of one command. It is even, so pairs stay
// together.
const manyMax = 1024

func newManyArgs(c *engine.Ctx, head ...[]byte) *manyArgs { return &manyArgs{c: c, head: head} }

// added ends an argument, which the caller has appended to the text.
func (m *manyArgs) added() {
	if m.ends = append(m.ends, len(m.text)); len(m.ends) == manyMax {
		m.end()
	}
}

// end propagates what is left.
func (m *manyArgs) end() {
	if len(m.ends) == 0 {
		return
	}
	argv := append(make([][]byte, 0, len(m.head)+len(m.ends)), m.head...)
	from := 0
	for _, end := range m.ends {
		argv = append(argv, m.text[from:end])
		from = end
	}
	m.c.PropagateEach(argv...)
	m.text, m.ends = m.text[:0], m.ends[:0]
}

// propagateZSet propagates the sorted set that was stored at the key, in place of what it was made
// of. An empty one is no key.
func propagateZSet(c *engine.Ctx, key []byte) {
	e := c.DB.Peek(key)
	if !e.Exists() {
		c.PropagateAs(wordDel, key)
		return
	}
	if !c.Propagating() {
		return
	}
	c.PropagateEach(wordDel, key)
	m := newManyArgs(c, []byte("ZADD"), key)
	c.DB.Open(e).Each(func(el *object.Element) bool {
		m.text = object.AppendScore(m.text, el.Score)
		m.added()
		m.text = el.Name.Append(m.text)
		m.added()
		return true
	})
	m.end()
}

// propagateHash propagates a hash whose fields have deadlines, and the key's own.
func propagateHash(c *engine.Ctx, key []byte, x *object.Edit) {
	c.PropagateEach(wordDel, key)
	m := newManyArgs(c, wordHSet, key)
	x.Each(func(el *object.Element) bool {
		m.text = el.Name.Append(m.text)
		m.added()
		m.text = el.Value.Append(m.text)
		m.added()
		return true
	})
	m.end()
	var name []byte
	var digits [20]byte
	x.Each(func(el *object.Element) bool {
		if el.Deadline != 0 {
			name = el.Name.Append(name[:0])
			c.PropagateEach([]byte("HPEXPIREAT"), key,
				strconv.AppendInt(digits[:0], el.Deadline, 10), []byte("FIELDS"), []byte("1"), name)
		}
		return true
	})
	if d := x.E.Deadline(); d != 0 {
		c.PropagateEach(wordPExpireAt, key, strconv.AppendInt(digits[:0], d, 10))
	}
}
