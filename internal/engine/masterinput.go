package engine

// CheckMasterInput gives up the link to the master if more of its stream waits than may. n is what
// the connection of its client holds, in bytes. held says that the commands are held back, for
// example by CLIENT PAUSE: then nothing is wrong with them.
func (e *Engine) CheckMasterInput(c *Client, n int64, held bool) {
	m, limit := e.repl.master, e.MasterInputLimit()
	if m == nil || m.client != c || c.CloseASAP {
		return
	}
	if n += heapShare * (c.MultiMemory() + int64(cap(m.pending))); n <= limit {
		return
	}
	why := "a command or a transaction of it has no end so far"
	if held {
		why = "its commands are held back"
	} else {
		e.distrustMaster(c)
	}
	e.Log.Warning("Closing the link to the master: its stream takes %d bytes, because %s. The "+
		"limit is %d: half of the machine's memory, but no more than maxmemory, or "+
		"client-query-buffer-limit or proto-max-bulk-len if one of them is larger", n, why, limit)
	e.Stats.ClientQueryBufLimit++
	c.CloseASAP = true
}

// heapShare is how much a byte that lives in Go's heap takes there: the collector lets the heap
// grow to twice that.
const heapShare = 2
