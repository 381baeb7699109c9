package redislib

import (
	"strconv"
	"strings"
	"testing"

	"godwit/internal/lua"
)

// benchTexts are typical values.
var benchTexts = func() map[string]string {
	numbers := make([]string, 100)
	for i := range numbers {
		numbers[i] = strconv.Itoa(i * 37)
	}
	floats := make([]string, 100)
	for i := range floats {
		floats[i] = strconv.Itoa(i*37) + "." + strconv.Itoa(i%90+10)
	}
	object := `{"id":12345,"name":"Some One","email":"someone@example.com","age":42,` +
		`"city":"Some Town","score":99.5,"active":true,"country":"Nowhere","visits":1234,` +
		`"note":"a few words"}`
	return map[string]string{
		"object":  object,
		"numbers": "[" + strings.Join(numbers, ",") + "]",
		"floats":  "[" + strings.Join(floats, ",") + "]",
		"objects": "[" + strings.Repeat(object+",", 19) + object + "]",
		"escapes": `{"url":"https:\/\/example.com\/some\/path?q=1","text":"` +
			strings.Repeat(`two words,\n \"quoted\" and \u00e9t\u00e9 `, 10) + `"}`,
		"nested": `{"id":12345,"name":"Some One","tags":["a","b","c"],"price":12.5,` +
			`"nested":{"list":[1,2,3,4,5,6,7,8,9,10],"flag":true,"none":null},"text":"` +
			strings.Repeat("words and more words ", 10) + `"}`,
	}
}()

// bench calls a function of a library with what prepare makes of each of the texts.
func bench(b *testing.B, lib, name string, prepare func(s *lua.State, text string) lua.Value) {
	for _, kind := range []string{"object", "objects", "numbers", "floats", "nested", "escapes"} {
		b.Run(kind, func(b *testing.B) {
			s := newState()
			arg := prepare(s, benchTexts[kind])
			f := s.Globals.GetString(lib).Table().GetString(name)
			t := s.Main
			b.ReportAllocs()
			for b.Loop() {
				t.Push(f)
				t.Push(arg)
				if err, ok := t.Try(1, 1); !ok {
					b.Fatal(err.Str())
				}
				t.Pop()
			}
		})
	}
}

func decoded(s *lua.State, text string) lua.Value {
	v, _ := call(s, "cjson", "decode", lua.String(text))
	return v[0]
}

func BenchmarkEncode(b *testing.B) { bench(b, "cjson", "encode", decoded) }
func BenchmarkPack(b *testing.B)   { bench(b, "cmsgpack", "pack", decoded) }

func BenchmarkDecode(b *testing.B) {
	bench(b, "cjson", "decode", func(_ *lua.State, text string) lua.Value {
		return lua.String(text)
	})
}

func BenchmarkUnpack(b *testing.B) {
	bench(b, "cmsgpack", "unpack", func(s *lua.State, text string) lua.Value {
		v, _ := call(s, "cmsgpack", "pack", decoded(s, text))
		return v[0]
	})
}
