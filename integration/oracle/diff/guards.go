package diff

import (
	"bytes"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Guards repair argument vectors whose replies could not be compared, or would cost too much.

// guard repairs a finished argument vector.
type guard func(*Generator, [][]byte) [][]byte

func guardTable() map[string]guard {
	t := map[string]guard{
		"client|kill": guardKill,
		"hello":       guardHello,
		// one filter: 7.0 refuses two together, later servers accept them
		"client|list": func(_ *Generator, args [][]byte) [][]byte {
			if len(args) > 3 && strings.EqualFold(string(args[2]), "TYPE") {
				return args[:4]
			}
			rest := slices.DeleteFunc(args[min(3, len(args)):], func(a []byte) bool {
				return strings.EqualFold(string(a), "TYPE") || strings.EqualFold(string(a), "ID")
			})
			return args[:min(3, len(args))+len(rest)]
		},
		// without names it lists everything
		"command|info": func(_ *Generator, args [][]byte) [][]byte {
			if len(args) == 2 {
				return append(args, []byte("get"))
			}
			return args
		},
		"spop": guardPop,
		"wait": guardWait,
	}
	for _, c := range []string{"zrangebylex", "zrevrangebylex", "zremrangebylex", "zlexcount"} {
		t[c] = guardLex
	}
	t["zrange"], t["zrangestore"] = guardRange, guardRange
	for _, c := range []string{"zunion", "zinter", "zunionstore", "zinterstore"} {
		t[c] = guardWeights
	}
	for _, c := range []string{"rpush", "lpush"} {
		t[c] = guardNumbers(numberList, 2, 1)
	}
	t["sadd"] = guardMembers(guardNumbers(numberSet, 2, 1))
	t["zadd"] = func(g *Generator, args [][]byte) [][]byte {
		return guardLex(g, guardNumbers(numberZSet, 3, 2)(g, args))
	}
	t["set"], t["hset"] = guardWeightKeys(weightKey), guardFields(guardWeightKeys(weightHash))
	t["hmset"] = guardFields(func(_ *Generator, args [][]byte) [][]byte { return args })
	t["sort"], t["sort_ro"] = guardSort, guardSort
	for c, key := range geoSearches() {
		t[c] = guardPlaces(key)
	}
	t["debug"] = func(_ *Generator, args [][]byte) [][]byte {
		if len(args) > 2 && strings.EqualFold(string(args[1]), "sleep") {
			args[2] = []byte("0")
		}
		return args
	}
	for _, c := range []string{"setbit", "getbit", "setrange", "bitfield", "bitfield_ro"} {
		t[c] = guardOffsets
	}
	t["bitfield"] = guardField
	t["lset"], t["restore"] = guardIndex, guardTTL
	maps.Copy(t, entryGuards())
	return t
}

// guardWait keeps the timeout of WAIT at a millisecond.
func guardWait(_ *Generator, args [][]byte) [][]byte {
	if len(args) > 2 {
		if n, err := strconv.ParseInt(string(args[2]), 10, 64); err == nil && n >= 0 {
			args[2] = []byte("1")
		}
	}
	return args
}

// guardIndex keeps the index of LSET within 32 bits for 7.0: later servers cut off the rest.
func guardIndex(g *Generator, args [][]byte) [][]byte {
	if len(args) > 2 && g.cfg.Reference == Redis7 {
		n, err := strconv.ParseInt(string(args[2]), 10, 64)
		if err == nil && int64(int32(n)) != n {
			args[2] = []byte(strconv.FormatInt(max(min(n, math.MaxInt32), math.MinInt32), 10))
		}
	}
	return args
}

// guardOffsets keeps strings small. Between the largest useful offset and the smallest refused one
// lies half a gigabyte.
func guardOffsets(g *Generator, args [][]byte) [][]byte {
	for i := 2; i < len(args); i++ {
		s, hash := strings.CutPrefix(string(args[i]), "#")
		n, err := strconv.ParseInt(s, 10, 64)
		most := int64(20_000)
		if hash {
			most = 200
		}
		if err == nil && n > most && n < 1<<32 {
			s = strconv.FormatInt(n%most, 10)
			if hash {
				s = "#" + s
			}
			args[i] = []byte(s)
		}
	}
	return args
}

// guardField does what guardOffsets does. It also keeps SET of a signed field narrower than 64 bits
// away from values near the smallest integer: there redis computes a difference that overflows,
// which is undefined in C.
func guardField(g *Generator, args [][]byte) [][]byte {
	for i := 3; i < len(args); i++ {
		n, err := strconv.ParseInt(string(args[i]), 10, 64)
		if err == nil && n < -1<<62 && !strings.EqualFold(string(args[i-2]), "i64") {
			args[i] = []byte("-1099511627776")
		}
	}
	args = guardOffsets(g, args)
	for i := 2; i < len(args); i++ {
		if strings.EqualFold(string(args[i]), "FAIL") {
			// One field is written, behind all others: where none is, redis makes the key all the
			// same.
			return slices.Insert(args, 2, []byte("SET"), []byte("u1"), []byte("20000"), []byte("0"))
		}
	}
	return args
}

// guardHello leaves one mistake in a HELLO. 7.0 acts on each option as it reads it, 7.2 reads all
// of them first. So they answer differently if a mistake comes later.
func guardHello(_ *Generator, args [][]byte) [][]byte {
	if len(args) < 3 {
		return args
	}
	switch strings.ToUpper(string(args[2])) {
	case "SETNAME":
		return args[:min(len(args), 4)]
	case "AUTH":
		whole := len(args) == 7 && string(args[3]) == "default" &&
			strings.EqualFold(string(args[5]), "SETNAME")
		if !whole || bytes.ContainsAny(args[6], " \n\x00") {
			return args[:min(len(args), 5)]
		}
	}
	return args
}

// lexKey is touched only by commands of sorted sets. All its members have the score 0.
const lexKey = "lx0"

// guardLex sends lexical ranges to a key of their own, whose members all have the score 0. Over
// mixed scores their result is undefined and depends on the levels that the skip list drew.
func guardLex(g *Generator, args [][]byte) [][]byte {
	name := strings.ToLower(string(args[0]))
	byLex := slices.ContainsFunc(args, func(a []byte) bool {
		return strings.EqualFold(string(a), "BYLEX")
	})
	switch {
	case name == "zadd" && g.chance(0.1):
		args = append(args[:1:1], []byte(lexKey))
		for range 1 + g.rnd.IntN(3) {
			args = append(args, []byte("0"),
				[]byte(g.pick("a", "b", "c", "d", "e", "", "ab", "\x00", "\xff")))
		}
	case name == "zrangestore" && byLex && len(args) > 2:
		args[2] = []byte(lexKey)
	case strings.HasSuffix(name, "bylex") || name == "zlexcount" || name == "zrange" && byLex:
		if len(args) > 1 {
			args[1] = []byte(lexKey)
		}
	}
	return args
}

// guardKill removes filters that match the tester's own connections.
func guardKill(_ *Generator, args [][]byte) [][]byte {
	if len(args) <= 3 {
		return args
	}
	for i := range args {
		if strings.EqualFold(string(args[i]), "normal") || string(args[i]) == "default" {
			args[i] = []byte("pubsub")
		}
	}
	return append(args, []byte("ID"), []byte("999999999"))
}

// guardDeadlines moves near relative deadlines far into the future. It leaves those that are not
// positive.
func guardDeadlines(g *Generator, gr *Grammar, args [][]byte) {
	for i := 2; i < len(args); i++ {
		n, err := strconv.ParseInt(string(args[i]), 10, 64)
		if err != nil || n <= 0 || n >= 90_000 {
			continue
		}
		if i == 2 && positionalTTL(gr) || strings.EqualFold(string(args[i-1]), "EX") ||
			strings.EqualFold(string(args[i-1]), "PX") {
			args[i] = []byte(strconv.FormatInt(100_000_000+g.rnd.Int64N(100_000_000), 10))
		}
	}
}

// positionalTTL reports whether the command's second argument is a relative time.
func positionalTTL(gr *Grammar) bool {
	for _, tree := range gr.Trees {
		if len(tree) < 2 || tree[1].HasToken {
			continue
		}
		switch tree[1].Name {
		case "seconds", "milliseconds", "ttl":
			return true
		}
	}
	return false
}

// guardBlocking turns timeouts into a millisecond. Streams are sent one connection at a time, so
// nothing would ever end a longer wait.
func guardBlocking(args [][]byte) {
	for i := 1; i < len(args); i++ {
		f, err := strconv.ParseFloat(string(args[i]), 64)
		if s := strings.ToLower(string(args[i])); strings.HasPrefix(s, "0x") ||
			strings.HasPrefix(s, "+0x") {
			f, err = 1, nil // C reads it as a number, whether or not there is an exponent
		}
		if err != nil || f < 0 || math.IsInf(f, 0) || math.IsNaN(f) || f > 1e15 {
			continue
		}
		if strings.EqualFold(string(args[i-1]), "BLOCK") {
			args[i] = []byte("1")
		} else if i == 1 || i == len(args)-1 {
			args[i] = []byte("0.001")
		}
	}
}
