package engine

// watching is the state of WATCH: who is to know when a key changes.
//
//	dbs[0]["jobs"] → watchedKey   head → watch ⇄ watch ⇄ watch   one for each client
//	                                       │       │
//	dbs[3]["mail"] → watchedKey   head → watch     │
//	                                       │       │
//	                   Client.watched → list     list
//
// Every change of a key is reported to Engine.keyChanged by database and name. While nobody
// watches, that costs a comparison; else one lookup, whatever else is watched. The first change of
// a watched key decides the client's transaction: the client is marked (watchDirty) and stops
// watching. So no change is told twice, and all changes together cost no more than the watching
// did.
//
// A key that expires changes when it falls due: EXEC looks at the deadlines of its keys. A key that
// is due already when it is watched counts as absent, so its deletion is no change.
type watching struct {
	clients int   // that watch something
	keys    int   // distinct
	names   int64 // bytes of the names of these keys
	dbs     []map[string]*watchedKey
	free    *watch // for the next ones, linked by next
	frees   int
}

// watchedKey is a key that someone watches.
type watchedKey struct {
	db   int
	key  string
	head *watch
}

// watch is one client's interest in one key.
type watch struct {
	client     *Client
	key        *watchedKey
	prev, next *watch // of the key
	other      *watch // of the client
	due        bool   // when it was watched, and not deleted since
}

const (
	watchSize = 160 // bytes of a watch, and of its key and slot, which several may share
	// fewWatches is up to how many keys a client finds its watches by looking at each.
	fewWatches = 16
	keptFrees  = 1024
	indexPlace = 16 // bytes of a place in a client's index of its watches
	freeWatch  = 48 // bytes of a watch alone
)

// watchMemory returns the memory in bytes of the client's watches.
func (c *Client) watchMemory() int64 {
	return int64(c.watches)*watchSize + int64(len(c.watchIndex))*indexPlace
}

// bytes returns the memory of what belongs to no client: the names of keys, and watches kept for
// later.
func (t *watching) bytes() int64 { return t.names + int64(t.frees)*freeWatch }

// WatchedKeys returns how many keys the client watches.
func (c *Client) WatchedKeys() int { return c.watches }

// WatchDirty reports whether a key has changed that the client watched.
func (c *Client) WatchDirty() bool { return c.watchDirty }

// WatchingClients returns the number of clients that watch keys.
func (e *Engine) WatchingClients() int { return e.watching.clients }

// TotalWatchedKeys returns the number of keys that someone watches.
func (e *Engine) TotalWatchedKeys() int { return e.watching.keys }

// Watch makes the client's next transaction depend on the key of its database.
func (e *Engine) Watch(c *Client, key []byte) {
	if c.watchDirty {
		return // what else changes makes no difference
	}
	t := &e.watching
	k := t.key(c.db.ID(), e.KS.Databases(), key)
	if c.watchesKey(k) {
		return
	}
	w := t.alloc()
	w.client, w.key, w.due = c, k, c.db.Due(key)
	if w.next = k.head; k.head != nil {
		k.head.prev = w
	}
	k.head = w
	w.other, c.watched = c.watched, w
	if c.watches++; c.watches == 1 {
		t.clients++
	}
	if c.watches == fewWatches+1 {
		c.watchIndex = make(map[*watchedKey]struct{}, 4*fewWatches)
		for o := c.watched; o != nil; o = o.other {
			c.watchIndex[o.key] = struct{}{}
		}
	} else if c.watchIndex != nil {
		c.watchIndex[k] = struct{}{}
	}
}

// watchesKey reports whether the client watches the key already.
func (c *Client) watchesKey(k *watchedKey) bool {
	if c.watchIndex != nil {
		_, ok := c.watchIndex[k]
		return ok
	}
	for w := c.watched; w != nil; w = w.other {
		if w.key == k {
			return true
		}
	}
	return false
}

// key returns the place where the watchers of a key are listed. It makes one if there is none; it
// must get a watcher then.
func (t *watching) key(db, databases int, key []byte) *watchedKey {
	if t.dbs == nil {
		t.dbs = make([]map[string]*watchedKey, databases)
	}
	if t.dbs[db] == nil {
		t.dbs[db] = map[string]*watchedKey{}
	}
	k := t.dbs[db][string(key)]
	if k == nil {
		k = &watchedKey{db: db, key: string(key)}
		t.dbs[db][k.key] = k
		t.keys++
		t.names += int64(len(key))
	}
	return k
}

func (t *watching) alloc() *watch {
	w := t.free
	if w == nil {
		return &watch{}
	}
	t.free, w.next = w.next, nil
	t.frees--
	return w
}

// stop takes all of the client's watches off.
func (t *watching) stop(c *Client) {
	if c.watched == nil {
		return
	}
	for w := c.watched; w != nil; {
		other := w.other
		t.remove(w)
		w = other
	}
	c.watched, c.watches, c.watchIndex = nil, 0, nil
	t.clients--
}

// remove takes one watch off its key.
func (t *watching) remove(w *watch) {
	k := w.key
	if w.next != nil {
		w.next.prev = w.prev
	}
	if w.prev != nil {
		w.prev.next = w.next
	} else if k.head = w.next; k.head == nil {
		delete(t.dbs[k.db], k.key)
		t.keys--
		t.names -= int64(len(k.key))
		if len(t.dbs[k.db]) == 0 {
			t.dbs[k.db] = nil // a map never gets smaller
		}
	}
	*w = watch{}
	if t.frees < keptFrees {
		w.next, t.free = t.free, w
		t.frees++
	}
}

// touch marks everyone who watches the key.
func (t *watching) touch(k *watchedKey) {
	for k.head != nil {
		c := k.head.client
		c.watchDirty = true
		t.stop(c)
	}
}

// keyChanged marks those who watch the key.
func (e *Engine) keyChanged(key []byte, db int) {
	t := &e.watching
	if t.clients == 0 || t.dbs[db] == nil {
		return
	}
	k := t.dbs[db][string(key)]
	if k == nil {
		return
	}
	for w := k.head; w != nil; {
		next := w.next
		if w.due && !e.KS.DB(db).Has(key) {
			w.due = false
		} else {
			w.client.watchDirty = true
			t.stop(w.client)
		}
		w = next
	}
}

// Unwatch ends all of the client's watches (UNWATCH), and forgets what they have seen.
func (e *Engine) Unwatch(c *Client) {
	e.watching.stop(c)
	c.watchDirty = false
}

// expireWatched marks the client if a key that it watches has fallen due.
func (e *Engine) expireWatched(c *Client) {
	for w := c.watched; w != nil; w = w.other {
		if !w.due && e.KS.DB(w.key.db).Due([]byte(w.key.key)) {
			c.watchDirty = true
			return
		}
	}
}
