package diff

import (
	"bytes"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// The hints of lists, hashes, sets, sorted sets and SORT. Values are few, so that commands meet the same elements again; among them are
// the ones at which encodings change: integers of every width, long strings, bytes that are no text.

// wholeSample is a count from which on the commands that choose elements at random return all of them: every collection of a stream is
// smaller.
const wholeSample = 1000

func collectionHints() map[string]hint {
	element := mostly(0.3, oneOf("a", "b", "c", "d", "e", "1", "2", "3", "10", "-1"),
		oneOf("", "f", "ab", "x\x00y", "3.0", "007", " 1", "127", "128", "-129", "4095", "-4097",
			"32768", "8388608", "2147483648", "-2147483649", "9223372036854775807",
			"-9223372036854775808", "9223372036854775808", strings.Repeat("m", 64),
			strings.Repeat("m", 65), strings.Repeat("q", 300)))
	index := mostly(0.1, oneOf("0", "1", "2", "3", "-1", "-2", "-3", "7"),
		oneOf("100", "-100", "9223372036854775807", "-9223372036854775808"))
	number := mostly(0.1, oneOf("0", "1", "2", "3", "-1", "-2"),
		oneOf("100", "-100", "9223372036854775807", "-9223372036854775807", "-9223372036854775808"))
	score := scoreHint()
	limits := mostly(0.05, oneOf("0", "1", "2", "3", "-1"),
		oneOf("-5", "9223372036854775807", "-9223372036854775808", "10"))
	sample := mostly(0.4, oneOf("0", "1", "2", "3", "-1", "-2", "-5", "10"),
		oneOf("1000", "5000", "-100"))
	t := map[string]hint{
		"*.member": element, "*.field": element, "*.element": element, "*.pivot": element,
		"*.index": index, "lpos.rank": number,
		"lpos.num-matches": mostly(0.1, oneOf("0", "1", "2", "3"), number),
		"lpos.len":         mostly(0.1, oneOf("0", "1", "2", "5"), number),
		"*.limit":          mostly(0.1, oneOf("0", "1", "2", "3"), number), "*.offset": limits,
		"zadd.score": score, "zincrby.increment": score,
		"*.weight":          mostly(0.3, oneOf("1", "2", "0", "-1", "0.5"), score),
		"srandmember.count": sample, "hrandfield.count": sample, "zrandmember.count": sample,
		"spop.count": sample,
		"hincrby.increment": mostly(0.1, oneOf("1", "-1", "10", "0", "-5"),
			oneOf("9223372036854775807", "-9223372036854775808", "1.5", "x")),
	}
	for _, c := range []string{"zrange", "zrangebyscore", "zrevrangebyscore", "zrangebylex",
		"zrevrangebylex", "zrangestore"} {
		t[c+".count"] = limits
	}
	// they take sets too
	for _, c := range []string{"zunion", "zinter", "zdiff", "zunionstore", "zinterstore",
		"zdiffstore", "zintercard"} {
		t[c+".key"] = func(g *Generator) []string {
			if g.chance(0.2) {
				return []string{g.pick("se0", "se1", "se2")}
			}
			return []string{g.key()}
		}
	}
	return t
}

// scoreHint produces everything that a score may be spelled as, and much that it may not.
func scoreHint() hint {
	return mostly(0.15, oneOf("0", "1", "1", "2", "3", "-1", "1.5", "-1.5", "10"),
		oneOf("-0", "0.1", "0.30000000000000004", "3.0000000000000004", "inf", "-inf", "+inf",
			"Infinity", "nan", "0x10", "0x1p-3", "1e400", "5e-324", "1e-400", "9007199254740993",
			"1e308", "1.7976931348623157e308", "123456789.123456789", "1e15", "1e16", "1e17",
			"1e21", "1e22", "-1e-7", "100000000000000000000", ".5", "5.", "1e", "+1", " 1",
			"1 ", "1_0", "", "infx"))
}

// scoreBounds and lexBounds are the ends of ranges.
func scoreBounds() hint {
	return mostly(0.08,
		oneOf("0", "1", "(1", "2", "(2", "3", "-inf", "+inf", "inf", "-1", "(-1", "1.5", "(1.5",
			"10", "-0", "(-inf", "(inf", "0x1"),
		oneOf("nan", "x", "(", "", "(nan", "( 1", "1 ", "[1", "((1"))
}

func lexBounds() hint {
	return mostly(0.06,
		oneOf("-", "+", "[a", "(a", "(b", "[c", "[ab", "(f", "[", "(", "[\xff", "(\x00"),
		oneOf("a", "", "-x", "+x", "-inf"))
}

// boundCommands are the argument positions of the two bounds of commands that take scores or lexical bounds.
func boundHints() map[string]hint {
	t := map[string]hint{}
	for _, c := range []string{"zrangebyscore", "zrevrangebyscore", "zcount", "zremrangebyscore"} {
		t[c+".min"], t[c+".max"] = scoreBounds(), scoreBounds()
	}
	for _, c := range []string{"zrangebylex", "zrevrangebylex", "zlexcount", "zremrangebylex"} {
		t[c+".min"], t[c+".max"] = lexBounds(), lexBounds()
	}
	return t
}

// guardRange gives ZRANGE and ZRANGESTORE, whose bounds mean one of three things, bounds of the kind that the options ask for.
func guardRange(g *Generator, args [][]byte) [][]byte {
	first := 2
	if strings.EqualFold(string(args[0]), "zrangestore") {
		first = 3
	}
	if len(args) < first+2 || g.chance(0.1) {
		return guardLex(g, args)
	}
	bound := oneOf("0", "1", "-1", "-2", "2", "5", "-100")
	for _, a := range args[first+2:] {
		switch strings.ToUpper(string(a)) {
		case "BYLEX":
			bound = lexBounds()
		case "BYSCORE":
			bound = scoreBounds()
		}
	}
	args[first], args[first+1] = []byte(bound(g)[0]), []byte(bound(g)[0])
	return guardLex(g, args)
}

// guardWeights makes the number of weights that of the keys, most of the time.
func guardWeights(g *Generator, args [][]byte) [][]byte {
	w := slices.IndexFunc(args, func(a []byte) bool {
		return strings.EqualFold(string(a), "WEIGHTS")
	})
	n := 1
	if strings.HasSuffix(strings.ToLower(string(args[0])), "store") {
		n = 2
	}
	if w < 0 || n >= w || g.chance(0.1) {
		return args
	}
	keys, err := strconv.Atoi(string(args[n]))
	if err != nil || keys < 0 || keys > 10 {
		return args
	}
	end := w + 1
	for end < len(args) &&
		!slices.Contains([]string{"AGGREGATE", "WITHSCORES"}, strings.ToUpper(string(args[end]))) {
		end++
	}
	weights := make([][]byte, 0, keys)
	for range keys {
		weights = append(weights, []byte(g.value(&Arg{Name: "weight", Type: "integer"})[0]))
	}
	return slices.Concat(args[:w+1], weights, args[end:])
}

// guardPop leaves of SPOP what can be compared: either it pops everything, or the key, which holds different members on the two servers then,
// is deleted next.
func guardPop(g *Generator, args [][]byte) [][]byte {
	if !poppedAtRandom(Cmd{Args: args}) {
		return args
	}
	if g.chance(0.5) {
		return [][]byte{args[0], args[1], []byte(strconv.Itoa(wholeSample))}
	}
	g.after = append(g.after, Cmd{Args: [][]byte{[]byte("DEL"), args[1]}})
	return args
}

// poppedAtRandom reports whether the command is a SPOP that leaves a choice.
func poppedAtRandom(c Cmd) bool {
	if c.Name() != "spop" || len(c.Args) != 2 && len(c.Args) != 3 {
		return false
	}
	if len(c.Args) == 2 {
		return true
	}
	n, err := strconv.ParseInt(string(c.Args[2]), 10, 64)
	return err == nil && n > 0 && n < wholeSample
}

// comparable reports whether every random SPOP of the stream is followed by the DEL that makes the servers equal again. Streams that were cut
// or shrunk need not be.
func comparable(stream []Cmd) bool {
	for i, c := range stream {
		if !poppedAtRandom(c) {
			continue
		}
		if i+1 == len(stream) {
			return false
		}
		if d := stream[i+1]; d.Client != c.Client || d.Name() != "del" || len(d.Args) != 2 ||
			string(d.Args[1]) != string(c.Args[1]) {
			return false
		}
	}
	return true
}

// The keys of SORT: lists, sets and sorted sets of numbers, strings and hashes to weigh them by.
const (
	numberList, numberSet, numberZSet = "nl0", "ns0", "nz0"
	weightKey, weightHash             = "w_", "wh_"
)

func sortHints() map[string]hint {
	key := func(g *Generator) []string {
		if g.chance(0.6) {
			return []string{g.pick(numberList, numberList, numberSet, numberZSet, lexKey)}
		}
		return []string{g.pick("li0", "li1", "se0", "so0", g.key())}
	}
	by := oneOf("w_*", "w_*", "wh_*->f", "wh_*->f", "wh_*->n", "nosort", "*", "w_*->f", "wh_*",
		"wh_*->", "->f", "", "k3", "nosuch_*", "w_*_*")
	get := oneOf("#", "#", "w_*", "wh_*->f", "wh_*->n", "*", "wh_*->", "->f", "nostar", "",
		"w_*->f", "wh_*", "wh_*->f->g")
	t := map[string]hint{}
	for _, c := range []string{"sort", "sort_ro"} {
		t[c+".key"], t[c+".by-pattern"], t[c+".get-pattern"] = key, by, get
		t[c+".pattern"] = mostly(0.5, by, get) // by its token, see guardSort
		t[c+".count"] = oneOf("0", "1", "2", "3", "10", "-1", "-5")
		t[c+".offset"] = oneOf("0", "0", "1", "2", "-1", "10")
	}
	t["sort.destination"] = func(g *Generator) []string {
		return []string{g.pick("li0", "li1", "li2", numberList, g.key())}
	}
	return t
}

// guardNumbers turns some writes of elements into writes of numbers to the keys that SORT reads.
func guardNumbers(key string, first, step int) guard {
	return func(g *Generator, args [][]byte) [][]byte {
		if len(args) > first && g.chance(0.12) {
			args[1] = []byte(key)
			for i := first; i < len(args); i += step {
				args[i] = []byte(
					g.pick("1", "2", "3", "4", "5", "10", "-1", "1", "2", "3", "4", "5", "1.0",
						"2.5", "02", "+3", "1e1", "0x5", "inf"))
			}
		}
		return args
	}
}

// guardWeightKeys turns some writes of strings and hashes into writes of weights.
func guardWeightKeys(prefix string) guard {
	return func(g *Generator, args [][]byte) [][]byte {
		if len(args) < 3 || !g.chance(0.06) {
			return args
		}
		args[1] = []byte(prefix + g.pick("1", "2", "3", "4", "5", "a"))
		w := []byte(g.pick("1", "2", "3", "3", "0.5", "-7", "10", "x", "1e1"))
		if prefix == weightKey {
			args[2] = w
		} else if len(args) > 3 {
			args[2], args[3] = []byte(g.pick("f", "f", "n")), w
		}
		return args
	}
}

// hasSort reports whether a round may sort. Half of the rounds may not, see sortedPairs.
func hasSort(r int) bool { return r%2 == 1 }

func isSort(name string) bool { return name == "sort" || name == "sort_ro" }

// clearErrno is a command before which nothing counts: redis's SORT takes an errno that an earlier command left behind for a number of its own that
// is out of range, and reading a cursor clears it.
func clearErrno() Cmd { return cmdOf("SCAN", "0", "COUNT", "1000") }

// guardFields and guardMembers give a command no field or member twice: later servers choose the encoding by the number of arguments.
func guardFields(next guard) guard { return distinctArgs(next, 2) }

func guardMembers(next guard) guard { return distinctArgs(next, 1) }

func distinctArgs(next guard, step int) guard {
	return func(g *Generator, args [][]byte) [][]byte {
		args = next(g, args)
		for i := 2 + step; i+step <= len(args); {
			if slices.ContainsFunc(args[2:i], func(a []byte) bool {
				return string(a) == string(args[i])
			}) {
				args = slices.Delete(args, i, i+step)
				continue
			}
			i += step
		}
		return args
	}
}

// cmpNewer takes more arguments than redis does, as later servers do.
func cmpNewer(_ [][]byte, a, b Reply) bool {
	return same(a, b) || a.IsErr() && strings.HasPrefix(a.Str, "ERR wrong number of arguments")
}

// cmpGetkeys compares COMMAND GETKEYS about commands of which one server knows less.
func cmpGetkeys(args [][]byte, a, b Reply) bool {
	loose := slices.ContainsFunc(args, func(b []byte) bool { // numbers that C reads
		return len(b) > 1 &&
			(strings.IndexByte("+ 0", b[0]) >= 0 || b[len(b)-1] == ' ' || b[len(b)-1] == 0 ||
				bytes.IndexByte(b, '.') > 0 ||
				b[0] >= '0' && b[0] <= '9' && bytes.ContainsAny(b, "eExX"))
	})
	if len(args) > 2 && strings.HasPrefix(strings.ToLower(string(args[2])), "georadius") &&
		len(b.Elems) > len(a.Elems) {
		// redis shows the first of several STORE options, although it writes to the last
		b.Elems = b.Elems[:len(a.Elems)]
	}
	return cmpErrClass(args, a, b) ||
		a.IsErr() && strings.HasPrefix(a.Str, "ERR Invalid number of arguments") ||
		(b.IsErr() || len(b.Elems) == 0) && loose
}

// cmpTimeout takes the two reasons to refuse a timeout for one.
func cmpTimeout(_ [][]byte, a, b Reply) bool {
	const refused = "ERR timeout is "
	return same(a, b) || a.IsErr() && b.IsErr() && strings.HasPrefix(a.Str, refused) &&
		strings.HasPrefix(b.Str, refused)
}

// guardSort leaves out what would show the hash order: equal elements come in that order under BY with ALPHA, and all do in a set that is not
// sorted (BY without a star) unless STORE has it sorted all the same.
func guardSort(_ *Generator, args [][]byte) [][]byte {
	drop := func(option string, values int) {
		for i := len(args) - 1; i >= 2; i-- {
			if strings.EqualFold(string(args[i]), option) {
				args = slices.Delete(args, i, min(i+1+values, len(args)))
			}
		}
	}
	by, alpha, store := sortOptions(args)
	switch {
	case by == nil:
	case !strings.Contains(*by, "*"):
		if !store && string(args[1]) != lexKey {
			drop("LIMIT", 2)
		}
	case alpha:
		drop("LIMIT", 2)
		drop("STORE", 1)
	}
	return args
}

// sortOptions reads what decides the order of a SORT.
func sortOptions(args [][]byte) (by *string, alpha, store bool) {
	for i := 2; i < len(args); i++ {
		switch strings.ToUpper(string(args[i])) {
		case "BY":
			if i+1 < len(args) {
				s := string(args[i+1])
				by = &s
			}
		case "ALPHA":
			alpha = true
		case "STORE":
			store = true
		}
	}
	return by, alpha, store
}

// cmpSort compares in order where the order is defined, see guardSort.
func cmpSort(args [][]byte, a, b Reply) bool {
	by, alpha, store := sortOptions(args)
	if !store && strings.Contains(a.Str, "can't be converted into double") && !b.IsErr() {
		// a stale errno: clearErrno comes too early when another connection's command follows it
		return true
	}
	if alpha && !store && (hasNUL(a) || hasNUL(b)) { // strings that strcoll takes for equal
		return a.Kind == b.Kind && len(a.Elems) == len(b.Elems)
	}
	gets := slices.ContainsFunc(args, func(a []byte) bool {
		return strings.EqualFold(string(a), "GET")
	})
	// With GET it is not to be seen whether there were any; BY sorts by what is not to be seen either.
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

// cmpSample compares random choices: all elements where all were asked for, otherwise how many there are and that none comes twice
// where none may.
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

// distinct counts the different elements of a reply.
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

// encodingPairs are encodings of the same value in 7.0, the first, and in later servers.
func encodingPairs() map[string][][2]string {
	return map[string][][2]string{
		"list": {{"quicklist", "listpack"}},
		// A new set's encoding follows from its first member or from how many are expected.
		"set": {{"hashtable", "listpack"}, {"intset", "listpack"}},
	}
}

// sortedPairs are what redis's SORT leaves behind: it turns a sorted set that it reads into a skiplist for good, Godwit does not.
func sortedPairs() map[string][][2]string {
	return map[string][][2]string{"zset": {{"skiplist", "listpack"}}}
}

// encodingsAgree compares two names of encodings of a value of the type, "" for any; sorted says that the stream has a SORT.
func encodingsAgree(typ string, sorted bool, a, b Reply) bool {
	if same(a, b) {
		return true
	}
	all := encodingPairs()
	if sorted {
		maps.Copy(all, sortedPairs())
	}
	for t, pairs := range all {
		if (typ == "" || typ == t) && a.Kind == b.Kind &&
			slices.Contains(pairs, [2]string{a.Str, b.Str}) {
			return true
		}
	}
	return false
}
