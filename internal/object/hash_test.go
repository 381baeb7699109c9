package object

import (
	"fmt"
	"hash/maphash"
	"maps"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"godwit/internal/arena"
	"godwit/internal/invariant"
	"godwit/internal/listpack"
	"godwit/internal/testseed"
)

// hashModel is a hash as a plain map, with deadlines.
type hashModel map[string]modelField

type modelField struct {
	value    string
	deadline int64
}

// visible returns the model without what is due.
func (m hashModel) visible(now int64) map[string]modelField {
	out := map[string]modelField{}
	for f, v := range m {
		if v.deadline == 0 || v.deadline >= now {
			out[f] = v
		}
	}
	return out
}

// check walks a hash and compares what its header says with what is there.
func (h Fields) check() error {
	switch h.Base() {
	case EncHashtable:
		return h.table().check()
	case EncPairs:
		if b := h.Bytes(); string(listpack.PairsOf(nil, listpack.PairsListpack(nil, b))) !=
			string(b) {
			return fmt.Errorf("object: pairs change on their way through a listpack")
		}
		return listpack.Validate(listpack.PairsListpack(nil, h.Bytes()))
	}
	lp := h.exBytes()
	last, ordered := int64(0), true
	exEach(lp, func(_, _ listpack.Value, deadline int64) bool {
		ordered = ordered && (deadline == 0 || last != -1 && deadline >= last)
		if last = deadline; deadline == 0 {
			last = -1
		}
		return true
	})
	if !ordered {
		return fmt.Errorf("object: deadlines are not in order")
	}
	return listpack.Validate(lp)
}

func (m hashModel) compare(t *testing.T, h Fields) {
	t.Helper()
	if err := h.check(); err != nil {
		t.Fatal(err)
	}
	want := m.visible(h.H.Now)
	if h.Len() != len(want) || h.QuickLen() != len(want) {
		t.Fatalf("Len %d, want %d", h.Len(), len(want))
	}
	got := map[string]modelField{}
	h.EachDeadline(func(f, v listpack.Value, d int64) bool {
		got[string(f.Append(nil))] = modelField{string(v.Append(nil)), d}
		return true
	})
	if !maps.Equal(got, want) {
		t.Fatalf("%v: got %v, want %v", h.Base(), got, want)
	}
	next := int64(0)
	for _, v := range m {
		if v.deadline != 0 && (next == 0 || v.deadline < next) {
			next = v.deadline
		}
	}
	if d, ok := h.NextDeadline(); d != next && (ok || next != 0) {
		t.Fatalf("NextDeadline %d, %v, want %d", d, ok, next)
	}
}

// newHashEdit makes an empty hash and returns how to free it, which leaves nothing in the arena.
func newHashEdit(t testing.TB, h *Heap) (x *Edit, free func()) {
	used := h.A.Used()
	x = new(Edit)
	v := PackedValue(h.A, Hash, EncPairs, listpack.PairsEmpty())
	x.Reset(h, Build(h.A, []byte("key"), &v, Meta{}), &oneSlot{})
	return x, func() {
		o := h.Take(x.E)
		o.Free(h)
		x.E.FreeBlock(h.A)
		if h.A.Used() != used {
			t.Errorf("%d bytes leaked", h.A.Used()-used)
		}
	}
}

func newTestHeap(t testing.TB, lim *Limits) *Heap {
	seed := testseed.New(t)
	h := NewHeap(arena.New(), maphash.MakeSeed(), rand.New(rand.NewPCG(seed, 1)), lim)
	h.Now = 1_000_000
	return h
}

// TestHashAgainstModel changes hashes at random under small and large limits, with the clock
// running, and compares each step with a map.
func TestHashAgainstModel(t *testing.T) {
	for _, lim := range []Limits{{}, {HashMaxListpackEntries: 8, HashMaxListpackValue: 20},
		{HashMaxListpackEntries: 512, HashMaxListpackValue: 64}} {
		t.Run(fmt.Sprintf("%d,%d", lim.HashMaxListpackEntries, lim.HashMaxListpackValue),
			func(t *testing.T) {
				heap := newTestHeap(t, &lim)
				for range 6 {
					x, free := newHashEdit(t, heap)
					h, m := AsHash(x), hashModel{}
					for range 400 {
						m.step(t, h)
						m.compare(t, h)
					}
					free()
				}
			})
	}
}

