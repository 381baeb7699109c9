package topology

// Op is an entry of the log.
type Op struct{}
