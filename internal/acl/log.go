package acl

// Context says where a refused command came from.
type Context uint8

// The contexts.
const (
	TopLevel Context = iota
	InMulti
	InScript
)

// String returns the context as ACL LOG names it.
func (c Context) String() string { return [...]string{"toplevel", "multi", "lua"}[c] }

// Entry is one refusal, or several equal ones.
type Entry struct {
	ID      int64 // counts entries from 0
	Count   int64
	Reason  Reason
	Context Context
	Object  string // the refused command, key or channel
	User    string
	Client  string // as CLIENT LIST describes it, at the last refusal
	Created int64  // unix ms
	Updated int64  // unix ms of the last refusal
	At      int64  // steady ms of the last refusal; ages count from it
}

const (
	// groupingTime is for how many ms after the last refusal an equal one counts as the same entry.
	groupingTime = 60_000
	// groupingDepth is how many of the newest entries a refusal is compared with. Refusals must
	// stay cheap, whoever causes them.
	groupingDepth = 10
)

// Log is what ACL LOG shows. The zero value is empty.
type Log struct {
	entries []*Entry // newest at the end
	nextID  int64
	bytes   int64 // see Bytes
}

// entryBytes is the size of an entry without its strings, with its place in the list.
const entryBytes = 152

func (e *Entry) bytes() int64 {
	return int64(entryBytes + len(e.Object) + len(e.User) + len(e.Client))
}

// Bytes returns the memory of the log in bytes. It is O(1).
func (l *Log) Bytes() int64 { return l.bytes }

// Add records a refusal. If it equals a recent entry, except for time and client, it counts there.
// A new entry leaves the newest max entries. With a max of 0 the log is emptied.
func (l *Log) Add(e Entry, max int) {
	if max == 0 {
		l.Trim(0)
		return
	}
	n := len(l.entries)
	for i := n - 1; i >= 0 && i >= n-groupingDepth; i-- {
		old := l.entries[i]
		if old.Reason == e.Reason && old.Context == e.Context && old.Object == e.Object &&
			old.User == e.User && e.At-old.At <= groupingTime {
			old.Count++
			l.bytes += int64(len(e.Client) - len(old.Client))
			old.Updated, old.At, old.Client = e.Created, e.At, e.Client
			copy(l.entries[i:], l.entries[i+1:])
			l.entries[n-1] = old
			return
		}
	}
	e.ID, e.Count, e.Updated = l.nextID, 1, e.Created
	l.nextID++
	l.entries = append(l.entries, &e)
	l.bytes += e.bytes()
	l.Trim(max)
}

// Trim drops all but the newest max entries.
func (l *Log) Trim(max int) {
	if over := len(l.entries) - max; over > 0 {
		for _, e := range l.entries[:over] {
			l.bytes -= e.bytes()
		}
		clear(l.entries[:over])
		l.entries = l.entries[over:]
	}
}

// Len returns the number of entries.
func (l *Log) Len() int { return len(l.entries) }

// Newest returns entry i. 0 is the newest.
func (l *Log) Newest(i int) *Entry { return l.entries[len(l.entries)-1-i] }
