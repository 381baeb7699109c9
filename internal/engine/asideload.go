package engine

import (
	"errors"

	"godwit/internal/keyspace"
	"godwit/internal/script"
)

// asideLoad is a data set that is loaded beside the one that is served, and then takes its place
// (repl-diskless-load swapdb): see keyspace.Shadow. Until then clients see the old data, and if the
// load fails they go on seeing it. Keys do not expire meanwhile, they are hidden, and nothing is
// evicted. There are no snapshots either: those that run are cancelled.
//
// An asideLoad is the target of the load: it implements persist.RDBTarget. Begin and end it with
// the executor held.
type asideLoad struct {
	e         *Engine
	shadow    *keyspace.Shadow // nil when the load is over
	functions *script.Functions
}

// errAsideOver ends a load that the server had to give up.
var errAsideOver = errors.New("the load was given up")

// beginAside begins a load of total bytes beside the data that is served.
func (e *Engine) beginAside(total int64) *asideLoad {
	e.dropAside()
	if s := &e.persist; s.store != nil {
		if s.store.Saving() {
			e.Log.Notice("Background saving cancelled: the data set of the master comes")
			e.cancelSave()
		}
		s.store.FailSync()
		s.store.FailRewrite()
		s.store.HoldJobs(true)
	}
	e.aside = &asideLoad{e: e, shadow: e.KS.NewShadow()}
	e.loading = e.newLoad(total)
	e.loading.aside = true
	e.configureExpire()
	return e.aside
}

// Step implements persist.RDBTarget.
func (a *asideLoad) Step(fn func()) {
	a.e.EnterBetween() // a library's code must not run in the middle of a script
	defer a.e.Release()
	if a.shadow == nil {
		fn() // which asks Stopped
		return
	}
	a.shadow.Fill(func(*keyspace.Keyspace) { fn() })
}

// Keyspace implements persist.RDBTarget.
func (a *asideLoad) Keyspace() *keyspace.Keyspace {
	if a.shadow == nil {
		return a.e.KS // to look at
	}
	return a.shadow.Keyspace()
}

// Function implements persist.RDBTarget.
func (a *asideLoad) Function(code []byte, replace bool) error {
	if a.functions == nil {
		a.functions = a.e.NewFunctions()
	}
	_, err := a.functions.Load(code, script.LoadOptions{Replace: replace, Patient: true})
	return err
}

// Loaded implements persist.RDBTarget.
func (a *asideLoad) Loaded(bytes int64) {
	if a.shadow != nil {
		a.e.loading.loaded = bytes
		a.shadow.RehashSlice(lazyStride)
	}
}

// Stopped implements persist.RDBTarget.
func (a *asideLoad) Stopped() error {
	if a.shadow == nil {
		return errAsideOver
	}
	return nil
}

// adopt puts the data in the place of what is served, libraries of functions included. It reports
// false if the load was given up before.
func (a *asideLoad) adopt() bool {
	e := a.e
	if a.shadow == nil {
		return false
	}
	for i := range e.KS.Databases() {
		e.databaseChanging(i, i)
	}
	a.shadow.Adopt()
	for i := range e.KS.Databases() {
		e.databaseChanging(i, i) // those who watch keys that were not there
		e.databaseChanged(i)
	}
	e.script.functions = a.functions
	e.InvalidateAll()
	a.over()
	return true
}

// dropAside ends a load beside the data that is served, if there is one. That data stays.
func (e *Engine) dropAside() {
	if a := e.aside; a != nil {
		a.shadow.Drop()
		a.over()
	}
}

func (a *asideLoad) over() {
	e := a.e
	a.shadow, a.functions, e.aside = nil, nil, nil
	e.loading = loadingState{}
	e.configureExpire()
	if s := e.persist.store; s != nil {
		s.HoldJobs(false)
	}
}