func randomValue(r *rand.Rand) string {
	switch r.IntN(4) {
	case 0:
		return strconv.Itoa(r.IntN(1 << r.IntN(40)))
	case 1:
		return strings.Repeat("v", r.IntN(100))
	case 2:
		return strings.Repeat("w", r.IntN(10_000))
	default:
		return "value"
	}
}

// step does one random thing to both.
func (m hashModel) step(t *testing.T, h Fields) {
	t.Helper()
	r := h.H.Rand
	f := strconv.Itoa(r.IntN(30))
	if r.IntN(3) == 0 {
		f = "field:" + f
	}
	old, has := m.visible(h.H.Now)[f]
	switch r.IntN(10) {
	case 0, 1, 2:
		v := randomValue(r)
		if h.Set([]byte(f), []byte(v)) == has {
			t.Fatalf("Set %q: created %v", f, has)
		}
		m[f] = modelField{value: v}
	case 3:
		v := randomValue(r)
		h.SetKeep([]byte(f), []byte(v))
		m[f] = modelField{v, old.deadline}
	case 4, 5:
		if h.Delete([]byte(f)) != has {
			t.Fatalf("Delete %q: %v", f, !has)
		}
		delete(m, f)
	case 6, 7:
		d := int64(0)
		if r.IntN(4) > 0 {
			d = h.H.Now + int64(r.IntN(100))
		}
		if has {
			h.SetDeadline([]byte(f), d)
			m[f] = modelField{old.value, d}
		}
	case 8:
		h.H.Now += int64(r.IntN(20))
	default:
		m.expire(t, h, 1+r.IntN(5))
	}
	m.query(t, h, f)
}

// expire takes due fields away, in order.
func (m hashModel) expire(t *testing.T, h Fields, budget int) {
	t.Helper()
	last := int64(0)
	n := h.ExpireDue(budget, func(f []byte) {
		v, has := m[string(f)]
		if !has || v.deadline == 0 || v.deadline >= h.H.Now || v.deadline < last {
			t.Fatalf("expired %q: %v, after %d at %d", f, v, last, h.H.Now)
		}
		last = v.deadline
		delete(m, string(f))
	})
	if left := len(m) - len(m.visible(h.H.Now)); n < budget && left > 0 {
		t.Fatalf("%d of %d expired, %d left", n, budget, left)
	}
}

// query compares all ways of reading one field with the model.
func (m hashModel) query(t *testing.T, h Fields, f string) {
	t.Helper()
	want, has := m.visible(h.H.Now)[f]
	v, ok := h.Get([]byte(f))
	d, ok2 := h.Deadline([]byte(f))
	if ok != has || ok2 != has || d != want.deadline || has && string(v.Append(nil)) != want.value {
		t.Fatalf("%q: %q %v, deadline %d %v; want %v %v", f, v.Append(nil), ok, d, ok2, want, has)
	}
}

// TestHashReserve tells when a hash becomes a table before anything is put in.
func TestHashReserve(t *testing.T) {
	heap := newTestHeap(t, &Limits{HashMaxListpackEntries: 4, HashMaxListpackValue: 8})
	for _, c := range []struct {
		pairs string
		want  Encoding
	}{
		{"a 1 b 2 c 3 d 4", EncPairs},
		{"a 1 a 1 a 1 a 1 a 1", EncHashtable},
		{"a 12345678", EncPairs},
		{"a 123456789", EncHashtable},
		{"abcdefghi 1", EncHashtable},
	} {
		x, free := newHashEdit(t, heap)
		var pairs [][]byte
		for _, s := range strings.Fields(c.pairs) {
			pairs = append(pairs, []byte(s))
		}
		AsHash(x).Reserve(pairs)
		if x.Base() != c.want {
			t.Errorf("%s: %v, want %v", c.pairs, x.Base(), c.want)
		}
		free()
	}
}

