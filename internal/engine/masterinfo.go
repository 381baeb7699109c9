package engine

// MasterInfo is what INFO says of the link to the master.
type MasterInfo struct {
	Host       string
	Port       int
	Up         bool
	LastIO     int64 // seconds, -1 while the link is down
	ReadOffset int64 // of what has been received
	Offset     int64 // of what has been applied
	DownSince  int64 // seconds, -1 if the link was never up
	Syncing    bool
	// The full synchronization, in bytes and seconds.
	SyncTotal, SyncRead, SyncLastIO int64
	Attempts, AttemptsInAll         int64
	// What is kept of the stream meanwhile, in bytes.
	Kept, KeptPeak int64
}

// Info returns the state of the link.
func (m *Master) Info(e *Engine) MasterInfo {
	i := MasterInfo{
		Host: m.Host, Port: m.Port, Up: m.state == LinkConnected, LastIO: -1,
		Offset: nothingOffset, DownSince: -1, Syncing: m.state == LinkSync,
		Attempts: m.attempts, AttemptsInAll: m.attemptsAt,
	}
	if m.cached || m.client != nil {
		i.Offset = e.Feed.Offset()
	}
	i.ReadOffset = i.Offset
	if c := m.client; c != nil {
		i.LastIO = (e.Steady() - c.LastUsed) / 1000
		in, _, _ := c.Conn.Buffers()
		i.ReadOffset += int64(in+len(m.pending)) + m.keptLag()
	}
	if m.downSince != 0 {
		i.DownSince = (e.Steady() - m.downSince) / 1000
	}
	if a := m.attempt; a != nil && i.Syncing {
		i.SyncTotal, i.SyncRead = a.Progress.Total.Load(), a.Progress.Read.Load()
		i.SyncLastIO = (e.Steady() - a.began - a.Progress.LastIO.Load()) / 1000
	}
	i.Kept, i.KeptPeak = m.keptBytes(), m.keptPeak
	return i
}

// nothingOffset is what INFO says of a replica that has nothing of its master's history, as Redis.
const nothingOffset = 1

// RoleOffset returns how far this replica is in its master's history, -1 while the link is down.
func (m *Master) RoleOffset(e *Engine) int64 {
	if m.client == nil {
		return -1
	}
	return e.Feed.Offset()
}
