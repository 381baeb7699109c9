package replication

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/testseed"
	"godwit/internal/testserver"
)

// askChannel opens a replica's two connections, up to the second one's PSYNC.
func askChannel(t *testing.T, master *testserver.Server) (main, channel *rawReplica) {
	t.Helper()
	main = rawReplicaOf(t, master.Addr, nil)
	require.Equal(t, "+OK",
		main.ask("REPLCONF listening-port 7777 capa eof capa psync2 capa rdb-channel-repl"))
	var id int
	_, err := fmt.Sscanf(main.ask("PSYNC ? -1"), "+RDBCHANNELSYNC %d", &id)
	require.NoError(t, err)
	waitState(t, master, "wait_bgsave")
	channel = rawReplicaOf(t, master.Addr, nil)
	require.Equal(t, "-ERR Unrecognized RDB client id: 99999",
		channel.ask("REPLCONF main-ch-client-id 99999"))
	require.Equal(t, "+OK", channel.ask(fmt.Sprintf("REPLCONF capa eof rdb-only 1 rdb-channel 1 "+
		"main-ch-client-id %d listening-port 7777", id)))
	channel.send("PSYNC ? -1")
	return main, channel
}

// waitState waits until the master has one replica, in that state.
func waitState(t *testing.T, master *testserver.Server, state string) {
	t.Helper()
	require.NoError(t, master.WaitInfo("replication", state, func(i map[string]string) bool {
		return i["connected_slaves"] == "1" && strings.Contains(i["slave0"], "state="+state+",")
	}))
}

// TestRDBChannel has a replica see all bytes of both connections.
func TestRDBChannel(t *testing.T) {
	forPairs(t, masters, func(t *testing.T, p pair) {
		master := p.run(t, p.master, "--repl-diskless-sync-delay", "0", "--rdb-key-save-delay",
			"1000")
		noise(t, master, newRandom(t), 300)
		main, channel := askChannel(t, master)
		_, err := fmt.Sscanf(channel.line(), "+FULLRESYNC %s %d", &main.id, &main.offset)
		require.NoError(t, err)
		do(t, master, "SET", "k", "1")
		require.Equal(t, "SELECT 0", strings.ToUpper(main.next()))
		require.Equal(t, "SET k 1", main.next(), "the RDB has not been read yet")
		require.Contains(t, channel.payload(), "noise:299")
		channel.conn.Close()
		main.ack("")
		waitState(t, master, "online")
		do(t, master, "SET", "k", "2")
		require.Equal(t, "SET k 2", main.next())
		require.EqualValues(t, 1, stat(t, master, "sync_full"))
	})
}

// TestRDBChannelLost loses one of the connections before the snapshot has arrived: the other one
// ends too. With Redis some of them stay open.
func TestRDBChannelLost(t *testing.T) {
	t.Parallel()
	master := godwit.Run(t, "--repl-diskless-sync-delay", "0")
	noise(t, master, newRandom(t), 20_000) // more than sockets hold
	for _, loseMain := range []bool{false, true} {
		main, channel := askChannel(t, master)
		require.Contains(t, channel.line(), "+FULLRESYNC")
		waitState(t, master, "send_bulk_and_stream")
		lost, other := channel, main
		if loseMain {
			lost, other = main, channel
		}
		lost.conn.Close()
		_, err := io.Copy(io.Discard, other.r)
		if err != nil { // it may be reset
			require.NotContains(t, err.Error(), "timeout")
		}
		require.NoError(t, master.WaitInfo("replication", "alone",
			func(i map[string]string) bool { return i["connected_slaves"] == "0" }))
	}
	do(t, master, "CONFIG", "SET", "repl-diskless-sync-delay", "3600")
	main, channel := askChannel(t, master)
	channel.conn.Close()
	_, err := io.Copy(io.Discard, main.r)
	require.NoError(t, err)
	do(t, master, "CONFIG", "SET", "repl-rdb-channel", "no")
	a := rawReplicaOf(t, master.Addr, nil)
	require.Equal(t, "+OK", a.ask("REPLCONF capa eof capa rdb-channel-repl"))
	a.send("PSYNC ? -1")
	do(t, master, "CONFIG", "SET", "repl-diskless-sync-delay", "0")
	require.Contains(t, a.line(), "+FULLRESYNC")
}

// TestRDBChannelUnderLoad has a slow line carry a snapshot while the master is written to: the
// stream arrives at the replica meanwhile.
func TestRDBChannelUnderLoad(t *testing.T) {
	pairs := []pair{{redis8, godwit}, {godwit, redis8}, {godwit, godwit}}
	forPairs(t, pairs, func(t *testing.T, p pair) {
		// a backlog that the stream of the sync does not fit in
		master, replica := p.start(t, "--repl-backlog-size", "16kb", "--repl-rdb-channel", "yes",
			"--repl-diskless-sync", "yes")
		rnd := newRandom(t)
		noiseIn(t, master, apart, rnd, 2000)
		proxy := testserver.RunProxy(t, master, rnd.Uint64())
		proxy.Throttle(256 << 10)
		require.NoError(t, replica.FollowAddr(proxy.Addr))
		writers := startLoad(t, master, rnd.Uint64(), 2, p.master, p.replica)
		require.NoError(t, replica.WaitLog("receive RDB and replication stream in parallel"))
		require.NoError(t, replica.WaitInfo("replication", "a stream beside the snapshot",
			func(info map[string]string) bool {
				return info["replica_full_sync_buffer_peak"] != "0"
			}))
		proxy.Throttle(0)
		require.NoError(t, replica.WaitLink())
		waitState(t, master, "online")
		writers.stop(t)
		require.NoError(t, master.WaitSame(replica))
		require.EqualValues(t, 1, stat(t, master, "sync_full"))
		size, err := replica.InfoInt("replication", "replica_full_sync_buffer_size")
		require.NoError(t, err)
		require.Zero(t, size)
	})
}

