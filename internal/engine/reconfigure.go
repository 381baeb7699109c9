package engine

import (
	"os"
	"slices"

	"godwit/internal/config"
	"godwit/internal/keyspace"
	"godwit/internal/logging"
	"godwit/internal/object"
	"godwit/internal/stream"
)

// ConfigChanged applies the directives that CONFIG SET has changed. What can fail comes first, so
// that a failure has little to take back: see config.Apply. The log is turned on or off last of
// that, because nothing makes up for a log that was off for a moment.
func (e *Engine) ConfigChanged(names []string) (undo func(), err error) {
	var steps []func()
	undo = func() {
		for _, step := range slices.Backward(steps) {
			step()
		}
	}
	if slices.Contains(names, "dir") {
		if err := os.Chdir(e.Cfg.Dir); err != nil {
			return undo, &config.ApplyError{Name: "dir", Reason: logging.OSError(err)}
		}
		steps = append(steps, func() { _ = os.Chdir(e.Cfg.Dir) }) // it was there before
	}
	if e.Reconfigure != nil {
		back, err := e.Reconfigure(names)
		if err != nil {
			return undo, err
		}
		steps = append(steps, back)
	}
	if slices.Contains(names, "appendonly") {
		if err := e.turnAOF(e.Cfg.AppendOnly); err != nil {
			return undo, &config.ApplyError{Name: "appendonly",
				Reason: "Unable to turn on AOF. Check server logs."}
		}
	}
	e.adopt(names)
	return nil, nil
}

// adopt applies the directives that have changed, as far as that cannot fail.
func (e *Engine) adopt(names []string) {
	e.KS.P, e.mem.refused = e.params(), false
	e.configureLogs()
	e.configureExpire()
	e.configureConfirm()
	e.configureSlotStats()
	e.Log.SetLevel(e.Cfg.LogLevel)
	e.Log.SetFormat(e.Cfg.LogFormat, e.Cfg.LogStamp)
	if slices.Contains(names, "requirepass") {
		e.ApplyRequirePass()
	}
	if l := e.repl.replicas.backlog; l != nil && slices.Contains(names, "repl-backlog-size") {
		l.Resize(e.Cfg.ReplBacklogSize)
	}
	e.countGood()
	if e.persist.store != nil {
		e.persist.store.Reconfigured()
	}
}

// params returns the keyspace's settings under the current configuration.
func (e *Engine) params() keyspace.Params {
	c := e.Cfg
	return keyspace.Params{
		Databases: e.databases(), Slots: e.cluster.on, MaxMemory: e.memoryLimit(),
		Policy:  policyOf(c.MaxmemoryPolicy),
		Samples: c.MaxmemorySamples, LFULogFactor: c.LFULogFactor, LFUDecayTime: c.LFUDecayTime,
		ActiveExpire: !e.cron.expireOff, LazyExpire: c.LazyfreeExpire,
		LazyEviction: c.LazyfreeEviction, LazyServerDel: c.LazyfreeServerDel,
		LazyUserDel: c.LazyfreeUserDel, LazyUserFlush: c.LazyfreeUserFlush,
		Events: eventClasses(c.NotifyKeyspaceEvents),
		FieldEvents: c.NotifyKeyspaceEvents&config.NotifyHash != 0 &&
			c.NotifyKeyspaceEvents&config.NotifyFields != 0,
		Limits: object.Limits{
			HashMaxListpackEntries: int(c.HashMaxListpackEntries),
			HashMaxListpackValue:   int(c.HashMaxListpackValue),
			SetMaxIntsetEntries:    int(c.SetMaxIntsetEntries),
			SetMaxListpackEntries:  int(c.SetMaxListpackEntries),
			SetMaxListpackValue:    int(c.SetMaxListpackValue),
			ZSetMaxListpackEntries: int(c.ZsetMaxListpackEntries),
			ZSetMaxListpackValue:   int(c.ZsetMaxListpackValue),
			ListMaxListpackSize:    c.ListMaxListpackSize, ListCompressDepth: c.ListCompressDepth,
			Stream: stream.Limits{
				NodeBytes: int(c.StreamNodeMaxBytes), NodeEntries: int(c.StreamNodeMaxEntries)},
		},
	}
}

// databases returns how many databases the configuration asks for.
func (e *Engine) databases() int {
	if e.cluster.on {
		return e.Cfg.Cluster.Databases
	}
	return e.Cfg.Databases
}

// policyOf returns the keyspace's name for a configured policy. The two packages do not know each
// other.
func policyOf(p config.Policy) keyspace.Policy {
	switch p {
	case config.VolatileLRU:
		return keyspace.VolatileLRU
	case config.VolatileLFU:
		return keyspace.VolatileLFU
	case config.VolatileLRM:
		return keyspace.VolatileLRM
	case config.VolatileRandom:
		return keyspace.VolatileRandom
	case config.VolatileTTL:
		return keyspace.VolatileTTL
	case config.AllkeysLRU:
		return keyspace.AllKeysLRU
	case config.AllkeysLFU:
		return keyspace.AllKeysLFU
	case config.AllkeysLRM:
		return keyspace.AllKeysLRM
	case config.AllkeysRandom:
		return keyspace.AllKeysRandom
	}
	return keyspace.NoEviction
}
