package engine

import (
	"time"

	"godwit/internal/spec"
)

// DebugSwitches is what DEBUG turns on and off, for tests.
type DebugSwitches struct {
	SkipChecksums bool // of RDB files and payloads (SET-SKIP-CHECKSUM-VALIDATION)
	AllowDenied   bool // scripts call what they may not (SET-DISABLE-DENY-SCRIPTS)
	Leaked        [][]byte
	ReplPause     string // where the process stops (REPL-PAUSE), "" and PauseNowhere for nowhere
}

// The places of DEBUG REPL-PAUSE, and the word that means none of them.
const (
	PauseNowhere       = "clear"
	PauseSnapshot      = "after-fork"            // a snapshot for replicas has begun
	PauseBeforeChannel = "before-rdb-channel"    // a replica is to open its second connection
	PauseKeptStream    = "on-streaming-repl-buf" // a replica is to run what was kept of the stream
)

// PauseAt stops the process if DEBUG REPL-PAUSE has named this place, until it gets a SIGCONT.
func (e *Engine) PauseAt(place string) {
	if e.Debug.ReplPause != place {
		return
	}
	e.Log.Notice("Process is about to stop.")
	stopProcess()
	e.Log.Notice("Process has been continued.")
}

// allows reports whether a script may call a command that is denied to scripts. Scripts within a
// script and transactions stay denied: there is one of each at a time.
func (d *DebugSwitches) allows(cmd *spec.Command) bool {
	return d.AllowDenied && cmd.Group != spec.GroupScripting && cmd.Group != spec.GroupTransactions
}

// SleepBeforeFlush makes the append-only file wait before each write (DEBUG AOF-FLUSH-SLEEP).
func (e *Engine) SleepBeforeFlush(d time.Duration) {
	if log := e.persist.aof; log != nil {
		log.SleepBeforeFlush(d)
	}
}

// SkipChecksums makes loads and RESTORE take data with a wrong checksum, or stops that.
func (e *Engine) SkipChecksums(skip bool) {
	e.Debug.SkipChecksums = skip
	if e.persist.store != nil {
		e.persist.store.SkipChecksums(skip)
	}
}

// KeepTables stops the databases' tables from growing and shrinking (DEBUG DICT-RESIZING 0), or
// lets them again.
func (e *Engine) KeepTables(keep bool) { e.KS.KeepTables = keep }

// ClientBucket counts the clients whose memory is in a range of sizes.
type ClientBucket struct {
	Low     int64 // bytes; the range ends before the next bucket's Low
	Memory  int64
	Clients int
}

// The least sizes of the second and the last bucket, as powers of two.
const (
	firstBucket = 15
	lastBucket  = 32
)

// ClientBuckets returns the clients that maxmemory-clients may close, by their memory.
func (e *Engine) ClientBuckets() []ClientBucket {
	list := make([]ClientBucket, lastBucket-firstBucket+2)
	for i := 1; i < len(list); i++ {
		list[i].Low = 1 << (firstBucket + i - 1)
	}
	e.recountClients()
	e.Clients(func(c *Client) bool {
		if n := c.counted.victims; n > 0 {
			i := 0
			for i+1 < len(list) && n >= list[i+1].Low {
				i++
			}
			list[i].Memory += n
			list[i].Clients++
		}
		return true
	})
	return list
}

// EachScript calls fn with the cached scripts, in no order.
func (e *Engine) EachScript(fn func(sha, body string)) {
	if h := e.script.host; h != nil {
		h.Each(fn)
	}
}
