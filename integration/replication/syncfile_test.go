package replication

import (
	crand "crypto/rand"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"godwit/internal/testseed"
	"godwit/internal/testserver"
)

// scans returns how many snapshots a Godwit has made for replicas.
func scans(s *testserver.Server) int {
	return strings.Count(s.Output(), "Starting BGSAVE for SYNC")
}

func logged(s *testserver.Server, text string) bool { return strings.Contains(s.Output(), text) }

// keepsStream has the master begin to keep its stream, as after its first replica.
func keepsStream(t *testing.T, master *testserver.Server) {
	t.Helper()
	r := rawReplicaOf(t, master.Addr, nil)
	require.Contains(t, r.ask("PSYNC ? -1"), "FULLRESYNC")
	r.conn.Close()
	waitSaved(t, master)
}

// addBulk adds more data than what is written later takes in the stream.
func addBulk(t *testing.T, master *testserver.Server) {
	t.Helper()
	bulk := make([]byte, 4<<20)
	_, _ = crand.Read(bulk)
	do(t, master, "SET", "bulk", bulk)
}

func waitSaved(t *testing.T, s *testserver.Server) {
	t.Helper()
	require.NoError(t, s.WaitInfo("persistence", "saved", func(info map[string]string) bool {
		return info["rdb_bgsave_in_progress"] == "0" && info["rdb_last_bgsave_status"] == "ok"
	}))
}

// fedByUs are a Godwit and its replicas.
var fedByUs = []pair{{godwit, godwit}, {godwit, redis7}, {godwit, redis8}, {godwit, valkey9}}

// TestSyncFromFile has a replica come after the data set was written: it gets that file, and what
// has changed since.
func TestSyncFromFile(t *testing.T) {
	seed := testseed.New(t)
	forPairs(t, fedByUs, func(t *testing.T, p pair) {
		master := p.run(t, p.master, bigBacklog...)
		do(t, master, "CONFIG", "SET", "repl-diskless-sync-delay", "0")
		keepsStream(t, master)
		fill(t, master, seed, 600, redis7) // no deadlines of fields: not all can read them
		addBulk(t, master)
		c := master.Client(t)
		for _, args := range [][]any{{"SELECT", 7}, {"SET", "a", "1"}, {"BGSAVE"}} {
			_, err := c.Do(args...)
			require.NoError(t, err)
		}
		waitSaved(t, master)
		_, err := c.Do("SET", "b", "in the same database")
		require.NoError(t, err)
		fill(t, master, seed+1, 100, redis7)
		before := scans(master)
		replica := p.run(t, p.replica)
		link(t, replica, master.Addr)
		require.NoError(t, master.WaitSame(replica))
		require.True(t, logged(master, "gets the file dump.rdb"))
		require.Equal(t, before, scans(master))

		// A file that did not do is not sent twice.
		require.NoError(t, replica.Promote())
		do(t, replica, "SET", "of", "its own")
		link(t, replica, master.Addr)
		require.NoError(t, master.WaitSame(replica))
		require.Equal(t, before+1, scans(master))
	})
}

// TestSyncFromChangedFile has somebody else write to the snapshot file: no replica gets that.
func TestSyncFromChangedFile(t *testing.T) {
	t.Parallel()
	master := godwit.Run(t, "--repl-diskless-sync-delay", "0")
	keepsStream(t, master)
	addBulk(t, master)
	do(t, master, "SAVE")
	other := godwit.Run(t)
	do(t, other, "SAVE")
	require.NoError(t, os.Rename(filepath.Join(other.Dir, "dump.rdb"),
		filepath.Join(master.Dir, "dump.rdb")))
	replica := godwit.Run(t)
	link(t, replica, master.Addr)
	require.NoError(t, master.WaitSame(replica))
	require.False(t, logged(master, "gets the file"))
}

// TestSyncNotFromFile changes the data in ways that no stream tells, or by so much that a replica
// would be cut off for it, behind a file or while it is written: no replica gets that.
func TestSyncNotFromFile(t *testing.T) {
	t.Parallel()
	for _, change := range [][]any{
		{"DEBUG", "POPULATE", "100"},
		{"EVAL", "redis.set_repl(redis.REPL_AOF) redis.call('set', 'k', 'v')", "0"},
		{"SET", "much", strings.Repeat("x", 3<<19)},
	} {
		for _, running := range []bool{false, true} {
			master := godwit.Run(t, "--repl-diskless-sync-delay", "0", "--repl-backlog-size", "2mb",
				"--client-output-buffer-limit", "replica 2mb 0 0")
			keepsStream(t, master)
			addBulk(t, master)
			if running {
				do(t, master, "DEBUG", "POPULATE", "30", "x")
				slowSaves(t, master)
			}
			do(t, master, "BGSAVE")
			if !running {
				waitSaved(t, master)
			}
			do(t, master, change...)
			replica := godwit.Run(t)
			link(t, replica, master.Addr)
			require.NoError(t, master.WaitSame(replica))
			require.False(t, logged(master, "gets the file"))
		}
	}
}

