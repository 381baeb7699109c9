package stdlib

import (
	"math"

	"godwit/internal/lua"
)

// rand48 is the 48-bit linear congruential generator that POSIX describes as lrand48. Redis gives
// it to scripts. Its state carries over from script to script.
type rand48 struct{ x uint64 }

const rand48Start = 0x1234abcd330e

func (r *rand48) seed(n int32) { r.x = uint64(uint32(n))<<16 | 0x330e }

func (r *rand48) next() int32 {
	r.x = (r.x*0x5deece66d + 0xb) & (1<<48 - 1)
	return int32(r.x >> 17)
}

// random returns a random number. Its bounds are C ints.
func (r *rand48) random(t *lua.Thread) int {
	const most = math.MaxInt32
	x := float64(r.next()%most) / most
	switch t.Top() {
	case 0:
	case 1:
		u := cInt(t, 1)
		if u < 1 {
			t.ArgError(1, "interval is empty")
		}
		x = math.Floor(x*float64(u)) + 1
	case 2:
		l, u := cInt(t, 1), cInt(t, 2)
		if l > u {
			t.ArgError(2, "interval is empty")
		}
		x = math.Floor(x*float64(int32(u-l+1))) + float64(l)
	default:
		t.Error("wrong number of arguments")
	}
	return t.Return(lua.Number(x))
}

func (r *rand48) randomSeed(t *lua.Thread) int {
	r.seed(int32(cInt(t, 1)))
	return 0
}
