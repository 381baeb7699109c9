package metrics

import (
	"fmt"
)

// Slowlog is the list of the newest commands that took long, or whose request or reply was large.
// Its entries own their strings. The zero value keeps none until SetMax.
type Slowlog struct {
	ring []SlowEntry // the newest is before next
	next int
	n    int
	max  int
	id   int64
	// argc and arg bound how many arguments an entry has, and the bytes of each.
	argc, arg int
	// bytes is the size of the strings of all entries, with their slices.
	bytes int64
}

// SlowEntry is one line of SLOWLOG GET.
type SlowEntry struct {
	ID         int64
	Time       int64 // Unix time in s
	Value      int64 // µs that it took, or bytes
	Args       []string
	Argc       int // how many arguments it had
	ClientAddr string
	ClientName string
}

// SetEntry bounds what later entries keep: argc arguments, at least 2, and arg bytes of each.
func (l *Slowlog) SetEntry(argc, arg int) { l.argc, l.arg = argc, arg }

// SetMax sets how many entries are kept (slowlog-max-len) and drops the oldest beyond that.
func (l *Slowlog) SetMax(n int) {
	l.max = max(n, 0)
	if l.n > l.max {
		l.resize(l.max)
	}
}

// Add records a command. value is its time in µs or its size, which the caller has compared with
// the threshold. argv is copied, cut as Redis cuts it: of more arguments than an entry keeps, the
// last is a line that counts the others; of a longer one the beginning and a note of the rest.
func (l *Slowlog) Add(timeSec, value int64, argv [][]byte, addr, name string) {
	if l.max == 0 {
		return
	}
	// The ring grows towards max as it fills: slowlog-max-len may be set to anything.
	if l.n == len(l.ring) && l.n < l.max {
		l.resize(min(max(2*l.n, 16), l.max))
	}
	e := &l.ring[l.next]
	l.bytes -= e.bytes() // 0 unless the ring is full
	*e = SlowEntry{l.id, timeSec, value, l.cut(argv), len(argv), addr, name}
	l.bytes += e.bytes()
	l.id++
	l.next = (l.next + 1) % len(l.ring)
	l.n = min(l.n+1, l.max) // a ring from before a SetMax may be larger
}

// resize moves the newest entries into a ring of the given size.
func (l *Slowlog) resize(size int) {
	keep := min(l.n, size)
	ring := make([]SlowEntry, size)
	l.bytes = 0
	for i := range keep {
		ring[keep-1-i] = *l.At(i)
		l.bytes += l.At(i).bytes()
	}
	l.ring, l.n, l.next = ring, keep, 0
	if size > 0 {
		l.next = keep % size
	}
}

// Len returns the number of entries.
func (l *Slowlog) Len() int { return l.n }

// At returns an entry. 0 is the newest. It is valid until the next Add, SetMax or Reset.
func (l *Slowlog) At(i int) *SlowEntry {
	return &l.ring[(l.next-1-i+2*len(l.ring))%len(l.ring)]
}

// Reset drops all entries. IDs go on counting.
func (l *Slowlog) Reset() { l.ring, l.n, l.next, l.bytes = nil, 0, 0, 0 }

// Bytes returns the memory of the list in bytes. It is O(1).
func (l *Slowlog) Bytes() int64 { return l.bytes + int64(len(l.ring))*slowEntrySize }

const (
	slowEntrySize = 88
	stringSize    = 16
)

// bytes returns the size of the entry without its place in the ring.
func (e *SlowEntry) bytes() int64 {
	n := int64(len(e.ClientAddr)+len(e.ClientName)) + int64(len(e.Args))*stringSize
	for _, a := range e.Args {
		n += int64(len(a))
	}
	return n
}

// cut copies the arguments as far as an entry keeps them.
func (l *Slowlog) cut(argv [][]byte) []string {
	n := min(len(argv), l.argc)
	args := make([]string, n)
	for i := range args {
		if i == l.argc-1 && len(argv) > l.argc {
			args[i] = fmt.Sprintf("... (%d more arguments)", len(argv)-l.argc+1)
			break
		}
		if rest := len(argv[i]) - l.arg; rest > 0 {
			args[i] = fmt.Sprintf("%s... (%d more bytes)", argv[i][:l.arg], rest)
		} else {
			args[i] = string(argv[i])
		}
	}
	return args
}