// TestRDBChannelFull lets a replica keep less of the stream than comes. The rest waits at the
// master, and nothing is lost.
func TestRDBChannelFull(t *testing.T) {
	pairs := []pair{{redis8, godwit}, {godwit, godwit}}
	forPairs(t, pairs, func(t *testing.T, p pair) {
		master := p.run(t, p.master, "--repl-diskless-sync-delay", "0", "--rdb-key-save-delay",
			"10000")
		replica := p.run(t, p.replica, "--replica-full-sync-buffer-limit", "100kb")
		noise(t, master, newRandom(t), 300)
		require.NoError(t, replica.FollowAddr(master.Addr))
		waitState(t, master, "send_bulk_and_stream")
		for i := range 50 {
			do(t, master, "SET", fmt.Sprint("big:", i), strings.Repeat("x", 200_000))
		}
		require.NoError(t, replica.WaitLog("Replication buffer limit has been reached"))
		require.NoError(t, replica.WaitLink())
		require.NoError(t, master.WaitSame(replica))
		peak, err := replica.InfoInt("replication", "replica_full_sync_buffer_peak")
		require.NoError(t, err)
		require.Less(t, peak, int64(512<<10))
		require.EqualValues(t, 1, stat(t, master, "sync_full"))
	})
}

// TestRDBChannelCut cuts one of a replica's connections in the middle of the snapshot.
func TestRDBChannelCut(t *testing.T) {
	pairs := []pair{{redis8, godwit}, {godwit, redis8}, {godwit, godwit}}
	forPairs(t, pairs, func(t *testing.T, p pair) {
		for which := range 2 {
			master, replica := p.start(t, "--repl-diskless-sync-delay", "0",
				"--rdb-key-save-delay", "20000")
			noise(t, master, newRandom(t), 300)
			require.NoError(t, replica.FollowAddr(master.Addr))
			waitState(t, master, "send_bulk_and_stream")
			do(t, master, "SET", "k", "v")
			list := strings.Split(strings.TrimSpace(do(t, master, "CLIENT", "LIST", "TYPE",
				"replica")), "\n")
			require.Len(t, list, 2)
			do(t, master, "CONFIG", "SET", "rdb-key-save-delay", "0")
			id, _, _ := strings.Cut(strings.TrimPrefix(list[which], "id="), " ")
			do(t, master, "CLIENT", "KILL", "ID", id)
			require.NoError(t, replica.WaitLink())
			require.NoError(t, master.WaitSame(replica))
			require.EqualValues(t, 2, stat(t, master, "sync_full"))
		}
	})
}

// TestRDBChannelCutLoading cuts a replica's link while it loads what it has. That is not lost.
func TestRDBChannelCutLoading(t *testing.T) {
	pairs := []pair{{redis8, godwit}, {godwit, godwit}}
	forPairs(t, pairs, func(t *testing.T, p pair) {
		master := p.run(t, p.master, append(bigBacklog, "--repl-diskless-sync-delay", "0")...)
		replica := p.run(t, p.replica, "--key-load-delay", "5000")
		noise(t, master, newRandom(t), 300)
		require.NoError(t, replica.FollowAddr(master.Addr))
		require.NoError(t, replica.WaitInfo("persistence", "loading",
			func(i map[string]string) bool { return i["loading"] == "1" }))
		do(t, master, "SET", "k", "v")
		_, err := master.Do("CLIENT", "KILL", "TYPE", "replica")
		require.NoError(t, err)
		do(t, replica, "CONFIG", "SET", "key-load-delay", "0")
		require.NoError(t, replica.WaitLink())
		require.NoError(t, master.WaitSame(replica))
		require.EqualValues(t, 1, stat(t, master, "sync_full"))
		require.EqualValues(t, 1, stat(t, master, "sync_partial_ok"))
	})
}

// TestRDBChannelElsewhere has a replica's second connection reach another server than its first
// one. It synchronizes over one connection the next time.
func TestRDBChannelElsewhere(t *testing.T) {
	t.Parallel()
	master, other := godwit.Run(t, "--repl-diskless-sync-delay", "0"), godwit.Run(t)
	replica := godwit.Run(t)
	do(t, master, "SET", "k", "v")
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	go func() {
		for i := 0; ; i++ {
			from, err := l.Accept()
			if err != nil {
				return
			}
			addr := master.Addr
			if i == 1 {
				addr = other.Addr
			}
			to, err := net.Dial("tcp", addr)
			if err != nil {
				from.Close()
				continue
			}
			for _, way := range [][2]net.Conn{{from, to}, {to, from}} {
				go func() {
					_, _ = io.Copy(way[0], way[1])
					way[0].Close()
				}()
			}
		}
	}()
	require.NoError(t, replica.FollowAddr(l.Addr().String()))
	require.NoError(t, replica.WaitLink())
	require.NoError(t, master.WaitSame(replica))
	require.NoError(t, replica.WaitLog("Unrecognized RDB client id"))
}

func newRandom(t *testing.T) *rand.Rand { return rand.New(rand.NewPCG(testseed.New(t), 3)) }
