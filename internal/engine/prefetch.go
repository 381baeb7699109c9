package engine

import (
	"godwit/internal/keyspace"
	"godwit/internal/object"
	"godwit/internal/spec"
)

// PrefetchMax is how many commands Prefetch takes.
const PrefetchMax = 16

// prefetchKeys is how many keys Prefetch takes of them together.
const prefetchKeys = 32

// prefetch is what Prefetch works with.
type prefetch struct {
	n      int // keys
	hashes [prefetchKeys]uint64
	// In a cluster, the gate takes the hashes from here. next is the first that it may ask for.
	keys   [prefetchKeys][]byte
	next   int
	warmup object.Warmup

	// The commands whose values are to be fetched.
	values int
	value  [PrefetchMax]prefetchValue
}

type prefetchValue struct {
	touch Touch
	key   []byte // the first
	argv  [][]byte
}

// Prefetch brings into the cache what the next commands of a client will read: all buckets of their
// first keys, then all entries, then what some commands read of the values. Each step depends on
// the one before. It changes nothing, and the commands may do something else in the end. The
// executor is held.
//
// The misses of a whole pipeline overlap so. They are most of the cost of a lookup in a large data
// set.
func (e *Engine) Prefetch(c *Client, commands [][][]byte) {
	p, db := &e.prefetch, c.db
	p.n, p.next, p.values = 0, 0, 0
	worth := db.PrefetchWorth()
	var name, key []byte // of the command before, the name only if it is not worth repeating
	for _, argv := range commands {
		if len(argv) < 2 {
			continue
		}
		same := string(argv[1]) == string(key)
		if same && string(argv[0]) == string(name) {
			continue
		}
		cmd := e.table.Top(argv[0])
		if cmd == nil {
			continue
		}
		keys := cmd.LeadingKeys(argv)
		if len(keys) == 0 {
			continue
		}
		again := same && cmd.FirstKey() == 1
		if name, key = nil, nil; cmd.FirstKey() == 1 {
			key = argv[1]
		}
		if !e.prefetchLater(cmd, argv, keys[0]) && key != nil {
			name = argv[0]
		}
		if !worth || again {
			continue // cached, or asked for
		}
		for _, k := range keys[:min(len(keys), prefetchKeys-p.n)] {
			h := e.KS.Hash(k)
			db.PrefetchBucket(h)
			p.hashes[p.n] = h
			if e.cluster.on {
				p.keys[p.n] = k
			}
			p.n++
		}
	}
	db.PrefetchEntries(p.hashes[:p.n])
	if p.values > 0 {
		e.prefetchValues(c)
	}
}

// EndPrefetch forgets the keys that Prefetch was given. Until then, or until the next Prefetch,
// their memory must not be used for other keys.
func (e *Engine) EndPrefetch() {
	p := &e.prefetch
	clear(p.keys[:p.n])
	p.n, p.next = 0, 0
}

// prefetchAhead is how many keys knowHash passes over in search of one.
const prefetchAhead = 4

// knowHash returns the hash of the only key of a command that is about to run. Lookups of the key
// do not compute it again, until forgetHash.
func (e *Engine) knowHash(key []byte) uint64 {
	p := &e.prefetch
	for i := p.next; i < min(p.n, p.next+prefetchAhead); i++ {
		if k := (keyspace.KnownHash{Key: p.keys[i], Hash: p.hashes[i]}); k.Is(key) {
			p.next = i + 1
			e.KS.Know(k)
			return k.Hash
		}
	}
	h := e.KS.Hash(key)
	e.KS.Know(keyspace.KnownHash{Key: key, Hash: h})
	return h
}

// forgetHash is called when the command has run.
func (e *Engine) forgetHash() { e.KS.Know(keyspace.KnownHash{}) }

// Warmup returns what handlers may use to look ahead themselves.
func (e *Engine) Warmup() *object.Warmup {
	e.prefetch.warmup.H = e.KS.Heap
	return &e.prefetch.warmup
}

// prefetchLater notes a command if it reads parts of its first key's value, and reports that.
func (e *Engine) prefetchLater(cmd *spec.Command, argv [][]byte, key []byte) bool {
	p := &e.prefetch
	touch := &e.table.touch[cmd.ID()]
	if touch.does == nil || touch.worth != nil && !touch.worth(e.KS.Heap) {
		return false
	}
	if p.values < len(p.value) && cmd.AcceptsArgs(len(argv)) {
		p.value[p.values] = prefetchValue{touch.does, key, argv}
		p.values++
	}
	return true
}

// prefetchValues goes on with the values.
func (e *Engine) prefetchValues(c *Client) {
	p := &e.prefetch
	p.warmup.H = e.KS.Heap
	var entry object.Entry
	for i := range p.value[:p.values] {
		v := &p.value[i]
		if i == 0 || string(v.key) != string(p.value[i-1].key) {
			entry = c.db.Glance(v.key)
		}
		v.touch(&p.warmup, entry, v.argv)
	}
	p.warmup.Run()
	clear(p.value[:p.values]) // the arguments are the connection's
}
