package command

import (
	"bytes"
	"cmp"
	"slices"

	"godwit/internal/engine"
	"godwit/internal/keyspace"
	"godwit/internal/listpack"
	"godwit/internal/object"
)

// SORT copies the elements first. The lookups by pattern that follow may expire keys, and with them
// an element that was not copied. Then SORT gives each element its weight, sorts, and replies with
// the part within LIMIT, or stores it.
//
// The order is total and does not depend on that of the hash table: elements of equal weight are
// ordered by their bytes. Redis promises this for numbers only. With ALPHA and BY, it leaves equal
// elements in the order in which its sort happens to put them.

var _ = family(sortHandlers)

func sortHandlers() engine.Handlers {
	return engine.Handlers{
		"sort":    func(c *engine.Ctx) { sortCmd(c, true) },
		"sort_ro": func(c *engine.Ctx) { sortCmd(c, false) },
	}
}

// sortOptions are the parsed options of SORT.
type sortOptions struct {
	by            []byte // nil: the element itself.
	get           [][]byte
	store         []byte // nil: reply.
	offset, count int64
	desc, alpha   bool
	unsorted      bool // BY a pattern without a star.
}

// parse reads the options and replies with Redis's errors.
func (o *sortOptions) parse(c *engine.Ctx, args [][]byte, mayStore bool) bool {
	o.count = -1
	for i := 0; i < len(args); i++ {
		left := len(args) - i - 1
		switch a := args[i]; {
		case is(a, "asc"):
			o.desc = false
		case is(a, "desc"):
			o.desc = true
		case is(a, "alpha"):
			o.alpha = true
		case is(a, "limit") && left >= 2:
			var ok bool
			if o.offset, ok = intArg(c, args[i+1]); !ok {
				return false
			}
			if o.count, ok = intArg(c, args[i+2]); !ok {
				return false
			}
			i += 2
		case mayStore && is(a, "store") && left >= 1:
			i++
			o.store = args[i]
		case is(a, "by") && left >= 1:
			i++
			o.by = args[i]
			if star(o.by) >= 0 && !mayReadOthers(c, "BY") {
				return false
			}
			o.unsorted = o.unsorted || star(o.by) < 0
		case is(a, "get") && left >= 1:
			i++
			if !mayReadOthers(c, "GET") {
				return false
			}
			o.get = append(o.get, args[i])
		default:
			c.Err(engine.ErrSyntax)
			return false
		}
	}
	return true
}

// mayReadOthers reports whether the user may read all keys. The elements decide which keys a
// pattern names, so nobody knows them in advance. It replies with an error if the user may not.
func mayReadOthers(c *engine.Ctx, option string) bool {
	if c.ReadsAll() {
		return true
	}
	c.Err("ERR " + option + " option of SORT denied due to insufficient ACL permissions.")
	return false
}

// window returns the part [from, to) of n elements that LIMIT selects.
func (o *sortOptions) window(n int) (from, to int) {
	from = int(min(max(o.offset, 0), int64(n)))
	if count := min(max(o.count, -1), int64(n)); count >= 0 {
		return from, min(from+int(count), n)
	}
	return from, n
}

// sortItem is one element that SORT works on.
type sortItem struct {
	elem   []byte
	score  float64 // The weight as a number.
	weight []byte  // With ALPHA, the weight as a string. nil if BY finds nothing.
}

func sortCmd(c *engine.Ctx, mayStore bool) {
	var o sortOptions
	if !o.parse(c, c.Args[2:], mayStore) {
		return
	}
	e := c.DB.LookupRead(c.Args[1])
	if e.Exists() && e.Type().Description().Range == nil {
		c.Err(engine.ErrWrongType)
		return
	}
	if e.Exists() && e.Type().Description().HashOrder && o.unsorted && o.store != nil {
		// The stored result is replicated, so it must not depend on the hash order.
		o.unsorted, o.alpha, o.by = false, true, nil
	}
	var items []sortItem
	if e.Exists() {
		items = o.load(c.DB.Open(e))
	}
	if !o.unsorted && !o.weigh(c, items) {
		c.Err("ERR One or more scores can't be converted into double")
		return
	}
	if !o.unsorted {
		slices.SortFunc(items, o.compare)
		from, to := o.window(len(items))
		items = items[from:to]
	}
	if o.store != nil {
		o.storeTo(c, items)
		return
	}
	o.answer(c, items)
}

