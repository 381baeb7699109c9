package command

import (
	"bytes"

	"godwit/internal/engine"
	"godwit/internal/object"
	"godwit/internal/slot"
)

// star returns the position of the pattern's star, or -1. As in Redis, it does not search beyond a
// NUL.
func star(p []byte) int {
	i := bytes.IndexAny(p, "*\x00")
	if i < 0 || p[i] == 0 {
		return -1
	}
	return i
}

// sortSlot returns the slot of all keys that a pattern names, or -1 if they may be in several.
// The hash tag decides, if it is complete before the element comes. A pattern without a star names
// one key.
func sortSlot(p []byte) int {
	decides := p
	if tag := slot.Tag(p); len(tag) < len(p) {
		decides = p[:bytes.IndexByte(p, '{')+len(tag)+1]
	}
	if bytes.IndexByte(decides, '*') >= 0 {
		return -1
	}
	return slot.Of(p)
}

// staysInSlot reports whether the keys that a pattern names are in the slot of the list that is
// sorted. It replies with an error if they may not be. Outside of a cluster they always are.
func staysInSlot(c *engine.Ctx, option string, p []byte) bool {
	if !c.E.ClusterEnabled() || string(p) == "#" || sortSlot(p) == slot.Of(c.Args[1]) {
		return true
	}
	c.Err("ERR " + option + " option of SORT denied in Cluster mode when keys formed by the " +
		"pattern may be in different slots.")
	return false
}

// patternValue appends to dst the value that a pattern of BY or GET names for an element. "#" names
// the element itself. Any other pattern names a key: the pattern with the element in place of its
// first star. The value is the string at that key. If "->" and a field follow the star, it is that
// field of the hash at the key.
func patternValue(c *engine.Ctx, dst, pattern, elem []byte) ([]byte, bool) {
	if string(pattern) == "#" {
		return append(dst, elem...), true
	}
	at := star(pattern)
	if at < 0 {
		return dst, false
	}
	postfix, field := pattern[at+1:], []byte(nil)
	if i := bytes.Index(postfix, []byte("->")); i >= 0 && i+2 < len(postfix) {
		postfix, field = postfix[:i], postfix[i+2:]
	}
	// The key is built in the spare room of dst. The value then overwrites it.
	key := append(append(append(dst, pattern[:at]...), elem...), postfix...)
	e := c.DB.LookupRead(key[len(dst):])
	switch {
	case !e.Exists():
		return dst, false
	case field != nil:
		if e.Type() != object.Hash {
			return dst, false
		}
		v, ok := object.AsHash(c.DB.Open(e)).Get(field)
		if !ok {
			return dst, false
		}
		return v.Append(dst), true
	case e.Type() != object.String:
		return dst, false
	}
	var scratch [24]byte
	return append(dst, c.DB.StringBytes(e, &scratch)...), true
}
