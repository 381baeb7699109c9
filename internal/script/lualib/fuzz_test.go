package lualib

import (
	"strings"
	"testing"

	lua "github.com/yuin/gopher-lua"
)

// call calls a function of a library and reports whether it raised no error. A panic that is not a
// Lua error fails the test.
func call(t testing.TB, L *lua.LState, lib, name string, args ...lua.LValue) ([]lua.LValue, bool) {
	t.Helper()
	top := L.GetTop()
	f := L.GetGlobal(lib).(*lua.LTable).RawGetString(name)
	if err := L.CallByParam(lua.P{Fn: f, NRet: lua.MultRet, Protect: true}, args...); err != nil {
		if e, ok := err.(*lua.ApiError); !ok ||
			strings.Contains(e.Object.String(), "runtime error") {
			t.Fatal(err)
		}
		L.SetTop(top)
		return nil, false
	}
	var out []lua.LValue
	for i := top + 1; i <= L.GetTop(); i++ {
		out = append(out, L.Get(i))
	}
	L.SetTop(top)
	return out, true
}

func fuzzState() *lua.LState {
	L := lua.NewState(lua.Options{SkipOpenLibs: true, RegistrySize: 1 << 16})
	Open(L)
	return L
}

// FuzzCJSON checks that what decodes also encodes, and that the text decodes to what gives the same
// text again.
func FuzzCJSON(f *testing.F) {
	for _, s := range []string{`{"a":[1,2.5e-3,"x\u00e9\ud83d\ude00",null,true]}`, `[[[[]]]]`,
		`[nan,-inf,0x1p3]`, "\"\\", "{\"a\":", "1\x00", `"\ud83d"`, strings.Repeat("[", 1200)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		L := fuzzState()
		defer L.Close()
		call(t, L, "cjson", "encode_invalid_numbers", lua.LTrue)
		v, ok := call(t, L, "cjson", "decode", lua.LString(s))
		if !ok {
			return
		}
		first, ok := call(t, L, "cjson", "encode", v[0])
		if !ok {
			t.Fatalf("decoded but does not encode: %q", s)
		}
		again, ok := call(t, L, "cjson", "decode", first[0])
		if !ok {
			t.Fatalf("does not read its own: %q", first[0])
		}
		if second, ok := call(t, L, "cjson", "encode", again[0]); !ok || second[0] != first[0] {
			t.Fatalf("%q became %q", first[0], second)
		}
	})
}

// FuzzMsgpack checks that what unpacks also packs, and unpacks again.
func FuzzMsgpack(f *testing.F) {
	for _, s := range []string{"\x93\x01\xa1a\xc0", "\x81\xa1k\xcb\x3f\xf0\x00\x00\x00\x00\x00\x00",
		"\xdd\xff\xff\xff\xff", "\xdf\x00\x00\x00\x02\x01\x02\xce\x03\xff\xff\xfe\x01",
		strings.Repeat("\x91", 5000), "\xdb\xff\xff\xff\xffabc"} {
		f.Add(s, 1, 0)
	}
	f.Fuzz(func(t *testing.T, s string, limit, offset int) {
		L := fuzzState()
		defer L.Close()
		call(t, L, "cmsgpack", "unpack_one", lua.LString(s), lua.LNumber(offset))
		call(t, L, "cmsgpack", "unpack_limit", lua.LString(s), lua.LNumber(limit),
			lua.LNumber(offset))
		v, ok := call(t, L, "cmsgpack", "unpack", lua.LString(s))
		if !ok || len(v) == 0 || len(v) > 1000 {
			return
		}
		packed, ok := call(t, L, "cmsgpack", "pack", v...)
		if !ok {
			t.Fatalf("unpacked but does not pack: %q", s)
		}
		if again, ok := call(t, L, "cmsgpack", "unpack", packed[0]); !ok || len(again) != len(v) {
			t.Fatalf("%q packed to %q and does not unpack", s, packed[0])
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
		L := fuzzState()
		defer L.Close()
		call(t, L, "struct", "unpack", lua.LString(format), lua.LString(data), lua.LNumber(pos))
		call(t, L, "struct", "pack", lua.LString(format), lua.LNumber(pos), lua.LString(data),
			lua.LNumber(-1), lua.LString("9"))
		size, ok := call(t, L, "struct", "size", lua.LString(format))
		if !ok || size[0].(lua.LNumber) > 1<<16 || strings.ContainsAny(format, "%") {
			return
		}
		zeros := strings.Repeat("\x00", int(size[0].(lua.LNumber)))
		v, ok := call(t, L, "struct", "unpack", lua.LString(format), lua.LString(zeros))
		if ok && v[len(v)-1] != size[0].(lua.LNumber)+1 {
			t.Fatalf("%q: size %v, unpacked up to %v", format, size[0], v[len(v)-1])
		}
	})
}

// FuzzBit checks that any number is an operand, and that results are signed 32-bit integers.
func FuzzBit(f *testing.F) {
	f.Add(1.0, -1.0, "12")
	f.Add(4294967296.5, -2147483648.0, "x")
	f.Fuzz(func(t *testing.T, a, b float64, s string) {
		L := fuzzState()
		defer L.Close()
		for _, name := range []string{"tobit", "bnot", "bswap", "band", "bor", "bxor", "lshift",
			"rshift", "arshift", "rol", "ror"} {
			v, ok := call(t, L, "bit", name, lua.LNumber(a), lua.LNumber(b))
			if !ok {
				t.Fatal(name)
			}
			if n := float64(v[0].(lua.LNumber)); n != float64(int32(n)) {
				t.Fatalf("%s: %v", name, n)
			}
		}
		v, ok := call(t, L, "bit", "tohex", lua.LNumber(a), lua.LNumber(b))
		if !ok || len(v[0].(lua.LString)) > 8 {
			t.Fatal("tohex", v)
		}
		call(t, L, "bit", "band", lua.LString(s), lua.LNumber(a))
	})
}