// load copies the elements: all of them, or only those within LIMIT if they are not sorted.
func (o *sortOptions) load(x *object.Edit) []sortItem {
	n := x.Len()
	from, to := 0, n
	if o.unsorted {
		from, to = o.window(n)
	}
	items := make([]sortItem, 0, to-from)
	var buf []byte
	ends := make([]int, 0, to-from)
	x.Range(from, to, o.unsorted && o.desc, func(v listpack.Value) {
		buf = v.Append(buf)
		ends = append(ends, len(buf))
	})
	start := 0
	for _, end := range ends {
		items = append(items, sortItem{elem: buf[start:end:end]})
		start = end
	}
	return items
}

// weigh finds the weight of each element. It reports false if a weight must be a number and is
// none.
func (o *sortOptions) weigh(c *engine.Ctx, items []sortItem) bool {
	ok := true
	var buf []byte
	for i := range items {
		it := &items[i]
		w := it.elem
		if o.by != nil {
			var found bool
			if buf, found = patternValue(c, buf[:0], o.by, it.elem); !found {
				continue
			}
			w = buf
		}
		if o.alpha {
			it.weight = w
			if o.by != nil {
				it.weight = append(make([]byte, 0, len(w)), w...)
			}
			continue
		}
		f, isNumber := object.ParsePlain(w)
		it.score, ok = f, ok && isNumber
	}
	return ok
}

// compare orders two elements.
func (o *sortOptions) compare(a, b sortItem) int {
	order := cmp.Compare(a.score, b.score)
	if o.alpha {
		order = bytes.Compare(a.weight, b.weight)
		if (a.weight == nil) != (b.weight == nil) { // None sorts before the empty string.
			order = 1
			if a.weight == nil {
				order = -1
			}
		}
	}
	if order == 0 {
		order = bytes.Compare(a.elem, b.elem)
	}
	if o.desc {
		return -order
	}
	return order
}

// eachValue calls emit for each value that the items return. ok is false if GET does not find one.
func (o *sortOptions) eachValue(c *engine.Ctx, items []sortItem, emit func(b []byte, ok bool)) {
	var buf []byte
	for i := range items {
		if len(o.get) == 0 {
			emit(items[i].elem, true)
		}
		for _, p := range o.get {
			var ok bool
			buf, ok = patternValue(c, buf[:0], p, items[i].elem)
			emit(buf, ok)
		}
	}
}

func (o *sortOptions) answer(c *engine.Ctx, items []sortItem) {
	c.Array(len(items) * max(len(o.get), 1))
	o.eachValue(c, items, func(b []byte, ok bool) {
		if !ok {
			c.Null()
			return
		}
		c.Bulk(b)
	})
}

// storeTo stores the result as a list. An empty result deletes the key. It collects the values
// before it replaces the key, because a GET may read it.
func (o *sortOptions) storeTo(c *engine.Ctx, items []sortItem) {
	n := len(items) * max(len(o.get), 1)
	var buf []byte
	ends := make([]int, 0, n)
	o.eachValue(c, items, func(b []byte, _ bool) {
		buf = append(buf, b...)
		ends = append(ends, len(buf))
	})
	if n == 0 {
		storedNothing(c, o.store)
		return
	}
	l := object.AsList(c.DB.CreateOver(o.store, object.List, object.EncListpack, listpack.Empty()))
	l.MakeRoom(len(buf), n)
	start := 0
	for _, end := range ends {
		l.Push(buf[start:end], false)
		start = end
	}
	c.Changed(o.store)
	c.Notify(keyspace.EvList, "sortstore", o.store)
	c.Dirty(n)
	c.Int(int64(n))
}
