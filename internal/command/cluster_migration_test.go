package command

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/cluster/topology"
	"godwit/internal/resp/client"
	"godwit/internal/slot"
)

// newMigrating returns node 0 of a cluster of four masters. The slots from 100 n to 100 n + 99
// belong to node n, but for the last, which has none.
func newMigrating(t *testing.T) *clustered {
	t.Helper()
	m := newClustered(t, 4)
	for i := range 3 {
		m.apply(t, topology.AddSlots{Node: topology.NodeID(nodeName(i)),
			Slots: slot.SetOf(slot.Range{First: 100 * i, Last: 100*i + 99})})
	}
	return m
}

// apply applies an action to the log.
func (m *clustered) apply(t testing.TB, do topology.Action) {
	t.Helper()
	m.Propose(topology.Op{Do: do}, func(refusal string) { require.Empty(t, refusal) })
	m.settle()
}

// replies runs commands and compares the replies.
func (m *clustered) replies(t testing.TB, cases [][2]string) {
	t.Helper()
	for _, c := range cases {
		require.Equal(t, c[1], m.run(t, c[0]), c[0])
	}
}

const wrongMigration = "(error) ERR wrong number of arguments for 'cluster|migration' command"

// TestMigrationArguments holds the forms of CLUSTER MIGRATION and the texts of Redis.
func TestMigrationArguments(t *testing.T) {
	m := newMigrating(t)
	const (
		slotRange = "(error) ERR Invalid or out of range slot"
		unknown   = "(error) ERR unknown argument"
		twice     = "(error) ERR Slot 150 specified multiple times"
		several   = "(error) ERR slots belong to different source nodes"
		mine      = "(error) ERR this node is already the owner of the slot range"
		unstable  = "(error) ERR all slot states must be STABLE to start a slot migration task."
	)
	m.replies(t, [][2]string{
		{"CLUSTER MIGRATION", wrongMigration},
		{"CLUSTER MIGRATION IMPORT", wrongMigration},
		{"CLUSTER MIGRATION IMPORT 100", wrongMigration},
		{"CLUSTER MIGRATION IMPORT 100 200 300", wrongMigration},
		{"CLUSTER MIGRATION UNKNOWN 1 2", unknown},
		{"CLUSTER MIGRATION IMPORT 200 100",
			"(error) ERR start slot number 200 is greater than end slot number 100"},
		{"CLUSTER MIGRATION IMPORT 17000 18000", slotRange},
		{"CLUSTER MIGRATION IMPORT 0 16384", slotRange},
		{"CLUSTER MIGRATION IMPORT -1 2", slotRange},
		{"CLUSTER MIGRATION IMPORT 10 a", slotRange},
		{"CLUSTER MIGRATION IMPORT 100 150 150 160", twice},
		{"CLUSTER MIGRATION IMPORT 0 10", mine},
		{"CLUSTER MIGRATION IMPORT 5000 5001", "(error) ERR slot has no owner: 5000"},
		{"CLUSTER MIGRATION IMPORT 150 250", several},
		{"CLUSTER MIGRATION IMPORT 50 150", several},
		{"CLUSTER MIGRATION IMPORT 210 210 150 150", several},
		{"CLUSTER MIGRATION CANCEL", wrongMigration},
		{"CLUSTER MIGRATION CANCEL ID", wrongMigration},
		{"CLUSTER MIGRATION CANCEL ID 1 2", wrongMigration},
		{"CLUSTER MIGRATION CANCEL ALL x", wrongMigration},
		{"CLUSTER MIGRATION CANCEL x", unknown},
		{"CLUSTER MIGRATION CANCEL abc def", unknown},
		{"CLUSTER MIGRATION CANCEL ID x", "(integer) 0"},
		{"CLUSTER MIGRATION CANCEL ALL", "(integer) 0"},
		{"CLUSTER MIGRATION STATUS", wrongMigration},
		{"CLUSTER MIGRATION STATUS ID", wrongMigration},
		{"CLUSTER MIGRATION STATUS ID 1 2", wrongMigration},
		{"CLUSTER MIGRATION STATUS ALL x", wrongMigration},
		{"CLUSTER MIGRATION STATUS x", unknown},
		{"CLUSTER MIGRATION STATUS ID x", "(empty array)"},
		{"CLUSTER MIGRATION STATUS ALL", "(empty array)"},
		{"CLUSTER SETSLOT 7 MIGRATING " + nodeName(1), "OK"},
		{"CLUSTER MIGRATION IMPORT 100 110", unstable},
		{"CLUSTER SETSLOT 7 STABLE", "OK"},
		{"CLUSTER SETSLOT 107 IMPORTING " + nodeName(1), "OK"},
		{"CLUSTER MIGRATION IMPORT 150 160", unstable},
	})
}

