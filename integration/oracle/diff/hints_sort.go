package diff

import (
	"slices"
	"strings"
)

// The keys of SORT: lists, sets and sorted sets of numbers, and strings and hashes that hold the
// weights.
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

// clearErrno returns a command to be sent before any SORT. An earlier command may leave an errno
// behind, which redis's SORT takes for a number out of range. Reading a cursor clears it.
func clearErrno() Cmd { return cmdOf("SCAN", "0", "COUNT", "1000") }

// guardSort removes what would show the hash order. Under BY with ALPHA, equal elements come in
// that order. So do all elements of a set that is not sorted (BY without a star), unless STORE has
// it sorted all the same.
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

// sortOptions returns what decides the order of a SORT.
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
