package command

import (
	"bytes"
	"encoding/binary"
	"math"
	"slices"
	"sync"

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
			if star(o.by) >= 0 && !(staysInSlot(c, "BY", o.by) && mayReadOthers(c, "BY")) {
				return false
			}
			o.unsorted = o.unsorted || star(o.by) < 0
		case is(a, "get") && left >= 1:
			i++
			if !staysInSlot(c, "GET", args[i]) || !mayReadOthers(c, "GET") {
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

// sortItem is one element that SORT works on. It has no pointers, so that swapping two items costs
// the garbage collector nothing.
type sortItem struct {
	key     uint64 // Items with different keys are ordered by them.
	at      int    // The element begins there in the text,
	weight  int    // and its weight with ALPHA there; noWeight if BY finds nothing.
	len     uint32
	weighed uint32 // The length of the weight.
}

const noWeight = -1

// sorting is the memory of a SORT.
type sorting struct {
	*sortOptions
	items []sortItem
	shown []sortItem // The part of the items within LIMIT, in order.
	text  []byte     // The elements, then the weights.
	value []byte     // The weight that was found last.
}

// sortings are kept for the next SORT, up to a size of keptText and keptItems.
var sortings = sync.Pool{New: func() any { return new(sorting) }}

const (
	keptText  = 1 << 20
	keptItems = 1 << 15
)

func newSorting(o *sortOptions) *sorting {
	s := sortings.Get().(*sorting)
	s.sortOptions, s.items, s.text = o, s.items[:0], s.text[:0]
	return s
}

// done ends the use of s.
func (s *sorting) done() {
	s.sortOptions = nil
	if cap(s.text)+cap(s.value) <= keptText && cap(s.items) <= keptItems {
		sortings.Put(s)
	}
}

func (s *sorting) elem(it *sortItem) []byte {
	end := it.at + int(it.len)
	return s.text[it.at:end:end]
}

func (s *sorting) weightOf(it *sortItem) []byte {
	return s.text[it.weight : it.weight+int(it.weighed)]
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
	if e.Exists() && o.unsorted && o.get == nil && o.store == nil {
		o.answerRange(c, c.DB.Open(e))
		return
	}
	s := newSorting(&o)
	defer s.done()
	if e.Exists() {
		s.load(c.DB.Open(e))
	}
	if !o.unsorted && !s.weigh(c) {
		c.Err("ERR One or more scores can't be converted into double")
		return
	}
	s.shown = s.items
	if !o.unsorted {
		from, to := o.window(len(s.items))
		if to < len(s.items)/4 {
			partialSort(s.items, to, s.compare)
		} else {
			slices.SortFunc(s.items, s.compare)
		}
		s.shown = s.items[from:to]
	}
	if o.store != nil {
		s.storeTo(c)
		return
	}
	s.answer(c)
}

// answerRange replies with elements as they are stored. Nothing is looked up meanwhile, so they
// need not be copied.
func (o *sortOptions) answerRange(c *engine.Ctx, x *object.Edit) {
	from, to := o.window(x.Len())
	c.Array(to - from)
	x.Range(from, to, o.desc, func(v listpack.Value) { bulkValue(c, v) })
}

// load copies the elements: all of them, or only those within LIMIT if they are not sorted.
func (s *sorting) load(x *object.Edit) {
	n := x.Len()
	from, to := 0, n
	if s.unsorted {
		from, to = s.window(n)
	}
	s.items = slices.Grow(s.items, to-from)
	x.Range(from, to, s.unsorted && s.desc, func(v listpack.Value) {
		at := len(s.text)
		s.text = v.Append(s.text)
		s.items = append(s.items, sortItem{at: at, len: uint32(len(s.text) - at)})
	})
}

// weigh finds the weight of each element. It reports false if a weight must be a number and is
// none.
func (s *sorting) weigh(c *engine.Ctx) bool {
	ok := true
	for i := range s.items {
		it := &s.items[i]
		w := s.elem(it)
		it.weight, it.weighed = it.at, it.len
		if s.by != nil {
			var found bool
			s.value = slices.Grow(s.value[:0], len(s.by)+len(w)) // for the key
			if w, found = patternValue(c, s.value[:0], s.by, w); !found {
				it.weight, it.weighed, it.key = noWeight, 0, s.keyOf(nil, 0)
				continue
			}
			s.value = w
			if s.alpha {
				it.weight, it.weighed = len(s.text), uint32(len(w))
				s.text = append(s.text, w...)
			}
		}
		f := 0.0
		if !s.alpha {
			var isNumber bool
			f, isNumber = object.ParsePlain(w)
			ok = ok && isNumber
		}
		it.key = s.keyOf(w, f)
	}
	return ok
}

// keyOf returns a number in the order of the weights: with ALPHA, the first bytes of w, else the
// bits of f. With ALPHA, weights with equal keys must be compared.
func (s *sorting) keyOf(w []byte, f float64) (key uint64) {
	const sign = 1 << 63
	switch {
	case s.alpha && len(w) >= 8:
		key = binary.BigEndian.Uint64(w)
	case s.alpha:
		var first [8]byte
		copy(first[:], w)
		key = binary.BigEndian.Uint64(first[:])
	case f == 0: // Both zeros are the same.
		key = sign
	default:
		if key = math.Float64bits(f); key&sign != 0 {
			key = ^key
		} else {
			key |= sign
		}
	}
	if s.desc {
		return ^key
	}
	return key
}

// compare orders two elements.
func (s *sorting) compare(a, b sortItem) int {
	switch {
	case a.key < b.key:
		return -1
	case a.key > b.key:
		return 1
	}
	order := 0
	if s.alpha {
		switch {
		case a.weight != noWeight && b.weight != noWeight:
			order = bytes.Compare(s.weightOf(&a), s.weightOf(&b))
		case a.weight != b.weight: // None sorts before the empty string.
			order = 1
			if a.weight == noWeight {
				order = -1
			}
		}
	}
	if order == 0 {
		order = bytes.Compare(s.elem(&a), s.elem(&b))
	}
	if s.desc {
		return -order
	}
	return order
}

// eachValue calls emit for each value that the items return. ok is false if GET does not find one.
func (s *sorting) eachValue(c *engine.Ctx, emit func(b []byte, ok bool)) {
	var buf []byte
	for i := range s.shown {
		elem := s.elem(&s.shown[i])
		if len(s.get) == 0 {
			emit(elem, true)
		}
		for _, p := range s.get {
			var ok bool
			buf, ok = patternValue(c, buf[:0], p, elem)
			emit(buf, ok)
		}
	}
}

func (s *sorting) answer(c *engine.Ctx) {
	c.Array(len(s.shown) * max(len(s.get), 1))
	s.eachValue(c, func(b []byte, ok bool) {
		if !ok {
			c.Null()
			return
		}
		c.Bulk(b)
	})
}

// storeTo stores the result as a list. An empty result deletes the key. It collects the values
// before it replaces the key, because a GET may read it.
func (s *sorting) storeTo(c *engine.Ctx) {
	n := len(s.shown) * max(len(s.get), 1)
	var buf []byte
	ends := make([]int, 0, n)
	s.eachValue(c, func(b []byte, _ bool) {
		buf = append(buf, b...)
		ends = append(ends, len(buf))
	})
	if n == 0 {
		storedNothing(c, s.store)
		return
	}
	l := object.AsList(c.DB.CreateOver(s.store, object.List, object.EncListpack, listpack.Empty()))
	l.MakeRoom(len(buf), n)
	start := 0
	for _, end := range ends {
		l.Push(buf[start:end], false)
		start = end
	}
	c.Changed(s.store)
	c.Notify(keyspace.EvList, "sortstore", s.store)
	c.Dirty(n)
	c.Int(int64(n))
}
