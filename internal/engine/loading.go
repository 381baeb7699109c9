package engine

import (
	"godwit/internal/keyspace"
	"godwit/internal/spec"
)

// loadingState is the state of a load: a data set that is being read from disk.
type loadingState struct {
	on            bool
	aside         bool  // the data is read beside that which is served: asideLoad
	start         int64 // unix ms
	began         int64 // the same by the steady clock
	total, loaded int64 // bytes of the files
	before        keyspace.ExpireMode
}

// LoadingInfo is what INFO says of a load.
type LoadingInfo struct {
	Start         int64 // unix seconds
	Total, Loaded int64 // bytes
	ETA           int64 // seconds, -1 while nothing can be said
}

// refuses reports whether a load refuses commands with these flags.
func (l *loadingState) refuses(flags spec.Flag) bool {
	return l.on && flags&spec.Loading == 0 || l.aside && flags&spec.NoAsyncLoading != 0
}

// Loading reports whether the data set is being read from disk. Meanwhile commands without the flag
// Loading are refused, nothing expires, and nothing is saved.
func (e *Engine) Loading() bool { return e.loading.on }

// BeginLoading begins a load of total bytes.
func (e *Engine) BeginLoading(total int64) {
	e.loading = e.newLoad(total)
	e.loading.on, e.loading.before = true, e.KS.SetExpireMode(keyspace.ExpireIgnore)
}

func (e *Engine) newLoad(total int64) loadingState {
	return loadingState{start: e.now, began: e.Steady(), total: total}
}

// EndLoading ends the load.
func (e *Engine) EndLoading() {
	e.KS.SetExpireMode(e.loading.before)
	e.loading = loadingState{}
}

// LoadingInfo returns how far the load is. It must be called during a load only.
func (e *Engine) LoadingInfo() LoadingInfo {
	l := &e.loading
	i := LoadingInfo{Start: l.start / 1000, Total: l.total, Loaded: l.loaded, ETA: -1}
	if l.loaded > 0 {
		elapsed := (e.Steady() - l.began) / 1000
		i.ETA = int64(float64(elapsed) * float64(max(l.total-l.loaded, 0)) / float64(l.loaded))
	}
	return i
}
