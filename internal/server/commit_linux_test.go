package server

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"godwit/internal/engine"
	"godwit/internal/testseed"
)

// slowLog is a log whose syncs take a while, and tell that they took as long as they are said to cost.
type slowLog struct {
	engine.Persistence // what is not used here
	theLog
	e      *engine.Engine
	says   time.Duration
	cost   time.Duration
	synced atomic.Int64 // writes
}

type theLog engine.AppendOnly

func (l *slowLog) AppendOnly() engine.AppendOnly { return l }
func (l *slowLog) Propagate([]int, [][][]byte)   {}
func (l *slowLog) CommitCost() time.Duration     { return l.cost }
func (l *slowLog) Offset() int64                 { return l.e.Stats.Dirty }
func (l *slowLog) WriteError() string            { return "" }
func (l *slowLog) Status() *engine.AOFStatus     { return &engine.AOFStatus{} }
func (l *slowLog) Cron()                         {}
func (l *slowLog) Reconfigured()                 {}
func (l *slowLog) RemoveTemporary()              {}
func (l *slowLog) Synced() int64                 { return l.synced.Load() }
func (l *slowLog) FinishData(func()) (err error) { return nil }

// EndBatch implements engine.Sink.
func (l *slowLog) EndBatch() {
	n := l.e.Stats.Dirty
	if l.cost = 0; n > l.synced.Load() {
		time.Sleep(100 * time.Microsecond)
		l.synced.Store(n)
		l.cost = l.says
	}
}

// TestRepliesWaitForTheLog: whether the sync runs in the turn or beside the loop, no reply leaves before what was written up to it is on disk, and each client
// gets its replies in order, among the pushes of others.
func TestRepliesWaitForTheLog(t *testing.T) {
	seed := testseed.New(t)
	for _, w := range []way{{name: "one loop"}, {name: "four loops", config: "io-threads 4\n"}, {name: "slow disk"}} {
		t.Run(w.name, func(t *testing.T) {
			r := start(t, w, "")
			log := &slowLog{e: r.eng, says: 30 * time.Microsecond}
			if w.name == "slow disk" {
				log.says = time.Second
			}
			r.locked(func() {
				r.eng.SetPersistence(log)
				r.eng.AddSink(log)
			})
			monitor := r.client()
			r.want(monitor, "OK", "monitor")
			go func() {
				for {
					if _, err := monitor.Receive(); err != nil {
						return
					}
				}
			}()
			var wg sync.WaitGroup
			for k := range 30 {
				wg.Go(func() { r.writesInOrder(log, rand.New(rand.NewPCG(seed, uint64(k))), k) })
			}
			wg.Wait()
			monitor.Close()
			r.eventually("no client is left", func() bool { return r.clients() == 0 })
			var used bool
			r.locked(func() { used = r.srv.loops[0].beside.start != nil })
			if used != (w.name == "one loop") && w.name != "four loops" {
				t.Errorf("syncs beside the loop: %v", used)
			}
		})
	}
}

// writesInOrder is a client that writes, with and without a pipeline, and goes without reading everything now and then.
func (r *rig) writesInOrder(log *slowLog, rnd *rand.Rand, k int) {
	c := r.client()
	defer func() { c.Close() }()
	for round := range 150 {
		n := 1 + rnd.IntN(2)*rnd.IntN(30)
		for i := range n {
			name := "seq"
			if rnd.IntN(4) == 0 {
				name = "echo"
			}
			if rnd.IntN(10) == 0 { // the rest comes while the replies to this are on their way
				if err := c.Flush(); err != nil {
					r.t.Error(err)
					return
				}
				time.Sleep(time.Duration(rnd.IntN(200)) * time.Microsecond)
			}
			c.Queue(name, fmt.Sprintf("%d-%d-%d%s", k, round, i, strings.Repeat("z", rnd.IntN(2)*rnd.IntN(3000))))
		}
		if err := c.Flush(); err != nil {
			r.t.Error(err)
			return
		}
		if rnd.IntN(40) == 0 {
			c.Close()
			c = r.client()
			continue
		}
		for i := range n {
			v, err := c.Receive()
			text := v.Text()
			if number, rest, ok := strings.Cut(text, " "); ok {
				var at int64
				if _, err := fmt.Sscan(number, &at); err != nil || at > log.synced.Load() {
					r.t.Errorf("write %s is acknowledged, synced are %d: %v", number, log.synced.Load(), err)
					return
				}
				text = rest
			}
			if want := fmt.Sprintf("%d-%d-%d", k, round, i); err != nil || strings.TrimRight(text, "z") != want {
				r.t.Errorf("%.40q instead of %s: %v", text, want, err)
				return
			}
		}
	}
}
