package replication

import (
	"fmt"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"godwit/internal/testserver"
)

// smallInput lets 2 MB of a master's stream wait for the end of a command.
var smallInput = []string{"--client-query-buffer-limit", "1mb", "--proto-max-bulk-len", "1mb",
	"--maxmemory", "2mb"}

// TestOddStreams has a master send a stream that no master sends, or one without an end. The
// replica says so, gives up the link, and tries again, each time after a pause.
func TestOddStreams(t *testing.T) {
	t.Parallel()
	const tooMuch = "because a command or a transaction of it has no end"
	rdb := "REDIS0009\xfe\x00\x00\x01a\x01b\xff" + strings.Repeat("\x00", 8)
	part := fmt.Sprintf("$%d\r\n%s\r\n", 1<<18, strings.Repeat("x", 1<<18))
	for _, c := range []struct{ name, stream, log string }{
		{"garbage", "*1\r\n!\r\n", "Protocol error: expected '$', got '!'"},
		{"claimed", "*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$9223372036854775807\r\n",
			"Protocol error: invalid bulk length"},
		{"more than fits", "*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$2097153\r\n",
			"arguments of up to 2097152 bytes are accepted"},
		{"arguments", "*1000\r\n" + strings.Repeat(part, 10), tooMuch},
		{"empty arguments", "*1000000\r\n" + strings.Repeat("$0\r\n\r\n", 100000), tooMuch},
		{"transaction", "*1\r\n$5\r\nMULTI\r\n" +
			strings.Repeat("*3\r\n$3\r\nSET\r\n$1\r\nk\r\n"+part, 10), tooMuch},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			o := full("", fmt.Sprintf("$%d\r\n%s%s", len(rdb), rdb, c.stream), "")
			o.silent = true
			l, err := net.Listen("tcp", "127.0.0.1:0")
			require.NoError(t, err)
			defer l.Close()
			go o.serve(l)
			s := godwit.Run(t, smallInput...)
			require.NoError(t, s.FollowAddr(l.Addr().String()))
			require.NoError(t, s.WaitLog(c.log))
			require.Equal(t, "b", do(t, s, "GET", "a"))
			require.Eventually(t, func() bool {
				return strings.Count(s.Output(), "Full resync from master") > 1
			}, testserver.Patience, 5*time.Millisecond)
		})
	}
}

// TestOddRecords has a master send a record without an end in its RDB file.
func TestOddRecords(t *testing.T) {
	t.Parallel()
	element := "\x80\x00\x04\x00\x00" + strings.Repeat("x", 1<<18)
	for log, record := range map[string]string{
		"a record of more than 2097152 bytes": "\x01\x01l\x80\x00\x10\x00\x00" +
			strings.Repeat(element, 10),
		"a compressed string of 4611686018427387904 bytes": "\x00\x01s\xc3" +
			"\x81\x40\x00\x00\x00\x00\x00\x00\x00\x01" + "x",
	} {
		for _, load := range []string{"disabled", "on-empty-db", "swapdb"} {
			t.Run(load+" "+log, func(t *testing.T) {
				t.Parallel()
				rdb := "REDIS0009\xfe\x00\x00\x01a\x01b" + record
				o := full("", fmt.Sprintf("$%d\r\n%s", len(rdb), rdb), "")
				o.silent = true
				l, err := net.Listen("tcp", "127.0.0.1:0")
				require.NoError(t, err)
				defer l.Close()
				go o.serve(l)
				s := godwit.Run(t, slices.Concat(smallInput, []string{"--rdbchecksum", "no",
					"--repl-diskless-load", load})...)
				require.NoError(t, s.FollowAddr(l.Addr().String()))
				require.NoError(t, s.WaitLog(log))
				require.Equal(t, "0", do(t, s, "DBSIZE"))
			})
		}
	}
}

// TestHeldStream pauses a replica while its master sends more than may wait. It goes on where it
// was.
func TestHeldStream(t *testing.T) {
	forPairs(t, []pair{{godwit, godwit}, {redis8, godwit}}, func(t *testing.T, p pair) {
		master := p.run(t, p.master, bigBacklog...)
		replica := p.run(t, p.replica, smallInput...)
		link(t, replica, master.Addr)
		do(t, replica, "CLIENT", "PAUSE", 100_000, "WRITE")
		for i := range 8 {
			do(t, master, "SET", i, strings.Repeat("x", 1<<20))
		}
		require.NoError(t, replica.WaitLog("because its commands are held back"))
		do(t, replica, "CLIENT", "UNPAUSE")
		require.NoError(t, master.WaitSame(replica))
		require.Equal(t, int64(1), stat(t, master, "sync_full"))
	})
}

// TestFullDisk has a master send an RDB file for which the disk has no room, and does not say how
// long it is. The replica keeps its data, leaves no part of the file there, and tries again.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	o := full("", "$EOF:"+replID+"\r\nREDIS0009"+strings.Repeat("x", 8<<20), "")
	o.silent = true
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	go o.serve(l)
	opts, err := godwit.Options(testserver.Dir(t))
	require.NoError(t, err)
	opts.Wrap = testserver.OwnDisk(t, "4m")(opts.Dir)
	s := testserver.Run(t, opts)
	do(t, s, "SET", "k", "old")
	require.NoError(t, s.FollowAddr(l.Addr().String()))
	require.NoError(t, s.WaitLog("Write error or short write writing to the DB file needed for "+
		"MASTER <-> REPLICA synchronization: No space left on device"))
	require.Equal(t, "old", do(t, s, "GET", "k"))
	require.Eventually(t, func() bool {
		return strings.Count(s.Output(), "No space left on device") > 1
	}, testserver.Patience, 5*time.Millisecond)
	require.NoError(t, s.Promote())
	left, err := filepath.Glob(filepath.Join(fmt.Sprintf("/proc/%d/root", s.Pid), s.Dir, "*.rdb"))
	require.NoError(t, err)
	require.Empty(t, left)
	do(t, s, "SAVE")
}

// TestFewerDatabases has a master use a database that its replica does not have. What it writes
// there must not get into another one.
func TestFewerDatabases(t *testing.T) {
	pairs := []pair{{redis7, godwit}, {redis8, godwit}, {valkey9, godwit}, {godwit, godwit}}
	forPairs(t, pairs, func(t *testing.T, p pair) {
		for _, unit := range [][]string{
			{"SELECT 9", "SET a nine"},
			{"SELECT 9", "MULTI", "SET a nine", "SET b nine", "EXEC"},
			{"SWAPDB 0 9", "SET b nine"},
			{"MOVE m 9", "SET b nine"},
			{"COPY a c DB 9", "SET b nine"},
		} {
			master, replica := p.run(t, p.master), p.run(t, p.replica, "--databases", "4")
			do(t, master, "MSET", "a", "zero", "m", "zero")
			link(t, replica, master.Addr)
			c := master.Client(t)
			for _, line := range unit {
				var args []any
				for word := range strings.FieldsSeq(line) {
					args = append(args, word)
				}
				c.Queue(args...)
			}
			_, err := c.Pipeline()
			require.NoError(t, err)
			require.NoError(t, replica.WaitLog("a database that is not here (databases 4)"))
			require.NoError(t, replica.WaitNoLink())
			require.Equal(t, "zero", do(t, replica, "GET", "a"))
			require.Equal(t, "0", do(t, replica, "EXISTS", "b"))
		}
	})
}
