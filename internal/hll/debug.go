package hll

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
)

// AppendOpcodes prints the opcodes of a sparse value as PFDEBUG DECODE does: z:N, Z:N for XZERO,
// v:VALUE,N. It stops where the value is cut off.
func AppendOpcodes(dst, b []byte) []byte {
	start := len(dst)
	for at := HeaderSize; at < len(b); {
		size, n, value := opcode(b, at)
		if size == 0 {
			break
		}
		if len(dst) > start {
			dst = append(dst, ' ')
		}
		switch {
		case value != 0:
			dst = strconv.AppendInt(append(dst, "v:"...), int64(value), 10)
			dst = strconv.AppendInt(append(dst, ','), int64(n), 10)
		case size == 2:
			dst = strconv.AppendInt(append(dst, "Z:"...), int64(n), 10)
		default:
			dst = strconv.AppendInt(append(dst, "z:"...), int64(n), 10)
		}
		at += size
	}
	return dst
}

// SelfTest implements PFSELFTEST: it checks that registers keep what is stored in them, and that a
// sparse and a dense value of the same elements agree and are about right.
func SelfTest() error {
	b := make([]byte, DenseSize)
	copy(b, magic)
	regs := b[HeaderSize:]
	for round := range 64 {
		for i := range Registers {
			setRegister(regs, i, byte(i*7+round)&63)
		}
		for i := range Registers {
			if got, want := register(regs, i), byte(i*7+round)&63; got != want {
				return fmt.Errorf("register %d is set to %d but its value is %d", i, want, got)
			}
		}
	}
	clear(regs)
	sparse := AppendEmpty(make([]byte, 0, MaxSparse+Room))
	for n := uint64(1); n <= 100_000; n++ {
		var elem [8]byte
		binary.LittleEndian.PutUint64(elem[:], n)
		index, rank := Hash(elem[:])
		SetDense(b, index, rank)
		if n <= 1000 {
			sparse, _, _ = SetSparse(sparse, index, rank, MaxSparse)
		}
		if n&(n-1) != 0 {
			continue
		}
		d, _ := Count(b)
		if n <= 1000 {
			if s, err := Count(sparse); err != nil || s != d {
				return fmt.Errorf(
					"the dense and the sparse form of %d elements count %d and %d (%v)", n, d, s,
					err)
			}
		}
		if e := math.Abs(float64(d) - float64(n)); e > 6*1.04/128*float64(n) && e > 5 {
			return fmt.Errorf("too big an error: %d elements count as %d", n, d)
		}
	}
	return nil
}
