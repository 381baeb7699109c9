package replication

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"godwit/internal/resp/client"
	"godwit/internal/testserver"
)

// masters are the servers whose words are compared: Godwit's are Redis 8's.
var masters = []pair{{godwit, godwit}, {redis8, redis8}}

// TestResync has a replica see all forms of synchronization, byte by byte.
func TestResync(t *testing.T) {
	forPairs(t, masters, func(t *testing.T, p pair) {
		master := p.run(t, p.master)
		do(t, master, "SET", "before", "1")
		a := rawReplicaOf(t, master.Addr, nil)
		require.Contains(t, a.full("capa eof capa psync2 capa unknown"), "before")
		do(t, master, "SET", "k", "v")
		a.begin(master)
		require.Equal(t, "SELECT 0", a.next())
		require.Equal(t, "SET k v", a.next())
		at := a.offset
		a.conn.Close()
		do(t, master, "SET", "k", "w")

		b := rawReplicaOf(t, master.Addr, nil)
		require.Equal(t, "+OK", b.ask("REPLCONF capa psync2"))
		require.Equal(t, "+CONTINUE "+a.id, b.ask(fmt.Sprintf("PSYNC %s %d", a.id, at+1)))
		require.Equal(t, "SET k w", b.next())
		old := rawReplicaOf(t, master.Addr, nil)
		require.Equal(t, "+CONTINUE", old.ask(fmt.Sprintf("PSYNC %s %d", a.id, at+1)))
		require.Equal(t, "SET k w", old.next())

		for _, request := range []string{strings.Repeat("f", 40) + " 5",
			fmt.Sprintf("%s %d", a.id, at+1e6), a.id + " 0"} {
			c := rawReplicaOf(t, master.Addr, nil)
			require.Regexp(t, "^.FULLRESYNC "+a.id+" ", c.ask("PSYNC "+request))
			require.Contains(t, c.payload(), "before")
		}
		require.EqualValues(t, 4, stat(t, master, "sync_full"))
		require.EqualValues(t, 2, stat(t, master, "sync_partial_ok"))
		require.EqualValues(t, 3, stat(t, master, "sync_partial_err"))
	})
}

// TestOldReplica has a replica that knows neither capabilities nor offsets.
func TestOldReplica(t *testing.T) {
	forPairs(t, masters, func(t *testing.T, p pair) {
		master := p.run(t, p.master)
		do(t, master, "SET", "before", "1")
		a := rawReplicaOf(t, master.Addr, nil)
		a.send("SYNC")
		require.Contains(t, a.payload(), "before")
		do(t, master, "SET", "k", "v")
		require.Equal(t, "SELECT 0", a.next())
		require.Equal(t, "SET k v", a.next())
		files, err := filepath.Glob(filepath.Join(master.Dir, "temp-*"))
		require.NoError(t, err)
		require.Empty(t, files)
	})
}

// TestReplicaMustNotAsk checks that a replica whose command has a reply is disconnected: the reply
// would be a part of the stream.
func TestReplicaMustNotAsk(t *testing.T) {
	forPairs(t, masters, func(t *testing.T, p pair) {
		master := p.run(t, p.master)
		for _, command := range []string{"GET k", "PING", "NOSUCH", "SET k v"} {
			a := rawReplicaOf(t, master.Addr, nil)
			a.full("capa eof")
			a.begin(master)
			a.send(command)
			_, err := io.Copy(io.Discard, a.r)
			require.NoError(t, err)
		}
		require.Equal(t, "0", do(t, master, "EXISTS", "k"))
	})
}

// TestSharedSnapshot checks that one snapshot serves the replicas that ask within the delay, and
// that those who wait hear of it.
func TestSharedSnapshot(t *testing.T) {
	t.Parallel()
	master := godwit.Run(t, "--repl-diskless-sync-delay", "3600",
		"--repl-diskless-sync-max-replicas", "2")
	a, b := rawReplicaOf(t, master.Addr, nil), rawReplicaOf(t, master.Addr, nil)
	require.Equal(t, "+OK", a.ask("REPLCONF capa eof"))
	a.send("PSYNC ? -1")
	first, err := a.r.ReadByte()
	require.NoError(t, err)
	require.Equal(t, byte('\n'), first, "nothing keeps the link alive")
	require.Equal(t, "+OK", b.ask("REPLCONF capa eof"))
	line := b.ask("PSYNC ? -1")
	require.Equal(t, line, a.line())
	require.Contains(t, line, "FULLRESYNC")
}

// TestWait has WAIT and WAITAOF wait for what replicas acknowledge.
func TestWait(t *testing.T) {
	forPairs(t, masters, func(t *testing.T, p pair) {
		master := p.run(t, p.master)
		a := rawReplicaOf(t, master.Addr, nil)
		a.full("capa eof")
		a.begin(master)
		writer := master.Client(t)
		waits := func(args ...any) <-chan string {
			reply := make(chan string, 1)
			writer.Queue("SET", "k", "v")
			writer.Queue(args...)
			require.NoError(t, writer.Flush())
			go func() {
				_, _ = writer.Receive()
				v, err := writer.Receive()
				reply <- fmt.Sprint(v, err)
			}()
			for line := ""; line != "REPLCONF GETACK *"; line = a.next() {
			}
			return reply
		}
		number := func(n int64) string {
			return fmt.Sprint(client.Value{Kind: client.Int, Int: n}, nil)
		}
		done := waits("WAIT", "1", "0")
		a.ack("")
		require.Equal(t, number(1), <-done)
		require.Equal(t, number(0), <-waits("WAIT", "1", "10"), "after the time is up")
		done = waits("WAITAOF", "0", "1", "0")
		a.ack("")
		a.ack(fmt.Sprintf(" FACK %d", a.offset))
		require.Contains(t, <-done, "1")
		v, err := writer.Do("WAIT", "0", "0")
		require.NoError(t, err)
		require.EqualValues(t, 1, v.Int)
	})
}