// fields returns what a reply says of each migration, in RESP2, without times.
func (m *clustered) fields(t testing.TB, command string) (list []string) {
	t.Helper()
	m.exec(argvOf(strings.Fields(command)...))
	v, _, err := client.Parse(m.c.W.Buf)
	require.NoError(t, err)
	for _, e := range v.Elems {
		var words []string
		for i := 0; i < len(e.Elems); i += 2 {
			name, value := e.Elems[i].Str, e.Elems[i+1].Text()
			if strings.HasSuffix(name, "_time") {
				require.Equal(t, client.Int, e.Elems[i+1].Kind)
				value = map[bool]string{true: "some", false: "-1"}[e.Elems[i+1].Int > 0]
			}
			for k := range 4 {
				value = strings.ReplaceAll(value, nodeName(k), string(rune('a'+k)))
			}
			words = append(words, name+"="+value)
		}
		list = append(list, strings.Join(words, " "))
	}
	return list
}

// TestMigrationTasks imports slots and shows the tasks, as the destination and as a source.
func TestMigrationTasks(t *testing.T) {
	m := newMigrating(t)
	one := m.run(t, "CLUSTER MIGRATION IMPORT 107 107 108 109 102 103")
	require.Regexp(t, `^"[0-9a-f]{40}"$`, one)
	one = one[1:41]
	show := "CLUSTER MIGRATION STATUS ID " + one
	require.Equal(t, []string{"id=" + one + " slots=102-103 107-109 source=b dest=a" +
		" operation=import state=connecting last_error= retries=0 create_time=some" +
		" start_time=some end_time=-1 write_pause_ms=0"}, m.fields(t, show))
	m.replies(t, [][2]string{
		{"CLUSTER MIGRATION IMPORT 109 110",
			"(error) ERR overlapping import exists for slot range: 109-110"},
		{"CLUSTER SETSLOT 102 IMPORTING " + nodeName(1), "(error) ERR Slot import in progress."},
		{"CLUSTER CANCELSLOTMIGRATIONS", "(error) ERR No migrations ongoing"},
	})
	m.apply(t, topology.Advance{ID: one, Phase: topology.Closed, At: 1000})
	m.apply(t, topology.Advance{ID: one, Phase: topology.Done, At: 1007})
	require.Contains(t, m.fields(t, show)[0],
		"state=completed last_error= retries=0 create_time=some start_time=some end_time=some"+
			" write_pause_ms=7")

	two := m.run(t, "CLUSTER MIGRATION IMPORT 200 201")[1:41]
	out := topology.Begin{ID: nodeName(77), Slots: slot.SetOf(slot.Range{First: 0, Last: 3}),
		From: topology.ShardID(nodeName(100)), To: topology.ShardID(nodeName(103)), Created: 1}
	m.apply(t, out)
	m.apply(t, topology.Begin{ID: nodeName(78), Slots: slot.SetOf(slot.Range{First: 110,
		Last: 110}), From: topology.ShardID(nodeName(101)), To: topology.ShardID(nodeName(102))})
	all := m.fields(t, "CLUSTER MIGRATION STATUS ALL") // not that of others
	require.Len(t, all, 3)
	require.Contains(t, all[0], "id="+two)
	require.Contains(t, all[1], "slots=0-3 source=a dest=d operation=migrate"+
		" state=wait-bgsave-start")
	require.Contains(t, all[2], "id="+one)
	require.Equal(t, "(integer) 1", m.run(t, "CLUSTER MIGRATION CANCEL ID "+two))
	require.Equal(t, "(integer) 1", m.run(t, "CLUSTER MIGRATION CANCEL ALL"))
	require.Equal(t, "(integer) 0", m.run(t, "CLUSTER MIGRATION CANCEL ALL"))
	all = m.fields(t, "CLUSTER MIGRATION STATUS ALL")
	require.Contains(t, all[0], "dest=d operation=migrate state=canceled last_error=Cancelled due"+
		" to user request")
	require.Contains(t, all[1], "id="+two)
	m.apply(t, topology.Begin{ID: nodeName(79), Slots: out.Slots, From: out.From, To: out.To})
	m.apply(t, topology.Advance{ID: nodeName(79), Phase: topology.Failed, Message: "why", At: 9})
	require.Contains(t, m.fields(t, "CLUSTER MIGRATION STATUS ALL")[0],
		"state=failed last_error=why retries=0")
}

