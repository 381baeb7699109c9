package engine

import (
	rtmetrics "runtime/metrics"
	"time"

	"godwit/internal/keyspace"
)

// memoryState is what is known of the process's memory outside the arena. Reading the Go runtime's figures costs microseconds, so the
// cron refreshes them.
type memoryState struct {
	samples []rtmetrics.Sample
	goHeap  int64 // bytes of live Go memory: buffers, clients, runtime
	startup int64 // bytes in use when the engine was made
	clients int64 // bytes of all clients' buffers at the last cron turn
}

// UsedMemory is the memory in use in bytes: the arena's blocks and tables, and Go's live memory.
func (e *Engine) UsedMemory() int64 { return e.KS.A.Used() + e.mem.goHeap }

// GoMemory is the part of UsedMemory that is not user data, as of the last cron turn.
func (e *Engine) GoMemory() int64 { return e.mem.goHeap }

// StartupMemory is UsedMemory as it was when the engine had been made.
func (e *Engine) StartupMemory() int64 { return e.mem.startup }

// ClientsMemory is the memory of all clients as of the last cron turn.
func (e *Engine) ClientsMemory() int64 { return e.mem.clients }

func (e *Engine) refreshMemory() {
	m := &e.mem
	if m.samples == nil {
		m.samples = []rtmetrics.Sample{
			{Name: "/memory/classes/heap/objects:bytes"},
			{Name: "/memory/classes/heap/stacks:bytes"},
			{Name: "/memory/classes/metadata/mspan/inuse:bytes"},
			{Name: "/memory/classes/metadata/other:bytes"},
			{Name: "/memory/classes/other:bytes"},
		}
	}
	rtmetrics.Read(m.samples)
	m.goHeap = 0
	for _, s := range m.samples {
		if s.Value.Kind() == rtmetrics.KindUint64 {
			m.goHeap += int64(s.Value.Uint64())
		}
	}
	if used := e.UsedMemory(); used > e.Stats.PeakMemory {
		e.Stats.PeakMemory, e.Stats.PeakMemoryAt = used, e.now
	}
}

// params are the keyspace's settings under the current configuration.
func (e *Engine) params() keyspace.Params {
	c := e.Cfg
	return keyspace.Params{
		Databases: c.Databases, MaxMemory: c.Maxmemory, Policy: keyspace.Policy(c.MaxmemoryPolicy), Samples: c.MaxmemorySamples,
		LFULogFactor: c.LFULogFactor, LFUDecayTime: c.LFUDecayTime, ActiveExpire: !e.cron.expireOff,
		LazyExpire: c.LazyfreeExpire, LazyEviction: c.LazyfreeEviction, LazyServerDel: c.LazyfreeServerDel,
		LazyUserDel: c.LazyfreeUserDel, LazyUserFlush: c.LazyfreeUserFlush,
	}
}

// makeRoom evicts until used memory is within maxmemory. It reports false when that cannot be done; when it takes longer than the
// tenacity allows, the cron goes on and the command may run.
func (e *Engine) makeRoom() bool {
	if e.UsedMemory() <= e.KS.P.MaxMemory {
		return true
	}
	limit := evictionBudget(e.Cfg.MaxmemoryEvictionTenacity)
	start := time.Now()
	for n := 0; e.UsedMemory() > e.KS.P.MaxMemory; n++ {
		if e.KS.LazyFreePending() > 0 {
			e.KS.LazyFreeSlice(64)
			continue
		}
		if !e.KS.EvictOne() {
			return false
		}
		if n%16 == 15 && time.Since(start) > limit {
			e.cron.evicting = true
			return true
		}
	}
	if ms := time.Since(start).Milliseconds(); e.Cfg.LatencyMonitorThreshold > 0 && ms >= e.Cfg.LatencyMonitorThreshold {
		e.Latency.Add("eviction-cycle", e.now/1000, ms)
	}
	return true
}

// evictionBudget is how long one command may evict: 500 µs at the default tenacity of 10, growing by 15 % a step above, unbounded at 100.
func evictionBudget(tenacity int) time.Duration {
	switch {
	case tenacity <= 10:
		return time.Duration(50*tenacity) * time.Microsecond
	case tenacity >= 100:
		return time.Hour
	}
	us := 500.0
	for range tenacity - 10 {
		us *= 1.15
	}
	return time.Duration(us) * time.Microsecond
}

// ClientMemory is the memory in bytes that the client's buffers and state take.
func (e *Engine) ClientMemory(c *Client) int64 {
	n := int64(clientOverhead + cap(c.W.Buf) + len(c.Name) + len(c.Addr))
	if c.Conn != nil {
		_, in, out := c.Conn.Buffers()
		n += int64(in + out)
	}
	return n
}

// clientOverhead is the size in bytes of a Client with its connection, without buffers.
const clientOverhead = 768

// limitClients closes the clients that take the most memory until all are within maxmemory-clients.
func (e *Engine) limitClients() {
	var total int64
	e.Clients(func(c *Client) bool {
		total += e.ClientMemory(c)
		return true
	})
	e.mem.clients = total
	limit := e.Cfg.ClientsLimit()
	for limit > 0 && total > limit {
		var worst *Client
		var most int64
		e.Clients(func(c *Client) bool {
			if n := e.ClientMemory(c); n > most && !c.NoEvict && !c.CloseASAP && c.Class != ClassReplica {
				worst, most = c, n
			}
			return true
		})
		if worst == nil {
			return
		}
		e.Log.Notice("Evicting client: id=%d addr=%s tot-mem=%d", worst.ID, worst.Addr, most)
		e.Stats.EvictedClients++
		e.Kill(worst)
		total -= most
	}
}
