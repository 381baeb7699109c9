package bloom

import "math"

const (
	lineBits = 512 // of a cache line
	// linedBits is the number of bits from which a link is laid out in lines. Smaller links are in
	// the nearest cache anyway.
	linedBits = 1 << 17
	// perWord is how many places in a line come from one word.
	perWord = 7
)

// newLink sizes an empty link for the given number of items and error rate.
func newLink(opt uint32, capacity uint64, err float64) (link, error) {
	l := link{capacity: capacity, err: err}
	if !(err > 0) || capacity == 0 {
		return l, ErrSize // the rate has underflowed
	}
	if opt&optMurmur3 == 0 {
		return l, l.sizeRedis()
	}
	return l, l.size()
}

// sizeRedis sizes a link as RedisBloom does: bits for an ideal number of probes, rounded down to a
// bit and up to eight bytes.
func (l *link) sizeRedis() error {
	const ln2Squared = 0.480453013918201
	l.perItem = math.Abs(-(math.Log(l.err) / ln2Squared))
	bits := float64(l.capacity) * l.perItem
	if bits > maxBits {
		return ErrSize
	}
	l.bits = (max(uint64(bits), 1) + 63) &^ 63
	l.probes = redisProbes(l.perItem)
	return nil
}

func redisProbes(perItem float64) uint32 {
	const ln2 = 0.693147180559945
	return uint32(math.Ceil(ln2 * perItem))
}

// size sizes a link of ours.
func (l *link) size() error {
	probes, perItem := classic(l.err)
	l.probes = probes
	bits := float64(l.capacity) * perItem
	if bits < linedBits {
		// With few items the bits vary more than the formula says.
		bits += bits/50 + 64
		l.bits = (uint64(bits) + 63) &^ 63
	} else {
		l.n2 = uint8(min(lines(probes), 255))
		bits *= 1 + unevenness(l.err, l.n2)
		if bits > maxBits {
			return ErrSize
		}
		l.bits = (uint64(bits) + lineBits - 1) / lineBits * lineBits
	}
	l.perItem = float64(l.bits) / float64(l.capacity)
	return nil
}

// classic returns how many probes need the fewest bits an item for the error rate in one area of
// bits, and how many bits those are.
func classic(err float64) (probes uint32, perItem float64) {
	k := max(math.Floor(-math.Log2(err)), 1)
	perItem = math.Inf(1)
	for ; ; k++ {
		need := -k / math.Log1p(-math.Pow(err, 1/k))
		if need >= perItem {
			return uint32(k - 1), perItem
		}
		perItem = need
	}
}

// lines returns how many lines the probes of an item are spread over.
func lines(probes uint32) uint32 {
	if probes <= 4 {
		return 1
	}
	return max(2, (probes+perWord-1)/perWord)
}

// unevenness returns how many more bits a link needs, as a share, because some lines hold more
// items than others. It is a fit to the real error when the number of items in a line has a Poisson
// distribution; a test compares it with that.
func unevenness(err float64, lines uint8) float64 {
	return 0.006 * math.Pow(-math.Log10(err)/float64(lines), 2.5)
}
