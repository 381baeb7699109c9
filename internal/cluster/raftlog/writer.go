package raftlog

import (
	"encoding/binary"
	"fmt"

	"go.etcd.io/bbolt"

	"godwit/internal/cluster/core"
)

// writer is a transaction under way. After the first error it does nothing.
type writer struct {
	l    *Log
	b    *bbolt.Bucket
	sums map[string]uint32
	err  error
}

func (w *writer) apply(b core.Batch) {
	if b.Reset {
		for _, key := range []string{keyMeta, keyHard, keySnapshot} {
			w.drop(key)
		}
		w.cut(w.l.first, w.l.next)
		w.l.first, w.l.next = 0, 0
	}
	for key, value := range map[string][]byte{keyMeta: b.Meta, keyHard: b.Hard,
		keySnapshot: b.Snapshot} {
		if value != nil {
			w.put(key, value)
		}
	}
	if b.Drop >= w.l.first && w.l.next > w.l.first {
		end := w.l.next
		if b.Drop < end {
			end = b.Drop + 1
		}
		w.cut(w.l.first, end)
		w.l.first = end
	}
	w.append(b.Log)
}

// append appends records, in place of those that have the same index or a higher one.
func (w *writer) append(list []core.Record) {
	if len(list) == 0 {
		return
	}
	l, at := w.l, list[0].Index
	switch {
	case l.first == l.next || at < l.first:
		w.cut(l.first, l.next)
		l.first, l.next = at, at
	case at > l.next:
		w.fail(fmt.Errorf("a gap in the log: %d follows %d", at, l.next-1))
		return
	}
	w.cut(at, l.next)
	for i, r := range list {
		if r.Index != at+uint64(i) {
			w.fail(fmt.Errorf("a gap in the log: %d follows %d", r.Index, at+uint64(i)-1))
			return
		}
		w.put(recordKey(r.Index), r.Data)
	}
	l.next = at + uint64(len(list))
}

// cut drops the records from one index up to another.
func (w *writer) cut(from, to uint64) {
	for i := from; i < to; i++ {
		w.drop(recordKey(i))
	}
}

func (w *writer) put(key string, value []byte) {
	sum := checksum(key, value)
	buf := append(binary.BigEndian.AppendUint32(make([]byte, 0, len(value)+4), sum), value...)
	w.fail(w.b.Put([]byte(key), buf))
	w.sums[key] = sum
}

func (w *writer) drop(key string) {
	if _, ok := w.sums[key]; ok {
		w.fail(w.b.Delete([]byte(key)))
		delete(w.sums, key)
	}
}

func (w *writer) fail(err error) {
	if w.err == nil {
		w.err = err
	}
}

// tally writes the record that shows if others are missing.
func (w *writer) tally() {
	value := tallyOf(w.sums)
	sum := checksum(keyTally, value)
	w.fail(w.b.Put([]byte(keyTally), append(binary.BigEndian.AppendUint32(nil, sum), value...)))
}
