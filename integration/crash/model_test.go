package crash

import (
	"fmt"
	"maps"
	"slices"
	"sort"
	"strconv"
	"strings"
)

// state is what the keys of one connection hold, in a plain model.
type state map[string]*value

// bloom is the type of Bloom filters. Their error rate is so low that they act as sets.
const bloom = "MBbloom--"

// value is a key. kind says which of the other fields count.
type value struct {
	kind   string // as TYPE says
	str    string
	list   []string
	hash   map[string]field
	set    map[string]bool
	zset   map[string]float64
	sketch *sketch // in the model; the server's is read as a digest, in str
	stream *stream
	expiry expiry

	tat      expiry // of a limiter: its arrival time in Unix ns
	admitted int    // … and how much was admitted since it was empty
}

type field struct {
	text     string
	deadline int64 // Unix time in ms; 0: none
}

// expiry is when a key falls due, as Unix times in ms. If the server computed the deadline from its
// own clock, it lies between from and to. If the client gave it, both are equal. The zero expiry is
// never.
type expiry struct{ from, to int64 }

func (v *value) clone() *value {
	w := *v
	w.list, w.hash, w.set, w.zset = slices.Clone(v.list), maps.Clone(v.hash), maps.Clone(v.set),
		maps.Clone(v.zset)
	w.sketch, w.stream = v.sketch.clone(), v.stream.clone()
	return &w
}

func (s state) clone() state {
	out := make(state, len(s))
	for k, v := range s {
		out[k] = v.clone()
	}
	return out
}

// get returns the key's value, made when it is absent.
func (s state) get(key, kind string) *value {
	v := s[key]
	if v == nil {
		v = &value{kind: kind, hash: map[string]field{}, set: map[string]bool{},
			zset: map[string]float64{}}
		s[key] = v
	}
	return v
}

// tidy removes the key when its collection is empty.
func (s state) tidy(key string) {
	if v := s[key]; v != nil && v.size() == 0 {
		delete(s, key)
	}
}

func (v *value) size() int {
	switch v.kind {
	case "list":
		return len(v.list)
	case "hash":
		return len(v.hash)
	case "set", bloom:
		return len(v.set)
	case "zset":
		return len(v.zset)
	}
	return 1 // never empty
}

// text renders a value without its deadline, in a fixed order.
func (v *value) text(now int64) string {
	var parts []string
	if v.sketch != nil {
		return v.kind + " " + strconv.Quote(v.sketch.digest(sketchKinds[v.kind]))
	}
	switch v.kind {
	default:
		return v.kind + " " + strconv.Quote(v.str)
	case cellKind:
		return v.kind // the time is compared by itself
	case "stream":
		return "stream " + v.stream.text()
	case "list":
		return fmt.Sprintf("list %q", v.list)
	case "hash":
		for name, f := range v.hash {
			if f.deadline == 0 || f.deadline > now {
				parts = append(parts, fmt.Sprintf("%q=%q@%d", name, f.text, f.deadline))
			}
		}
	case "set", bloom:
		for m := range v.set {
			parts = append(parts, strconv.Quote(m))
		}
	case "zset":
		for m, score := range v.zset {
			parts = append(parts, fmt.Sprintf("%q=%v", m, score))
		}
	}
	sort.Strings(parts)
	return v.kind + " " + strings.Join(parts, " ")
}

// differences compares what the server has with what it should have. The server was read between
// the times from and to, in ms.
func differences(want, have state, from, to int64) []string {
	var out []string
	for key, w := range want {
		h := have[key]
		switch {
		case h == nil && (w.mayBeGone(to)):
		case h == nil:
			out = append(out,
				fmt.Sprintf("%s is missing: %s, expires %v", key, short(w.text(to)), w.expiry))
		case w.expiry.to != 0 && w.expiry.to < from:
			out = append(out,
				fmt.Sprintf("%s is there, but expired %d ms before: %v", key, from-w.expiry.to,
					w.expiry))
		case h.expiry.from < w.expiry.from || h.expiry.to > w.expiry.to:
			out = append(out,
				fmt.Sprintf("%s expires at %d, not at %v", key, h.expiry.from, w.expiry))
		case h.tat.from < w.tat.from || h.tat.to > w.tat.to:
			out = append(out,
				fmt.Sprintf("%s has the arrival time %d, not %v", key, h.tat.from, w.tat))
		case h.text(to) != w.text(to):
			out = append(out,
				fmt.Sprintf("%s is %s, not %s", key, short(h.text(to)), short(w.text(to))))
		}
	}
	for key, h := range have {
		if want[key] == nil {
			out = append(out, fmt.Sprintf("%s should not be there: %s", key, short(h.text(to))))
		}
	}
	sort.Strings(out)
	return out
}

// mayBeGone reports whether the key, or the last of its fields, may be due at the time now.
func (v *value) mayBeGone(now int64) bool {
	if v.expiry.from != 0 && v.expiry.from <= now {
		return true
	}
	for _, f := range v.hash {
		if f.deadline == 0 || f.deadline > now {
			return false
		}
	}
	return v.kind == "hash"
}

func short(s string) string {
	if len(s) > 300 {
		return s[:200] + fmt.Sprintf(" … (%d bytes) … ", len(s)) + s[len(s)-80:]
	}
	return s
}
