package crash

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"
)

// unit is what must survive or vanish as a whole: a command, or several in a transaction or a
// script.
type unit struct {
	cmds  [][]string
	apply func(s state)
	wrap  string // "": one command, which may be a script; "multi"
	sent  int64  // Unix ms before it was sent
	acked int64  // Unix ms after its last reply; 0: none came before the crash
	mark  int64  // the number to which this unit sets the mark
}

// generator makes the random operations of one connection. Each type has names of its own, so that
// no operation meets another type. Key 0 of each type grows beyond the small encodings. Deadlines
// are an hour away, except for keys that are written once and then left to expire.
type generator struct {
	rnd      *rand.Rand
	prefix   string
	has      features
	volatile int    // keys left to expire so far
	save     string // a command that makes a file, if the server has it; "": none

	functions int    // which libraries this generator may change
	dump      string // payload of a library
	sha       string // of the script that the server has

	firstEntry, entries int64 // of IDs: the first milliseconds, and how many there were
}

// features are what not every server can do.
type features struct {
	multi, script, fieldTTL, bloom, geo, functions bool
	cuckoo, cms, topk, tdigest, throttle, streams  bool
}

func (g *generator) key(kind string) string {
	return g.prefix + kind + strconv.Itoa(g.rnd.IntN(6))
}

func (g *generator) text() string {
	switch g.rnd.IntN(8) {
	case 0:
		return strconv.Itoa(g.rnd.IntN(100000) - 50000)
	case 1:
		return strings.Repeat("long and compressible ", g.rnd.IntN(40))
	case 2:
		return string([]byte{0, byte(g.rnd.IntN(256)), '\r', '\n', 255})
	}
	return fmt.Sprintf("v%d", g.rnd.IntN(1000))
}

// elementSpace is how many names there are, with and without a prefix.
const elementSpace = 3000

// allElements returns all names that elements may return.
func allElements() (names []any) {
	for i := range elementSpace {
		names = append(names, strconv.Itoa(i), "element:"+strconv.Itoa(i))
	}
	return names
}

// elements returns some names of a small space, or of a large one for a key 0.
func (g *generator) elements(key string) []string {
	n, space := 1+g.rnd.IntN(4), 40
	if strings.HasSuffix(key, "0") {
		n, space = 1+g.rnd.IntN(60), elementSpace
	}
	out := make([]string, n)
	for i := range out {
		if out[i] = strconv.Itoa(g.rnd.IntN(space)); g.rnd.IntN(3) > 0 {
			out[i] = "element:" + out[i]
		}
	}
	return out
}

func (g *generator) far() int64 {
	return time.Now().Add(time.Hour).UnixMilli() + g.rnd.Int64N(1e9)
}

func one(apply func(s state), args ...string) []*unit {
	return []*unit{{cmds: [][]string{args}, apply: apply}}
}

// next returns an operation: one unit, or two that belong together only for the generator.
func (g *generator) next() []*unit {
	makers := g.makers()
	units := makers[g.rnd.IntN(len(makers))]()
	if g.rnd.IntN(8) == 0 && (g.has.multi || g.has.script) {
		for range g.rnd.IntN(4) {
			units = append(units, makers[g.rnd.IntN(len(makers))]()...)
		}
		return g.together(units)
	}
	return units
}

// makers returns the operations that the server knows. The usual ones come more than once.
func (g *generator) makers() []func() []*unit {
	all := []func() []*unit{g.str, g.str, g.number, g.hll, g.list, g.list, g.hash, g.hash, g.set,
		g.set, g.zset, g.zset, g.generic, g.generic, g.expiring}
	for _, m := range []struct {
		has  bool
		make func() []*unit
	}{
		{g.has.bloom, g.bloom}, {g.has.geo, g.geo}, {g.has.cuckoo, g.cuckoo}, {g.has.cms, g.cms},
		{g.has.topk, g.topk}, {g.has.tdigest, g.tdigest}, {g.has.throttle, g.throttle},
		{g.has.streams, g.stream}, {g.has.streams, g.stream}, {g.has.streams, g.produce},
		{g.functions != noFunctions && g.rnd.IntN(2) == 0, g.function},
	} {
		if m.has {
			all = append(all, m.make)
		}
	}
	return all
}

