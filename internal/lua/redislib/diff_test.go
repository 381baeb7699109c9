package redislib

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"godwit/internal/testseed"
)

func TestCasesAsRedis(t *testing.T) {
	b := newBoth(t)
	for _, body := range cases {
		b.same(body)
	}
}

// TestRandomJSONAsRedis decodes random texts, most of them nearly right, and encodes the results.
func TestRandomJSONAsRedis(t *testing.T) {
	rnd, b := testseed.Rand(t), newBoth(t)
	for range 600 {
		text := randomJSON(rnd, 4)
		if rnd.IntN(2) == 0 {
			text = mutate(rnd, text, `{}[]",:\/u0x19eE+-.tfn `+"\x00\n\xff")
		}
		b.same(`return cjson.decode((...))`, text)
		b.same(`local v = cjson.decode((...)) local e = cjson.encode(v) return e, cjson.decode(e)`,
			text)
		b.same(`local c = cjson.new() c.decode_invalid_numbers(false) return c.decode((...))`, text)
	}
}

func randomJSON(rnd *rand.Rand, depth int) string {
	kinds := 7
	if depth == 0 {
		kinds = 5
	}
	switch rnd.IntN(kinds) {
	case 0:
		return []string{"true", "false", "null"}[rnd.IntN(3)]
	case 1:
		return strconv.Itoa(rnd.IntN(2000) - 1000)
	case 2:
		return []string{"1e5", "-0", "0.1", "1.5e-7", "1e400", "0x1F", "00", "inf", "-nan", "+5",
			"12345678901234567890", "1.", ".5", "3.14159265358979"}[rnd.IntN(14)]
	case 3:
		return strconv.FormatFloat(math.Float64frombits(rnd.Uint64()&^(1<<62)), 'g', -1, 64)
	case 4:
		return randomJSONString(rnd)
	case 5:
		elems := make([]string, rnd.IntN(5))
		for i := range elems {
			elems[i] = randomJSON(rnd, depth-1)
		}
		return "[" + strings.Join(elems, ",") + "]"
	}
	elems := make([]string, rnd.IntN(4)+rnd.IntN(40)*rnd.IntN(2)*(depth/4))
	for i := range elems {
		elems[i] = randomJSONString(rnd) + ": " + randomJSON(rnd, depth-1)
	}
	return "{" + strings.Join(elems, ", ") + "}"
}

func randomJSONString(rnd *rand.Rand) string {
	parts := []string{"a", "b", "1", "2", "/", `\n`, `\"`, `\\`, `\/`, `\u0041`, `\u00e9`,
		`\ud83d\ude00`, "é", " ", `\u0000`, `\b`}
	var s strings.Builder
	for range rnd.IntN(5) {
		s.WriteString(parts[rnd.IntN(len(parts))])
	}
	return `"` + s.String() + `"`
}

// mutate changes, drops, doubles or inserts a few bytes.
func mutate(rnd *rand.Rand, s, alphabet string) string {
	b := []byte(s)
	for range 1 + rnd.IntN(3) {
		c := alphabet[rnd.IntN(len(alphabet))]
		i := rnd.IntN(len(b) + 1)
		switch {
		case i == len(b):
			b = append(b, c)
		case rnd.IntN(3) == 0:
			b[i] = c
		case rnd.IntN(2) == 0:
			b = append(b[:i], b[i+1:]...)
		default:
			b = bytes.Join([][]byte{b[:i], b[i:]}, []byte{c})
		}
	}
	return string(b)
}

// TestRandomMsgpackAsRedis unpacks random bytes and packs the results.
func TestRandomMsgpackAsRedis(t *testing.T) {
	rnd, b := testseed.Rand(t), newBoth(t)
	for range 600 {
		var s string
		for range 1 + rnd.IntN(3) {
			s += randomMsgpack(rnd, 4)
		}
		b.same(`return cmsgpack.unpack((...))`, s)
		b.same(`return cmsgpack.pack(cmsgpack.unpack((...)))`, s)
		if rnd.IntN(2) == 0 {
			s = mutate(rnd, s,
				"\x00\x01\x81\x91\xa1\xc0\xc1\xc4\xca\xcb\xcc\xcf\xd0\xd3\xd9\xdc\xde\xff")
		}
		b.same(`sort = true return cmsgpack.unpack((...))`, s)
		b.same(`sort = true return cmsgpack.unpack_limit((...), tonumber((select(2, ...))), `+
			`tonumber((select(3, ...))))`, s, strconv.Itoa(rnd.IntN(4)),
			strconv.Itoa(rnd.IntN(8)-1))
		b.same(`sort = true return cmsgpack.unpack_one((...), tonumber((select(2, ...))))`, s,
			strconv.Itoa(rnd.IntN(8)))
	}
}

func randomBytes(rnd *rand.Rand, n int) string {
	b := make([]byte, n)
	for i := range b {
		if b[i] = byte(rnd.Uint32()); rnd.IntN(3) == 0 {
			b[i] = "\x00\x01\x7f\x80\xff"[rnd.IntN(5)]
		}
	}
	return string(b)
}

