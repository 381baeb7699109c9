package engine

import (
	"fmt"
	"strings"
)

// What replicas lack is refused them: see specials.go.

// specialText says what a special is, and what to do if a replica cannot hold it.
var specialText = [numSpecials]struct{ what, cure string }{
	{"sketches (BF.*, CF.*, CMS.*, TOPK.*, TDIGEST.*)",
		"Delete them, or set repl-foreign-sketches send if the replica has RedisBloom."},
	{"streams with producers (XADD IDMP, XCFGSET, stream-idmp-*)",
		"Delete them, or set repl-foreign-sketches send if the replica is a Redis 8.6 or later."},
	{"consumer groups with NACKed entries (XNACK)",
		"Claim or acknowledge the entries, or set repl-foreign-sketches send if the replica is a " +
			"Redis 8.8 or later."},
	{"hashes whose fields have deadlines (HEXPIRE, HSETEX)",
		"Delete them, or set rdb-version 12 if the replica is a Redis 8 or later."},
}

// specials counts what there is.
func (e *Engine) specials() (c specialCounts) {
	c[specialSketches].now, c[specialSketches].ever = e.KS.Heap.Sketches()
	streams := e.KS.Heap.Streams()
	now, ever := streams.Census(), streams.Ever()
	c[specialProducers] = specialCount{now.IDMP, int64(ever.IDMP)}
	c[specialNacked] = specialCount{now.Nacked, int64(ever.Nacked)}
	c[specialFields].now, c[specialFields].ever = e.KS.TimedFields()
	return c
}

// lacks reports whether the replica may lack a special. One that fetches a snapshot and nothing
// else, for a file, gets everything.
func (r *Replica) lacks(e *Engine, s special) bool {
	if r.CapGodwit || r.RDBOnly || e.Cfg.ReplForeignSketches != refuseForeign {
		return false
	}
	t := r.target(e)
	return s != specialFields || !t.Fixed() || !t.FieldDeadlines()
}

// refusesForeign returns why a replica gets no synchronization, "" if it does. The answer begins
// with a word after which Redis and Valkey try again in a second.
func (e *Engine) refusesForeign(r *Replica) string {
	var has, cures []string
	for s, c := range e.specials() {
		if c.now > 0 && r.lacks(e, special(s)) {
			text := &specialText[s]
			has = append(has, fmt.Sprintf("%d %s", e.countSpecial(special(s), c.now), text.what))
			cures = append(cures, text.cure)
		}
	}
	if has == nil {
		return ""
	}
	list := strings.Join(has, ", ")
	if t := &e.repl.replicas.foreign; t.mayTell(r.Name(), e.Steady()) {
		e.Log.Warning("Replica %s gets no synchronization, because it cannot hold %s. %s",
			r.Name(), list, strings.Join(cures, " "))
	}
	return fmt.Sprintf("NOMASTERLINK This master has what the replica cannot hold: %s "+
		"(repl-foreign-sketches)", list)
}

// countSpecial returns how many values there are of a special, whose count is n.
func (e *Engine) countSpecial(s special, n int) int {
	if s != specialFields {
		return n
	}
	n = 0
	for i := range e.KS.Databases() {
		n += e.KS.DB(i).TimedHashes()
	}
	return n
}

// lacksStream returns a special that the stream from an offset on may have and the replica may
// lack, "" if there is none.
func (e *Engine) lacksStream(r *Replica, at int64) string {
	for s, upto := range e.repl.replicas.foreign.upto {
		if at <= upto && r.lacks(e, special(s)) {
			return specialText[s].what
		}
	}
	return ""
}

// tellEvery is the time in ms between two lines of the log about one replica that is refused.
const tellEvery = 60_000

// mayTell reports whether it is time to log a replica's refusal again.
func (t *foreignState) mayTell(replica string, now int64) bool {
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

// noteForeign is called when the stream has got a unit. If that may have commands of specials, the
// replicas that lack them are disconnected before they are sent it.
func (e *Engine) noteForeign() {
	t := &e.repl.replicas.foreign
	counts := e.specials()
	was := t.counts
	t.counts = counts
	for s := range counts {
		if c := &counts[s]; c.now != 0 || was[s] != *c {
			t.upto[s] = e.Feed.Offset()
			e.dropForeign(special(s))
		}
	}
}

// dropForeign disconnects the replicas that lack a special.
func (e *Engine) dropForeign(s special) {
	for _, r := range e.repl.replicas.list {
		if r.State == ReplicaLoaded || r.Client.CloseASAP || !r.lacks(e, s) {
			continue
		}
		e.Log.Warning("Disconnecting replica %s: it cannot hold %s, and now there are some "+
			"(repl-foreign-sketches)", r.Name(), specialText[s].what)
		if r.reader != nil {
			r.reader.Close() // nothing more is sent
		}
		r.Client.closeSoon()
	}
}