// together makes one unit of several.
func (g *generator) together(units []*unit) []*unit {
	all := &unit{}
	all.apply = func(s state) {
		for _, u := range units {
			u.sent, u.acked = all.sent, all.acked
			u.apply(s)
		}
	}
	scripts := g.has.script
	for _, u := range units {
		all.cmds = append(all.cmds, u.cmds...)
		scripts = scripts && !slices.ContainsFunc(u.cmds, outsideOnly)
	}
	switch {
	case scripts && (!g.has.multi || g.rnd.IntN(2) == 0):
		return []*unit{g.inScript(all)}
	case !g.has.multi:
		return units
	case scripts && g.rnd.IntN(4) == 0: // a script in a transaction
		return g.together(append(g.str(), g.inScript(all)))
	}
	all.wrap = "multi"
	// A snapshot that begins in the middle must not have half of it.
	if g.save != "" && g.rnd.IntN(20) == 0 {
		all.cmds = slices.Insert(all.cmds, g.rnd.IntN(len(all.cmds)+1), []string{g.save})
	}
	return []*unit{all}
}

// hll adds to a HyperLogLog or merges two. The small limit makes it dense soon.
func (g *generator) hll() []*unit {
	k := g.key("y")
	if g.rnd.IntN(4) == 0 {
		k2 := g.key("y")
		return one(func(s state) { mergeHLL(s, k, k2) }, "PFMERGE", k, k2)
	}
	elems := g.elements(k)
	return one(func(s state) { addHLL(s, k, elems) }, append([]string{"PFADD", k}, elems...)...)
}

func (g *generator) str() []*unit {
	k, v := g.key("s"), g.text()
	switch g.rnd.IntN(8) {
	case 0:
		return one(func(s state) { x := s.get(k, "string"); x.str += v }, "APPEND", k, v)
	case 1:
		return one(func(s state) { delete(s, k) }, "GETDEL", k)
	case 2:
		at := g.rnd.IntN(100)
		return one(func(s state) {
			if v == "" {
				return
			}
			x := s.get(k, "string")
			b := []byte(x.str)
			for len(b) < at+len(v) {
				b = append(b, 0)
			}
			copy(b[at:], v)
			x.str = string(b)
		}, "SETRANGE", k, strconv.Itoa(at), v)
	case 3:
		k2, v2 := g.key("s"), g.text()
		return one(func(s state) {
			for _, kv := range [][2]string{{k, v}, {k2, v2}} {
				delete(s, kv[0])
				s.get(kv[0], "string").str = kv[1]
			}
		}, "MSET", k, v, k2, v2)
	case 4:
		return one(func(s state) { s.get(k, "string").str = v }, "SET", k, v, "KEEPTTL")
	case 5:
		at := g.far()
		return one(func(s state) {
			if s[k] != nil {
				s[k].expiry = expiry{at, at}
			}
		}, "GETEX", k, "PXAT", strconv.FormatInt(at, 10))
	case 6:
		return one(func(s state) {
			if s[k] == nil {
				s.get(k, "string").str = v
			}
		}, "SETNX", k, v)
	}
	return one(func(s state) { delete(s, k); s.get(k, "string").str = v }, "SET", k, v)
}

func (g *generator) number() []*unit {
	if g.rnd.IntN(3) == 0 {
		k := g.key("f")
		n := g.rnd.IntN(9) - 4
		return one(func(s state) {
			x := s.get(k, "string")
			old, _ := strconv.ParseFloat(x.str, 64) // 0 when absent
			x.str = strconv.FormatFloat(old+float64(n)/2, 'f', -1, 64)
		}, "INCRBYFLOAT", k, strconv.FormatFloat(float64(n)/2, 'f', -1, 64))
	}
	k := g.key("n")
	n := g.rnd.IntN(1000) - 500
	return one(func(s state) {
		x := s.get(k, "string")
		old, _ := strconv.Atoi(x.str)
		x.str = strconv.Itoa(old + n)
	}, "INCRBY", k, strconv.Itoa(n))
}