// TestHashClone makes a copy of a table with deadlines; both live on by themselves.
func TestHashClone(t *testing.T) {
	heap := newTestHeap(t, &Limits{})
	x, free := newHashEdit(t, heap)
	h, m := AsHash(x), hashModel{}
	for range 1000 {
		m.step(t, h)
	}
	h.ExpireDue(1000, func(f []byte) { delete(m, string(f)) })
	y, freeCopy := newHashEdit(t, heap)
	y.SetLarge(EncHashtable, x.Large().Clone(heap))
	m.compare(t, AsHash(y))
	for f := range m.visible(heap.Now) {
		AsHash(y).Delete([]byte(f))
	}
	if AsHash(y).Len() != 0 {
		t.Error("not empty")
	}
	m.compare(t, h)
	freeCopy()
	free()
}

// TestHashRandom counts how often each field comes up.
func TestHashRandom(t *testing.T) {
	const fields, each = 60, 400
	for _, lim := range []Limits{{}, {HashMaxListpackEntries: 100, HashMaxListpackValue: 64}} {
		heap := newTestHeap(t, &lim)
		x, free := newHashEdit(t, heap)
		h := AsHash(x)
		for i := range fields {
			h.Set(fmt.Appendf(nil, "f%d", i), []byte("v"))
		}
		h.SetDeadline([]byte("f0"), heap.Now-1)
		for _, sample := range []func(f func(f, v listpack.Value)){
			func(f func(f, v listpack.Value)) {
				h.RandomFields(fields*each, func(field, v listpack.Value) bool {
					f(field, v)
					return true
				})
			},
			func(f func(f, v listpack.Value)) {
				for range each * fields / 4 {
					h.SampleFields(4, f)
				}
			},
			func(f func(f, v listpack.Value)) {
				for range each * fields / 40 {
					h.SampleFields(40, f)
				}
			},
		} {
			seen := map[string]int{}
			sample(func(f, _ listpack.Value) { seen[string(f.B)]++ })
			if len(seen) != fields-1 || seen["f0"] != 0 {
				t.Errorf("%v: %d fields seen, %d times one that is due", x.Base(), len(seen),
					seen["f0"])
			}
			for f, n := range seen {
				if n < each/3 || n > each*3 {
					t.Errorf("%v: %s came up %d times, about %d expected", x.Base(), f, n, each)
				}
			}
		}
		free()
	}
}

// TestHashScan finds every field that stays, whatever comes and goes.
func TestHashScan(t *testing.T) {
	heap := newTestHeap(t, &Limits{})
	x, free := newHashEdit(t, heap)
	h := AsHash(x)
	for i := range 3000 {
		h.Set(fmt.Appendf(nil, "stay:%d", i), []byte("v"))
	}
	seen := map[string]bool{}
	for cursor, n := uint64(0), 0; ; n++ {
		cursor, _ = h.ScanStep(cursor, func(f, _ listpack.Value) { seen[string(f.B)] = true })
		if cursor == 0 {
			break
		}
		for range 20 {
			f := fmt.Appendf(nil, "go:%d", heap.Rand.IntN(20_000))
			if !h.Delete(f) && n%200 < 100 {
				h.Set(f, []byte("v"))
			}
		}
	}
	for i := range 3000 {
		if f := fmt.Sprintf("stay:%d", i); !seen[f] {
			t.Errorf("%s was not returned", f)
		}
	}
	free()
}

// TestHashAllocs checks that reading and writing fields costs no Go memory.
func TestHashAllocs(t *testing.T) {
	if invariant.Enabled {
		t.Skip("the checks allocate")
	}
	for _, lim := range []Limits{{}, {HashMaxListpackEntries: 128, HashMaxListpackValue: 64}} {
		heap := newTestHeap(t, &lim)
		x, free := newHashEdit(t, heap)
		h := AsHash(x)
		field, value := []byte("field:12"), []byte("some value")
		for i := range 50 {
			h.Set(fmt.Appendf(nil, "field:%d", i), value)
		}
		n := testing.AllocsPerRun(100, func() {
			h.Set(field, value)
			if v, ok := h.Get(field); !ok || v.Len() != len(value) {
				t.Fatal("lost")
			}
			h.Set(field, value[:3])
			h.Delete(field)
		})
		if n != 0 {
			t.Errorf("%v: %v allocations", x.Base(), n)
		}
		free()
	}
}
