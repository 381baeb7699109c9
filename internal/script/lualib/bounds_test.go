package lualib

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	lua "github.com/yuin/gopher-lua"
)

// doubled is a table that holds a table twice, which holds another twice, and so on: it is small,
// but has 2^n values.
const doubled = `local t = {string.rep('some text ', 1000)} for i = 1, 40 do t = {t, t} end return `

func TestOutputIsBounded(t *testing.T) {
	b := newBare()
	b.L.SetGlobal("make", b.L.NewFunction(func(L *lua.LState) int {
		m := newMeter(L)
		for range 2 * maxMade >> 20 {
			m.add(1 << 20)
		}
		return 0
	}))
	got, err := b.eval(`make()`)
	require.NoError(t, err)
	require.Equal(t, "error: user_script:1: not enough memory", got)
}

func TestFillerIsBounded(t *testing.T) {
	got, err := newBare().eval(`return cmsgpack.unpack((...))`,
		strings.Repeat("\x81\xce\x03\xff\xff\xfe\x01", 1000))
	require.NoError(t, err)
	require.Equal(t, "error: user_script:1: not enough memory", got)
}

// TestEndedScript checks that a long call notices that the script must end.
func TestEndedScript(t *testing.T) {
	b := newBare()
	ctx, cancel := context.WithCancel(t.Context())
	b.L.SetContext(ctx)
	b.L.SetGlobal("cancel", b.L.NewFunction(func(*lua.LState) int { cancel(); return 0 }))
	_, err := b.eval(
		strings.Replace(doubled, "return ", "", 1) + `local e = cjson.encode cancel() return e(t)`)
	require.ErrorContains(t, err, "context canceled")
}

// ledger is a host that counts.
type ledger struct {
	context.Context
	spent, limit int
}

func (h *ledger) Spend(L *lua.LState, bytes int) {
	if h.spent += bytes; h.limit > 0 && h.spent > h.limit {
		raise(L, "too much")
	}
}
func (h *ledger) Callee(*lua.LState) string { return "known" }

func TestHost(t *testing.T) {
	b := newBare()
	h := &ledger{Context: t.Context()}
	b.L.SetContext(h)
	got, err := b.eval(`return #cjson.encode(string.rep('x', 5000000)), ` +
		`#cmsgpack.pack(string.rep('x', 5000000)), #cjson.decode('[' .. string.rep('[],', ` +
		`100000) .. '1]')`)
	if err != nil {
		t.Fatal(cut(err.Error()))
	}
	require.Equal(t, "5000002, 5000005, 100001", cut(got))
	require.Greater(t, h.spent, 256<<10)
	got, err = b.eval(`return bit.band('x')`)
	require.NoError(t, err)
	require.Equal(t,
		"error: user_script:1: bad argument #1 to 'known' (number expected, got string)", got)
	h.spent, h.limit = 0, 3*pollEvery
	got, err = b.eval(doubled + `cjson.encode(t)`)
	require.NoError(t, err)
	require.Equal(t, "error: user_script:1: too much", got)
}

func BenchmarkEncode(b *testing.B) {
	L := fuzzState()
	v, _ := call(b, L, "cjson", "decode", lua.LString(benchText))
	f := L.GetGlobal("cjson").(*lua.LTable).RawGetString("encode")
	b.SetBytes(int64(len(benchText)))
	b.ReportAllocs()
	for b.Loop() {
		if err := L.CallByParam(lua.P{Fn: f, NRet: 1}, v[0]); err != nil {
			b.Fatal(err)
		}
		L.Pop(1)
	}
}

func BenchmarkDecode(b *testing.B) {
	L := fuzzState()
	f := L.GetGlobal("cjson").(*lua.LTable).RawGetString("decode")
	b.SetBytes(int64(len(benchText)))
	b.ReportAllocs()
	for b.Loop() {
		if err := L.CallByParam(lua.P{Fn: f, NRet: 1}, lua.LString(benchText)); err != nil {
			b.Fatal(err)
		}
		L.Pop(1)
	}
}

var benchText = `{"id":12345,"name":"Some One","tags":["a","b","c"],"price":12.5,` +
	`"nested":{"list":[1,2,3,4,5,6,7,8,9,10],"flag":true,"none":null},"text":"` +
	strings.Repeat("words and more words ", 10) + `"}`
