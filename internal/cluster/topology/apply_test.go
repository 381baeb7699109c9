package topology

import (
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/slot"
)

// log applies entries to a cluster of three masters and a replica of the first. Node i is in shard
// i, node 3 in shard 0, and shard i owns the slots from 100*i to 100*i+9.
type log struct {
	*testing.T
	*State
}

func newLog(t *testing.T) *log {
	l := &log{t, start(t)}
	for i := 1; i < 4; i++ {
		l.ok(Admit{Node: nodeID(i), Shard: shardID(i)})
	}
	l.ok(Replicate{Node: nodeID(3), Master: nodeID(0)})
	for i := range 3 {
		l.ok(AddSlots{nodeID(i), slots(100*i, 100*i+9)})
	}
	return l
}

func slots(first, last int) slot.Set { return slot.SetOf(slot.Range{First: first, Last: last}) }

func (l *log) apply(a Action) string { return l.by(0, a) }

// by applies what a node wants.
func (l *log) by(i int, a Action) string {
	refusal := l.Apply(l.Index+1, Op{By: nodeID(i), Do: a})
	require.NoError(l, l.Check())
	return refusal
}

func (l *log) ok(a Action) {
	l.Helper()
	require.Empty(l, l.apply(a))
}

func (l *log) refused(want string, a Action) {
	l.Helper()
	require.Equal(l, want, l.apply(a))
}

func (l *log) shard(i int) *Shard { return l.Shards[shardID(i)] }

// TestRefusals holds the refusals that Redis has against its words.
func TestRefusals(t *testing.T) {
	l := newLog(t)
	stranger := nodeID(77)
	for _, c := range []struct {
		want string
		do   Action
	}{
		{"ERR Slot 5 is already busy", AddSlots{nodeID(1), slots(5, 6)}},
		{"ERR Slot 100 is already busy", Admit{Node: stranger, Shard: shardID(9),
			Slots: slots(90, 100)}},
		{"ERR Slot 10 is already unassigned", DelSlots{Node: nodeID(0), Slots: slots(9, 10)}},
		{"ERR Unknown node " + string(stranger), Forget{stranger}},
		{"ERR I tried hard but I can't forget myself...", Forget{nodeID(0)}},
		{"ERR Can't replicate myself", Replicate{Node: nodeID(2), Master: nodeID(2)}},
		{"ERR Unknown node " + string(stranger), Replicate{Node: nodeID(2), Master: stranger}},
		{"ERR I can only replicate a master, not a replica.",
			Replicate{Node: nodeID(2), Master: nodeID(3)}},
		{"ERR To set a master the node must be empty and without assigned slots.",
			Replicate{Node: nodeID(2), Master: nodeID(0)}},
		{"ERR The user can assign a config epoch only when the node does not know any other node.",
			SetEpoch{nodeID(0), 7}},
		{"ERR Please use SETSLOT only with masters.", Unmark{nodeID(3), 5}},
		{"ERR I'm not the owner of hash slot 100",
			SetMark{Node: nodeID(0), Slot: 100, Migrating: nodeID(1)}},
		{"ERR I'm already the owner of hash slot 0",
			SetMark{Node: nodeID(0), Slot: 0, Importing: nodeID(1)}},
		{"ERR I don't know about node " + string(stranger),
			SetMark{Node: nodeID(0), Slot: 0, Migrating: stranger}},
		{"ERR Target node is not a master",
			SetMark{Node: nodeID(0), Slot: 0, Migrating: nodeID(3)}},
		{"ERR Target node is not a master", Move{Slots: slots(0, 0), To: nodeID(3)}},
		{"ERR Unknown node " + string(stranger), Move{Slots: slots(0, 0), To: stranger}},
		{"ERR Invalid or out of range slot",
			SetMark{Node: nodeID(0), Slot: -1, Migrating: nodeID(1)}},
		{"ERR Invalid port 65536", Tell{nodeID(0), About{Address: Address{Port: 65536}}}},
		{`ERR Invalid text "a b" about a node`, Tell{nodeID(0), About{Name: "a b"}}},
		{"ERR Invalid number of databases -1", Tell{nodeID(0), About{Databases: -1}}},
	} {
		l.refused(c.want, c.do)
	}
	by := Op{By: nodeID(3), Do: Forget{nodeID(0)}}
	require.Equal(t, "ERR Can't forget my master!", l.Apply(l.Index+1, by))
	by.By = stranger
	require.Equal(t, errNotMember, l.Apply(l.Index+1, by))
}

