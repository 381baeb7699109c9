package engine

import (
	"errors"
	"fmt"
	"io"
	"time"

	"godwit/internal/logging"
	"godwit/internal/persist"
	"godwit/internal/upstream"
)

// A full synchronization puts the master's data set in the place of this server's, in this order:
//
//	begin   the log is turned off, replicas of this server are sent away, the databases are emptied
//	load    in steps; clients are answered LOADING
//	end     the history is the master's; the log gets a new base
//
// Store.TurnAOF says why the log is off meanwhile.
//
// Usually the RDB file is received first, while the old data is served. Its checksum is compared,
// and it is read once without decoding its values: most files that cannot be loaded are found so.
// Under repl-diskless-load it is loaded as it comes. If a load fails, the databases are emptied
// again: half a data set is never served.
//
// Under swapdb the load comes first, beside the data that is served (asideLoad). What else belongs
// to begin and end follows at once. If the load fails, nothing has changed.

// LoadWay is how a master's RDB file is loaded.
type LoadWay uint8

// The ways.
const (
	LoadFromFile LoadWay = iota // received into a file first
	LoadDirectly                // as it comes, into empty databases
	LoadAside                   // as it comes, beside the data that is served
)

// Way returns how the RDB file is to be loaded (repl-diskless-load). Call it with the executor.
func (a *LinkAttempt) Way() LoadWay {
	e := a.e
	switch e.Cfg.ReplDisklessLoad {
	case "swapdb":
		if a.master.followed != nil {
			return LoadFromFile // its keys are looked at when it is loaded
		}
		return LoadAside
	case "on-empty-db":
		for i := range e.KS.Databases() {
			if e.KS.DB(i).Len() > 0 {
				return LoadFromFile
			}
		}
		return LoadDirectly
	}
	return LoadFromFile
}

// ReceivedFile makes the file that the RDB file is received into. The master says that it has size
// bytes, or 0. Call it with the executor.
func (a *LinkAttempt) ReceivedFile(size int64) (*persist.ReceivedFile, error) {
	if a.e.persist.store == nil {
		return nil, ErrNoPersistence
	}
	return a.e.persist.store.NewReceivedFile(size)
}

// LoadSource is a master's RDB file.
type LoadSource struct {
	io.Reader
	Size  int64 // 0 if it is not known. Without a File it is what the master says
	Aside bool  // LoadAside
	// File is what Reader reads, if it was received into a file. It becomes the snapshot file when
	// it is loaded. Otherwise the caller still has it.
	File *persist.ReceivedFile
}

// Load puts the RDB file in the place of the data set. It is called without the executor. alive is
// called now and then, to show the master that this replica lives.
func (a *LinkAttempt) Load(src LoadSource, alive func()) error {
	e := a.e
	e.EnterBetween()
	store := e.persist.store
	if !a.Wanted() || store == nil {
		e.Leave()
		return ErrNotWanted
	}
	t := &syncTarget{attempt: a, alive: alive}
	var beside *asideLoad
	if src.Aside {
		e.Log.Notice("MASTER <-> REPLICA sync: Loading DB in memory")
		beside = e.beginAside(src.Size)
		t.RDBTarget = beside
	} else {
		a.clear()
		e.Log.Notice("MASTER <-> REPLICA sync: Loading DB in memory")
		e.BeginLoading(src.Size)
		t.RDBTarget = &LoadTarget{e: e, client: e.LogClient()}
	}
	e.Release()
	o := persist.SyncLoadOptions{Target: t, MaxRecord: a.MaxRecord}
	if src.File != nil {
		o.Size = src.Size
	}
	in := &countedReader{r: src}
	loaded, err := store.LoadSync(in, o)
	if err == nil {
		err = in.ended(loaded.Used)
	}
	e.EnterBetween()
	defer e.Release()
	if err == nil && !a.Wanted() {
		err = ErrNotWanted
	}
	if db := loaded.Point.DB; err == nil && db < e.KS.Databases() {
		a.db = db
	}
	if err == nil && !a.Wanted() {
		err = ErrNotWanted
	}
	if src.Aside {
		return a.endAside(beside, err)
	}
	return a.endLoad(src.File, err)
}

// countedReader counts what is read.
type countedReader struct {
	r io.Reader
	n int64
}

// Read implements io.Reader.
func (c *countedReader) Read(b []byte) (int, error) {
	n, err := c.r.Read(b)
	c.n += int64(n)
	return n, err
}

