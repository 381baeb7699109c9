package lualib

import (
	"math"

	lua "github.com/yuin/gopher-lua"
)

// What encode does with numbers that JSON does not have.
const (
	invalidOff = iota
	invalidOn
	invalidNull
)

// cjson is one instance of the library: its settings, which start as Redis's, and its reused
// buffer.
type cjson struct {
	sparseConvert int // 1: sparse arrays become objects, 0: they are errors
	// An array is sparse if its largest index exceeds its elements sparseRatio times; 0: never.
	sparseRatio   int
	sparseSafe    int // up to this index no array is sparse
	encodeDepth   int
	decodeDepth   int
	precision     int // digits of numbers
	keepBuffer    int // no effect here: the buffer is kept while it is small
	encodeInvalid int
	decodeInvalid int

	null *lua.LUserData
	buf  []byte
}

// keptBuffer is the size in bytes of the largest buffer that is reused.
const keptBuffer = 1 << 20

// openCJSON registers cjson. All its instances share one null.
func openCJSON(L *lua.LState) {
	null := L.NewUserData()
	mt := L.CreateTable(0, 1)
	mt.RawSetString("__tostring", L.NewFunction(func(L *lua.LState) int {
		L.Push(lua.LString("userdata: (nil)"))
		return 1
	}))
	mt.RawSetString("__metatable", lua.LFalse)
	null.Metatable = mt
	L.SetGlobal("cjson", newCJSON(L, null))
}

func newCJSON(L *lua.LState, null *lua.LUserData) *lua.LTable {
	j := &cjson{
		sparseRatio: 2, sparseSafe: 10, encodeDepth: 1000, decodeDepth: 1000, precision: 14,
		keepBuffer: 1, encodeInvalid: invalidOff, decodeInvalid: invalidOn, null: null,
	}
	t := L.CreateTable(0, 16)
	for name, f := range map[string]lua.LGFunction{
		"encode":                  j.encode,
		"decode":                  j.decode,
		"encode_sparse_array":     j.encodeSparseArray,
		"encode_max_depth":        j.integerSetting(&j.encodeDepth, math.MaxInt32),
		"decode_max_depth":        j.integerSetting(&j.decodeDepth, math.MaxInt32),
		"encode_number_precision": j.integerSetting(&j.precision, 14),
		"encode_keep_buffer":      j.boolSetting(&j.keepBuffer),
		"encode_invalid_numbers":  j.encodeInvalidNumbers,
		"decode_invalid_numbers":  j.boolSetting(&j.decodeInvalid),
		"new": func(L *lua.LState) int {
			L.Push(newCJSON(L, null))
			return 1
		},
	} {
		t.RawSetString(name, L.NewFunction(f))
	}
	t.RawSetString("null", null)
	t.RawSetString("_NAME", lua.LString("cjson"))
	t.RawSetString("_VERSION", lua.LString("2.1.0"))
	return t
}

// settings takes up to n arguments. Missing ones are nil.
func settings(L *lua.LState, n int) {
	if L.GetTop() > n {
		argError(L, n+1, "found too many arguments")
	}
	L.SetTop(n)
}

func (j *cjson) integerSetting(setting *int, limit int) lua.LGFunction {
	return func(L *lua.LState) int {
		settings(L, 1)
		return integerOption(L, 1, setting, 1, limit)
	}
}

// integerOption sets from an argument unless it is nil, and pushes the setting. An error always
// names the first argument.
func integerOption(L *lua.LState, n int, setting *int, low, high int) int {
	if L.Get(n) != lua.LNil {
		v := int(int32(checkInt(L, n)))
		if v < low || v > high {
			argError(L, 1, "expected integer between "+itoa(low)+" and "+itoa(high))
		}
		*setting = v
	}
	L.Push(lua.LNumber(*setting))
	return 1
}

func (j *cjson) boolSetting(setting *int) lua.LGFunction {
	return func(L *lua.LState) int {
		settings(L, 1)
		return enumOption(L, 1, setting)
	}
}

// enumOption sets from a boolean or from the name of a choice, and pushes the setting.
func enumOption(L *lua.LState, n int, setting *int, choices ...string) int {
	switch v := L.Get(n).(type) {
	case *lua.LNilType:
	case lua.LBool:
		*setting = invalidOff
		if v {
			*setting = invalidOn
		}
	default:
		*setting = checkChoice(L, n, choices)
	}
	if *setting <= invalidOn {
		L.Push(lua.LBool(*setting == invalidOn))
	} else {
		L.Push(lua.LString(choices[*setting]))
	}
	return 1
}

// checkChoice does what luaL_checkoption does.
func checkChoice(L *lua.LState, n int, choices []string) int {
	s := checkString(L, n)
	for i, c := range choices {
		if c == s {
			return i
		}
	}
	argError(L, n, "invalid option '"+s+"'")
	return 0
}

func (j *cjson) encodeSparseArray(L *lua.LState) int {
	settings(L, 3)
	enumOption(L, 1, &j.sparseConvert)
	integerOption(L, 2, &j.sparseRatio, 0, math.MaxInt32)
	integerOption(L, 3, &j.sparseSafe, 0, math.MaxInt32)
	return 3
}

func (j *cjson) encodeInvalidNumbers(L *lua.LState) int {
	settings(L, 1)
	return enumOption(L, 1, &j.encodeInvalid, "off", "on", "null")
}
