package hll

import "encoding/binary"

// One dense register is read with its neighbours, four in three bytes. Where all are wanted, eight
// are loaded as one word of 48 bits and worked on side by side: joinWords, packWords, tallyWords.
// Processors with AVX2 take 32 at once (avx2_amd64.s).

// quad returns the three bytes that hold register i and its neighbours, as bytes and as one number.
// The register begins at bit shift of that number.
func quad(regs []byte, i int) (b []byte, v uint32, shift uint) {
	at := i / 4 * 3
	b = regs[at : at+3 : at+3]
	return b, uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16, uint(i%4) * registerBits
}

func register(regs []byte, i int) byte {
	_, v, shift := quad(regs, i)
	return byte(v >> shift & (1<<registerBits - 1))
}

func setRegister(regs []byte, i int, value byte) {
	b, v, shift := quad(regs, i)
	v = v&^((1<<registerBits-1)<<shift) | uint32(value)<<shift
	b[0], b[1], b[2] = byte(v), byte(v>>8), byte(v>>16)
}

// SetDense raises register index of a dense value to rank and reports whether it was lower.
func SetDense(b []byte, index int, rank byte) bool {
	regs := b[HeaderSize:]
	if register(regs, index) >= rank {
		return false
	}
	setRegister(regs, index, rank)
	return true
}

// group is the number of bytes that 32 dense registers take. They are read as four words of eight.
const group = 24

// load8 reads the four words of eight six-bit registers. The upper bits of each hold what follows.
func load8(b *[group]byte) (w [4]uint64) {
	w[0] = binary.LittleEndian.Uint64(b[0:])
	w[1] = binary.LittleEndian.Uint64(b[6:])
	w[2] = binary.LittleEndian.Uint64(b[12:])
	w[3] = binary.LittleEndian.Uint64(b[16:]) >> 16
	return w
}

// spread gives each of the eight six-bit registers in the low 48 bits a byte of its own, by halves,
// quarters and eighths.
func spread(v uint64) uint64 {
	v = v&0x0000000000ffffff | v&0x0000ffffff000000<<8
	v = v&0x00000fff00000fff | v&0x00fff00000fff000<<4
	return v&0x003f003f003f003f | v&0x0fc00fc00fc00fc0<<2
}

// squeeze undoes spread.
func squeeze(v uint64) uint64 {
	v = v&0x003f003f003f003f | v>>2&0x0fc00fc00fc00fc0
	v = v&0x00000fff00000fff | v>>4&0x00fff00000fff000
	return v&0x0000000000ffffff | v>>8&0x0000ffffff000000
}

// max8 returns the greater of each two bytes, which must be below 128. The top bit of each byte
// lends to the subtraction and is still there where a ≥ b.
func max8(a, b uint64) uint64 {
	const top = 0x8080808080808080
	ge := ((a | top) - b) & top
	mask := ge - ge>>7 // 0x7f in the bytes where a ≥ b
	return b ^ (a^b)&mask
}

// Union holds the registers of several values together: the highest of each. The zero value is
// empty.
type Union struct {
	regs  [Registers]byte
	Dense bool // one of the values was dense
}

// AddElement adds an element to the union.
func (u *Union) AddElement(elem []byte) {
	index, rank := Hash(elem)
	u.regs[index] = max(u.regs[index], rank)
}

// Add adds the value b to the union.
func (u *Union) Add(b []byte) error {
	if !Dense(b) {
		return walk(b, func(first, n int, value byte) {
			if value != 0 {
				for i, r := range u.regs[first : first+n] {
					u.regs[first+i] = max(r, value)
				}
			}
		})
	}
	u.Dense = true
	join(&u.regs, (*[DenseSize]byte)(b))
	return nil
}

// joinWords raises the registers to those of the dense value b.
func joinWords(to *[Registers]byte, b *[DenseSize]byte) {
	regs := b[HeaderSize:]
	for i := 0; i < Registers; i += 32 {
		w := load8((*[group]byte)(regs))
		regs = regs[group:]
		to := (*[32]byte)(to[i:])
		for k := range 4 {
			binary.LittleEndian.PutUint64(to[k*8:],
				max8(spread(w[k]), binary.LittleEndian.Uint64(to[k*8:])))
		}
	}
}

// Count estimates how many elements the values have together.
func (u *Union) Count() uint64 {
	var h histogram
	tally(&h, &u.regs)
	return h.estimate()
}

// StoreDense writes the union to the registers of the dense value b.
func (u *Union) StoreDense(b []byte) { pack((*[DenseSize]byte)(b), &u.regs) }

// packWords writes registers to the dense value b.
func packWords(b *[DenseSize]byte, from *[Registers]byte) {
	regs := b[HeaderSize:]
	for i := 0; i < Registers; i += 32 {
		from, to := (*[32]byte)(from[i:]), (*[group]byte)(regs)
		regs = regs[group:]
		// The next word overwrites the upper two bytes of each word.
		binary.LittleEndian.PutUint64(to[0:], squeeze(binary.LittleEndian.Uint64(from[0:])))
		binary.LittleEndian.PutUint64(to[6:], squeeze(binary.LittleEndian.Uint64(from[8:])))
		binary.LittleEndian.PutUint64(to[12:], squeeze(binary.LittleEndian.Uint64(from[16:])))
		w := squeeze(binary.LittleEndian.Uint64(from[24:]))
		binary.LittleEndian.PutUint16(to[18:], uint16(w))
		binary.LittleEndian.PutUint32(to[20:], uint32(w>>16))
	}
}

// StoreSparse raises the registers of the sparse value b to the union's. b needs room for MaxSparse
// + Room bytes and is changed in place. ErrDense reports that it exceeded maxBytes or that a
// register was too high: the caller then makes it dense.
func (u *Union) StoreSparse(b []byte, maxBytes int64) (_ []byte, err error) {
	var at cursor
	for i, r := range u.regs {
		if r == 0 {
			continue
		}
		if b, _, err = at.set(b, i, r, maxBytes); err != nil {
			return nil, err
		}
	}
	return b, nil
}
