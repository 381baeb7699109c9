package pubsub

import (
	"maps"
	"slices"
)

// Table remembers which clients, by their IDs, may have cached which keys. Keys of all databases
// share one name space, as in Redis: a client caches by name.
//
// The table forgets a key when it is told of a change. The client must read the key again to hear
// of the next change. So its size is what clients have read and nobody has changed since, and
// evicting keys (Any, Take) bounds it.
type Table struct {
	keys  map[string]*readers
	items int
	bytes int64
}

// readers are the clients that have read one key. Nearly always they are few, so they are in a
// slice until there are many.
type readers struct {
	few  []uint64
	many map[uint64]struct{}
}

const (
	fewReaders  = 8
	keyBytes    = 112 // the approximate size of a key without its name, with one reader
	readerBytes = 16
)

// Remember records that the client has read the key.
func (t *Table) Remember(key []byte, id uint64) {
	r := t.keys[string(key)]
	if r == nil {
		if t.keys == nil {
			t.keys = map[string]*readers{}
		}
		r = &readers{}
		t.keys[string(key)] = r
		t.bytes += keyBytes + int64(len(key))
	}
	if r.add(id) {
		t.items++
		t.bytes += readerBytes
	}
}

func (r *readers) add(id uint64) bool {
	if r.many != nil {
		if _, ok := r.many[id]; ok {
			return false
		}
		r.many[id] = struct{}{}
		return true
	}
	if slices.Contains(r.few, id) {
		return false
	}
	if len(r.few) < fewReaders {
		r.few = append(r.few, id)
		return true
	}
	r.many = make(map[uint64]struct{}, 2*fewReaders)
	for _, o := range r.few {
		r.many[o] = struct{}{}
	}
	r.few = nil
	r.many[id] = struct{}{}
	return true
}

// Take removes the key and calls fn with each client that had read it.
func (t *Table) Take(key []byte, fn func(id uint64)) {
	r := t.keys[string(key)]
	if r == nil {
		return
	}
	delete(t.keys, string(key))
	n := len(r.few) + len(r.many)
	t.items -= n
	t.bytes -= keyBytes + int64(len(key)) + int64(n)*readerBytes
	for _, id := range r.few {
		fn(id)
	}
	for id := range r.many {
		fn(id)
	}
}

// Any returns some key of the table, or nil if it is empty.
func (t *Table) Any() []byte {
	for key := range t.keys {
		return []byte(key)
	}
	return nil
}

// Clear removes everything.
func (t *Table) Clear() { *t = Table{} }

// Len returns the number of keys.
func (t *Table) Len() int { return len(t.keys) }

// Items returns the number of pairs of key and client.
func (t *Table) Items() int { return t.items }

// Bytes returns the approximate memory of the table.
func (t *Table) Bytes() int64 { return t.bytes }

// Broadcast tells clients of changes to keys by prefix, whether or not they have read them. It
// collects changes (Changed) and hands them out together (Flush), each key once.
type Broadcast[O comparable] struct {
	index    prefixIndex[[]*prefix[O]]
	prefixes map[string]*prefix[O]
	pending  []*prefix[O] // those with changes
}

type prefix[O comparable] struct {
	name    string
	clients []O
	changed map[string]O // by key: who has changed it last
}

// Add makes Flush tell the client of keys that begin with the prefix.
func (b *Broadcast[O]) Add(o O, name string) {
	p := b.prefixes[name]
	if p == nil {
		if b.prefixes == nil {
			b.prefixes = map[string]*prefix[O]{}
		}
		p = &prefix[O]{name: name}
		b.prefixes[name] = p
		list := b.index.at(name[:min(len(name), maxPrefix)])
		*list = append(*list, p)
	}
	if !slices.Contains(p.clients, o) {
		p.clients = append(p.clients, o)
	}
}

// Remove ends what Add began.
func (b *Broadcast[O]) Remove(o O, name string) {
	p := b.prefixes[name]
	if p == nil {
		return
	}
	if i := slices.Index(p.clients, o); i >= 0 {
		p.clients = slices.Delete(p.clients, i, i+1)
	}
	if len(p.clients) > 0 {
		return
	}
	delete(b.prefixes, name)
	begin := name[:min(len(name), maxPrefix)]
	list := b.index.at(begin)
	*list = slices.DeleteFunc(*list, func(q *prefix[O]) bool { return q == p })
	if len(*list) == 0 {
		b.index.remove(begin)
	}
}

// Len returns the number of prefixes.
func (b *Broadcast[O]) Len() int { return len(b.prefixes) }

// Pending reports whether Flush has something to do.
func (b *Broadcast[O]) Pending() bool { return len(b.pending) > 0 }

// Changed records that by has changed the key.
func (b *Broadcast[O]) Changed(key []byte, by O) {
	if len(b.prefixes) == 0 {
		return
	}
	b.index.prefixesOf(key, func(list *[]*prefix[O]) {
		for _, p := range *list {
			if len(p.name) > len(key) || string(key[:len(p.name)]) != p.name {
				continue
			}
			if len(p.changed) == 0 {
				b.pending = append(b.pending, p)
			}
			if p.changed == nil {
				p.changed = map[string]O{}
			}
			p.changed[string(key)] = by
		}
	})
}

// Flush calls fn for each prefix with changes: its clients, and the keys in order. by returns who
// changed a key last. fn must not change the prefixes.
func (b *Broadcast[O]) Flush(fn func(clients []O, keys []string, by func(key string) O)) {
	for i, p := range b.pending {
		b.pending[i] = nil
		changed := p.changed
		p.changed = nil
		if len(p.clients) > 0 {
			fn(p.clients, slices.Sorted(maps.Keys(changed)), func(key string) O {
				return changed[key]
			})
		}
	}
	b.pending = b.pending[:0]
}
