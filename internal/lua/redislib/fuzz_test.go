package redislib

import (
	"slices"
	"strings"
	"testing"

	"godwit/internal/lua"
)

// FuzzCJSON checks that what decodes also encodes, and that the text decodes to what gives the same
// text again, but for the order of keys, which depends on the order in which they were set.
func FuzzCJSON(f *testing.F) {
	for _, s := range []string{`{"a":[1,2.5e-3,"x\u00e9\ud83d\ude00",null,true]}`, `[[[[]]]]`,
		`[nan,-inf,0x1p3]`, "\"\\", "{\"a\":", "1\x00", `"\ud83d"`, strings.Repeat("[", 1200),
		`[{"a":1,"b":2},{"a":1,"b":2},{"a":3,"b":[]},{"b":1,"a":2},{"a":1,"a":2},{"a":1,"a":2}]`,
		`["` + strings.Repeat("plain text ", 200) + `\n` + strings.Repeat("/", 2000) + `"]`,
		"[" + strings.Repeat("1,", 3000) + "1]", `[12345678901234567890,0.1,1e400,-0,1.,007]`,
		`[{"0":0},{"0":0,"0":[]},{"1":0,"":0,"2":0}]`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		state := newState()
		call(state, "cjson", "encode_invalid_numbers", lua.True)
		v, ok := call(state, "cjson", "decode", lua.String(s))
		if !ok {
			return
		}
		v, ok = call(state, "cjson", "encode", v[0])
		if !ok {
			t.Fatalf("decoded but does not encode: %q", s)
		}
		first := text(t, v)
		again, ok := call(state, "cjson", "decode", v[0])
		if !ok {
			t.Fatalf("does not read its own: %q", first)
		}
		v, ok = call(state, "cjson", "encode", again[0])
		if second := text(t, v); !ok || sorted(second) != sorted(first) {
			t.Fatalf("%q became %q", first, second)
		}
	})
}

func sorted(s string) string {
	b := []byte(s)
	slices.Sort(b)
	return string(b)
}

// FuzzMsgpack checks that what unpacks also packs, and unpacks again.
func FuzzMsgpack(f *testing.F) {
	for _, s := range []string{"\x93\x01\xa1a\xc0", "\x81\xa1k\xcb\x3f\xf0\x00\x00\x00\x00\x00\x00",
		"\xdd\xff\xff\xff\xff", "\xdf\x00\x00\x00\x02\x01\x02\xce\x03\xff\xff\xfe\x01",
		strings.Repeat("\x91", 5000), "\xdb\xff\xff\xff\xffabc",
		"\x93\x82\xa1a\x01\xa1b\x02\x82\xa1a\x01\xa1b\x02\x82\xa1a\x01\xa1b\xc0",
		"\xdc\x08\x00" + strings.Repeat("\x01", 2047) + "\xc0",
		strings.Repeat("\x91", 15) + "\x81\x91\x01\x02"} {
		f.Add(s, 1, 0)
	}
	f.Fuzz(func(t *testing.T, s string, limit, offset int) {
		state := newState()
		call(state, "cmsgpack", "unpack_one", lua.String(s), lua.Int(offset))
		call(state, "cmsgpack", "unpack_limit", lua.String(s), lua.Int(limit), lua.Int(offset))
		v, ok := call(state, "cmsgpack", "unpack", lua.String(s))
		if !ok || len(v) == 0 || len(v) > 1000 {
			return
		}
		packed, ok := call(state, "cmsgpack", "pack", v...)
		if !ok {
			t.Fatalf("unpacked but does not pack: %q", s)
		}
		again, ok := call(state, "cmsgpack", "unpack", packed[0])
		if !ok && again[0].Str() == "table index is nil" {
			return // a key was nested too deeply
		}
		if !ok || len(again) != len(v) {
			t.Fatalf("%q packed to %q and does not unpack", s, packed[0].Str())
		}
	})
}

// FuzzStruct checks that every format gives an answer or an error, and that what has a size unpacks
// from that many bytes.
func FuzzStruct(f *testing.F) {
	for _, s := range []string{"<bBhHlLTiI", "!4bd", ">i16I9", "bc0s", "!1073741824i32",
		"c2147483647", "i99999999999", "x!2h", "\xff"} {
		f.Add(s, "\x02abcdefghijklmnop\x00", 1.0)
	}
	f.Fuzz(func(t *testing.T, format, data string, pos float64) {
		state := newState()
		call(state, "struct", "unpack", lua.String(format), lua.String(data), lua.Number(pos))
		call(state, "struct", "pack", lua.String(format), lua.Number(pos), lua.String(data),
			lua.Int(-1), lua.String("9"))
		size, ok := call(state, "struct", "size", lua.String(format))
		if !ok || size[0].Num() > 1<<16 {
			return
		}
		zeros := strings.Repeat("\x00", int(size[0].Num()))
		v, ok := call(state, "struct", "unpack", lua.String(format), lua.String(zeros))
		if ok && v[len(v)-1].Num() != size[0].Num()+1 {
			t.Fatalf("%q: size %v, unpacked up to %v", format, size[0].Num(), v[len(v)-1].Num())
		}
	})
}

// FuzzBit checks that any number is an operand, and that results are signed 32-bit integers.
func FuzzBit(f *testing.F) {
	f.Add(1.0, -1.0, "12")
	f.Add(4294967296.5, -2147483648.0, "x")
	f.Fuzz(func(t *testing.T, a, b float64, s string) {
		state := newState()
		for _, name := range []string{"tobit", "bnot", "bswap", "band", "bor", "bxor", "lshift",
			"rshift", "arshift", "rol", "ror"} {
			v, ok := call(state, "bit", name, lua.Number(a), lua.Number(b))
			if !ok {
				t.Fatal(name)
			}
			if n := v[0].Num(); n != float64(int32(n)) {
				t.Fatalf("%s: %v", name, n)
			}
		}
		v, ok := call(state, "bit", "tohex", lua.Number(a), lua.Number(b))
		if !ok || len(text(t, v)) > 8 {
			t.Fatal("tohex", v)
		}
		call(state, "bit", "band", lua.String(s), lua.Number(a))
	})
}