// comingFile is a file that is being written, or about to be.
type comingFile struct {
	name       string
	args       []string
	begin      func(t *testing.T, p pair, master *testserver.Server)
	wait, sent string // what the log says when a replica comes, and when it is sent the file
}

const (
	waits = "waits for the file that is being written"
	joins = "joins the others"
	based = "gets the file appendonly.aof.2.base.rdb"
)

var comingFiles = []comingFile{
	{"save", nil, func(t *testing.T, _ pair, master *testserver.Server) {
		keepsStream(t, master)
		slowSaves(t, master)
		do(t, master, "BGSAVE")
	}, waits, "gets the file dump.rdb"},
	{"base", []string{"--appendonly", "yes"},
		func(t *testing.T, _ pair, master *testserver.Server) {
			keepsStream(t, master)
			slowSaves(t, master)
			do(t, master, "BGREWRITEAOF")
		}, waits, based},
	{"due", []string{"--appendonly", "yes"},
		func(t *testing.T, _ pair, master *testserver.Server) {
			slowSaves(t, master)
			do(t, master, "BGSAVE") // there is no stream from there on
			do(t, master, "BGREWRITEAOF")
		}, "Another snapshot is running", based},
	{"sync", []string{"--repl-diskless-sync", "no"},
		func(t *testing.T, p pair, master *testserver.Server) {
			slowSaves(t, master)
			require.NoError(t, p.run(t, p.replica).Follow(master))
			require.NoError(t, master.WaitLog("Starting BGSAVE for SYNC"))
		}, joins, joins},
}

// TestSyncJoinsFile has a replica come while the data set is being written, or about to be: to the
// snapshot file, as the base of the log, or for another replica. It is sent that file.
func TestSyncJoinsFile(t *testing.T) {
	seed := testseed.New(t)
	forPairs(t, fedByUs, func(t *testing.T, p pair) {
		for _, c := range comingFiles {
			t.Run(c.name, func(t *testing.T) {
				t.Parallel()
				args := append([]string{"--repl-diskless-sync-delay", "0"}, bigBacklog...)
				master := p.run(t, p.master, append(args, c.args...)...)
				fill(t, master, seed, 300, redis7) // no deadlines of fields: not all can read them
				addBulk(t, master)
				replica := p.run(t, p.replica)
				c.begin(t, p, master)
				before := scans(master)
				require.NoError(t, replica.Follow(master))
				require.NoError(t, master.WaitLog(c.wait))
				fill(t, master, seed+1, 300, redis7)
				require.NoError(t, replica.WaitLink())
				require.NoError(t, master.WaitSame(replica))
				if c.sent != based || p.replica != redis7 { // it could not read all of a base
					require.True(t, logged(master, c.sent))
					require.Equal(t, before, scans(master))
				}
			})
		}
	})
}

// slowSaves has what the server saves from now on take a second or so.
func slowSaves(t *testing.T, s *testserver.Server) {
	t.Helper()
	do(t, s, "CONFIG", "SET", "rdb-key-save-delay", "8000")
}

// TestSyncFilesUnderLoad has a replica come again and again while there are writes, saves and
// rewrites of the log.
func TestSyncFilesUnderLoad(t *testing.T) {
	seed := testseed.New(t)
	forPairs(t, fedByUs, func(t *testing.T, p pair) {
		args := append([]string{"--repl-diskless-sync-delay", "0", "--appendonly", "yes"},
			bigBacklog...)
		master, replica := p.run(t, p.master, args...), p.run(t, p.replica)
		link(t, replica, master.Addr)
		rnd := rand.New(rand.NewPCG(seed, uint64(len(p.String()))))
		l := startLoad(t, master, seed, 2, redis7)
		for range 5 {
			require.NoError(t, replica.Promote())
			do(t, replica, "SET", "of", "its own")
			addBulk(t, master)
			do(t, master, "CONFIG", "SET", "rdb-key-save-delay", rnd.IntN(3000))
			// It may be refused: the one of before may be running.
			_, err := master.Do([]any{"BGSAVE", "BGREWRITEAOF"}[rnd.IntN(2)])
			require.NoError(t, err)
			time.Sleep(time.Duration(rnd.IntN(300)) * time.Millisecond)
			link(t, replica, master.Addr)
		}
		l.stop(t)
		require.NoError(t, master.WaitSame(replica))
		t.Logf("%d files, %d snapshots", strings.Count(master.Output(), "gets the file"),
			scans(master))
	})
}