func (g *generator) list() []*unit {
	k := g.key("l")
	elems := g.elements(k)
	switch n := g.rnd.IntN(6); g.rnd.IntN(9) {
	case 0:
		return one(func(s state) {
			l := s.get(k, "list")
			l.list = l.list[min(n+1, len(l.list)):]
			s.tidy(k)
		}, "LPOP", k, strconv.Itoa(n+1))
	case 1:
		return one(func(s state) {
			l := s.get(k, "list")
			l.list = l.list[:max(0, len(l.list)-n-1)]
			s.tidy(k)
		}, "RPOP", k, strconv.Itoa(n+1))
	case 2:
		return one(func(s state) {
			if l := s[k]; l != nil {
				l.list[0] = elems[0]
			}
		}, "LSET", k, "0", elems[0])
	case 3:
		return one(func(s state) {
			l := s.get(k, "list")
			l.list = slices.DeleteFunc(l.list, func(e string) bool { return e == elems[0] })
			s.tidy(k)
		}, "LREM", k, "0", elems[0])
	case 4:
		return one(func(s state) {
			l := s.get(k, "list")
			l.list = l.list[:min(len(l.list), 2000)]
			s.tidy(k)
		}, "LTRIM", k, "0", "1999")
	case 5:
		return g.listMove(k)
	case 6:
		return one(func(s state) {
			if l := s[k]; l != nil {
				if i := slices.Index(l.list, elems[0]); i >= 0 {
					l.list = slices.Insert(l.list, i, "inserted")
				}
			}
		}, "LINSERT", k, "BEFORE", elems[0], "inserted")
	case 7:
		return one(func(s state) {
			l := s.get(k, "list")
			front := slices.Clone(elems)
			slices.Reverse(front)
			l.list = append(front, l.list...)
		}, append([]string{"LPUSH", k}, elems...)...)
	}
	return one(func(s state) {
		l := s.get(k, "list")
		l.list = append(l.list, elems...)
	}, append([]string{"RPUSH", k}, elems...)...)
}

func (g *generator) listMove(k string) []*unit {
	to := g.key("l")
	return one(func(s state) {
		from := s[k]
		if from == nil {
			return
		}
		e := from.list[0]
		from.list = from.list[1:]
		if k != to {
			s.tidy(k)
		}
		dst := s.get(to, "list")
		dst.list = append(dst.list, e)
	}, "LMOVE", k, to, "LEFT", "RIGHT")
}

func (g *generator) hash() []*unit {
	k := g.key("h")
	names := g.elements(k)
	switch g.rnd.IntN(6) {
	case 0:
		return one(func(s state) {
			for _, n := range names {
				delete(s.get(k, "hash").hash, n)
			}
			s.tidy(k)
		}, append([]string{"HDEL", k}, names...)...)
	case 1:
		by := g.rnd.IntN(100)
		return one(func(s state) {
			h := s.get(k, "hash").hash
			old, _ := strconv.Atoi(h["counter"].text)
			h["counter"] = field{text: strconv.Itoa(old + by)}
		}, "HINCRBY", k, "counter", strconv.Itoa(by))
	case 2:
		if g.has.fieldTTL {
			return g.fieldTTL(k, names)
		}
	}
	args := []string{"HSET", k}
	set := map[string]string{}
	for _, n := range names {
		v := g.text()
		args, set[n] = append(args, n, v), v
	}
	return one(func(s state) {
		for n, v := range set {
			s.get(k, "hash").hash[n] = field{text: v}
		}
	}, args...)
}

