package compiler

import "godwit/internal/lua/bytecode"

// itemsPerFlush is how many items of a constructor are put into registers before they go to the
// table.
const itemsPerFlush = 50

// constructor is the state of a table constructor. items and fields are those before the current
// one; stored is how many of the items are in the table already.
type constructor struct {
	table                 int // its register
	items, fields, stored int
	item                  exp // the last one, not yet in a register
}

// table compiles a table constructor.
func (c *compiler) table(e *exp) {
	line := c.line
	pc := c.emit(bytecode.NewTable, 0, 0, 0, 0)
	*e = newExp(expReloc, pc)
	c.toNext(e)
	t := constructor{table: e.info}
	c.skip('{')
	for c.tok.kind != '}' {
		c.flush(&t)
		if c.tok.kind == '[' || c.tok.kind == tkName && c.peek() == '=' {
			c.keyed(&t)
		} else {
			c.expr(&t.item)
			t.items++
		}
		if !c.testNext(',') && !c.testNext(';') {
			break
		}
	}
	c.closing('}', '{', line)
	c.lastItems(&t)
	c.fn.setB(pc, floatingByte(t.items))
	c.fn.setC(pc, floatingByte(t.fields))
}

// keyed compiles an item with a key.
func (c *compiler) keyed(t *constructor) {
	f := c.fn
	free := f.free
	var key, value exp
	if c.tok.kind == tkName {
		key = c.nameExp()
	} else {
		key = c.key()
	}
	t.fields++
	c.skip('=')
	e := newExp(expRegister, t.table)
	c.index(&e, &key)
	c.expr(&value)
	c.emitSet(&e, &value)
	f.free = free
}

// flush puts the last item into a register, and the items into the table if there are many.
func (c *compiler) flush(t *constructor) {
	if t.item.kind == expVoid {
		return
	}
	c.toNext(&t.item)
	t.item = exp{}
	if t.items-t.stored == itemsPerFlush {
		c.setList(t, itemsPerFlush)
	}
}

// lastItems puts the remaining items into the table.
func (c *compiler) lastItems(t *constructor) {
	switch {
	case t.items == t.stored:
	case t.item.isMulti():
		c.setResults(&t.item, -1)
		c.setList(t, 0)
		t.items--
	default:
		if t.item.kind != expVoid {
			c.toNext(&t.item)
		}
		c.setList(t, t.items-t.stored)
	}
}

// setList stores n items; 0: all up to the top.
func (c *compiler) setList(t *constructor, n int) {
	c.emit(bytecode.SetList, t.table, n, 0, t.stored)
	t.stored = t.items
	c.fn.free = t.table + 1
}

// floatingByte returns n rounded up to the form mmmmm xxx, which is xxx for a zero exponent mmmmm
// and else (8 + xxx) << (mmmmm - 1).
func floatingByte(n int) int {
	if n < 8 {
		return n
	}
	e := 1
	for ; n >= 16; e++ {
		n = (n + 1) >> 1
	}
	return e<<3 | (n - 8)
}
