package command

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/config"
)

// TestEndlessReplies checks that random elements, as often as the client likes, end at its output
// limit and with its connection.
func TestEndlessReplies(t *testing.T) {
	for _, size := range []int{3, 1000} { // packed, and in tables
		l := newLocal(t)
		for i := range size {
			l.lines(t, fmt.Sprintf("HSET h f%d v; SADD s m%d; ZADD z %d m%d", i, i, i, i))
		}
		const limit = 1 << 20
		for i := range l.e.Cfg.OutputLimits {
			l.e.Cfg.OutputLimits[i] = config.OutputLimit{Hard: limit}
		}
		for _, cmd := range []string{"HRANDFIELD h -9223372036854775807",
			"HRANDFIELD h -4611686018427387903 WITHVALUES", "SRANDMEMBER s -9223372036854775807",
			"ZRANDMEMBER z -9223372036854775807",
			"ZRANDMEMBER z -4611686018427387903 WITHSCORES"} {
			c := l.join()
			c.exec(argvOf(strings.Fields(cmd)...))
			require.True(t, c.c.CloseASAP, "%s: %.100q", cmd, c.c.W.Buf)
			require.Less(t, len(c.c.W.Buf), 2*limit, cmd)
		}
	}
}
