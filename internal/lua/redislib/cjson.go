package redislib

import (
	"math"
	"slices"
	"strconv"

	"godwit/internal/lua"
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
	keepBuffer    int // no effect here
	encodeInvalid int
	decodeInvalid int

	null *lua.Userdata
}

// openCJSON returns cjson. All its instances share one null.
func openCJSON() *lua.Table { return newCJSON(&lua.Userdata{Name: "(nil)"}) }

func newCJSON(null *lua.Userdata) *lua.Table {
	j := &cjson{
		sparseRatio: 2, sparseSafe: 10, encodeDepth: 1000, decodeDepth: 1000, precision: 14,
		keepBuffer: 1, encodeInvalid: invalidOff, decodeInvalid: invalidOn, null: null,
	}
	tab := library(0,
		function{"encode", j.encode},
		function{"decode", j.decode},
		function{"encode_sparse_array", j.encodeSparseArray},
		function{"encode_max_depth", integerSetting(&j.encodeDepth, math.MaxInt32)},
		function{"decode_max_depth", integerSetting(&j.decodeDepth, math.MaxInt32)},
		function{"encode_number_precision", integerSetting(&j.precision, 14)},
		function{"encode_keep_buffer", enumSetting(&j.keepBuffer)},
		function{"encode_invalid_numbers", enumSetting(&j.encodeInvalid, "off", "on", "null")},
		function{"decode_invalid_numbers", enumSetting(&j.decodeInvalid)},
		function{"new", func(t *lua.Thread) int {
			t.Grow(instanceBytes)
			t.Push(lua.TableValue(newCJSON(null)))
			return 1
		}},
	)
	tab.SetString("null", lua.UserdataValue(null))
	tab.SetString("_NAME", lua.String("cjson"))
	tab.SetString("_VERSION", lua.String("2.1.0"))
	return tab
}

// instanceBytes is about the size of an instance, and of its table and functions.
const instanceBytes = 2048

// settings takes up to n arguments. Missing ones are nil.
func settings(t *lua.Thread, n int) {
	if t.Top() > n {
		t.ArgError(n+1, "found too many arguments")
	}
	t.SetTop(n)
}

func integerSetting(setting *int, limit int) func(*lua.Thread) int {
	return func(t *lua.Thread) int {
		settings(t, 1)
		return integerOption(t, 1, setting, 1, limit)
	}
}

// integerOption sets from an argument unless it is nil, and pushes the setting. An error always
// names the first argument.
func integerOption(t *lua.Thread, n int, setting *int, low, high int) int {
	if !t.Arg(n).IsNil() {
		v := int(int32(t.Int(n)))
		if v < low || v > high {
			t.ArgError(1, "expected integer between "+strconv.Itoa(low)+" and "+strconv.Itoa(high))
		}
		*setting = v
	}
	t.Push(lua.Int(*setting))
	return 1
}

func enumSetting(setting *int, choices ...string) func(*lua.Thread) int {
	return func(t *lua.Thread) int {
		settings(t, 1)
		return enumOption(t, 1, setting, choices...)
	}
}

// enumOption sets from a boolean or from the name of a choice, and pushes the setting.
func enumOption(t *lua.Thread, n int, setting *int, choices ...string) int {
	switch v := t.Arg(n); v.Kind() {
	case lua.KindNil:
	case lua.KindBool:
		*setting = invalidOff
		if v.Truthy() {
			*setting = invalidOn
		}
	default:
		s := t.CString(n)
		if *setting = slices.Index(choices, s); *setting < 0 {
			t.ArgError(n, "invalid option '", s, "'")
		}
	}
	if *setting <= invalidOn {
		t.Push(lua.Bool(*setting == invalidOn))
	} else {
		t.Push(lua.String(choices[*setting]))
	}
	return 1
}

func (j *cjson) encodeSparseArray(t *lua.Thread) int {
	settings(t, 3)
	enumOption(t, 1, &j.sparseConvert)
	integerOption(t, 2, &j.sparseRatio, 0, math.MaxInt32)
	integerOption(t, 3, &j.sparseSafe, 0, math.MaxInt32)
	return 3
}
