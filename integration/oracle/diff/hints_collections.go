package diff

import (
	"slices"
	"strconv"
	"strings"
)

// The hints of lists, hashes, sets and sorted sets. Values are few, so that commands meet the same
// elements again. Among them are the ones at which encodings change: integers of every width, long
// strings, bytes that are no text.

// wholeSample is a count from which on commands that choose elements at random return all of them:
// every collection of a stream is smaller.
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
	// these take sets too
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

// scoreHint returns every spelling that a score may have, and many that it may not.
func scoreHint() hint {
	return mostly(0.15, oneOf("0", "1", "1", "2", "3", "-1", "1.5", "-1.5", "10"),
		oneOf("-0", "0.1", "0.30000000000000004", "3.0000000000000004", "inf", "-inf", "+inf",
			"Infinity", "nan", "0x10", "0x1p-3", "1e400", "5e-324", "1e-400", "9007199254740993",
			"1e308", "1.7976931348623157e308", "123456789.123456789", "1e15", "1e16", "1e17",
			"1e21", "1e22", "-1e-7", "100000000000000000000", ".5", "5.", "1e", "+1", " 1",
			"1 ", "1_0", "", "infx"))
}

// scoreBounds and lexBounds return the ends of ranges.
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

// boundHints returns the hints of both bounds for commands that take scores or lexical bounds.
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

// guardRange gives ZRANGE and ZRANGESTORE bounds of the kind that the options ask for: ranks,
// scores or members.
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

// guardWeights makes the number of weights equal to that of the keys, most of the time.
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

// guardPop makes SPOP comparable. Either it pops everything, or its key is deleted next, because
// the key then holds different members on the two servers.
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

// poppedAtRandom reports whether the command is a SPOP that chooses among members.
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

// comparable reports whether every random SPOP of the stream is followed by the DEL that makes the
// servers equal again, and every XADD whose ID the server chooses comes after the one that makes it
// comparable. Streams that were cut or shrunk may lack them.
func comparable(stream []Cmd) bool {
	for i, c := range stream {
		if choosesID(c) && !(i > 0 && stream[i-1].Client == c.Client && ahead(stream[i-1])) {
			return false
		}
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

// guardFields and guardMembers remove repeated fields and members: later servers choose the
// encoding by the number of arguments.
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