// TestSlotMigrations shows migrations as the destination, and as many as the configuration says.
func TestSlotMigrations(t *testing.T) {
	m := newMigrating(t)
	m.run(t, "CLUSTER MIGRATION IMPORT 102 102")
	require.Equal(t, "OK", m.run(t, "CLUSTER MIGRATESLOTS SLOTSRANGE 1 1 NODE "+nodeName(3)))
	require.Equal(t, "OK", m.run(t, "CLUSTER MIGRATESLOTS SLOTSRANGE\x00 2 2 NODE "+nodeName(3)))
	list := m.fields(t, "CLUSTER GETSLOTMIGRATIONS")[1:]
	require.Len(t, list, 2)
	_, shown, _ := strings.Cut(list[1], " ")
	require.Equal(t, "operation=IMPORT slot_ranges=102-102 target_node=a source_node=b"+
		" create_time=some last_update_time=some last_ack_time=some state=waiting-for-ack"+
		" message= cow_size=0 remaining_repl_size=0", shown)
	require.Equal(t, "OK", m.run(t, "CLUSTER CANCELSLOTMIGRATIONS"))
	for range 3 {
		m.run(t, "CLUSTER MIGRATESLOTS SLOTSRANGE 1 1 NODE "+nodeName(3))
		m.run(t, "CLUSTER CANCELSLOTMIGRATIONS")
	}
	require.Len(t, m.fields(t, "CLUSTER GETSLOTMIGRATIONS"), 6)
	m.run(t, "CONFIG SET cluster-slot-migration-log-max-len 1")
	list = m.fields(t, "CLUSTER GETSLOTMIGRATIONS")
	require.Len(t, list, 2)
	require.Contains(t, list[0], "state=cancelled")
	require.Contains(t, list[1], "state=waiting-for-ack")
}

// TestMigrationRaces has the log decide what this node did not know: that a migration has ended, or
// that slots have left.
func TestMigrationRaces(t *testing.T) {
	m := newMigrating(t)
	begin := "CLUSTER MIGRATESLOTS SLOTSRANGE 1 1 NODE " + nodeName(3)
	ended := func(phase topology.Phase) string {
		require.Equal(t, "OK", m.run(t, begin))
		live := m.log.Migrations[len(m.log.Migrations)-1]
		m.Propose(topology.Op{Do: topology.Advance{ID: live.ID, Phase: phase}}, func(string) {})
		return m.run(t, "CLUSTER CANCELSLOTMIGRATIONS")
	}
	require.Equal(t, "(error) ERR No migrations ongoing", ended(topology.Failed))
	require.Equal(t, "OK", ended(topology.Cancelled))
	m.Propose(topology.Op{Do: topology.DelSlots{Node: m.self,
		Slots: slot.SetOf(slot.Range{First: 1, Last: 1})}}, func(string) {})
	require.Equal(t, "(error) ERR The source does not own hash slot 1", m.run(t, begin))

	both := " NODE " + nodeName(3) + " SLOTSRANGE 8 8 NODE " + nodeName(1)
	m.apply(t, topology.Replicate{Node: topology.NodeID(nodeName(3)),
		Master: topology.NodeID(nodeName(2))})
	require.Equal(t, "(error) ERR Target node is not a primary: "+nodeName(3),
		m.run(t, "CLUSTER MIGRATESLOTS SLOTSRANGE 2 2"+both))
	require.Equal(t, "OK", m.run(t, "CLUSTER ADDSLOTS 7000"))
	require.Equal(t, "OK", m.run(t, "CLUSTER FLUSHSLOTS"))
	require.Equal(t, "OK", m.run(t, "CLUSTER REPLICATE "+nodeName(1)))
	require.Equal(t, "(error) ERR slot migration not allowed on replica.",
		m.run(t, "CLUSTER MIGRATION IMPORT 200 200"))
}