// TestMoveSlot moves a slot that is closed first, as CLUSTER SETSLOT NODE does.
func TestMoveSlot(t *testing.T) {
	l := newLog(t)
	l.ok(SetMark{Node: nodeID(1), Slot: 5, Importing: nodeID(0)})
	l.ok(SetMark{Node: nodeID(0), Slot: 5, Migrating: nodeID(1)})
	move := Op{Do: Move{Slots: slots(5, 5), To: nodeID(1)}}
	l.refused("ERR Slot 5 is not ready to be moved. Try again", move.Do)
	before := l.Before(move)
	require.Len(t, before, 1)
	l.ok(before[0].Do)
	require.Equal(t, l.Index, l.Revoked)
	require.Empty(t, l.Before(move))
	require.Equal(t, slots(5, 5), l.Loose(shardID(0)))
	l.ok(Open{shardID(0), slots(5, 5)})
	checked := Op{Do: Move{Slots: slots(5, 5), To: nodeID(1), Closed: true}}
	require.Empty(t, l.Before(checked), "keys may have come since the owner has closed it")
	l.refused("ERR Slot 5 is not ready to be moved. Try again", checked.Do)
	l.ok(before[0].Do)
	epoch := l.Epoch
	l.ok(move.Do)
	require.Equal(t, shardID(1), l.Owner(5).ID)
	require.Equal(t, epoch+1, l.shard(1).Epoch)
	require.Empty(t, l.Marks)
	l.ok(move.Do) // redis-cli sends it to all masters
	require.Equal(t, epoch+1, l.Epoch)
}

// TestFailover replaces a master. Its migrations fail, its closed slots open, and only a replica in
// sync may follow where writes wait for replicas.
func TestFailover(t *testing.T) {
	l := newLog(t)
	l.ok(SetInSync{Shard: shardID(0), Term: 1, Confirm: 1, Seen: l.Index})
	l.ok(Begin{ID: id("cc", 1), Slots: slots(0, 1), From: shardID(0), To: shardID(1)})
	l.ok(Begin{ID: id("cc", 2), Slots: slots(200, 201), From: shardID(2), To: shardID(0)})
	require.Empty(t, l.by(0, Receive{ID: id("cc", 2)}))
	l.ok(Advance{ID: id("cc", 2), Phase: Closed})
	l.ok(Close{shardID(0), 1, slots(5, 5)})
	l.refused(errNoMaster, Vacate{Shard: shardID(0), Term: 2})
	l.ok(Vacate{Shard: shardID(0), Term: 1, Hold: 7})
	require.EqualValues(t, 7, l.shard(0).Hold)
	require.True(t, l.shard(2).Closing.Empty())
	require.Equal(t, Failed, l.Migrations[0].Phase)
	require.Equal(t, Failed, l.Migrations[1].Phase)
	l.refused(errNoMaster, Vacate{Shard: shardID(0), Term: 1})
	replica := []NodeID{nodeID(3)}
	l.refused(errNoMaster, SetInSync{Shard: shardID(0), Term: 1, InSync: replica, Seen: l.Index})
	l.refused("ERR Node "+string(nodeID(3))+" may lack writes that were acknowledged",
		Promote{Shard: shardID(0), Term: 1, Node: nodeID(3)})
	l.ok(Promote{Shard: shardID(0), Term: 1, Node: nodeID(0)}) // it was only slow
	require.EqualValues(t, 2, l.shard(0).Term)
	require.Zero(t, l.shard(0).Hold)
	l.ok(SetInSync{Shard: shardID(0), Term: 2, Confirm: 1, InSync: replica, Seen: l.Index})
	l.ok(Vacate{Shard: shardID(0), Term: 2})
	l.ok(Promote{Shard: shardID(0), Term: 2, Node: nodeID(3)})
	require.Equal(t, nodeID(3), l.shard(0).Master)
	require.Empty(t, l.shard(0).InSync)
	l.refused(errNoMaster, Promote{Shard: shardID(0), Term: 2, Node: nodeID(3)})
	require.Equal(t, l.Epoch, l.shard(0).Epoch)
}

