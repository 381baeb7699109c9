package engine

// calmAfter is for how long nothing may have reached the clients or come from them, in ms, before
// the server is calm. It is long enough for two rounds of each kind of care for connections.
const calmAfter = 3000

// calm notices that the server has nothing to do for its clients. Then the cron does not go round
// them: with thousands of connections that is most of what an idle server costs.
type calm struct {
	seen    traffic // as of the last cron
	since   int64   // steady ms: when that last changed, or a client had a buffer
	batches int64   // batches that have pushed something to a client
}

// traffic changes with whatever may change a connection or its client.
type traffic struct {
	commands, in, out, connections, batches int64
	clients                                 int
}

// noteTraffic is part of the cron.
func (e *Engine) noteTraffic() {
	now := traffic{e.Stats.Commands, e.Stats.NetIn, e.Stats.NetOut, e.Stats.Connections,
		e.calm.batches, e.clients.n}
	if now != e.calm.seen {
		e.calm.seen, e.calm.since = now, e.Steady()
	}
}

// Calm reports whether going round the clients would find nothing to do: no traffic for seconds, no
// limit of idle time, no buffer that waits to be written or freed.
func (e *Engine) Calm() bool {
	return e.Steady()-e.calm.since >= calmAfter && e.Cfg.Timeout == 0
}
