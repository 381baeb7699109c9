package command

import (
	"godwit/internal/engine"
)

// setFields does what HSET and HMSET share. It returns the number of new fields.
func setFields(c *engine.Ctx) (created int, ok bool) {
	if !pairedFields(c) {
		return 0, false
	}
	h, ok := makeHash(c)
	if !ok {
		return 0, false
	}
	pairs := c.Args[2:]
	h.Reserve(pairs)
	ahead := h.Lookahead(pairs, 2)
	for i := 0; i < len(pairs); i += 2 {
		ahead.Reach(i)
		if h.Set(pairs[i], pairs[i+1]) {
			created++
		}
	}
	hashChanged(c, "hset", len(pairs)/2, pairs, 2)
	return created, true
}

// pairedFields replies with an error and reports false if a field has no value.
func pairedFields(c *engine.Ctx) bool {
	if len(c.Args)%2 != 0 {
		c.Err(errArity(c))
		return false
	}
	return true
}

func hsetCmd(c *engine.Ctx) {
	if created, ok := setFields(c); ok {
		c.Int(int64(created))
	}
}

func hmsetCmd(c *engine.Ctx) {
	if _, ok := setFields(c); ok {
		c.OK()
	}
}

func hsetnxCmd(c *engine.Ctx) {
	h, found, ok := writeHash(c)
	if !ok {
		return
	}
	switch {
	case !found:
		h = newHash(c)
	case h.Has(c.Args[2]):
		c.Int(0)
		return
	}
	h.Reserve(c.Args[2:4])
	h.Set(c.Args[2], c.Args[3])
	hashChanged(c, "hset", 1, c.Args[2:3], 1)
	c.Int(1)
}

func hdelCmd(c *engine.Ctx) {
	h, found, ok := writeHash(c)
	if !ok {
		return
	}
	deleted := 0
	if found {
		var names [][]byte
		fields := c.Args[2:]
		ahead := h.Lookahead(fields, 1)
		for i, field := range fields {
			ahead.Reach(i)
			if !h.Delete(field) {
				continue
			}
			deleted++
			if c.E.KS.P.FieldEvents {
				names = append(names, field)
			}
		}
		if deleted > 0 {
			hashChanged(c, "hdel", deleted, names, 1)
		}
		if h.Empty() {
			emptied(c, h.Edit, c.Args[1])
		}
	}
	c.Int(int64(deleted))
}
