package persist

// AOFInfo is what INFO persistence shows.
type AOFInfo struct {
	Enabled             bool
	FirstBase           bool // switched on, but not yet complete
	RewriteInProgress   bool
	RewriteScheduled    bool
	LastRewriteSeconds  int64 // -1: none yet
	CurrentSeconds      int64 // -1: none is running
	LastRewriteOK       bool
	Rewrites            int64
	ConsecutiveFailures int64
	LastWriteOK         bool

	CurrentSize, BaseSize int64 // bytes; from here on only meaningful when enabled
	BufferLength          int
	PendingSyncs          int
	DelayedFsync          int64
}

// NoAOF is the state without a log.
var NoAOF = AOFInfo{LastRewriteSeconds: -1, CurrentSeconds: -1,
	LastRewriteOK: true, LastWriteOK: true}

// Info returns what INFO shows.
func (a *AOF) Info() AOFInfo {
	i := AOFInfo{
		Enabled: a.state != aofOff, FirstBase: a.insist.wanted ||
			a.state != aofOff && a.Synced() < 0,
		RewriteInProgress: a.rw.running, RewriteScheduled: a.rw.scheduled,
		LastRewriteSeconds: a.rw.lastSeconds, CurrentSeconds: -1, LastRewriteOK: a.rw.lastStatus,
		Rewrites: a.rw.count, ConsecutiveFailures: a.rw.failures,
		LastWriteOK: a.writeErr == nil && a.work.syncError() == nil,
		CurrentSize: a.size(), BaseSize: a.baseSize, BufferLength: a.buffered(),
		PendingSyncs: a.work.pending(), DelayedFsync: a.delayed,
	}
	if a.rw.running {
		i.CurrentSeconds = (a.o.Now() - a.rw.started) / 1000
	}
	return i
}
