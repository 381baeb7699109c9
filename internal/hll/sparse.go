package hll

// The opcodes of the sparse form; see the package comment.
const (
	opXZero = 0x40
	opVal   = 0x80

	maxZeros  = 64
	maxValRun = 4
	maxVal    = 32
)

// opcode reads the opcode at b[at:]. It returns its size in bytes (0: cut off), the number of
// registers it stands for, and their value.
func opcode(b []byte, at int) (size, n int, value byte) {
	op := b[at]
	switch {
	case op&opVal != 0:
		return 1, int(op&3) + 1, op>>2&31 + 1
	case op&opXZero == 0:
		return 1, int(op) + 1, 0
	case at+1 < len(b):
		return 2, int(op&63)<<8 + int(b[at+1]) + 1, 0
	}
	return 0, 0, 0
}

// val returns the opcode of n registers with the given value.
func val(value byte, n int) byte { return opVal | (value-1)<<2 | byte(n-1) }

// appendZeros appends the opcode of n zero registers. For n = 0 it appends nothing.
func appendZeros(dst []byte, n int) []byte {
	switch {
	case n == 0:
		return dst
	case n <= maxZeros:
		return append(dst, byte(n-1))
	}
	return append(dst, opXZero|byte((n-1)>>8), byte(n-1))
}

// walk calls f for the runs of a sparse value in order. It returns ErrCorrupt unless they make up
// exactly its registers. f never sees registers beyond them.
func walk(b []byte, f func(first, n int, value byte)) error {
	first := 0
	for at := HeaderSize; at < len(b); {
		size, n, value := opcode(b, at)
		if size == 0 || n > Registers-first {
			return ErrCorrupt
		}
		f(first, n, value)
		first += n
		at += size
	}
	if first != Registers {
		return ErrCorrupt
	}
	return nil
}

// SetSparse raises register index of a sparse value to rank. It changes b in place, which needs
// spare capacity of Room bytes, and returns it, maybe longer or shorter. ErrDense reports that the
// register needs a dense value, ErrCorrupt that b ends before the register. After an error nothing
// has changed.
func SetSparse(b []byte, index int, rank byte, maxBytes int64) (_ []byte, changed bool, err error) {
	var at cursor
	return at.set(b, index, rank, maxBytes)
}

// cursor is where the search for a register may begin when registers are set in ascending order: at
// an opcode before the one found last, because that one may have been merged with its neighbour.
type cursor struct{ at, first int }

// place is a run that was found.
type place struct {
	at, size, first, n int
	value              byte
	prev               int // where the opcode before it is; for the first one its own place
}

// find searches for the run of the register.
func (c *cursor) find(b []byte, index int) (place, error) {
	start := *c
	if start.at == 0 {
		start.at = HeaderSize
	}
	p := place{at: start.at, first: start.first, prev: start.at}
	back := start // the place of prev
	for p.at < len(b) {
		if p.size, p.n, p.value = opcode(b, p.at); p.size == 0 {
			break
		}
		if index < p.first+p.n {
			if p.at == start.at && p.at > HeaderSize { // what is before it is unknown
				*c = cursor{}
				return c.find(b, index)
			}
			return p, nil
		}
		*c = back
		back = cursor{p.at, p.first}
		p.prev = p.at
		p.first += p.n
		p.at += p.size
	}
	return p, ErrCorrupt
}

func (c *cursor) set(b []byte, index int, rank byte, maxBytes int64) (_ []byte, changed bool,
	err error) {
	if rank > maxVal {
		return b, false, ErrDense
	}
	p, err := c.find(b, index)
	if err != nil || p.value >= rank {
		return b, false, err
	}
	// The run is cut into three: before the register, the register, and after it.
	var buf [5]byte
	seq := buf[:0]
	before, behind := index-p.first, p.first+p.n-1-index
	if p.value == 0 {
		seq = appendZeros(seq, before)
		seq = append(seq, val(rank, 1))
		seq = appendZeros(seq, behind)
	} else {
		if before > 0 {
			seq = append(seq, val(p.value, before))
		}
		seq = append(seq, val(rank, 1))
		if behind > 0 {
			seq = append(seq, val(p.value, behind))
		}
	}
	old := len(b)
	n := old + len(seq) - p.size
	if n > old && int64(n) > maxBytes {
		return b, false, ErrDense
	}
	b = b[:max(old, n)]
	copy(b[p.at+len(seq):], b[p.at+p.size:old])
	copy(b[p.at:], seq)
	return merge(b[:n], p.prev), true, nil
}

// merge joins neighbouring runs of the same value among the five opcodes from at on, as far as they
// fit one opcode. Redis does the same, and the bytes must be equal.
func merge(b []byte, at int) []byte {
	for steps := 5; at < len(b) && steps > 0; steps-- {
		size, n, value := opcode(b, at)
		if size == 0 {
			break
		}
		if value != 0 && at+1 < len(b) {
			if _, n2, v2 := opcode(b, at+1); v2 == value && n+n2 <= maxValRun {
				b[at+1] = val(value, n+n2)
				b = b[:at+copy(b[at:], b[at+1:])]
				continue
			}
		}
		at += size
	}
	return b
}
