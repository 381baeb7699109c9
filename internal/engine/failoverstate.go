package engine

// FAILOVER: the master hands its role over to a replica, and loses nothing.
//
//	no-failover → waiting-for-sync → failover-in-progress → no-failover
//
// Writes are held back until a replica has the whole stream. Then this server becomes its replica:
// its PSYNC carries the word FAILOVER, which makes the other a master. Writes that were held back
// are refused then, as by every replica.

// failoverState is how far a failover is.
type failoverState struct {
	step    failoverStep
	host    string // of the replica that takes over, "" for the first that has everything
	port    int
	force   bool
	timeout int64 // ms, 0 for none
	until   int64 // steady ms when the step must be over, 0 for no limit
	// refused says that the replica does not take over.
	refused bool
}

type failoverStep uint8

const (
	failoverNone failoverStep = iota
	failoverWaits
	failoverRuns
)

// FailoverState returns the word that INFO has for the state.
func (e *Engine) FailoverState() string {
	return [...]string{"no-failover", "waiting-for-sync", "failover-in-progress"}[e.failover.step]
}

// FailingOver reports whether a failover is in progress.
func (e *Engine) FailingOver() bool { return e.failover.step != failoverNone }

// endFailover lets commands run again, in whatever role the server has now.
func (e *Engine) endFailover() {
	e.failover = failoverState{}
	e.Unpause(PauseFailover)
}
