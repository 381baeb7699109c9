package script

import "godwit/internal/lua"

// keys are the fields of tables that mean something to the host.
type keys struct {
	err, ok, double, aggregateMap, set, bigNumber, verbatim, format, str key
	counted                                                              key

	okText lua.Value
}

// key is a string with its hash.
type key struct {
	v    lua.Value
	hash uint32
}

func newKeys() keys {
	of := func(s string) key { return key{lua.String(s), lua.HashString(s)} }
	return keys{err: of("err"), ok: of("ok"), double: of("double"), aggregateMap: of("map"),
		set: of("set"), bigNumber: of("big_number"), verbatim: of("verbatim_string"),
		format: of("format"), str: of("string"), counted: of("ignore_error_stats_update"),
		okText: lua.String("OK")}
}

// of returns the field of a table.
func (k key) of(t *lua.Table) lua.Value { return t.GetStr(k.v, k.hash) }
