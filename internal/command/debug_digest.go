package command

import (
	"crypto/sha1"
	"encoding/binary"
	"encoding/hex"

	"godwit/internal/engine"
	"godwit/internal/keyspace"
	"godwit/internal/listpack"
	"godwit/internal/object"
	"godwit/internal/resp"
	"godwit/internal/tdigest"
	"godwit/internal/topk"
)

// The digest of DEBUG DIGEST tells whether two servers hold the same data, whatever the encodings and the order of hash tables are. It is
// Redis's, bit for bit, so that a Godwit and a Redis can be compared:
//
//	add(d, x)  d = d XOR SHA1(x)       for what has no order
//	mix(d, x)  d = SHA1(d XOR SHA1(x)) for what has one
//
//	value      mix of the type's number (4 bytes, big endian), then
//	           string, list   mix of each element in order
//	           set            add of each member
//	           zset, hash     add of each pair's digest: mix of the member and of the score (%.17g), or of the field and of the value
//	           sketches       mix of the header and of each block, of top-k lists and t-digests of what counts of them (Redis does not look into these)
//	           then add of "!!expire!!" if the key has a deadline
//	database   mix of its number (4 bytes, big endian), then add of each key's digest: mix of the key, then the value's as above
type digest [sha1.Size]byte

func (d *digest) add(b []byte) {
	for i, c := range sha1.Sum(b) {
		d[i] ^= c
	}
}

func (d *digest) mix(b []byte) {
	d.add(b)
	*d = sha1.Sum(d[:])
}

func (d *digest) mixNumber(n uint32) { d.mix(binary.BigEndian.AppendUint32(nil, n)) }

func (d *digest) mixValue(v listpack.Value) {
	var scratch [20]byte
	d.mix(valueText(v, &scratch))
}

// value mixes the value of a key in.
func (d *digest) value(db *keyspace.DB, e object.Entry) {
	d.mixNumber(uint32(e.Type()))
	var scratch [24]byte
	var digits [20]byte
	switch e.Type() {
	case object.String:
		d.mix(db.StringBytes(e, &scratch))
	case object.List:
		x := db.Open(e)
		eachElement(x, 0, collectionLen(x), false, d.mixValue)
	case object.Set:
		x := db.Open(e)
		eachElement(x, 0, collectionLen(x), false, func(v listpack.Value) { d.add(valueText(v, &digits)) })
	case object.ZSet:
		object.AsZSet(db.Open(e)).Each(func(m listpack.Value, score float64) bool {
			var pair digest
			pair.mixValue(m)
			pair.mix(resp.AppendDouble17(scratch[:0], score))
			d.add(pair[:])
			return true
		})
	case object.Hash:
		object.AsHash(db.Open(e)).Each(func(field, value listpack.Value) bool {
			var pair digest
			pair.mixValue(field)
			pair.mixValue(value)
			d.add(pair[:])
			return true
		})
	}
	switch {
	case e.Type() == object.TypeTopK:
		d.mix(topk.Open(db.Open(e).Sketch()).AppendState(nil))
	case e.Type() == object.TypeTDigest:
		d.mix(tdigest.Open(db.Open(e).Sketch()).AppendState(nil))
	case e.Type().Sketch():
		s := db.Open(e).Sketch()
		d.mix(s.Head())
		for i := range s.Blocks() {
			d.mix(s.Block(i))
		}
	}
	if e.Deadline() != 0 {
		d.add([]byte("!!expire!!"))
	}
}

func debugDigest(c *engine.Ctx) {
	var d digest
	for i := range c.E.KS.Databases() {
		db := c.E.KS.DB(i)
		if db.Len() == 0 {
			continue
		}
		d.mixNumber(uint32(i))
		for cursor, again := uint64(0), true; again; again = cursor != 0 {
			cursor = db.Scan(cursor, func(e object.Entry) {
				var k digest
				k.mix(e.Key())
				k.value(db, e)
				d.add(k[:])
			})
		}
	}
	c.Simple(hex.EncodeToString(d[:]))
}

// debugDigestValue answers with the digest of each key's value, zeros for a missing key.
func debugDigestValue(c *engine.Ctx) {
	c.Array(len(c.Args) - 2)
	for _, key := range c.Args[2:] {
		var d digest
		if e := c.DB.Peek(key); e.Exists() {
			d.value(c.DB, e)
		}
		c.Simple(hex.EncodeToString(d[:]))
	}
}
