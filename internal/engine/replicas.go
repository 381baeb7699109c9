package engine

// replicas are the servers that copy this one's data.
type replicas struct {
	list []*Replica
}

// Replica is a server that copies this one's data.
type Replica struct {
	Client *Client
}

// dropReplicas ends the connections of all replicas: what they have is not what this server has
// any more. Those that come back get a full sync, unless the new history has theirs.
func (e *Engine) dropReplicas() {}

// dropBacklog forgets the stream of the past.
func (e *Engine) dropBacklog() {}

// ensureBacklog begins to keep the stream, if that is not done yet.
func (e *Engine) ensureBacklog() {}

// replicationCron is called once a second: pings, timeouts, delays.
func (e *Engine) replicationCron() {}
