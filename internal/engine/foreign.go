package engine

import "fmt"

// Sketches (BF.*, CF.*, CMS.*, TOPK.*, TDIGEST.*) are values that only Godwit knows, and servers
// with RedisBloom. A replica that is something else could neither load them nor carry out their
// commands, and its data would differ from then on. Under repl-foreign-sketches refuse there is no
// such replica: it gets no synchronization while there are sketches, and is disconnected when the
// first one comes.

// refuseSketches is the value of repl-foreign-sketches by which such replicas are refused.
const refuseSketches = "refuse"

// foreign reports whether the replica may not know sketches. One that fetches a snapshot and
// nothing else, for a file, gets everything.
func (r *Replica) foreign(e *Engine) bool {
	return !r.CapGodwit && !r.RDBOnly && e.Cfg.ReplForeignSketches == refuseSketches
}

// refusesSketches returns why a replica gets no synchronization, "" if it does. The answer begins
// with a word after which Redis and Valkey try again in a second.
func (e *Engine) refusesSketches(r *Replica) string {
	n, _ := e.KS.Heap.Sketches()
	if n == 0 || !r.foreign(e) {
		return ""
	}
	if t := &e.repl.slaves.sketches; t.mayTell(r.Name(), e.Steady()) {
		e.Log.Warning("Replica %s gets no synchronization: %d keys are sketches, which only "+
			"Godwit and servers with RedisBloom can hold. Delete them, or set "+
			"repl-foreign-sketches send if the replica has RedisBloom.", r.Name(), n)
	}
	return fmt.Sprintf("NOMASTERLINK This master has %d sketches (BF.*, CF.*, CMS.*, TOPK.*, "+
		"TDIGEST.*), which a replica without RedisBloom cannot hold (repl-foreign-sketches)", n)
}

// tellEvery is the time in ms between two lines of the log about one replica that is refused.
const tellEvery = 60_000

// mayTell reports whether it is time to log a replica's refusal again.
func (t *sketchState) mayTell(replica string, now int64) bool {
	for name, at := range t.told {
		if now-at >= tellEvery {
			delete(t.told, name)
		}
	}
	if _, recent := t.told[replica]; recent {
		return false
	}
	if t.told == nil {
		t.told = map[string]int64{}
	}
	t.told[replica] = now
	return true
}

// noteSketches is called when the stream has got a unit. If that may have commands of sketches, the
// replicas that cannot hold them are disconnected before they are sent it.
func (e *Engine) noteSketches() {
	t := &e.repl.slaves.sketches
	now, ever := e.KS.Heap.Sketches()
	none := now == 0 && t.now == 0 && ever == t.ever
	t.now, t.ever = now, ever
	if none {
		return
	}
	t.upto = e.Feed.Offset()
	for _, r := range e.repl.slaves.list {
		if r.State != ReplicaLoaded && r.foreign(e) && !r.Client.CloseASAP {
			e.Log.Warning("Disconnecting replica %s: it cannot hold sketches, and now there are "+
				"some (repl-foreign-sketches)", r.Name())
			if r.reader != nil {
				r.reader.Close() // nothing more is sent
			}
			r.Client.closeSoon()
		}
	}
}
