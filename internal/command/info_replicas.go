package command

import (
	"cmp"
	"fmt"
	"strings"

	"godwit/internal/engine"
)

// infoReplicas shows the servers that copy this one, and the history that they share with it.
func infoReplicas(t *infoText) {
	e := t.e
	t.num("connected_slaves", int64(e.ReplicaCount()))
	if cfg := e.Cfg; cfg.MinReplicasToWrite > 0 && cfg.MinReplicasMaxLag > 0 {
		t.num("min_slaves_good_slaves", int64(e.GoodReplicas()))
	}
	i := 0
	e.Replicas(func(r *engine.Replica) {
		offset, silent := r.Acked(e)
		if r.State != engine.ReplicaOnline {
			silent = 0
		}
		fmt.Fprintf(&t.b, "slave%d:ip=%s,port=%d,state=%s,offset=%d,lag=%d,io-thread=%d\r\n", i,
			r.Host(), r.Port, r.State, offset, silent/1000, r.Client.Loop)
		i++
	})
	if c := e.ConfirmInfo(); c.On {
		t.nums("confirmed_repl_offset", c.Offset, "unconfirmed_repl_bytes",
			max(e.ReplOffset()-c.Offset, 0), "unconfirmed_replies", int64(c.Waiting),
			"unconfirmed_timeouts", c.Timeouts)
	}
	t.str("master_failover_state", e.FailoverState())
	id2, second := e.ReplID2()
	t.str("master_replid", e.ReplID())
	t.str("master_replid2", cmp.Or(id2, strings.Repeat("0", 40)))
	t.num("master_repl_offset", e.ReplOffset())
	t.num("second_repl_offset", second)
	b := e.BacklogInfo()
	t.num("repl_backlog_active", boolInt(b.Active))
	t.str("repl_backlog_size", directive(e, "repl-backlog-size"))
	t.num("repl_backlog_first_byte_offset", b.First)
	t.num("repl_backlog_histlen", b.History)
}

// roleOfMaster replies to ROLE: the offset, and the replicas that follow the stream.
func roleOfMaster(c *engine.Ctx) {
	c.Array(3)
	c.BulkString("master")
	c.Int(c.E.ReplOffset())
	var online []*engine.Replica
	c.E.Replicas(func(r *engine.Replica) {
		if r.State == engine.ReplicaOnline {
			online = append(online, r)
		}
	})
	c.Array(len(online))
	for _, r := range online {
		offset, _ := r.Acked(c.E)
		c.Array(3)
		c.BulkString(r.Host())
		c.BulkInt(r.Port)
		c.BulkInt(offset)
	}
}
