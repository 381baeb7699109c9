package command

import (
	"encoding/hex"

	"godwit/internal/engine"
	"godwit/internal/keyspace"
	"godwit/internal/object"
)

// digestValue mixes into d the value of a key and whether the key has a deadline. The value's type
// defines its digest: see object.Digest.
func digestValue(d *object.Digest, db *keyspace.DB, e object.Entry) {
	d.MixValue(db.Open(e))
	if e.Deadline() != 0 {
		d.Add([]byte("!!expire!!"))
	}
}

// debugDigest mixes the number of each database that has keys, and adds each key's digest. That
// digest mixes the key first, then the value.
func debugDigest(c *engine.Ctx) {
	var d object.Digest
	for i := range c.E.KS.Databases() {
		db := c.E.KS.DB(i)
		if db.Len() == 0 {
			continue
		}
		d.MixNumber(uint32(i))
		db.Each(func(e object.Entry) {
			var k object.Digest
			k.Mix(e.Key())
			digestValue(&k, db, e)
			d.Add(k[:])
		})
	}
	c.Simple(hex.EncodeToString(d[:]))
}

// debugDigestValue replies with the digest of each key's value, zeros for a missing key.
func debugDigestValue(c *engine.Ctx) {
	c.Array(len(c.Args) - 2)
	for _, key := range c.Args[2:] {
		var d object.Digest
		if e := c.DB.Peek(key); e.Exists() {
			digestValue(&d, c.DB, e)
		}
		c.Simple(hex.EncodeToString(d[:]))
	}
}
