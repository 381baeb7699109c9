package engine

import "godwit/internal/object"

// localPerTick is how many of these keys one turn of the cron looks at, and localShare which part
// of them, if that is more: so they stay few, however many are written.
const (
	localPerTick = 1000
	localShare   = 4
)

// noteLocal notes a key that a client has changed. What the master changes is none, and neither is
// what a log holds: the master's keys must not go before it says so.
func (e *Engine) noteLocal(key []byte, db int, by *Client) {
	m := e.repl.master
	switch {
	case m == nil || by == nil:
		return
	case e.obeys(by): // the key is the master's now
		if len(m.local) > 0 {
			delete(m.local, localKey{db, string(key)})
		}
		return
	}
	if m.local == nil {
		m.local = localKeys{}
	}
	m.local[localKey{db, string(key)}] = struct{}{}
}

// swapLocal follows the exchange of two databases.
func (e *Engine) swapLocal(i, j int) {
	m := e.repl.master
	if m == nil || len(m.local) == 0 {
		return
	}
	swapped := localKeys{}
	for k := range m.local {
		switch k.db {
		case i:
			k.db = j
		case j:
			k.db = i
		}
		swapped[k] = struct{}{}
	}
	m.local = swapped
}

// expireLocal deletes those of the keys that are due, and forgets those without deadlines.
func (e *Engine) expireLocal() {
	n, most := 0, max(localPerTick, len(e.repl.master.local)/localShare)
	for k := range e.repl.master.local {
		if n++; n > most {
			break
		}
		db := e.KS.DB(k.db)
		en := db.Lookup([]byte(k.key)) // deletes what is due
		if !en.Exists() || en.Deadline() == 0 && !timedFields(en, db.Open) {
			delete(e.repl.master.local, k)
		}
	}
}

// timedFields reports whether the entry is a hash whose fields have deadlines.
func timedFields(en object.Entry, open func(object.Entry) *object.Edit) bool {
	if en.Type() != object.Hash {
		return false
	}
	_, ok := object.AsHash(open(en)).NextDeadline()
	return ok
}
