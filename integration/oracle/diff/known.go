package diff

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

// comparator reports whether two replies to the same command count as equal. Replies with the same
// bytes are equal before any comparator is asked.
type comparator func(args [][]byte, a, b Reply) bool

// Skip is the comparator name of commands that are never sent.
const Skip = "skip"

// Comparators that belong to the runner: of descriptions of users, of replies that name clients, of
// the commands in a category. Those of encodings decide about the state too.
const (
	cmpRules    = "rules"
	cmpClients  = "clients"
	cmpCategory = "category"
	cmpEncoding = "encoding"
	cmpValkey   = "valkey"
	cmpKept     = "kept"
)

// comparators returns the comparators by the names that the known-differences file uses.
func comparators() map[string]comparator {
	return map[string]comparator{
		"exact": func(_ [][]byte, a, b Reply) bool { return same(a, b) },
		"set": func(_ [][]byte, a, b Reply) bool {
			return errsAgree(a, b) && canonical(a) == canonical(b)
		},
		"pairs":    cmpPairs,
		"subset":   cmpSubset,
		"rounded":  func(_ [][]byte, a, b Reply) bool { return rounded(a, b) },
		"ttl-s":    func(_ [][]byte, a, b Reply) bool { return nearAll(a, b, 5) },
		"ttl-ms":   func(_ [][]byte, a, b Reply) bool { return nearAll(a, b, 5000) },
		"times":    func(_ [][]byte, a, b Reply) bool { return nearAll(a, b, 5000) },
		"errclass": cmpErrClass,
		"kind":     cmpKind,
		"fields":   cmpFields,
		"scan":     cmpScan,
		"sample":   cmpSample,
		"sort":     cmpSort,
		"places":   func(_ [][]byte, a, b Reply) bool { return placesAgree(a, b) },
		"newer":    cmpNewer,
		"getkeys":  cmpGetkeys,
		"timeout":  cmpTimeout,
		"acllog":   cmpACLLog,
		// the runner knows more about these
		cmpRules:    func(_ [][]byte, a, b Reply) bool { return same(a, b) },
		cmpClients:  func(_ [][]byte, a, b Reply) bool { return same(a, b) },
		cmpCategory: func(_ [][]byte, a, b Reply) bool { return same(a, b) },
		"hello":     cmpHello,
		"clash":     cmpClash,
		cmpEncoding: func(_ [][]byte, a, b Reply) bool {
			return encodingsAgree("", tolerance{old: true, sorted: true, filed: true}, a, b)
		},
		cmpValkey: func(_ [][]byte, a, b Reply) bool {
			return encodingsAgree("", tolerance{valkey: true, sorted: true, filed: true}, a, b)
		},
		cmpKept: func(_ [][]byte, a, b Reply) bool {
			return encodingsAgree("", tolerance{sorted: true, filed: true}, a, b)
		},
		"specs": func(args [][]byte, a, b Reply) bool {
			if len(args) == 2 {
				return a.Kind == b.Kind // every command that the server has
			}
			return errsAgree(a, b) && canonical(withoutNotes(a)) == canonical(withoutNotes(b))
		},
		"ignore": func([][]byte, Reply, Reply) bool { return true },
		Skip:     func([][]byte, Reply, Reply) bool { return true },
	}
}

func same(a, b Reply) bool {
	return a.Kind == b.Kind && a.Str == b.Str && slices.EqualFunc(a.Elems, b.Elems, same)
}

// errsAgree reports whether both replies are the same error or neither is one. Comparators that
// loosen values stay exact about errors with it.
func errsAgree(a, b Reply) bool {
	if a.IsErr() || b.IsErr() {
		return same(a, b)
	}
	return true
}

// canonical returns a reply as text, with the elements of every aggregate sorted.
func canonical(r Reply) string {
	if r.Elems == nil {
		return string(r.Kind) + strconv.Quote(r.Str)
	}
	if r.Kind == '%' { // a map's fields stay with their values
		var pairs []string
		for i := 0; i+1 < len(r.Elems); i += 2 {
			pairs = append(pairs, canonical(r.Elems[i])+":"+canonical(r.Elems[i+1]))
		}
		slices.Sort(pairs)
		return "%[" + strings.Join(pairs, ",") + "]"
	}
	parts := make([]string, len(r.Elems))
	for i, e := range r.Elems {
		parts[i] = canonical(e)
	}
	slices.Sort(parts)
	return string(r.Kind) + "[" + strings.Join(parts, ",") + "]"
}

// withoutNotes returns a COMMAND INFO reply without the key specs' notes, which are prose.
func withoutNotes(r Reply) Reply {
	if r.Elems == nil {
		return r
	}
	elems := make([]Reply, 0, len(r.Elems))
	for i := 0; i < len(r.Elems); i++ {
		if r.Elems[i].Str == "notes" {
			i++
			continue
		}
		elems = append(elems, withoutNotes(r.Elems[i]))
	}
	r.Elems = elems
	return r
}

