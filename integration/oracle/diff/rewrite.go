package diff

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// rewriter changes both replies before they are compared, so that what a reference writes in
// another way is written in one.
type rewriter func(Reply) Reply

// rewriters returns the rewriters by the names that the files of known differences use.
func rewriters() map[string]rewriter {
	return map[string]rewriter{
		"doubles": shortestDoubles,
		"twelve":  twelvePlaces,
		"users":   plainUsers,
		"origins": plainOrigins,
		"entries": plainInfo("radix-tree-keys", "radix-tree-nodes", "idmp-duration", "idmp-maxsize",
			"pids-tracked", "iids-tracked", "iids-added", "iids-duplicates", "nacked-count"),
		"actives": plainInfo("inactive", "active-time"),
		"lags":    plainInfo("lag", "entries-read"),
	}
}

// rewrite applies the rewriters of a command ("client|list") to a reply of either side.
func (k *Known) rewrite(name string, r Reply) Reply {
	top, _, _ := strings.Cut(name, "|")
	for i := range k.adds {
		rule := &k.adds[i]
		if f := rewriters()[rule.Comparator]; f != nil && (rule.about(name) || rule.about(top)) {
			changed := f(r)
			rule.accepts(true, changed, r)
			r = changed
		}
	}
	return r
}

// eachScalar applies f to every part of a reply that has no parts.
func eachScalar(r Reply, f rewriter) Reply {
	if r.Elems == nil {
		return f(r)
	}
	elems := make([]Reply, len(r.Elems))
	for i, e := range r.Elems {
		elems[i] = eachScalar(e, f)
	}
	r.Elems = elems
	return r
}

// shortestDoubles writes every number that a double may round with as few digits as identify it.
func shortestDoubles(r Reply) Reply { return rewriteDoubles(r, 'g', -1) }

// twelvePlaces writes the same numbers with twelve decimal places.
func twelvePlaces(r Reply) Reply { return rewriteDoubles(r, 'f', 12) }

func rewriteDoubles(r Reply, format byte, precision int) Reply {
	const (
		exact = 15 // digits that a double always holds
		most  = 17 // digits that one is printed with: a longer integer is a member
	)
	return eachScalar(r, func(r Reply) Reply {
		integer := !strings.ContainsAny(r.Str, ".e")
		if r.Kind != '$' && r.Kind != ',' || integer &&
			(len(r.Str) <= exact || len(strings.Trim(r.Str, "-0")) > most) {
			return r
		}
		if f, ok := r.Float(); ok {
			r.Str = strconv.FormatFloat(f, format, precision, 64)
		}
		return r
	})
}

// plainUsers leaves out of descriptions of users what only some servers show: whether payloads are
// sanitized, and the databases of Valkey.
func plainUsers(r Reply) Reply {
	if r.Elems == nil {
		r.Str = strings.ReplaceAll(r.Str, " sanitize-payload", "")
		r.Str = strings.ReplaceAll(r.Str, " skip-sanitize-payload", "")
		r.Str = strings.ReplaceAll(r.Str, " alldbs", "")
		return r
	}
	elems := slices.Clone(r.Elems)
	for i := 0; i < len(elems); i++ {
		switch elems[i].Str {
		case "sanitize-payload", "skip-sanitize-payload":
			elems = slices.Delete(elems, i, i+1)
			i--
		case "databases":
			elems = slices.Delete(elems, i, min(i+2, len(elems)))
			i--
		default:
			elems[i] = plainUsers(elems[i])
		}
	}
	r.Elems = elems
	return r
}

// origin is what an error of a script says about the script, which some servers name: by its hash,
// or by the name of the function.
var origin = regexp.MustCompile(` script: ([^ ]+, )?on @`)

// plainOrigins leaves the names of scripts out of their errors.
func plainOrigins(r Reply) Reply {
	return eachScalar(r, func(r Reply) Reply {
		if r.IsErr() {
			r.Str = origin.ReplaceAllString(r.Str, " script: on @")
		}
		return r
	})
}

// plainInfo leaves fields out of what XINFO says of streams, groups and consumers.
func plainInfo(fields ...string) rewriter {
	var plain rewriter
	plain = func(r Reply) Reply {
		if r.Elems == nil {
			return r
		}
		elems := make([]Reply, 0, len(r.Elems))
		for i := 0; i < len(r.Elems); i++ {
			if len(r.Elems)%2 == 0 && i%2 == 0 && slices.Contains(fields, r.Elems[i].Str) {
				i++
				continue
			}
			elems = append(elems, plain(r.Elems[i]))
		}
		r.Elems = elems
		return r
	}
	return plain
}