func (g *generator) fieldTTL(k string, names []string) []*unit {
	slices.Sort(names)
	names = slices.Compact(names)
	tail := append([]string{"FIELDS", strconv.Itoa(len(names))}, names...)
	at, args := g.far(), []string{"HPERSIST", k}
	if g.rnd.IntN(3) > 0 {
		args = []string{"HPEXPIREAT", k, strconv.FormatInt(at, 10)}
	} else {
		at = 0
	}
	return one(func(s state) {
		if s[k] == nil {
			return
		}
		for _, n := range names {
			if f, ok := s[k].hash[n]; ok {
				f.deadline = at
				s[k].hash[n] = f
			}
		}
	}, append(args, tail...)...)
}

func (g *generator) set() []*unit {
	k := g.key("t")
	members := g.elements(k)
	add := func(s state) {
		for _, m := range members {
			s.get(k, "set").set[m] = true
		}
	}
	switch g.rnd.IntN(7) {
	case 0:
		return one(func(s state) {
			for _, m := range members {
				delete(s.get(k, "set").set, m)
			}
			s.tidy(k)
		}, append([]string{"SREM", k}, members...)...)
	case 1:
		to := g.key("t")
		return one(func(s state) {
			if s[k] == nil || !s[k].set[members[0]] {
				return
			}
			delete(s[k].set, members[0])
			s.get(to, "set").set[members[0]] = true
			s.tidy(k)
		}, "SMOVE", k, to, members[0])
	case 2:
		if strings.HasSuffix(k, "0") && g.rnd.IntN(10) > 0 {
			break // keep it large most of the time
		}
		return one(func(s state) { delete(s, k) }, "SPOP", k, "1000000")
	case 3:
		to, other := g.prefix+"t5", g.key("t")
		return one(func(s state) {
			sum := map[string]bool{}
			for _, from := range []string{k, other} {
				if s[from] != nil {
					for m := range s[from].set {
						sum[m] = true
					}
				}
			}
			delete(s, to)
			s.get(to, "set").set = sum
			s.tidy(to)
		}, "SUNIONSTORE", to, k, other)
	}
	return one(add, append([]string{"SADD", k}, members...)...)
}

func (g *generator) bloom() []*unit {
	k := g.key("b")
	items := g.elements(k)
	return one(func(s state) {
		for _, m := range items {
			s.get(k, bloom).set[m] = true
		}
	}, append([]string{"BF.INSERT", k, "ERROR", "0.0000000001", "CAPACITY", "20", "ITEMS"},
		items...)...)
}

func (g *generator) zset() []*unit {
	k := g.key("z")
	members := g.elements(k)
	switch g.rnd.IntN(7) {
	case 0:
		return one(func(s state) {
			for _, m := range members {
				delete(s.get(k, "zset").zset, m)
			}
			s.tidy(k)
		}, append([]string{"ZREM", k}, members...)...)
	case 1:
		by := float64(g.rnd.IntN(200)-100) / 4
		return one(func(s state) {
			s.get(k, "zset").zset[members[0]] += by
		}, "ZINCRBY", k, strconv.FormatFloat(by, 'g', -1, 64), members[0])
	case 2:
		n := 1 + g.rnd.IntN(5)
		return one(func(s state) { s.zpop(k, n) }, "ZPOPMIN", k, strconv.Itoa(n))
	case 3:
		lo := float64(g.rnd.IntN(1000))
		return one(func(s state) {
			z := s.get(k, "zset").zset
			for m, score := range z {
				if score >= lo && score <= lo+10 {
					delete(z, m)
				}
			}
			s.tidy(k)
		}, "ZREMRANGEBYSCORE", k, fmt.Sprint(lo), fmt.Sprint(lo+10))
	}
	args, scores := []string{"ZADD", k}, map[string]float64{}
	for _, m := range members {
		scores[m] = float64(g.rnd.IntN(4000)) / 4
		args = append(args, strconv.FormatFloat(scores[m], 'g', -1, 64), m)
	}
	return one(func(s state) {
		for m, score := range scores {
			s.get(k, "zset").zset[m] = score
		}
	}, args...)
}

