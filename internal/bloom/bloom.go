// Package bloom holds scalable Bloom filters: sets that only answer whether something is in them.
// They never say no for what is in them, and say yes for a small, agreed share of what is not.
//
// A filter is a chain of links, each a Bloom filter of its own. For users they are layers. Items go
// into the last one. When that holds as many as it was made for, a larger and stricter one is
// appended. So the shares of wrong answers add up to less than the agreed share.
//
// # Header
//
// The bits are in blocks of the Store, one for each link. The header has the form in which
// RedisBloom dumps it (BF.SCANDUMP), so dumping is copying:
//
//	0          8          12        16        20
//	+----------+----------+---------+---------+--------+-----+
//	| items    | links    | options | growth  | link 0 | …   |  all little endian
//	+----------+----------+---------+---------+--------+-----+
//
//	0       8      16      24      32          40      44         52    53
//	+-------+------+-------+-------+-----------+-------+----------+-----+
//	| bytes | bits | items | error | bits/item | probes| capacity | n2  |
//	+-------+------+-------+-------+-----------+-------+----------+-----+
//
// error and bits/item are IEEE 754, n2 is one byte. options is a set of bits. The lower four are
// RedisBloom's; it refuses the others.
//
// # Two kinds
//
// Filters of RedisBloom are those without optMurmur3. They have its hash, its sizing and its places
// of bits: probe i is bit (A + i·B) mod bits, or mod 2^n2 if n2 is not 0. Redis 8 writes and loads
// them.
//
// Our own filters hash with MurmurHash3 and are laid out in cache lines of 64 bytes. A link of at
// least 16 KiB puts the bits of an item into n2 lines,
//
//	line j = (A + j·B) scaled to the number of lines        (double hashing)
//	bits in it = 9 bits each of a mix of the line's word and B
//
// so a lookup misses the cache at most n2 times: twice at 1 % and 0.1 %. Lines fill unevenly. n2 =
// 1 pays for that with 3.4 % more bits at 1 %, n2 = 2 with 0.6 %: see size. A smaller link is one
// area of bits (n2 is 0) with independent probes: in so few bits, (A + i·B) of different items
// would meet too often for low error rates.
//
// The bits are sized for the error that the link really has with a whole number of probes. The
// first link at 1 % takes 9.95 bits an item. The theory's bound is 9.585, with nothing left for
// growth.
//
// # Errors that add up
//
// In RedisBloom's filters the first link has half of the rate, and each further link half of the
// one before. In ours the first link has firstShare of it, because most filters are created large
// enough, and link i has 1/(i(i+1)) of the rest. The sum of that over all i is 1, so the rate stays
// below the agreed one however often the filter grows.
//
// # Sources
//
// Bloom (1970); Kirsch and Mitzenmacher, Less hashing, same performance (2006); Putze, Sanders and
// Singler, Cache-, hash- and space-efficient Bloom filters (2007); Almeida and others, Scalable
// Bloom filters (2007). Formats: RedisBloom 2.x.
package bloom

import (
	"encoding/binary"
	"errors"
	"math"
)

// Store holds the header and the blocks of a filter. What its methods return is valid until the
// next call of any of them.
type Store interface {
	Head() []byte
	// ResizeHead changes the length of the header and keeps its content.
	ResizeHead(n int) []byte
	Block(i int) []byte
	// Change returns n bytes of block i from off on, for writing.
	Change(i, off, n int) []byte
	// Append adds a block of zeros and returns it.
	Append(n int) []byte
}

// Options.
const (
	optNoRound    = 1 << 0 // bits are not rounded to a power of two
	optEntsIsBits = 1 << 1 // the capacity was given as a number of bits
	optForce64    = 1 << 2 // use the 64-bit hash whatever the size
	optNoScaling  = 1 << 3 // no further links
	optMurmur3    = 1 << 16

	redisOptions = optNoRound | optEntsIsBits | optForce64 | optNoScaling
	ourOptions   = optMurmur3 | optNoScaling
)

const (
	// HeadLen and LinkLen are the lengths in bytes of the header's fixed part and of each link.
	HeadLen = 20
	LinkLen = 53

	// MaxError is the largest error rate of new filters.
	MaxError = 0.25
	// maxProbes exceeds the probes for the smallest error rate that a float64 holds.
	maxProbes = 1100
	// maxBits bounds the bits of a link, maxLinks the links. All their bytes together fit an int64.
	maxBits  = 1 << 46
	maxLinks = math.MaxUint16
)

// The errors of this package.
var (
	// ErrInvalid reports a header, or blocks, that are not a filter.
	ErrInvalid = errors.New("a Bloom filter is corrupt")
	// ErrSize reports a filter, or one of its links, beyond the size limit.
	ErrSize = errors.New("bloom: too large")
)

// Params are the properties of a new filter.
type Params struct {
	Error     float64 // share of wrong answers, above 0 and below 1
	Capacity  uint64  // items of the first link, at least 1
	Growth    uint32  // capacity of each link as a multiple of the one before; 0: one link only
	Murmur64A bool    // make a filter of RedisBloom's kind
}

// NewHeader returns the header of an empty filter with its first link. Init adds the blocks. The
// error is ErrSize.
func NewHeader(p Params) ([]byte, error) {
	opt := uint32(optMurmur3)
	if p.Murmur64A {
		opt = optNoRound | optForce64
	}
	if p.Growth == 0 {
		opt |= optNoScaling
	}
	head := make([]byte, HeadLen)
	binary.LittleEndian.PutUint32(head[12:], opt)
	binary.LittleEndian.PutUint32(head[16:], p.Growth)
	l, err := newLink(opt, p.Capacity, share(opt, p.Error, 0))
	if err != nil {
		return nil, err
	}
	return appendLink(head, l), nil
}