// TestDecline takes a promotion back. Who had what counts as before, but for those that have
// started anew since.
func TestDecline(t *testing.T) {
	l := newLog(t)
	l.ok(DelSlots{Node: nodeID(2), All: true})
	l.ok(Replicate{Node: nodeID(2), Master: nodeID(0)})
	sync := func(term uint64, list ...NodeID) {
		l.ok(SetInSync{Shard: shardID(0), Term: term, Confirm: 1, InSync: list, Seen: l.Index})
	}
	sync(1, nodeID(2), nodeID(3))
	l.refused(errNoMaster, Decline{shardID(0), 1})
	l.ok(Vacate{Shard: shardID(0), Term: 1})
	l.ok(Promote{Shard: shardID(0), Term: 1, Node: nodeID(3)})
	l.refused(errNoMaster, Decline{shardID(0), 1})
	l.ok(Decline{shardID(0), 2})
	require.Empty(t, l.shard(0).Master)
	require.Equal(t, nodeID(0), l.shard(0).Last)
	require.Zero(t, l.shard(0).Boot)
	require.Equal(t, []NodeID{nodeID(2)}, l.shard(0).InSync)
	require.EqualValues(t, 2, l.shard(0).Term)
	require.Equal(t, l.Index, l.Revoked)
	l.refused(errNoMaster, Decline{shardID(0), 2})

	l.ok(Promote{Shard: shardID(0), Term: 2, Node: nodeID(0)})
	sync(3)
	l.refused(errNoMaster, Decline{shardID(0), 3}) // it leads
	sync(3, nodeID(2), nodeID(3))
	l.ok(Vacate{Shard: shardID(0), Term: 3})
	l.ok(Promote{Shard: shardID(0), Term: 3, Node: nodeID(3)})
	l.ok(Started{nodeID(2), 7})
	l.ok(Decline{shardID(0), 4})
	require.Empty(t, l.shard(0).InSync)
}

// TestTakenUp takes a shard from a master that has not said that it leads. Who was the last master
// and who had what counts as before its promotion, whatever ends it.
func TestTakenUp(t *testing.T) {
	for name, end := range map[string]Action{
		"revoked": Vacate{Shard: shardID(0), Term: 3}, "started anew": Started{nodeID(3), 7},
		"one moved away":           Replicate{Node: nodeID(2), Shard: shardID(9)},
		"the last one moved away":  Replicate{Node: nodeID(0), Shard: shardID(9)},
		"the last one began again": Started{nodeID(0), 6},
	} {
		for _, took := range []bool{false, true} {
			l := newLog(t)
			l.ok(DelSlots{Node: nodeID(2), All: true})
			l.ok(Replicate{Node: nodeID(2), Master: nodeID(0)})
			l.ok(Started{nodeID(0), 5})
			l.ok(Promote{Shard: shardID(0), Term: 1, Node: nodeID(0), Boot: 5})
			sync := func(term, boot uint64, list ...NodeID) string {
				return l.apply(SetInSync{Shard: shardID(0), Term: term, Boot: boot, Confirm: 1,
					InSync: list, Seen: l.Index})
			}
			require.Empty(t, sync(2, 5, nodeID(2), nodeID(3)))
			l.ok(Vacate{Shard: shardID(0), Term: 2})
			l.ok(Promote{Shard: shardID(0), Term: 2, Node: nodeID(3)})
			require.Equal(t, errNoMaster, sync(3, 7, nodeID(2)), "said in another life")
			if took {
				require.Empty(t, sync(3, 0, nodeID(2)))
			}
			l.ok(end)
			if l.shard(0).Master != "" {
				l.ok(Vacate{Shard: shardID(0), Term: 3})
			}
			sh := l.shard(0)
			require.Empty(t, sh.Master, name)
			require.Nil(t, sh.Before, name)
			require.EqualValues(t, 3, sh.Term, name)
			if took {
				require.Equal(t, nodeID(3), sh.Last, name)
				require.Equal(t, name == "started anew", sh.Boot == noBoot, name)
				require.NotContains(t, sh.InSync, nodeID(3), name)
				continue
			}
			require.Equal(t, nodeID(0), sh.Last, name)
			boot := uint64(5)
			in := []NodeID{nodeID(2), nodeID(3)}
			switch name {
			case "the last one moved away", "the last one began again":
				boot = noBoot
			case "started anew":
				in = in[:1]
			case "one moved away":
				in = in[1:]
			}
			require.Equal(t, boot, sh.Boot, name)
			require.Equal(t, in, sh.InSync, name)
		}
	}
}

