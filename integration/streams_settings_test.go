package integration

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSettingsOfStreams restarts a server whose streams were made under several defaults of
// stream-idmp-*. Each keeps its own through both kinds of bases. A stream of the log behind the
// base takes those of the day, as in Redis.
func TestSettingsOfStreams(t *testing.T) {
	t.Parallel()
	godwitOnly(t)
	for _, preamble := range []string{"yes", "no"} {
		t.Run("preamble "+preamble, func(t *testing.T) {
			s := startServer(t, "--appendonly", "yes", "--aof-use-rdb-preamble", preamble)
			c := s.dial(t)
			keys := []string{"plain", "configured", "other", "same", "known"}
			do(t, c, "XADD", "plain", "1-1", "f", "v")
			do(t, c, "XADD", "configured", "1-1", "f", "v")
			do(t, c, "XCFGSET", "configured", "IDMP-DURATION", 7)
			do(t, c, "CONFIG", "SET", "stream-idmp-duration", 300, "stream-idmp-maxsize", 8)
			do(t, c, "XADD", "other", "1-1", "f", "v")
			do(t, c, "XADD", "same", "1-1", "f", "v")
			do(t, c, "XCFGSET", "same", "IDMP-DURATION", 100, "IDMP-MAXSIZE", 100)
			do(t, c, "XADD", "known", "IDMP", "p", "i", "*", "f", "v")
			rewriteAOF(t, c)
			info := map[string]string{}
			for _, key := range keys {
				info[key] = do(t, c, "XINFO", "STREAM", key, "FULL").String()
			}
			do(t, c, "XADD", "late", "1-1", "f", "v")

			s.stop(t)
			s = again(t, s, "--appendonly", "yes", "--aof-use-rdb-preamble", preamble,
				"--stream-idmp-duration", "200", "--stream-idmp-maxsize", "50")
			c = s.dial(t)
			for _, key := range keys {
				require.Equal(t, info[key], do(t, c, "XINFO", "STREAM", key, "FULL").String(), key)
			}
			late := do(t, c, "XINFO", "STREAM", "late").Elems
			require.Equal(t, "idmp-duration", late[14].Text())
			require.Equal(t, int64(200), late[15].Int)
		})
	}
}