// zpop removes the n members with the lowest scores. Names decide between equal scores.
func (s state) zpop(k string, n int) {
	z := s.get(k, "zset").zset
	members := make([]string, 0, len(z))
	for m := range z {
		members = append(members, m)
	}
	sort.Slice(members, func(i, j int) bool {
		a, b := members[i], members[j]
		return z[a] < z[b] || z[a] == z[b] && a < b
	})
	for _, m := range members[:min(n, len(members))] {
		delete(z, m)
	}
	s.tidy(k)
}

func (g *generator) generic() []*unit {
	kinds := []string{"s", "l", "h", "t", "z"}
	if g.rnd.IntN(3) == 0 {
		kinds = []string{"y", "b", "geo", "cf", "cms", "top", "td", "tm", "cell", "st", "st"}
	}
	kind := kinds[g.rnd.IntN(len(kinds))]
	k, k2 := g.key(kind), g.key(kind)
	at := g.far()
	switch g.rnd.IntN(8) {
	case 0:
		return one(func(s state) {
			if v := s[k]; v != nil && k != k2 {
				s[k2] = v
				delete(s, k)
			}
		}, "RENAME", k, k2)
	case 1:
		if k == k2 {
			break // an error
		}
		return one(func(s state) {
			if v := s[k]; v != nil {
				s[k2] = v.clone()
			}
		}, "COPY", k, k2, "REPLACE")
	case 2:
		if strings.HasSuffix(k, "0") && g.rnd.IntN(10) > 0 {
			break
		}
		return one(func(s state) { delete(s, k); delete(s, k2) }, "UNLINK", k, k2)
	case 3:
		return one(func(s state) { delete(s, k) }, "DEL", k)
	case 4, 5:
		return one(func(s state) {
			if s[k] != nil {
				s[k].expiry = expiry{}
			}
		}, "PERSIST", k)
	}
	return one(func(s state) {
		if s[k] != nil {
			s[k].expiry = expiry{at, at}
		}
	}, "PEXPIREAT", k, strconv.FormatInt(at, 10))
}

// expiring writes a key of its own that expires soon and is left alone.
func (g *generator) expiring() []*unit {
	g.volatile++
	k, v := fmt.Sprintf("%sx%d-%d", g.prefix, time.Now().UnixNano(), g.volatile), g.text()
	ms := int64(20 + g.rnd.IntN(3000))
	at := time.Now().UnixMilli() + ms
	atText := strconv.FormatInt(at, 10)
	switch g.rnd.IntN(4) {
	case 0: // the server reads its clock some time before it replies
		u := &unit{cmds: [][]string{{"SET", k, v, "PX", strconv.FormatInt(ms, 10)}}}
		u.apply = func(s state) {
			x := s.get(k, "string")
			x.str, x.expiry = v, expiry{u.sent + ms, u.acked + ms}
		}
		return []*unit{u}
	case 1:
		add := one(func(s state) { s.get(k, "set").set[v] = true }, "SADD", k, v)
		return append(add, one(func(s state) {
			if s[k] != nil {
				s[k].expiry = expiry{at, at}
			}
		}, "PEXPIREAT", k, atText)...)
	case 2:
		if !g.has.fieldTTL {
			break
		}
		set := one(func(s state) {
			h := s.get(k, "hash").hash
			h["stays"], h["goes"] = field{text: "1"}, field{text: v}
		}, "HSET", k, "stays", "1", "goes", v)
		set = append(set, one(func(s state) {
			s[k].hash["goes"] = field{text: v, deadline: at}
		}, "HPEXPIREAT", k, atText, "FIELDS", "1", "goes")...)
		return append(set, one(func(s state) {
			s[k].expiry = expiry{at + 5000, at + 5000}
		}, "PEXPIREAT", k, strconv.FormatInt(at+5000, 10))...)
	}
	return one(func(s state) {
		x := s.get(k, "string")
		x.str, x.expiry = v, expiry{at, at}
	}, "SET", k, v, "PXAT", atText)
}