// TestMigration moves slots as a whole.
func TestMigration(t *testing.T) {
	l := newLog(t)
	m := Begin{ID: id("cc", 1), Slots: slots(2, 3), From: shardID(0), To: shardID(1)}
	l.ok(m)
	l.refused("ERR Migration "+m.ID+" exists already", m)
	again := m
	again.ID = id("cc", 2)
	l.refused("ERR Slot 2 is being migrated already", again)
	l.refused("ERR The migration is in phase copying", Advance{ID: m.ID, Phase: Closed})
	l.refused("ERR Only the destination knows which keys it has", Receive{m.ID})
	require.Empty(t, l.by(1, Receive{m.ID}))
	require.Equal(t, slots(2, 3), l.shard(1).Half)
	require.Equal(t, "ERR The migration is in phase copying",
		l.by(1, Advance{ID: m.ID, Phase: Done}))
	l.ok(Advance{ID: m.ID, Phase: Closed})
	require.Equal(t, slots(2, 3), l.shard(0).Closing)
	require.Equal(t, slot.Set{}, l.Loose(shardID(0)))
	l.ok(Open{shardID(0), slots(2, 3)}) // they are not loose
	require.Equal(t, slots(2, 3), l.shard(0).Closing)
	done := Advance{ID: m.ID, Phase: Done, At: 5}
	l.refused("ERR Only the destination knows that it has all keys", done)
	require.Empty(t, l.by(1, done))
	require.Equal(t, slot.Set{}, l.shard(1).Half)
	require.Equal(t, shardID(1), l.Owner(2).ID)
	l.ok(Advance{ID: m.ID, Phase: Done})
	l.refused("ERR The migration has ended: done", Advance{ID: m.ID, Phase: Cancelled})
	again.Slots = slots(0, 0)
	l.ok(again)
	require.Empty(t, l.by(1, Receive{again.ID}))
	l.ok(Advance{ID: again.ID, Phase: Closed})
	l.ok(DelSlots{Node: nodeID(0), Slots: slots(0, 0)})
	require.Equal(t, Failed, l.Migration(again.ID).Phase)
}

// TestHalfImports lets a migration fail. The destination hides the slots until its master says that
// what had come is deleted, and of a later migration that is not true.
func TestHalfImports(t *testing.T) {
	l := newLog(t)
	m := Begin{ID: id("cc", 1), Slots: slots(2, 3), From: shardID(0), To: shardID(1)}
	l.ok(m)
	require.Empty(t, l.by(1, Receive{m.ID}))
	drop := func() Dropped { return Dropped{shardID(1), 1, slots(2, 3), l.Index} }
	require.Empty(t, l.by(1, drop()))
	require.Equal(t, slots(2, 3), l.shard(1).Half) // they still come
	l.ok(Advance{ID: m.ID, Phase: Failed})
	require.Equal(t, slots(2, 3), l.shard(1).Half)
	l.refused(errNoMaster, drop()) // another node
	require.Contains(t, l.by(1, SetMark{Node: nodeID(1), Slot: 2, Importing: nodeID(0)}),
		"Try again")
	late := drop()
	m.ID = id("cc", 2)
	l.ok(m)
	require.Empty(t, l.by(1, Receive{m.ID}))
	l.ok(DelSlots{Node: nodeID(0), Slots: slots(2, 3)})
	require.Empty(t, l.by(1, AddSlots{nodeID(1), slots(2, 2)}))
	require.Contains(t, l.by(1, late), "meanwhile")
	require.Equal(t, slots(2, 3), l.shard(1).Half)
	require.Empty(t, l.by(1, drop()))
	require.Equal(t, slot.Set{}, l.shard(1).Half)
	require.Empty(t, l.by(1, SetMark{Node: nodeID(1), Slot: 3, Importing: nodeID(0)}))
}

// TestClaimOfHalf has a node take a slot from an owner that still deletes what a migration had left
// of it. Such keys are not kept.
func TestClaimOfHalf(t *testing.T) {
	l := newLog(t)
	l.ok(Begin{ID: id("cc", 1), Slots: slots(5, 5), From: shardID(0), To: shardID(1)})
	require.Empty(t, l.by(1, Receive{ID: id("cc", 1)}))
	l.ok(Advance{ID: id("cc", 1), Phase: Failed})
	l.ok(DelSlots{Node: nodeID(0), Slots: slots(5, 5)})
	l.ok(AddSlots{Node: nodeID(1), Slots: slots(5, 5)})
	require.Empty(t, l.by(1, Close{shardID(1), 1, slots(5, 5)}))
	l.ok(Move{Slots: slots(5, 5), To: nodeID(0), Keep: true})
	require.Equal(t, slot.Set{}, l.shard(1).Kept)
	_, err := Decode(l.State.Encode())
	require.NoError(t, err)
}

