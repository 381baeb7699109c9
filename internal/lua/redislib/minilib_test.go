package redislib

import (
	"slices"
	"strings"

	"godwit/internal/lua"
)

// openMini makes those of Lua's functions globals that the tests' scripts use.
func openMini(s *lua.State) {
	str := lib(map[string]func(*lua.Thread) int{
		"rep": func(t *lua.Thread) int {
			t.Push(lua.String(strings.Repeat(t.String(1), max(t.Int(2), 0))))
			return 1
		},
		"char": func(t *lua.Thread) int {
			var b []byte
			for i := range t.Top() {
				b = append(b, byte(t.Int(i+1)))
			}
			t.PushString(b)
			return 1
		},
		"len": func(t *lua.Thread) int { t.Push(lua.Int(len(t.String(1)))); return 1 },
		"sub": func(t *lua.Thread) int {
			s := t.String(1)
			t.Push(lua.String(s[min(t.Int(2)-1, len(s)):min(t.Int(3), len(s))]))
			return 1
		},
		"format": func(t *lua.Thread) int {
			t.PushString(lua.AppendG(nil, t.Number(2), 17))
			return 1
		},
	})
	s.Globals.SetString("string", lua.TableValue(str))
	s.Strings = lua.NewTable(0, 0)
	s.Strings.SetString("__index", lua.TableValue(str))
	s.Globals.SetString("table", lua.TableValue(lib(map[string]func(*lua.Thread) int{
		"concat": func(t *lua.Thread) int {
			var list []string
			for i := range t.Table(1).Len() {
				s, _ := lua.ToText(t.Table(1).GetInt(i + 1))
				list = append(list, s)
			}
			t.Push(lua.String(strings.Join(list, t.OptString(2, ""))))
			return 1
		},
		"sort": func(t *lua.Thread) int {
			tab := t.Table(1)
			list := slices.Clone(tab.Array()[:tab.Len()])
			slices.SortFunc(list, func(a, b lua.Value) int {
				return strings.Compare(a.Str(), b.Str())
			})
			copy(tab.Array(), list)
			return 0
		},
	})))
	for name, f := range miniBase {
		s.Globals.SetString(name, lua.NativeValue(&lua.Native{Name: name, Fn: f}))
	}
	s.Globals.SetString("pcall", lua.NativeValue(lua.Pcall()))
	s.Globals.SetString("_G", lua.TableValue(s.Globals))
}

func lib(functions map[string]func(*lua.Thread) int) *lua.Table {
	t := lua.NewTable(0, 0)
	for name, f := range functions {
		t.SetString(name, lua.NativeValue(&lua.Native{Name: name, Fn: f}))
	}
	return t
}

var miniNext = &lua.Native{Name: "next", Fn: func(t *lua.Thread) int {
	k, v, err := t.Table(1).Next(t.Arg(2))
	if err != nil {
		t.Error(err.Error())
	}
	t.Push(k)
	t.Push(v)
	return 2
}}

var miniIpairs = &lua.Native{Name: "ipairs", Fn: func(t *lua.Thread) int {
	i := t.Int(2) + 1
	v := t.Table(1).GetInt(i)
	if v.IsNil() {
		return 0
	}
	t.Push(lua.Int(i))
	t.Push(v)
	return 2
}}

var miniBase = map[string]func(*lua.Thread) int{
	"type": func(t *lua.Thread) int { t.Push(lua.String(t.Any(1).TypeName())); return 1 },
	"tostring": func(t *lua.Thread) int {
		switch v := t.Any(1); v.Kind() {
		case lua.KindString, lua.KindNumber:
			t.Push(lua.String(t.String(1)))
		case lua.KindBool:
			t.Push(lua.String(map[bool]string{true: "true", false: "false"}[v.Truthy()]))
		case lua.KindUserdata:
			t.Push(lua.String("userdata: " + v.Userdata().Name))
		default:
			t.Push(lua.String(v.TypeName()))
		}
		return 1
	},
	"tonumber": func(t *lua.Thread) int {
		if f, ok := lua.ToNumber(t.Arg(1)); ok {
			t.Push(lua.Number(f))
		} else {
			t.Push(lua.Nil)
		}
		return 1
	},
	"select": func(t *lua.Thread) int {
		if v := t.Arg(1); v.IsString() && v.Str() == "#" {
			t.Push(lua.Int(t.Top() - 1))
			return 1
		}
		return max(0, t.Top()-t.Int(1))
	},
	"unpack": func(t *lua.Thread) int {
		tab, from := t.Table(1), t.OptInt(2, 1)
		to := t.OptInt(3, tab.Len())
		for i := from; i <= to; i++ {
			t.Push(tab.GetInt(i))
		}
		return max(0, to-from+1)
	},
	"pairs": func(t *lua.Thread) int {
		t.Push(lua.NativeValue(miniNext))
		t.Push(lua.TableValue(t.Table(1)))
		t.Push(lua.Nil)
		return 3
	},
	"ipairs": func(t *lua.Thread) int {
		t.Push(lua.NativeValue(miniIpairs))
		t.Push(lua.TableValue(t.Table(1)))
		t.Push(lua.Int(0))
		return 3
	},
	"setmetatable": func(t *lua.Thread) int {
		t.Table(1).Metatable = t.Table(2)
		t.Push(t.Arg(1))
		return 1
	},
}
