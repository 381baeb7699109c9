package diff

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
)

// Comparators of commands about collections, and of encodings.

// cmpNewer accepts a tested server that takes more arguments than redis does, as later servers do.
func cmpNewer(_ [][]byte, a, b Reply) bool {
	return same(a, b) || a.IsErr() && strings.HasPrefix(a.Str, "ERR wrong number of arguments")
}

// cmpGetkeys compares COMMAND GETKEYS for commands of which one server knows less.
func cmpGetkeys(args [][]byte, a, b Reply) bool {
	loose := slices.ContainsFunc(args, func(b []byte) bool { // numbers that C reads
		return len(b) > 1 &&
			(strings.IndexByte("+ 0", b[0]) >= 0 || b[len(b)-1] == ' ' || b[len(b)-1] == 0 ||
				bytes.IndexByte(b, '.') > 0 ||
				b[0] >= '0' && b[0] <= '9' && bytes.ContainsAny(b, "eExX"))
	})
	if len(args) > 2 && strings.HasPrefix(strings.ToLower(string(args[2])), "georadius") &&
		len(b.Elems) > len(a.Elems) {
		// redis shows the first of several STORE options, but writes to the last
		b.Elems = b.Elems[:len(a.Elems)]
	}
	// EXEC has conditions, and with them keys.
	exec := len(args) > 2 && strings.EqualFold(string(args[2]), "exec")
	return cmpErrClass(args, a, b) || exec && a.IsErr() ||
		a.IsErr() && strings.HasPrefix(a.Str, "ERR Invalid number of arguments") ||
		(b.IsErr() || len(b.Elems) == 0) && loose
}

// cmpTimeout treats the two reasons to refuse a timeout as one.
func cmpTimeout(_ [][]byte, a, b Reply) bool {
	const refused = "ERR timeout is "
	return same(a, b) || a.IsErr() && b.IsErr() && strings.HasPrefix(a.Str, refused) &&
		strings.HasPrefix(b.Str, refused)
}

// cmpSort compares in order where the order is defined, see guardSort.
func cmpSort(args [][]byte, a, b Reply) bool {
	by, alpha, store := sortOptions(args)
	if !store && strings.Contains(a.Str, "can't be converted into double") && !b.IsErr() {
		// a stale errno: another connection's command came between clearErrno and the SORT
		return true
	}
	if alpha && !store && (hasNUL(a) || hasNUL(b)) { // strings that strcoll takes for equal
		return a.Kind == b.Kind && len(a.Elems) == len(b.Elems)
	}
	gets := slices.ContainsFunc(args, func(a []byte) bool {
		return strings.EqualFold(string(a), "GET")
	})
	// GET hides whether elements were equal, and BY sorts by values that are hidden too.
	loose := alpha && !store && gets ||
		by != nil && (alpha || !store && !strings.Contains(*by, "*") && string(args[1]) != lexKey)
	if !loose {
		return same(a, b)
	}
	return errsAgree(a, b) && canonical(a) == canonical(b)
}

func hasNUL(r Reply) bool {
	return slices.ContainsFunc(r.Elems, func(e Reply) bool {
		return strings.IndexByte(e.Str, 0) >= 0
	})
}

// cmpSample compares random choices. If all elements were asked for, they must be the same.
// Otherwise their number must be the same, and none may come twice where that is ruled out.
func cmpSample(args [][]byte, a, b Reply) bool {
	if !errsAgree(a, b) || a.Kind != b.Kind {
		return false
	}
	if len(args) < 3 || a.IsErr() || a.Elems == nil {
		return same(a, b) || a.Elems == nil && len(args) < 3
	}
	n, _ := strconv.ParseInt(string(args[2]), 10, 64) // no error was answered: it is one
	if len(args) > 3 && (len(a.Elems) == 0 || a.Elems[0].Elems == nil) {
		a, b = asMap(a), asMap(b) // RESP2 has values between the elements
	}
	if n >= wholeSample {
		return canonical(a) == canonical(b)
	}
	if len(a.Elems) != len(b.Elems) {
		return false
	}
	return n < 0 || distinct(a) == distinct(b)
}

// distinct returns the number of different elements of a reply.
func distinct(r Reply) int {
	seen := map[string]bool{}
	step := 1
	if r.Kind == '%' {
		step = 2
	}
	for i := 0; i < len(r.Elems); i += step {
		seen[canonical(r.Elems[i])] = true
	}
	return len(seen)
}

// encodingPairs returns, for each type, pairs of encodings of the same value: the one in 7.0, then
// the one in later servers.
func encodingPairs() map[string][][2]string {
	return map[string][][2]string{
		"list": {{"quicklist", "listpack"}},
		// A new set's encoding follows from its first member or from how many are expected.
		"set": {{"hashtable", "listpack"}, {"intset", "listpack"}},
		// A command with more members than a listpack may have did not convert one that is there.
		"zset": {{"listpack", "skiplist"}},
	}
}

// sortedPairs returns the encodings that redis's SORT leaves behind: it turns a sorted set that it
// reads into a skiplist for good. Godwit does not.
func sortedPairs() map[string][][2]string {
	return map[string][][2]string{"zset": {{"skiplist", "listpack"}}}
}

// filedPairs returns the encodings that files change. In its own, redis remembers that a hash once
// had room for deadlines of fields, and which sets are listpacks. Godwit writes no more than 7.0
// reads. Either may have read the other's.
func filedPairs() map[string][][2]string {
	return map[string][][2]string{
		"hash": {{"listpackex", "listpack"}, {"listpack", "listpackex"}},
		"set":  {{"listpack", "intset"}, {"intset", "listpack"}},
	}
}

// join adds the pairs of another table.
func join(all, more map[string][][2]string) {
	for typ, pairs := range more {
		all[typ] = append(all[typ], pairs...)
	}
}

// valkeyPairs returns the encodings that Valkey chooses in its own way: the bound of embstr depends
// on the key's length, numbers that scripts set with a deadline or under a long key stay text, a
// hash that has had deadlines of fields is a hash table, and ZADD XX converts for members that it
// does not add.
func valkeyPairs() map[string][][2]string {
	return map[string][][2]string{
		"string": {{"embstr", "raw"}, {"raw", "embstr"}, {"embstr", "int"}, {"raw", "int"}},
		"hash": {{"hashtable", "listpackex"}, {"listpack", "listpackex"},
			{"hashtable", "listpack"}},
		"zset": {{"skiplist", "listpack"}},
	}
}

// tolerance says which names of encodings may differ.
type tolerance struct {
	old    bool // the reference is older than 7.2
	valkey bool // the reference is Valkey
	sorted bool // the stream has a SORT
	filed  bool // the stream takes the data through files
}

// encodingsAgree reports whether two names of encodings may stand for the same value of the type,
// "" for any type.
func encodingsAgree(typ string, tol tolerance, a, b Reply) bool {
	if same(a, b) {
		return true
	}
	all := map[string][][2]string{}
	if tol.old {
		join(all, encodingPairs())
	}
	if tol.valkey {
		join(all, valkeyPairs())
	}
	if tol.sorted {
		join(all, sortedPairs())
	}
	if tol.filed {
		join(all, filedPairs())
	}
	for t, pairs := range all {
		if (typ == "" || typ == t) && a.Kind == b.Kind &&
			slices.Contains(pairs, [2]string{a.Str, b.Str}) {
			return true
		}
	}
	return false
}