// asMap returns the RESP2 form of a map, a flat array, as a map.
func asMap(r Reply) Reply {
	if r.Kind == '*' && len(r.Elems)%2 == 0 {
		r.Kind = '%'
	}
	return r
}

// cmpPairs compares maps of either form without regard to order.
func cmpPairs(_ [][]byte, a, b Reply) bool {
	return errsAgree(a, b) && a.Kind == b.Kind && canonical(asMap(a)) == canonical(asMap(b))
}

// cmpSubset accepts a tested server that lists more than the reference: all elements of the first
// reply must be in the second.
func cmpSubset(_ [][]byte, a, b Reply) bool {
	if !errsAgree(a, b) || a.Kind != b.Kind {
		return false
	}
	have := map[string]int{}
	for _, e := range b.Elems {
		have[canonical(e)]++
	}
	for _, e := range a.Elems {
		if have[canonical(e)]--; have[canonical(e)] < 0 {
			return false
		}
	}
	return true
}

// rounded compares numbers to 12 digits: the last bits depend on the C library.
func rounded(a, b Reply) bool {
	if same(a, b) {
		return true
	}
	if a.Kind != b.Kind {
		return false
	}
	if a.Elems != nil {
		return slices.EqualFunc(a.Elems, b.Elems, rounded)
	}
	x, okx := a.Float()
	y, oky := b.Float()
	return okx && oky && a.Kind != ':' && math.Abs(x-y) <= 1e-12*max(math.Abs(x), math.Abs(y))
}

// near compares integers that count down with time. Negative ones are codes.
func near(a, b Reply, tolerance int64) bool {
	x, okx := a.Int()
	y, oky := b.Int()
	if !okx || !oky || x < 0 || y < 0 {
		return same(a, b)
	}
	return x-y <= tolerance && y-x <= tolerance
}

// nearAll applies near to every integer inside a reply.
func nearAll(a, b Reply, tolerance int64) bool {
	if a.Elems == nil {
		return near(a, b, tolerance)
	}
	return a.Kind == b.Kind && slices.EqualFunc(a.Elems, b.Elems, func(a, b Reply) bool {
		return nearAll(a, b, tolerance)
	})
}

func cmpErrClass(_ [][]byte, a, b Reply) bool {
	if a.IsErr() && b.IsErr() {
		x, _, _ := strings.Cut(a.Str, " ")
		y, _, _ := strings.Cut(b.Str, " ")
		return x == y
	}
	return same(a, b)
}

// cmpKind compares only the type. Errors stay exact.
func cmpKind(_ [][]byte, a, b Reply) bool { return errsAgree(a, b) && a.Kind == b.Kind }

// cmpFields compares replies that name their parts (HELLO): the same field names in the same order
// with values of the same kind.
func cmpFields(_ [][]byte, a, b Reply) bool {
	if !errsAgree(a, b) || a.Kind != b.Kind || len(a.Elems) != len(b.Elems) {
		return false
	}
	for i := range a.Elems {
		if i%2 == 0 && !same(a.Elems[i], b.Elems[i]) || a.Elems[i].Kind != b.Elems[i].Kind {
			return false
		}
	}
	return true
}

// cmpHello does what cmpFields does. Since 7.2, redis uses other words for what HELLO wants of a
// client that is not authenticated.
func cmpHello(args [][]byte, a, b Reply) bool {
	const refused = "NOAUTH HELLO must be called"
	if strings.HasPrefix(a.Str, refused) && strings.HasPrefix(b.Str, refused) {
		return a.Kind == b.Kind
	}
	return cmpFields(args, a, b)
}

// cmpClash compares replies about names that are already taken. Which of several is reported
// depends on the order of a hash table.
func cmpClash(_ [][]byte, a, b Reply) bool {
	taken := func(r Reply) (kind string, ok bool) {
		f := strings.Fields(r.Str)
		if r.Kind != '-' || len(f) != 5 || f[3] != "already" || f[4] != "exists" {
			return "", false
		}
		return f[1], true
	}
	x, okx := taken(a)
	y, oky := taken(b)
	return okx && oky && x == y || same(a, b)
}

// cmpScan compares one page of a SCAN family command. A page that starts and ends at cursor 0 on
// both sides is a full iteration and must hold the same elements. Cursors and partial pages depend
// on the hash order.
func cmpScan(args [][]byte, a, b Reply) bool {
	if !errsAgree(a, b) || a.Kind != b.Kind || len(a.Elems) != len(b.Elems) {
		return false
	}
	if len(a.Elems) != 2 {
		return same(a, b)
	}
	full := slices.ContainsFunc(args[1:min(3, len(args))], func(p []byte) bool {
		return string(p) == "0"
	}) &&
		a.Elems[0].Str == "0" && b.Elems[0].Str == "0"
	return !full || canonical(a.Elems[1]) == canonical(b.Elems[1])
}
