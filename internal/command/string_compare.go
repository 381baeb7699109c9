package command

import (
	"encoding/binary"
	"encoding/hex"

	"github.com/zeebo/xxh3"

	"godwit/internal/engine"
	"godwit/internal/object"
)

func delexCmd(c *engine.Ctx) {
	key := c.Args[1]
	switch len(c.Args) {
	case 2:
		delIf(c, key, c.DB.Lookup(key), always, nil)
		return
	case 4:
	default:
		c.Err("ERR wrong number of arguments for '" + c.Cmd.FullName() + "' command")
		return
	}
	cond := compareToken(c.Args[2])
	if cond == always {
		c.Err("ERR Invalid condition. Use IFEQ, IFNE, IFDEQ, or IFDNE")
		return
	}
	if !validOperand(c, cond, c.Args[3]) {
		return
	}
	e := c.DB.Lookup(key)
	if e.Exists() && e.Type() != object.String {
		c.Err("ERR Key should be of string type if conditions are specified")
		return
	}
	delIf(c, key, e, cond, c.Args[3])
}

func delifeqCmd(c *engine.Ctx) {
	key := c.Args[1]
	e := c.DB.Lookup(key)
	if isString(c, e) {
		delIf(c, key, e, ifEqual, c.Args[2])
	}
}

// delIf deletes the key of e if it exists and the condition holds. It replies with the number of
// deleted keys.
func delIf(c *engine.Ctx, key []byte, e object.Entry, cond condition, operand []byte) {
	if !e.Exists() || !cond.holds(c, e, operand) {
		c.Int(0)
		return
	}
	deleteKey(c, key)
	c.Int(1)
}

func digestCmd(c *engine.Ctx) {
	e := c.DB.LookupRead(c.Args[1])
	if !e.Exists() {
		c.Null()
		return
	}
	if !isString(c, e) {
		return
	}
	var scratch [24]byte
	var sum [8]byte
	var text [digestLen]byte
	binary.BigEndian.PutUint64(sum[:], xxh3.Hash(c.DB.StringBytes(e, &scratch)))
	hex.Encode(text[:], sum[:])
	c.Bulk(text[:])
}