// TestClaim has a node take a slot from its owner, who keeps the keys until it owns the slot again.
func TestClaim(t *testing.T) {
	l := newLog(t)
	l.ok(Close{shardID(0), 1, slots(5, 5)})
	l.ok(Move{Slots: slots(5, 5), To: nodeID(1), Keep: true})
	require.Equal(t, slots(5, 5), l.shard(0).Kept)
	l.ok(SetMark{Node: nodeID(0), Slot: 5, Importing: nodeID(1)})
	l.ok(Unmark{nodeID(0), 5})
	require.Equal(t, slots(5, 5), l.shard(0).Kept)
	require.Empty(t, l.by(1, Close{shardID(1), 1, slots(5, 5)}))
	l.ok(Move{Slots: slots(5, 5), To: nodeID(0)})
	require.Equal(t, slot.Set{}, l.shard(0).Kept)
}

// TestMigrations starts several at once, or none.
func TestMigrations(t *testing.T) {
	l := newLog(t)
	one := Begin{ID: id("cc", 1), Slots: slots(2, 3), From: shardID(0), To: shardID(1)}
	two := Begin{ID: id("cc", 2), Slots: slots(3, 9), From: shardID(0), To: shardID(2)}
	l.refused("ERR Slot 3 is being migrated already", BeginAll{[]Begin{one, two}})
	require.Empty(t, l.Migrations)
	two.Slots, two.Asked = slots(7, 9), "8-9 7-7"
	l.ok(BeginAll{[]Begin{one, two}})
	require.Equal(t, "2-3", l.Migrations[0].Ranges())
	require.Equal(t, "8-9 7-7", l.Migrations[1].Asked)
	l.refused("ERR Slot export in progress.", SetMark{Node: nodeID(0), Slot: 2,
		Migrating: nodeID(1)})
	l.refused("ERR Slot import in progress.", SetMark{Node: nodeID(1), Slot: 3,
		Importing: nodeID(0)})
	require.Empty(t, l.by(1, Receive{one.ID}))
	l.ok(Advance{ID: one.ID, Phase: Closed, At: 7})
	require.EqualValues(t, 7, l.Migration(one.ID).Paused)
	l.ok(Advance{ID: one.ID, Phase: Cancelled, At: 9})
	require.True(t, l.shard(0).Closing.Empty())
}

// TestForget removes nodes as redis-cli's del-node does: FORGET is sent to all others, and then the
// replicas get another master.
func TestForget(t *testing.T) {
	l := newLog(t)
	l.ok(Admit{Node: nodeID(4), Shard: shardID(4)})
	l.ok(Replicate{Node: nodeID(3), Master: nodeID(4)})
	l.ok(Forget{nodeID(4)})
	l.ok(Forget{nodeID(4)})
	require.Empty(t, l.shard(4).Master)
	require.Equal(t, []NodeID{nodeID(3)}, l.Members(shardID(4)))
	l.ok(Replicate{Node: nodeID(3), Master: nodeID(1)})
	require.Nil(t, l.shard(4))
	require.Contains(t, l.apply(Forget{nodeID(1)}), "is the master of slots")
	l.ok(SetMark{Node: nodeID(0), Slot: 0, Migrating: nodeID(2)})
	l.ok(SetMark{Node: nodeID(2), Slot: 0, Importing: nodeID(0)})
	l.ok(Leave{nodeID(2)}) // alone in its shard
	require.Nil(t, l.Owner(200))
	require.Empty(t, l.Marks)
	l.ok(Leave{nodeID(1)}) // its replica has the data
	require.Equal(t, shardID(1), l.Owner(100).ID)
	l.ok(Promote{Shard: shardID(1), Term: 1, Node: nodeID(3)})
	l.ok(Admit{Node: nodeID(4), Shard: shardID(5), Slots: slots(200, 209), Epoch: l.shard(1).Epoch})
	require.NotContains(t, l.Forgotten, nodeID(4))
	require.NotEqual(t, l.shard(1).Epoch, l.shard(5).Epoch)
}

