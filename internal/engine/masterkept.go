package engine

import "sync"

// MasterInputLimit returns how many bytes of the master's stream may wait for the end of the
// command or the transaction that they belong to. A master's own limits are not known, and it sends
// whatever it has carried out, so those of clients are the least that it may send. More must fit
// into half of the machine's memory, and into maxmemory.
func (e *Engine) MasterInputLimit() int64 {
	room := totalMemory() / 2
	if limit := e.Cfg.Maxmemory; limit > 0 {
		room = min(room, limit)
	}
	return max(e.Cfg.QueryBufLimit, e.Cfg.ProtoMaxBulkLen, room)
}

// totalMemory returns the machine's memory, asking once.
var totalMemory = sync.OnceValue(SystemMemory)

// A full synchronization over two connections (repl-rdb-channel): the stream that comes meanwhile
// is kept here, outside of Go's heap. When the RDB file is loaded, the connection runs what was
// kept like any other input, some in each turn, and goes on with what the socket has.

// keepLimit returns how much of the stream may be kept.
func (e *Engine) keepLimit() int64 {
	if n := e.Cfg.ReplicaFullSyncBufferLimit; n > 0 {
		return n
	}
	if n := e.Cfg.OutputLimits[ClassReplica].Hard; n > 0 {
		return n
	}
	return e.MasterInputLimit() // the rest waits in the socket, and at the master
}

// keptBytes returns the memory of what is kept.
func (m *Master) keptBytes() (n int64) {
	if a := m.attempt; a != nil && a.Kept != nil {
		n = a.Kept.Bytes()
	} else if m.kept != nil {
		n = m.kept.Bytes()
	}
	m.keptPeak = max(m.keptPeak, n)
	return n
}

// keptLag returns how much of what was kept is still to be applied.
func (m *Master) keptLag() int64 {
	if m.kept == nil {
		return 0
	}
	n := m.kept.Reader(0).Lag()
	if n == 0 {
		m.kept = nil
	}
	return n
}