func randomMsgpack(rnd *rand.Rand, depth int) string {
	kinds := 8
	if depth == 0 {
		kinds = 6
	}
	switch k := rnd.IntN(kinds); k {
	case 0:
		return string([]byte{byte(rnd.IntN(128))})
	case 1:
		return string([]byte{byte(0xe0 + rnd.IntN(32))})
	case 2:
		return []string{"\xc0", "\xc2", "\xc3"}[rnd.IntN(3)]
	case 3:
		i := rnd.IntN(8)
		return string([]byte{byte(0xcc + i)}) + randomBytes(rnd, 1<<(i%4))
	case 4:
		return randomFloat(rnd)
	case 5:
		n := rnd.IntN(6)
		head := []string{string([]byte{byte(0xa0 + n)}), "\xd9" + string([]byte{byte(n)}),
			"\xda\x00" + string([]byte{byte(n)}), "\xdb\x00\x00\x00" + string([]byte{byte(n)})}
		return head[rnd.IntN(4)] + randomBytes(rnd, n)
	case 6:
		n := rnd.IntN(5)
		s := []string{string([]byte{byte(0x90 + n)}), "\xdc\x00" + string([]byte{byte(n)}),
			"\xdd\x00\x00\x00" + string([]byte{byte(n)})}[rnd.IntN(3)]
		for range n {
			s += randomMsgpack(rnd, depth-1)
		}
		return s
	}
	n := rnd.IntN(6)
	s := []string{string([]byte{byte(0x80 + n)}), "\xde\x00" + string([]byte{byte(n)}),
		"\xdf\x00\x00\x00" + string([]byte{byte(n)})}[rnd.IntN(3)]
	for range n {
		if rnd.IntN(2) == 0 {
			s += "\xa1" + string([]byte{byte('a' + rnd.IntN(8))})
		} else {
			s += randomMsgpack(rnd, 0)
		}
		s += randomMsgpack(rnd, depth-1)
	}
	return s
}

// randomFloat returns a float, but not a NaN: Lua's values here are the same for all of them.
func randomFloat(rnd *rand.Rand) string {
	s := "\xca" + randomBytes(rnd, 4)
	if rnd.IntN(2) == 0 {
		s = "\xcb" + randomBytes(rnd, 8)
	}
	if s[1]&0x7f == 0x7f && s[2] >= 0x80 {
		return randomFloat(rnd)
	}
	return s
}

// TestRandomStructAsRedis sends random formats with random values and bytes.
func TestRandomStructAsRedis(t *testing.T) {
	rnd, b := testseed.Rand(t), newBoth(t)
	options := []string{"b", "B", "h", "H", "l", "L", "T", "i", "I", "i3", "I5", "i8", "i12", "i16",
		"f", "d", "s", "c0", "c", "c3", "x", " ", "<", ">", "!", "!2", "!4", "!16", "!3", "z", "7"}
	values := []string{"0", "1", "-1", "127", "300", "-129", "70000", "1.5", "1e10", "-1e19",
		"1e19", "abc", "", "12x", "\x00\x01"}
	for range 600 {
		var format string
		for range 1 + rnd.IntN(6) {
			format += options[rnd.IntN(len(options)-2*rnd.IntN(2))]
		}
		args := []string{format}
		for range rnd.IntN(7) {
			args = append(args, values[rnd.IntN(len(values)-6*rnd.IntN(2))])
		}
		b.same(`return struct.pack(...)`, args...)
		b.same(`return struct.size((...))`, format)
		b.same(`local f, s, o = ... return struct.unpack(f, s, tonumber(o))`, format,
			randomBytes(rnd, rnd.IntN(40)), strconv.Itoa(rnd.IntN(5)))
	}
}

func TestRandomBitAsRedis(t *testing.T) {
	rnd, b := testseed.Rand(t), newBoth(t)
	for range 300 {
		args := make([]string, 1+rnd.IntN(3))
		for i := range args {
			switch rnd.IntN(4) {
			case 0:
				args[i] = fmt.Sprint(rnd.IntN(100) - 50)
			case 1:
				args[i] = fmt.Sprint(int64(rnd.Uint64() >> (10 + rnd.IntN(50))))
			case 2:
				args[i] = fmt.Sprint((rnd.Float64() - 0.5) * 1e12)
			default:
				args[i] = strconv.FormatFloat(math.Float64frombits(rnd.Uint64()&^(1<<62)), 'g', -1,
					64)
			}
		}
		b.same(`local o = {} for _, f in ipairs{'tobit','bnot','bswap','band','bor','bxor',`+
			`'lshift','rshift','arshift','rol','ror'} `+
			`do o[#o+1] = S({pcall(bit[f], ...)}) end return unpack(o)`, args...)
		b.same(`return bit.tohex((...), ({...})[2] and tonumber(({...})[2]) % 20 - 10)`, args...)
	}
}
