package script

import "godwit/internal/lua"

// keptArguments bounds the tables of arguments that are kept between runs, in bytes.
const keptArguments = 16 << 10

// arguments are the tables KEYS and ARGV of scripts. No value that a script makes outlives its run,
// so nobody keeps the tables or their strings: the next script gets the same tables, and the
// strings share the bytes of the request. (Functions do keep values: theirs are new.)
type arguments struct{ keys, argv *lua.Table }

// init makes the tables globals.
func (a *arguments) init(s *State) {
	a.keys, a.argv = lua.NewTable(0, 0), lua.NewTable(0, 0)
	s.L.Globals.SetString("KEYS", lua.TableValue(a.keys))
	s.L.Globals.SetString("ARGV", lua.TableValue(a.argv))
}

// set puts the arguments of a run into the tables.
func (a *arguments) set(keys, argv [][]byte) {
	a.keys.Refill(keys)
	a.argv.Refill(argv)
}

// clear lets go of the arguments.
func (a *arguments) clear(s *State) {
	if a.keys.Bytes()+a.argv.Bytes() > keptArguments {
		a.init(s)
		return
	}
	a.set(nil, nil)
}

// list returns a new table of strings. It is laid out as if they were added one by one.
func list(args [][]byte) lua.Value {
	t := lua.NewTable(0, 0)
	t.Refill(args)
	for i, a := range args {
		t.SetInt(i+1, lua.String(string(a)))
	}
	return lua.TableValue(t)
}