// ended returns an error if there is something behind an RDB file, which has used so many bytes, or
// if its end does not come. How much there is does not matter: a master may send it for ever.
func (c *countedReader) ended(used int64) error {
	if c.n == used {
		if _, err := io.ReadFull(c, make([]byte, 1)); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
	}
	return errors.New("there are bytes behind its end")
}

// ErrNotWanted ends the goroutine of an attempt that nobody waits for.
var ErrNotWanted = errors.New("the link is not wanted any more")

// syncTarget is where the RDB file of a master goes.
type syncTarget struct {
	persist.RDBTarget
	attempt *LinkAttempt
	alive   func()
	told    time.Time
}

// Step implements persist.RDBTarget.
func (t *syncTarget) Step(fn func()) {
	t.RDBTarget.Step(fn)
	if now := time.Now(); now.Sub(t.told) > time.Second {
		t.told = now
		t.alive()
	}
}

// Stopped implements persist.RDBTarget.
func (t *syncTarget) Stopped() error {
	if !t.attempt.Wanted() {
		return ErrNotWanted
	}
	return t.RDBTarget.Stopped()
}

// leave parts with the history that the data set had: nobody can go on in it.
func (a *LinkAttempt) leave() {
	e := a.e
	a.master.local = nil
	e.turnLog(false)
	e.dropReplicas()
	e.dropBacklog()
	a.master.cached = false
	if a.master.followed == nil {
		e.shard.data, e.shard.term, e.shard.coming = "", 0, 0
	}
}

// clear empties the databases for the master's data set.
func (a *LinkAttempt) clear() {
	e := a.e
	a.leave()
	if s := e.persist.store; s.Saving() {
		e.cancelSave()
	} else {
		s.FailSync()
		s.FailRewrite()
	}
	e.Log.Notice("MASTER <-> REPLICA sync: Flushing old data")
	e.emptyAll()
}

// endLoad ends a load with its error, if any. After an error the log stays off, and nothing is
// saved by itself: the files hold what was there before.
func (a *LinkAttempt) endLoad(file *persist.ReceivedFile, err error) error {
	e := a.e
	e.EndLoading()
	e.configureExpire()
	if err == nil {
		err = e.foreignKeys()
	}
	if err != nil {
		e.emptyAll()
		e.NewReplID()
		e.persist.emptied, e.Stats.Dirty = true, 0
		return fmt.Errorf("Failed trying to load the MASTER synchronization DB: %w", err)
	}
	if file != nil { // before anybody can write, and save what is newer
		if err := file.Keep(); err != nil {
			e.Log.Warning("Failed trying to rename the temp DB into %s in MASTER <-> REPLICA "+
				"synchronization: %s", e.Cfg.DBFilename, logging.OSError(err))
		}
	}
	a.join()
	return nil
}

// endAside does what endLoad does for a load beside the data that is served.
func (a *LinkAttempt) endAside(beside *asideLoad, err error) error {
	e := a.e
	if err == nil && e.aside != beside {
		err = errAsideOver
	}
	if err != nil {
		if e.aside == beside {
			e.dropAside()
		}
		return fmt.Errorf("Failed trying to load the MASTER synchronization DB; the old data set "+
			"is kept: %w", err)
	}
	a.leave()
	beside.adopt()
	a.join()
	return nil
}

// join enters the history of the master, whose data set is loaded.
func (a *LinkAttempt) join() {
	e, m := a.e, a.master
	e.persist.emptied = false
	e.persist.strayed = false // the log begins anew, with all that the master has
	m.old = a.answer.Kind == upstream.Old
	if m.cached = !m.old; m.old {
		e.NewReplID()
	} else {
		e.joinHistory(a.answer.ID, a.answer.Offset)
	}
	m.db = a.db // not before the log has noted where its data was
	e.Log.Notice("MASTER <-> REPLICA sync: Finished with success")
	e.turnLog(true)
}

// emptyAll empties the databases and deletes the libraries of functions, without a word to log and
// replicas.
func (e *Engine) emptyAll() {
	for i := range e.KS.Databases() {
		e.FlushDB(e.KS.DB(i), e.Cfg.ReplicaLazyFlush)
	}
	e.FlushFunctions()
	e.InvalidateAll()
}

// turnLog turns the append-only file off before the data set is replaced, and on again behind it.
// It begins anew then, because it must never hold a mixture.
func (e *Engine) turnLog(on bool) {
	s := &e.persist
	switch {
	case s.store == nil || !e.Cfg.AppendOnly:
	case on && !s.aof.Enabled():
		s.store.InsistAOF()
	case !on:
		_ = s.store.TurnAOF(false) // it does not fail
	}
}
