package diff

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// state compares the data of both servers. For each database it compares the number of keys, and
// the keys as KEYS and as a full SCAN list them. For each key it compares type, encoding, remaining
// time and value.
func (r *Runner) state(at int) (*Failure, error) {
	for db := range r.DBs {
		sel := cmdOf("SELECT", strconv.Itoa(db))
		// Redis counts a key that has just expired until a command touches it. SCAN does.
		a, b, f, err := r.both(at,
			[]Cmd{sel, cmdOf("SCAN", "0", "COUNT", "100000"), cmdOf("DBSIZE"), cmdOf("KEYS", "*")})
		if f != nil || err != nil {
			return f, err
		}
		where := fmt.Sprintf("db %d", db)
		a, b = a[2:], b[2:]
		if !same(a[0], b[0]) || canonical(a[1]) != canonical(b[1]) {
			return stateFailure(at, "keys", a[0].String()+" "+sorted(a[1])+" "+where,
				b[0].String()+" "+sorted(b[1])+" "+where), nil
		}
		if f, err := r.scanAgrees(at, where, b[1]); f != nil || err != nil {
			return f, err
		}
		for _, k := range a[1].Elems {
			r.StateReads++
			if f, err := r.keyState(at, where, k.Str); f != nil || err != nil {
				return f, err
			}
		}
	}
	return r.libraryState(at)
}

func cmdOf(args ...string) Cmd {
	c := Cmd{}
	for _, a := range args {
		c.Args = append(c.Args, []byte(a))
	}
	return c
}

func sorted(r Reply) string {
	var names []string
	for _, e := range r.Elems {
		names = append(names, Quote([]byte(e.Str)))
	}
	slices.Sort(names)
	return "[" + strings.Join(names, " ") + "]"
}

func stateFailure(at int, what, a, b string) *Failure {
	return &Failure{At: at, Class: "state: " + what, A: clip(a, 2000), B: clip(b, 2000)}
}

// scanAgrees checks that a full SCAN of the tested server finds the keys that its KEYS listed.
// Cursors may differ between servers.
func (r *Runner) scanAgrees(at int, where string, keys Reply) (*Failure, error) {
	found := map[string]bool{}
	cursor := "0"
	for range 10_000 {
		rep, err := r.admin[1].Do("SCAN", cursor)
		if err != nil || len(rep.Elems) != 2 {
			return stateFailure(at, "SCAN", "a page", fmt.Sprint(rep, err)), nil
		}
		for _, e := range rep.Elems[1].Elems {
			found[e.Str] = true
		}
		if cursor = rep.Elems[0].Str; cursor == "0" {
			break
		}
	}
	want := map[string]bool{}
	for _, e := range keys.Elems {
		want[e.Str] = true
	}
	if len(found) != len(want) || cursor != "0" {
		return stateFailure(at, "full SCAN", sorted(keys)+" by KEYS in "+where,
			fmt.Sprintf("%d keys, last cursor %s", len(found), cursor)), nil
	}
	return nil, nil
}

// keyState compares one key.
func (r *Runner) keyState(at int, where, key string) (*Failure, error) {
	a, b, f, err := r.both(at,
		[]Cmd{cmdOf("TYPE", key), cmdOf("OBJECT", "ENCODING", key), cmdOf("PEXPIRETIME", key)})
	if f != nil || err != nil {
		return f, err
	}
	label := fmt.Sprintf("%s key %s", where, Quote([]byte(key)))
	for i, what := range []string{"type", "encoding"} {
		if !same(a[i], b[i]) &&
			!(what == "encoding" && r.encodingsAgree(a[0].Str, a[i], b[i])) {
			return stateFailure(at, what, a[i].String()+" "+label, b[i].String()+" "+label), nil
		}
	}
	if !near(a[2], b[2], 5000) {
		return stateFailure(at, "expire time", a[2].String()+" "+label,
			b[2].String()+" "+label), nil
	}
	reads, order := valueReads(a[0].Str, key)
	if len(reads) == 0 {
		return nil, nil
	}
	if a, b, f, err = r.both(at, reads); f != nil || err != nil {
		return f, err
	}
	for i := range a {
		if order == "known" && r.Known.equal(reads[i], a[i], b[i]) {
			continue
		}
		a[i], b[i] = r.Known.rewrite(reads[i].Name(), a[i]), r.Known.rewrite(reads[i].Name(), b[i])
		equal := same(a[i], b[i])
		switch order {
		case "set":
			equal = canonical(a[i]) == canonical(b[i])
		case "map":
			equal = canonical(asMap(a[i])) == canonical(asMap(b[i]))
		}
		if !equal {
			return stateFailure(at, "value", a[i].String()+" "+label, b[i].String()+" "+label), nil
		}
	}
	return nil, nil
}

// encodingsAgree reports whether the reference may call the encoding of a value of the type so.
func (r *Runner) encodingsAgree(typ string, a, b Reply) bool {
	tol := tolerance{sorted: r.sorted, filed: r.filed}
	rule := r.Known.Rule("object|encoding")
	switch rule.Comparator {
	case cmpEncoding:
		tol.old = true
	case cmpValkey:
		tol.valkey = true
	}
	return rule.accepts(encodingsAgree(typ, tol, a, b), a, b)
}

// valueReads returns the commands that show the whole value of a type, and whether the order of
// their replies matters, or only what the rules about the commands say.
func valueReads(typ, key string) (cmds []Cmd, order string) {
	switch typ {
	case "string":
		return []Cmd{cmdOf("GET", key), cmdOf("STRLEN", key)}, "exact"
	case "list":
		return []Cmd{cmdOf("LRANGE", key, "0", "-1"), cmdOf("LLEN", key)}, "exact"
	case "set":
		return []Cmd{cmdOf("SMEMBERS", key), cmdOf("SCARD", key)}, "set"
	case "zset":
		return []Cmd{cmdOf("ZRANGE", key, "0", "-1", "WITHSCORES"), cmdOf("ZCARD", key)}, "exact"
	case "hash":
		return []Cmd{cmdOf("HGETALL", key), cmdOf("HLEN", key)}, "map"
	case "stream":
		return []Cmd{cmdOf("XRANGE", key, "-", "+"),
			cmdOf("XINFO", "STREAM", key, "FULL", "COUNT", "0")}, "known"
	}
	return nil, ""
}