// TestLost gives the slots of a master that has failed for good to another. The slots of a shard of
// which a node is left are not touched.
func TestLost(t *testing.T) {
	l := newLog(t)
	l.ok(DelSlots{Node: nodeID(0), Slots: slots(200, 209)})
	require.Equal(t, nodeID(2), l.Owner(200).Master, "it is there")
	l.ok(SetFailed{nodeID(2), true})
	require.Contains(t, l.apply(Forget{nodeID(2)}), "CLUSTER DELSLOTSRANGE")
	l.refused("ERR Slot 200 is already busy", AddSlots{nodeID(0), slots(200, 200)})
	l.ok(DelSlots{Node: nodeID(0), Slots: slots(200, 208)})
	require.Equal(t, l.Index, l.Revoked)
	require.Nil(t, l.Owner(208))
	l.ok(AddSlots{nodeID(1), slots(200, 208)})
	l.ok(SetFailed{nodeID(2), false}) // it is back
	l.ok(DelSlots{Node: nodeID(0), Slots: slots(209, 209)})
	require.NotNil(t, l.Owner(209))
	l.ok(SetFailed{nodeID(2), true})
	l.ok(DelSlots{Node: nodeID(0), Slots: slots(209, 209)})
	l.ok(Forget{nodeID(2)})

	l.ok(SetFailed{nodeID(0), true}) // its replica has not failed
	by := Op{By: nodeID(1), Do: DelSlots{Node: nodeID(1), Slots: slots(0, 1)}}
	require.Empty(t, l.Apply(l.Index+1, by))
	require.NotNil(t, l.Owner(0))
	l.ok(SetFailed{nodeID(3), true})
	require.Empty(t, l.Apply(l.Index+1, by))
	require.Nil(t, l.Owner(0))
}

// TestRequests holds that a request counts once, and one that nobody remembers not at all.
func TestRequests(t *testing.T) {
	l := newLog(t)
	send := func(req uint64) string {
		return l.Apply(l.Index+1, Op{By: nodeID(1), Req: req, Do: DelSlots{Node: nodeID(1),
			Slots: slots(100, 100)}})
	}
	require.Empty(t, send(10))
	require.Empty(t, send(10))
	require.Equal(t, "ERR Slot 100 is already unassigned", send(9)) // it was overtaken
	for req := uint64(11); req < 11+keepRequests; req++ {
		require.NotEmpty(t, send(req))
	}
	require.Equal(t, errOvertaken, send(10))
	require.Equal(t, errOvertaken, send(8))
}

// TestView holds what is derived from a state.
func TestView(t *testing.T) {
	l := newLog(t)
	l.ok(Vacate{Shard: shardID(0), Term: 1})
	v := NewView(l.State)
	require.Equal(t, nodeID(0), v.Part(9).Head.ID)
	require.Equal(t, nodeID(3), v.Part(9).Replicas[0].ID)
	require.Nil(t, v.Part(10))
	require.Equal(t, v.Part(100), v.PartOf(nodeID(1)))
	require.Nil(t, v.PartOf(nodeID(7)))
	require.Equal(t, Master, v.RoleOf(v.List[0]))
	require.Equal(t, Replica, v.RoleOf(v.List[3]))
	require.Equal(t, 30, v.Assigned())
	require.Equal(t, 3, v.Size())
}

// TestUnequalDatabases has slots move between nodes with different numbers of databases.
func TestUnequalDatabases(t *testing.T) {
	l := newLog(t)
	m := Begin{ID: id("cc", 1), Slots: slots(2, 3), From: shardID(0), To: shardID(1)}
	l.ok(Tell{nodeID(0), About{Databases: 16}})
	l.ok(Tell{nodeID(1), About{Databases: 4}})
	const refused = "ERR The source has 16 databases and the destination 4: cluster-databases " +
		"must be the same on all nodes"
	l.refused(refused, m)
	l.refused(refused, BeginAll{[]Begin{m}})
	l.ok(Tell{nodeID(1), About{Databases: 16}})
	l.ok(m)
}

// TestSpared takes a replica from a shard for another one: not one that must confirm writes, unless
// somebody asks for that.
func TestSpared(t *testing.T) {
	l := newLog(t)
	spared := Replicate{Node: nodeID(3), Master: nodeID(1), Spared: true}
	l.ok(SetInSync{Shard: shardID(0), Term: 1, Confirm: 1, InSync: []NodeID{nodeID(3)},
		Seen: l.Index})
	l.refused("ERR The shard needs the replica to confirm writes", spared)
	require.Equal(t, []NodeID{nodeID(3)}, l.shard(0).InSync)
	asked := spared
	asked.Spared = false
	l.ok(asked)
	require.Empty(t, l.shard(0).InSync)
	l.ok(Replicate{Node: nodeID(3), Master: nodeID(0)})
	l.refused("ERR The shard needs the replica to confirm writes", spared)
	l.ok(SetInSync{Shard: shardID(0), Term: 1, Seen: l.Index})
	l.ok(spared)
}
