package command

import (
	"godwit/internal/engine"
	"godwit/internal/persist"
)

func infoPersistence(t *infoText) {
	p := t.e.PersistenceInfo()
	t.num("loading", boolInt(p.Loading))
	t.num("async_loading", boolInt(p.Aside))
	t.nums("current_cow_peak", 0, "current_cow_size", 0, "current_cow_size_age", 0)
	t.fixed("current_fork_perc", 100*ratioOf(p.Keys, p.Total), 2)
	t.num("current_save_keys_processed", p.Keys)
	t.num("current_save_keys_total", p.Total)
	t.num("rdb_changes_since_last_save", p.Changes)
	t.num("rdb_bgsave_in_progress", boolInt(p.Saving))
	t.num("rdb_last_save_time", p.LastSave)
	t.status("rdb_last_bgsave_status", p.LastSaveOK)
	t.num("rdb_last_bgsave_time_sec", p.LastSaveSec)
	t.num("rdb_current_bgsave_time_sec", p.SaveSec)
	t.num("rdb_saves", p.Saves)
	t.num("rdb_last_cow_size", 0)
	t.num("rdb_last_load_keys_expired", p.Loaded.Expired)
	t.num("rdb_last_load_keys_loaded", p.Loaded.Loaded)
	infoAOF(t, &p.AOF)
	t.nums("module_fork_in_progress", 0, "module_fork_last_cow_size", 0)
	if p.AOF.Enabled {
		t.num("aof_current_size", p.AOF.CurrentSize)
		t.num("aof_base_size", p.AOF.BaseSize)
		t.num("aof_pending_rewrite", boolInt(p.AOF.RewriteScheduled))
		t.num("aof_buffer_length", int64(p.AOF.BufferLength))
		t.num("aof_pending_bio_fsync", int64(p.AOF.PendingSyncs))
		t.num("aof_delayed_fsync", p.AOF.DelayedFsync)
	}
	if p.Loading || p.Aside {
		infoLoading(t, &p.Load)
	}
}

func infoAOF(t *infoText, a *persist.AOFInfo) {
	t.num("aof_enabled", boolInt(a.Enabled))
	t.num("aof_rewrite_in_progress", boolInt(a.RewriteInProgress))
	t.num("aof_rewrite_scheduled", boolInt(a.RewriteScheduled))
	t.num("aof_last_rewrite_time_sec", a.LastRewriteSeconds)
	t.num("aof_current_rewrite_time_sec", a.CurrentSeconds)
	t.status("aof_last_bgrewrite_status", a.LastRewriteOK)
	t.num("aof_rewrites", a.Rewrites)
	t.num("aof_rewrites_consecutive_failures", a.ConsecutiveFailures)
	t.status("aof_last_write_status", a.LastWriteOK)
	t.num("aof_last_cow_size", 0)
}

func infoLoading(t *infoText, l *engine.LoadingInfo) {
	t.num("loading_start_time", l.Start)
	t.num("loading_total_bytes", l.Total)
	t.num("loading_rdb_used_mem", 0)
	t.num("loading_loaded_bytes", l.Loaded)
	t.fixed("loading_loaded_perc", 100*ratioOf(l.Loaded, l.Total), 2)
	t.num("loading_eta_seconds", l.ETA)
}

// status writes "ok" or "err".
func (t *infoText) status(name string, ok bool) {
	if ok {
		t.str(name, "ok")
		return
	}
	t.str(name, "err")
}
