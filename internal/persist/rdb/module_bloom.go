package rdb

import (
	"encoding/binary"
	"math"

	"godwit/internal/bloom"
	"godwit/internal/object"
)

// Bloom filters of RedisBloom's kind are written as RedisBloom does, in its version 4, which Redis
// 8 reads:
//
//	items, links, options, growth          unsigned
//	of each link: capacity, error (double), probes, bits per item (double), bits, n2,
//	              the bits (string), items
//
// Versions 1 to 3 have no growth (it is 2 then). Version 1 has no options either. Version 0, of
// 2017, rounded bits otherwise and is not read. Version 5 adds a hash version and a seed at the
// end. Only hash version 0, the hash of all versions before, is read. Our own filters are plain:
// header and bits.
func init() {
	registerSketch(object.TypeBloom,
		&layout{name: "MBbloom--", ver: 4, oldest: 1, newest: 5, chunks: "BF.LOADCHUNK",
			handles: bloom.Redis, parts: bloomParts, read: bloomRead},
		&layout{name: "GWbloom--", ver: 1, oldest: 1, newest: 1, chunks: "BF.LOADCHUNK",
			handles: any1, parts: plainParts, read: plainRead(checkBloom)})
}

func checkBloom(head []byte, blocks [][]byte) error { return bloom.Check(head, lengths(blocks)) }

func bloomParts(p *Parts, head []byte, blocks []int) {
	le := binary.LittleEndian
	p.Uint(le.Uint64(head))
	for at := 8; at < 20; at += 4 {
		p.Uint(uint64(le.Uint32(head[at:])))
	}
	for i, n := range blocks {
		l := head[bloom.HeadLen+i*bloom.LinkLen:]
		p.Uint(le.Uint64(l[44:]))
		p.Double(math.Float64frombits(le.Uint64(l[24:])))
		p.Uint(uint64(le.Uint32(l[40:])))
		p.Double(math.Float64frombits(le.Uint64(l[32:])))
		p.Uint(le.Uint64(l[8:]))
		p.Uint(uint64(l[52]))
		p.Block(n)
		p.Uint(le.Uint64(l[16:]))
	}
}

func bloomRead(d *Decoder, ver int) (head []byte, blocks [][]byte, err error) {
	at := d.pos
	r := partReader{d: d}
	head = make([]byte, bloom.HeadLen)
	le := binary.LittleEndian
	le.PutUint64(head, r.uint(math.MaxUint64))
	n := r.uint(uint64(d.left() / 8)) // of a link there are at least eight parts
	le.PutUint32(head[8:], uint32(n))
	if ver >= 2 {
		le.PutUint32(head[12:], uint32(r.uint(math.MaxUint32)))
	}
	growth := uint64(2)
	if ver >= 4 {
		growth = r.uint(math.MaxUint32)
	}
	le.PutUint32(head[16:], uint32(growth))
	for ; n > 0 && r.err == nil; n-- {
		head = append(head, make([]byte, bloom.LinkLen)...)
		blocks = append(blocks, r.bloomLink(head[len(head)-bloom.LinkLen:]))
	}
	if ver >= 5 {
		r.uint(0) // the hash version; its seed says nothing
		r.uint(math.MaxUint64)
	}
	r.end()
	if r.err == nil && checkBloom(head, blocks) != nil {
		d.pos = at
		r.err = d.errorf("%v", bloom.ErrInvalid)
	}
	return head, blocks, r.err
}

// bloomLink reads a link into its place in the header, and its bits.
func (r *partReader) bloomLink(l []byte) []byte {
	le := binary.LittleEndian
	le.PutUint64(l[44:], r.uint(math.MaxUint64))
	le.PutUint64(l[24:], math.Float64bits(r.double()))
	le.PutUint32(l[40:], uint32(r.uint(math.MaxUint32)))
	le.PutUint64(l[32:], math.Float64bits(r.double()))
	le.PutUint64(l[8:], r.uint(math.MaxUint64))
	l[52] = byte(r.uint(63))
	b := r.string()
	le.PutUint64(l, uint64(len(b)))
	le.PutUint64(l[16:], r.uint(math.MaxUint64))
	return b
}
