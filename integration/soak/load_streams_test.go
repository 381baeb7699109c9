package soak

import "godwit/internal/resp/client"

// streamOps are the commands of streams. Streams are of all sizes: the first keys grow until they
// are trimmed, the others have some entries each.
var streamOps = []func(*worker){
	addEntries, addEntries, addEntries, trimEntries, readEntries, deliver, deliver, claimEntries,
	dropGroup,
}

// streamsAtLimit fills the cache with streams, and with what their groups have pending.
func streamsAtLimit(r *run) {
	w := newWorker(r)
	for i := 0; i < 150*r.size && r.ok(); i++ {
		w.step(streamOps)
	}
}

func (w *worker) group() string { return key("g", w.rnd.IntN(2)) }

func (w *worker) consumer() string { return key("c", w.rnd.IntN(1+w.rnd.IntN(20))) }

// addEntries adds entries, mostly of the same fields and small, and now and then trims.
func addEntries(w *worker) {
	k, largest := w.any("stream"), 1<<8
	if w.rnd.IntN(20) == 0 {
		largest = 1 << 15
	}
	for range 1 + w.rnd.IntN(40) {
		args := []any{"XADD", k}
		switch w.rnd.IntN(20) {
		case 0:
			args = append(args, "MAXLEN", 1+w.rnd.IntN(1000))
		case 1, 2:
			args = append(args, "MAXLEN", "~", 1000)
		}
		args = append(args, "*", "kind", w.rnd.IntN(9), "job",
			blob(w.rnd, mixedSize(w.rnd, largest)))
		if w.rnd.IntN(9) == 0 {
			args = append(args, blob(w.rnd, 9), w.rnd.IntN(1000))
		}
		w.do(args...)
	}
}

func trimEntries(w *worker) {
	if w.rnd.IntN(2) == 0 {
		w.do("XTRIM", w.any("stream"), "MAXLEN", w.rnd.IntN(500))
		return
	}
	w.do("XTRIM", w.any("stream"), "MAXLEN", "~", w.rnd.IntN(500), "LIMIT", 1000)
}

func readEntries(w *worker) {
	k := w.any("stream")
	switch w.rnd.IntN(4) {
	case 0:
		w.do("XREVRANGE", k, "+", "-", "COUNT", 50)
	case 1:
		w.do("XPENDING", k, w.group(), "IDLE", 1, "-", "+", 100)
	case 2:
		w.do("XREAD", "COUNT", 20, "STREAMS", k, w.any("stream"), 0, 0)
	default:
		w.do("XRANGE", k, "-", "+", "COUNT", 50)
	}
}

// deliver reads for a consumer. It acknowledges some of what it gets, deletes some, and leaves the
// rest pending.
func deliver(w *worker) {
	k, g := w.any("stream"), w.group()
	w.do("XGROUP", "CREATE", k, g, 0, "MKSTREAM")
	w.c.flush()
	acks, drops := []any{"XACK", k, g}, []any{"XDEL", k}
	for _, id := range entryIDs(w.c.do("XREADGROUP", "GROUP", g, w.consumer(), "COUNT",
		1+w.rnd.IntN(100), "STREAMS", k, ">")) {
		switch w.rnd.IntN(4) {
		case 0, 1:
			acks = append(acks, id)
		case 2:
			drops = append(drops, id)
		}
	}
	if len(acks) > 3 {
		w.do(acks...)
	}
	if len(drops) > 2 {
		w.do(drops...)
	}
}

// entryIDs returns the IDs in the reply to a read of one stream.
func entryIDs(v client.Value) (ids []any) {
	if len(v.Elems) == 0 || len(v.Elems[0].Elems) < 2 {
		return nil // nothing is there, or the command was refused
	}
	for _, e := range v.Elems[0].Elems[1].Elems {
		ids = append(ids, e.Elems[0].Text())
	}
	return ids
}

func claimEntries(w *worker) {
	args := []any{"XAUTOCLAIM", w.any("stream"), w.group(), w.consumer(), w.rnd.IntN(2), 0,
		"COUNT", 1 + w.rnd.IntN(100)}
	if w.rnd.IntN(2) == 0 {
		args = append(args, "JUSTID")
	}
	w.do(args...)
}

func dropGroup(w *worker) {
	if w.rnd.IntN(2) == 0 {
		w.do("XGROUP", "DELCONSUMER", w.any("stream"), w.group(), w.consumer())
		return
	}
	w.do("XGROUP", "DESTROY", w.any("stream"), w.group())
}
