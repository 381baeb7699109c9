package bloom

import (
	"encoding/binary"
	"math"
)

// Result says what Add did.
type Result uint8

// The results of Add.
const (
	Present Result = iota // the item was there, or seems so
	Added
	Full // the last link holds what it was made for; nothing was changed
)

// HashOf returns the hash of an item as the filter with that header takes it.
func HashOf(head, item []byte) Hash {
	opt := options(head)
	switch {
	case opt&optMurmur3 != 0:
		return murmur128(item)
	case opt&optForce64 != 0:
		return murmur64a2(item)
	}
	return murmur32x2(item)
}

// Has reports whether the filter may have the item.
func Has(st Store, item []byte) bool {
	head := st.Head()
	return has(st, head, HashOf(head, item))
}

func has(st Store, head []byte, h Hash) bool {
	opt := options(head)
	for i := links(head) - 1; i >= 0; i-- { // most items are in the last links
		l := linkAt(head, i)
		if l.has(opt, st.Block(i), h) {
			return true
		}
	}
	return false
}

// Add adds the item. If it returns Full, the caller makes the filter Grow and tries again.
func Add(st Store, item []byte) Result {
	head := st.Head()
	h := HashOf(head, item)
	if has(st, head, h) {
		return Present
	}
	last := links(head) - 1
	l := linkAt(head, last)
	if l.items >= l.capacity {
		return Full
	}
	l.add(options(head), st, last, h)
	b := head[HeadLen+last*LinkLen:]
	binary.LittleEndian.PutUint64(b[16:], l.items+1)
	binary.LittleEndian.PutUint64(head, binary.LittleEndian.Uint64(head)+1)
	return Added
}

// Scales reports whether the filter can grow.
func Scales(head []byte) bool { return options(head)&optNoScaling == 0 }

// NextLink returns the header with one more link, and the bytes that this link will take. The
// filter must be one that scales.
func NextLink(head []byte) (grown []byte, bytes uint64, err error) {
	n, opt := links(head), options(head)
	last := linkAt(head, n-1)
	if n >= maxLinks || last.capacity > math.MaxUint64/uint64(growth(head)) {
		return nil, 0, ErrSize
	}
	e := last.err / 2
	if opt&optMurmur3 != 0 {
		e = share(opt, linkAt(head, 0).err/firstShare, n)
	}
	l, err := newLink(opt, last.capacity*uint64(growth(head)), e)
	if err != nil {
		return nil, 0, err
	}
	return appendLink(append([]byte(nil), head...), l), l.bits / 8, nil
}

// Grow makes the result of NextLink the filter's header and adds the block.
func Grow(st Store, grown []byte) {
	copy(st.ResizeHead(len(grown)), grown)
	l := linkAt(grown, links(grown)-1)
	st.Append(int(l.bits / 8))
}

// has reports whether all bits of the item are set.
func (l *link) has(opt uint32, b []byte, h Hash) bool {
	switch {
	case opt&optMurmur3 == 0:
		return l.hasRedis(b, h)
	case l.n2 == 0:
		for i := range l.probes {
			if p := place(h, i, l.bits); b[p>>3]>>(p&7)&1 == 0 {
				return false
			}
		}
		return true
	}
	return l.hasLined(b, h)
}

// place returns the bit of probe i in a small link.
func place(h Hash, i uint32, bits uint64) uint64 {
	return among(mix(h.A+uint64(i)*0xa0761d6478bd642f, h.B), bits)
}

func (l *link) hasLined(b []byte, h Hash) bool {
	all, n2, left := l.bits/lineBits, uint32(l.n2), l.probes
	for x := h.A; n2 > 0; n2-- {
		at := among(x, all) * (lineBits / 8)
		line := b[at : at+lineBits/8]
		k := (left + n2 - 1) / n2
		left -= k
		w := mix(x, h.B)
		for i := uint32(0); i < k; i++ {
			if i > 0 && i%perWord == 0 {
				w = mix(w, x)
			}
			p := w >> (64 - 9) & (lineBits - 1)
			if line[p>>3]>>(p&7)&1 == 0 {
				return false
			}
			w <<= 9
		}
		x += h.B
	}
	return true
}

// hasRedis does what has does, for a link of RedisBloom's kind.
func (l *link) hasRedis(b []byte, h Hash) bool {
	mod := l.modulus()
	x := h.A
	for range l.probes {
		if p := x % mod; b[p>>3]>>(p&7)&1 == 0 {
			return false
		}
		x += h.B
	}
	return true
}

func (l *link) modulus() uint64 {
	if l.n2 > 0 {
		return 1 << l.n2
	}
	return l.bits
}

// add sets the bits of the item in block i.
func (l *link) add(opt uint32, st Store, i int, h Hash) {
	switch {
	case opt&optMurmur3 == 0:
		mod := l.modulus()
		x := h.A
		for range l.probes {
			set(st, i, x%mod)
			x += h.B
		}
	case l.n2 == 0:
		for k := range l.probes {
			set(st, i, place(h, k, l.bits))
		}
	default:
		l.addLined(st, i, h)
	}
}

func set(st Store, i int, p uint64) { st.Change(i, int(p>>3), 1)[0] |= 1 << (p & 7) }

func (l *link) addLined(st Store, block int, h Hash) {
	all, n2, left := l.bits/lineBits, uint32(l.n2), l.probes
	for x := h.A; n2 > 0; n2-- {
		line := st.Change(block, int(among(x, all))*(lineBits/8), lineBits/8)
		k := (left + n2 - 1) / n2
		left -= k
		w := mix(x, h.B)
		for i := uint32(0); i < k; i++ {
			if i > 0 && i%perWord == 0 {
				w = mix(w, x)
			}
			p := w >> (64 - 9) & (lineBits - 1)
			line[p>>3] |= 1 << (p & 7)
			w <<= 9
		}
		x += h.B
	}
}

// Fetcher brings bytes of a block into the cache.
type Fetcher interface {
	Head() []byte
	Prefetch(block, off int)
}

const (
	// fetchBits is the number of bits from which a link is probably not in the cache.
	fetchBits = 1 << 21
	// fetchLinks is how many links are worth fetching: from the last one back they get smaller.
	fetchLinks = 3
)

// Prefetch starts to bring into the cache what Has and Add will read for the item. It is called
// some time before them, so that the misses of several items overlap. It does so only for large
// links in lines: for all others it would cost more than it saves.
func Prefetch(st Fetcher, item []byte) {
	head := st.Head()
	last := links(head) - 1
	l := linkAt(head, last)
	if l.n2 == 0 || l.bits < fetchBits || options(head)&optMurmur3 == 0 {
		return
	}
	h := murmur128(item)
	for i := last; i >= max(0, last-fetchLinks+1); i-- {
		if l = linkAt(head, i); l.n2 == 0 || l.bits < fetchBits {
			return
		}
		x, all := h.A, l.bits/lineBits
		for range l.n2 {
			st.Prefetch(i, int(among(x, all)*(lineBits/8)))
			x += h.B
		}
	}
}
