package engine

import "strconv"

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

// lacksDatabase gives up the link to the master if a command of it selects a database that is not
// here, and reports that. What follows would change another one.
func (e *Engine) lacksDatabase(c *Ctx) bool {
	if c.Cmd.Name != "select" || len(c.Args) != 2 {
		return false
	}
	if n, err := strconv.Atoi(string(c.Args[1])); err == nil && n >= 0 && n < e.KS.Databases() {
		return false
	}
	e.Log.Warning("Closing the link to the master: it uses database %.32q, and here there are %d "+
		"(databases)", c.Args[1], e.KS.Databases())
	e.distrustMaster(c.Client)
	c.Client.CloseASAP = true
	return true
}
