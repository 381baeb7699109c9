package command

import (
	"strconv"

	"godwit/internal/engine"
	"godwit/internal/object"
)

// replicaofCmd is REPLICAOF and SLAVEOF: host and port of a master, or NO ONE.
func replicaofCmd(c *engine.Ctx) {
	if c.E.ClusterEnabled() {
		c.Err("ERR REPLICAOF not allowed in cluster mode.")
		return
	}
	if c.E.FailingOver() {
		c.Err("ERR REPLICAOF not allowed while failing over.")
		return
	}
	if is(c.Args[1], "no") && is(c.Args[2], "one") {
		c.E.Promote(c.Client)
		c.OK()
		return
	}
	if c.Client.Class == engine.ClassReplica {
		c.Err("ERR Command is not valid when client is a replica.")
		return
	}
	port, ok := object.ParseInt(c.Args[2])
	if !ok || port < 0 || port > 65535 {
		c.Err("ERR Invalid master port")
		return
	}
	if !c.E.SetMaster(string(c.Args[1]), int(port), c.Client) {
		c.Simple("OK Already connected to specified master")
		return
	}
	c.OK()
}

func roleCmd(c *engine.Ctx) {
	if c.E.IsReplica() {
		roleOfReplica(c)
	} else {
		roleOfMaster(c)
	}
}

// roleOfReplica replies to ROLE on a replica.
func roleOfReplica(c *engine.Ctx) {
	m := c.E.Master()
	c.Array(5)
	c.BulkString("slave")
	c.BulkString(m.Host)
	c.Int(int64(m.Port))
	c.BulkString(m.LinkState().String())
	c.Int(c.E.Master().RoleOffset(c.E))
}

// infoReplica is the part of INFO replication that only a replica has.
func infoReplica(t *infoText) {
	e := t.e
	m := e.Master().Info(e)
	t.str("master_host", m.Host)
	t.num("master_port", int64(m.Port))
	up := "down"
	if m.Up {
		up = "up"
	}
	t.str("master_link_status", up)
	t.nums("master_last_io_seconds_ago", m.LastIO,
		"master_sync_in_progress", boolInt(m.Syncing),
		"slave_read_repl_offset", m.ReadOffset, "slave_repl_offset", m.Offset,
		"replica_full_sync_buffer_size", m.Kept, "replica_full_sync_buffer_peak", m.KeptPeak)
	if m.Syncing {
		left, perc := max(m.SyncTotal-m.SyncRead, 0), "-1.00"
		if m.SyncTotal > 0 {
			perc = strconv.FormatFloat(100*float64(m.SyncRead)/float64(m.SyncTotal), 'f', 2, 64)
		} else {
			left = -1
		}
		t.nums("master_sync_total_bytes", m.SyncTotal, "master_sync_read_bytes", m.SyncRead,
			"master_sync_left_bytes", left)
		t.str("master_sync_perc", perc)
		t.num("master_sync_last_io_seconds_ago", m.SyncLastIO)
	}
	if !m.Up {
		t.num("master_link_down_since_seconds", m.DownSince)
	}
	infoFollowed(t, e.Master().Followed())
	t.nums("slave_priority", e.Cfg.ReplicaPriority, "slave_read_only",
		boolInt(e.Cfg.ReplicaReadOnly), "replica_announced", boolInt(e.Cfg.ReplicaAnnounced))
}