// appendLink appends a link to a header.
func appendLink(head []byte, l link) []byte {
	head = append(head, make([]byte, LinkLen)...)
	l.put(head[len(head)-LinkLen:])
	binary.LittleEndian.PutUint32(head[8:], binary.LittleEndian.Uint32(head[8:])+1)
	return head
}

// Init adds the blocks to a store that has only the header.
func Init(st Store) {
	head := st.Head()
	for i := range links(head) {
		st.Append(int(linkAt(head, i).bits / 8))
		head = st.Head()
	}
}

// Bytes returns how many bytes the blocks of a checked header take.
func Bytes(head []byte) (n uint64) {
	for i := range links(head) {
		n += linkAt(head, i).bits / 8
	}
	return n
}

// firstShare is the part of the error rate that the first link of our own filters may use, if more
// links may follow.
const firstShare = 0.865

// share returns the error rate of link i of a filter with the given rate.
func share(opt uint32, rate float64, i int) float64 {
	rate = min(rate, MaxError)
	switch {
	case opt&optNoScaling != 0:
		return rate
	case opt&optMurmur3 == 0:
		return math.Ldexp(rate, -i-1)
	case i == 0:
		return rate * firstShare
	}
	return rate * (1 - firstShare) / (float64(i) * float64(i+1))
}

// Redis reports whether the filter with that header is of RedisBloom's kind.
func Redis(head []byte) bool { return options(head)&optMurmur3 == 0 }

func links(head []byte) int      { return int(binary.LittleEndian.Uint32(head[8:])) }
func options(head []byte) uint32 { return binary.LittleEndian.Uint32(head[12:]) }
func growth(head []byte) uint32  { return binary.LittleEndian.Uint32(head[16:]) }

// link is a decoded link of the header.
type link struct {
	bits, items, capacity uint64
	err, perItem          float64
	probes                uint32
	n2                    uint8
}

func linkAt(head []byte, i int) (l link) {
	b := head[HeadLen+i*LinkLen:][:LinkLen]
	return link{
		bits: binary.LittleEndian.Uint64(b[8:]), items: binary.LittleEndian.Uint64(b[16:]),
		err:      math.Float64frombits(binary.LittleEndian.Uint64(b[24:])),
		perItem:  math.Float64frombits(binary.LittleEndian.Uint64(b[32:])),
		probes:   binary.LittleEndian.Uint32(b[40:]),
		capacity: binary.LittleEndian.Uint64(b[44:]), n2: b[52],
	}
}

func (l *link) put(b []byte) {
	binary.LittleEndian.PutUint64(b, l.bits/8)
	binary.LittleEndian.PutUint64(b[8:], l.bits)
	binary.LittleEndian.PutUint64(b[16:], l.items)
	binary.LittleEndian.PutUint64(b[24:], math.Float64bits(l.err))
	binary.LittleEndian.PutUint64(b[32:], math.Float64bits(l.perItem))
	binary.LittleEndian.PutUint32(b[40:], l.probes)
	binary.LittleEndian.PutUint64(b[44:], l.capacity)
	b[52] = l.n2
}

// Check returns an error unless the header, with blocks of these lengths in bytes, is a filter. If
// it is, it can be used whatever bytes are in the blocks.
func Check(head []byte, blocks []int) error {
	if err := CheckHeader(head); err != nil {
		return err
	}
	if len(blocks) != links(head) {
		return ErrInvalid
	}
	for i, n := range blocks {
		if uint64(n) != linkAt(head, i).bits/8 {
			return ErrInvalid
		}
	}
	return nil
}

// CheckHeader checks what Check does, except the blocks.
func CheckHeader(head []byte) error {
	if len(head) < HeadLen || (len(head)-HeadLen)%LinkLen != 0 {
		return ErrInvalid
	}
	n, opt := links(head), options(head)
	if n == 0 || n > maxLinks || n != (len(head)-HeadLen)/LinkLen || growth(head) > math.MaxInt32 ||
		growth(head) == 0 && opt&optNoScaling == 0 {
		return ErrInvalid
	}
	if opt&^redisOptions != 0 && (opt&^ourOptions != 0 || opt&optMurmur3 == 0) {
		return ErrInvalid
	}
	sum := uint64(0)
	for i := range n {
		b := head[HeadLen+i*LinkLen:]
		l := linkAt(head, i)
		if binary.LittleEndian.Uint64(b) != l.bits/8 || !l.valid(opt) || sum+l.items < sum {
			return ErrInvalid
		}
		sum += l.items
	}
	if sum != binary.LittleEndian.Uint64(head) {
		return ErrInvalid
	}
	return nil
}

func (l *link) valid(opt uint32) bool {
	switch {
	case !(l.err > 0 && l.err < 1), !(l.perItem > 0 && l.perItem < math.MaxFloat32):
	case l.bits == 0 || l.bits%64 != 0 || l.bits > maxBits:
	case l.capacity == 0 || l.items > l.capacity:
	case l.probes == 0 || l.probes > maxProbes:
	case opt&optMurmur3 == 0:
		return l.n2 < 64 && (l.n2 == 0 || l.bits >= 1<<l.n2) && l.probes == redisProbes(l.perItem)
	default:
		return l.n2 == 0 || l.bits%lineBits == 0 && uint32(l.n2) <= l.probes
	}
	return false
}
