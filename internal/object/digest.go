package object

import (
	"crypto/sha1"
	"encoding/binary"

	"godwit/internal/listpack"
	"godwit/internal/resp"
)

// Digest tells whether two values, or two servers, hold the same data, whatever the encodings and
// the order of hash tables are. It is Redis's of DEBUG DIGEST, bit for bit:
//
//	Add(d, x)  d = d XOR SHA1(x)       for what has no order
//	Mix(d, x)  d = SHA1(d XOR SHA1(x)) for what has one
//
//	value      Mix of the type's number (4 bytes, big endian), then
//	           string, list   Mix of each element in order
//	           set            Add of each member
//	           zset, hash     Add of each pair's digest: Mix of the member and of the score
//	                          (%.17g), or of the field and of the value
//	           sketches       Mix of the header and of each block, of top-k lists and t-digests
//	                          of what counts of them (Redis does not look into these)
type Digest [sha1.Size]byte

// Add adds what has no order.
func (d *Digest) Add(b []byte) {
	for i, c := range sha1.Sum(b) {
		d[i] ^= c
	}
}

// Mix adds what comes behind all that was added before.
func (d *Digest) Mix(b []byte) {
	d.Add(b)
	*d = sha1.Sum(d[:])
}

// MixNumber mixes a number.
func (d *Digest) MixNumber(n uint32) { d.Mix(binary.BigEndian.AppendUint32(nil, n)) }

// MixValue mixes the value of an entry. Fields that are due are not there.
func (d *Digest) MixValue(x *Edit) {
	t := x.E.Type()
	d.MixNumber(uint32(t))
	descriptions[t].Digest(d, x)
}

func (d *Digest) mixText(v listpack.Value) {
	var digits [20]byte
	d.Mix(text(v, &digits))
}

func digestNodes(d *Digest, x *Edit) {
	var buf []byte
	x.Each(func(el *Element) bool {
		buf = EachInNode(el.Node, buf, d.mixText)
		return true
	})
}

func digestMembers(d *Digest, x *Edit) {
	var digits [20]byte
	x.Each(func(el *Element) bool {
		d.Add(text(el.Name, &digits))
		return true
	})
}

func digestScores(d *Digest, x *Edit) {
	var scratch [40]byte
	x.Each(func(el *Element) bool {
		var pair Digest
		pair.mixText(el.Name)
		pair.Mix(resp.AppendShortest(scratch[:0], el.Score))
		d.Add(pair[:])
		return true
	})
}

func digestFields(d *Digest, x *Edit) {
	h := AsHash(x)
	x.Each(func(el *Element) bool {
		if h.due(el.Deadline) {
			return true
		}
		var pair Digest
		pair.mixText(el.Name)
		pair.mixText(el.Value)
		if el.Deadline != 0 {
			pair.Add(fieldExpires)
		}
		d.Add(pair[:])
		return true
	})
}

// fieldExpires stands for the deadline of a field, whenever that is.
var fieldExpires = []byte("!!hexpire!!")

func digestBlocks(d *Digest, x *Edit) {
	d.Mix(x.Sketch().Head())
	x.Each(func(el *Element) bool {
		d.Mix(el.Value.B)
		return true
	})
}
