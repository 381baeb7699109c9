package engine

// MigrationProgress is how far a migration of slots is, as its source or its destination sees it.
type MigrationProgress struct {
	// Sent and Remaining are bytes: of snapshot and changes that the source has sent or the
	// destination has received, and of those that the source still has to send, as far as it knows.
	Sent, Remaining int64
	// Started is when data began to flow, in unix ms, 0: not yet. LastAck is when source and
	// destination last heard of each other.
	Started, LastAck int64
	// PauseMs is for how many ms clients of the slots have been held back by the source.
	PauseMs int64
	// Step says in a word what this node does for the migration.
	Step string
}

// MigrationProgress returns how far the migration with the id is. It reports false if this node has
// no part in it, or knows nothing of it any more.
func (e *Engine) MigrationProgress(id string) (MigrationProgress, bool) {
	p, ok := e.migrations.progress[id]
	return p, ok
}

// migrations is what this node does for migrations of slots.
type migrations struct {
	progress map[string]MigrationProgress
}
