package script

import (
	"strings"

	"godwit/internal/lua"
)

// globalOrder is the order in which Redis 8 makes the globals, because pairs(_G) shows it. Those
// with a mark are refused as soon as they are made, and debug goes at the end: places in the table
// that they have taken are left.
const globalOrder = "_G assert collectgarbage !dofile error gcinfo !getfenv getmetatable " +
	"!loadfile load loadstring next pcall !print rawequal rawget rawset select !setfenv " +
	"setmetatable tonumber tostring type unpack xpcall _VERSION ipairs pairs !newproxy coroutine " +
	"table string math debug os cjson struct cmsgpack bit redis"

// arrange lays the table of globals out anew, in Redis's order.
func (s *State) arrange() {
	g := s.L.Globals
	var names []string
	values := map[string]lua.Value{}
	each(g, func(k, v lua.Value) {
		names = append(names, k.Str())
		values[k.Str()] = v
	})
	g.Refill(nil)
	for _, mark := range strings.Fields(globalOrder) {
		name := strings.TrimPrefix(mark, "!")
		v := values[name]
		if v.IsNil() {
			v = lua.True
		}
		if g.SetString(name, v); name != mark {
			g.SetString(name, lua.Nil)
		}
	}
	for _, name := range append([]string{"debug"}, names...) {
		g.SetString(name, values[name])
	}
}

// errorHandler implements __redis__err__handler, which Redis calls for errors that end a script,
// and which scripts can call too.
func errorHandler(t *lua.Thread) int {
	tab := t.Arg(1).Table()
	if tab == nil {
		tab = errorTable(t, "ERR ", display(t.Arg(1)))
	}
	if source, line, ok := t.Position(1); ok && !tab.ReadOnly {
		tab.SetString("source", lua.String("@"+source))
		tab.SetString("line", lua.Int(line))
	}
	return push(t, lua.TableValue(tab))
}
