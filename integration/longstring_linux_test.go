package integration

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"godwit/internal/resp/client"
	"godwit/internal/testseed"
)

// TestLongStringsTakeNoHeap checks that no form of a snapshot copies a long string. So a snapshot
// works where the system has no memory for a copy.
func TestLongStringsTakeNoHeap(t *testing.T) {
	skipUnderRace(t)
	const size = 192 * mib
	noise := make([]byte, mib)
	rng := testseed.Rand(t)
	for i := range noise {
		noise[i] = byte(rng.Uint32())
	}
	for _, w := range []struct {
		name string
		args []string
		save func(t *testing.T, c *client.Client)
	}{
		{"BGSAVE", nil, bgsave},
		{"not compressed", []string{"--rdbcompression", "no"}, bgsave},
		{"SAVE", nil, func(t *testing.T, c *client.Client) { do(t, c, "SAVE") }},
		{"base", nil, rewriteAOF},
		{"base of commands", []string{"--aof-use-rdb-preamble", "no"}, rewriteAOF},
	} {
		t.Run(w.name, func(t *testing.T) {
			s := startServer(t, w.args...)
			c := s.dial(t)
			for i := 0; i < size; i += mib {
				do(t, c, "APPEND", "noise", noise)
			}
			high, mapped := s.status(t, "VmHWM"), uint64(s.status(t, "VmSize")+size/2)
			pid := s.Pid
			require.NoError(t,
				unix.Prlimit(pid, unix.RLIMIT_AS, &unix.Rlimit{Cur: mapped, Max: mapped}, nil))
			w.save(t, c)
			require.Less(t, s.status(t, "VmHWM")-high, int64(size/4))
		})
	}
}

func bgsave(t *testing.T, c *client.Client) {
	t.Helper()
	do(t, c, "BGSAVE")
	eventually(t, "the save ends", func() bool {
		return persistInfo(t, c, "rdb_bgsave_in_progress") == "0"
	})
	require.Equal(t, "ok", persistInfo(t, c, "rdb_last_bgsave_status"))
}

// changeLongStrings queues the i-th changes of the keys that the test fills.
func changeLongStrings(c *client.Client, i int, noise []byte) {
	for _, of := range []string{":noise", ":text"} {
		c.Queue("SETRANGE", "changed"+of, i*100_000+7, "something else")
		c.Queue("SETBIT", "changed"+of, i*8_000_000, 1)
		c.Queue("BITFIELD", "changed"+of, "SET", "u32", 32_767+i*1_000_000, 4711)
		c.Queue("APPEND", "grown"+of, noise[:mib])
		switch i {
		case 0:
			c.Queue("RENAME", "renamed"+of, "other"+of)
			c.Queue("DEL", "deleted"+of)
			c.Queue("SET", "replaced"+of, "short")
			c.Queue("MOVE", "moved"+of, 1)
			c.Queue("COPY", "copied"+of, "changed:copy"+of)
			c.Queue("PEXPIRE", "due"+of, 1)
		case 1:
			c.Queue("SETRANGE", "other"+of, 3*mib, "renamed, then changed")
			c.Queue("SETRANGE", "copied"+of, 4*mib, "copied, then changed")
		case 2:
			c.Queue("DEL", "changed"+of)
			c.Queue("SWAPDB", 0, 1)
			c.Queue("SWAPDB", 0, 1)
		}
	}
}

// TestLongStringsChangeDuringSnapshots changes long strings in the turn in which a snapshot begins,
// and while it is written. A restart from the snapshot brings back the strings as they were at its
// start. A restart from the log brings back the last ones.
func TestLongStringsChangeDuringSnapshots(t *testing.T) {
	rng := testseed.Rand(t)
	noise := make([]byte, 5*mib)
	for i := range noise {
		noise[i] = byte(rng.Uint32())
	}
	text := bytes.Repeat([]byte("some text, and then "), 5*mib/20)
	fill := func(t *testing.T, c *client.Client) {
		for _, k := range []string{"changed", "grown", "renamed", "deleted", "replaced", "moved",
			"copied", "due"} {
			do(t, c, "SET", k+":noise", noise)
			do(t, c, "SET", k+":text", text)
		}
	}
	changes := func(t *testing.T, c *client.Client, begin string) {
		c.Queue(begin)
		for i := range 4 {
			changeLongStrings(c, i, noise)
			_, err := c.Pipeline()
			require.NoError(t, err)
		}
	}
	t.Run("snapshot", func(t *testing.T) {
		t.Parallel()
		s := startServer(t, with()...)
		c := s.dial(t)
		fill(t, c)
		want := digest(t, c)
		changes(t, c, "BGSAVE")
		eventually(t, "the save ends", func() bool {
			return persistInfo(t, c, "rdb_bgsave_in_progress") == "0"
		})
		require.NotEqual(t, want, digest(t, c))
		require.Equal(t, "0", persistInfo(t, c, "mem_not_counted_for_evict"), "all is thawed")
		s.Kill()
		require.Equal(t, want, digest(t, again(t, s, with()...).dial(t)))
	})
	for _, preamble := range []string{"yes", "no"} {
		t.Run("log, preamble "+preamble, func(t *testing.T) {
			t.Parallel()
			aof := with("--appendonly", "yes", "--appendfsync", "always", "--aof-use-rdb-preamble",
				preamble)
			s := startServer(t, aof...)
			c := s.dial(t)
			fill(t, c)
			changes(t, c, "BGREWRITEAOF")
			eventually(t, "the rewrite ends", func() bool {
				return persistInfo(t, c, "aof_rewrite_in_progress") == "0"
			})
			require.Equal(t, "ok", persistInfo(t, c, "aof_last_bgrewrite_status"))
			want := digest(t, c)
			s.Kill()
			require.Equal(t, want, digest(t, again(t, s, aof...).dial(t)))
		})
	}
}