// TestMinReplicas refuses writes while no replica has answered lately.
func TestMinReplicas(t *testing.T) {
	forPairs(t, masters, func(t *testing.T, p pair) {
		master := p.run(t, p.master, "--min-replicas-to-write", "1", "--min-replicas-max-lag", "2")
		refused := func() bool {
			v, err := master.Do("SET", "k", "v")
			require.NoError(t, err)
			return v.Text() == "NOREPLICAS Not enough good replicas to write."
		}
		require.True(t, refused())
		a := rawReplicaOf(t, master.Addr, nil)
		a.full("capa eof")
		a.begin(master)
		require.Eventually(t, func() bool { return !refused() }, testserver.Patience,
			time.Millisecond)
		require.Eventually(t, refused, testserver.Patience, 10*time.Millisecond, "it is silent")
		a.ack("")
		require.Eventually(t, func() bool { return !refused() }, testserver.Patience,
			time.Millisecond)
		a.conn.Close()
		require.Eventually(t, refused, testserver.Patience, time.Millisecond)
	})
}

// TestSlowReplica checks what a replica costs that does not read, and that it is told from the
// others in every list.
func TestSlowReplica(t *testing.T) {
	t.Parallel()
	master := godwit.Run(t, "--repl-backlog-size", "1mb",
		"--client-output-buffer-limit", "replica 24mb 0 0", "--repl-timeout", "3600")
	a := rawReplicaOf(t, master.Addr, nil)
	a.full("capa eof listening-port 7777 ip-address 10.1.2.3")
	a.ack("") // at once
	require.NoError(t, master.WaitInfo("replication", "online", func(i map[string]string) bool {
		return strings.HasPrefix(i["slave0"], "ip=10.1.2.3,port=7777,state=online,offset=")
	}))
	require.Contains(t, do(t, master, "CLIENT", "LIST", "TYPE", "replica"), " flags=S ")
	value := strings.Repeat("x", 1<<20)
	memory := func(field string) int64 {
		n, err := master.InfoInt("memory", field)
		require.NoError(t, err)
		return n
	}
	for memory("mem_clients_slaves") < 8<<20 { // sockets hold some
		do(t, master, "SET", "big", value)
	}
	stream := memory("mem_total_replication_buffers")
	require.Greater(t, memory("mem_not_counted_for_evict"), int64(8<<20))
	require.Less(t, memory("mem_replication_backlog"), int64(2<<20))
	b := rawReplicaOf(t, master.Addr, nil) // a second one costs nothing
	require.Equal(t, "+OK", b.ask("REPLCONF capa eof"))
	b.send("PSYNC ? -1")
	b.line()
	do(t, master, "SET", "big", value)
	require.Less(t, memory("mem_total_replication_buffers"), stream+4<<20)
	for range 40 {
		do(t, master, "SET", "big", value)
	}
	_, err := io.Copy(io.Discard, a.r)
	require.NoError(t, err)
	require.NoError(t, master.WaitLog("client-output-buffer-limit replica: hard limit 25165824"))
	require.EqualValues(t, 2, stat(t, master, "client_output_buffer_limit_disconnections"))
	require.Less(t, memory("mem_total_replication_buffers"), int64(3<<20))
}

// TestRefusedSyncs has a replica hang up each time that it has got a snapshot, as one does that
// cannot load it.
func TestRefusedSyncs(t *testing.T) {
	t.Parallel()
	master := godwit.Run(t, "--repl-diskless-sync-delay", "0")
	for _, pause := range []string{"1 times in a row: the next one begins 1s",
		"2 times in a row: the next one begins 2s"} {
		a := rawReplicaOf(t, master.Addr, nil)
		a.full("capa eof listening-port 7777")
		require.NoError(t, master.WaitInfo("replication", "online",
			func(i map[string]string) bool { return strings.Contains(i["slave0"], "online") }))
		a.conn.Close()
		require.NoError(t, master.WaitLog(pause))
	}
	rawReplicaOf(t, master.Addr, nil).full("capa eof listening-port 7778") // another one
}

// TestLostSyncs has a replica lose its full synchronization because it reads too slowly, again and
// again. The next attempt waits longer each time, and one that succeeds ends that.
func TestLostSyncs(t *testing.T) {
	t.Parallel()
	master := godwit.Run(t, "--repl-backlog-size", "16kb",
		"--client-output-buffer-limit", "replica 1mb 0 0")
	ask := func() *rawReplica {
		a := rawReplicaOf(t, master.Addr, nil)
		a.full("capa eof listening-port 7777")
		return a
	}
	for _, pause := range []string{"1 times in a row: the next one begins 1s",
		"2 times in a row: the next one begins 2s"} {
		a := ask()
		for range 3 {
			do(t, master, "SET", "big", strings.Repeat("x", 1<<20))
		}
		_, err := io.Copy(io.Discard, a.r)
		require.NoError(t, err)
		require.NoError(t, master.WaitLog(pause))
	}
	ask().begin(master)
	require.NoError(t, master.WaitLog("begins in 2000 ms"))
}
