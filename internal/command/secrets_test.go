package command

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSecretsStayOutOfSlowlog checks that no form of a command with a password shows it in the slow
// log, not even an invalid form. MONITOR shows the same arguments.
func TestSecretsStayOutOfSlowlog(t *testing.T) {
	l := newLocal(t)
	l.do(t, argvOf("CONFIG", "SET", "slowlog-log-slower-than", "0", "slowlog-max-len", "1000"))
	calls := []string{
		"AUTH s3cret", "AUTH default s3cret", "AUTH default x s3cret",
		"HELLO 2 AUTH default s3cret", "HELLO 9 AUTH default s3cret",
		"HELLO 2 SETNAME a b AUTH default s3cret", "HELLO 2 AUTH s3cret",
		"HELLO x AUTH default s3cret", "CONFIG SET masterauth s3cret",
		"CONFIG SET hz 10 primaryauth s3cret", "CONFIG SET requirepas s3cret",
		"CONFIG SET masterauth s3cret x", "CONFIG SET masteruser s3cret",
		"CONFIG SET tls-key-file-pass s3cret", "ACL SETUSER bob >s3cret",
		"ACL SETUSER bob >s3cret +@al", "ACL GETUSER s3cret", "ACL DELUSER s3cret",
		"MIGRATE 127.0.0.1 1 k 0 10 AUTH s3cret",
		"MIGRATE 127.0.0.1 1 k 0 10 COPY AUTH2 u s3cret",
		"MIGRATE 127.0.0.1 x k 0 10 AUTH s3cret",
		"CLUSTER FOLLOW host 1 SLOTSRANGE 0 1 TLS AUTH s3cret",
		"CLUSTER FOLLOW host x SLOTSRANGE 0 1 AUTH2 u s3cret", "CLUSTER FOLLOW host 1 AUTH s3cret",
		"CLUSTER FOLLOW host AUTH s3cret", "CLUSTER FOLLOW AUTH2 u s3cret",
	}
	for _, call := range calls {
		l.do(t, argvOf(strings.Fields(call)...))
	}
	l.do(t, argvOf("MULTI"))
	for _, call := range calls {
		l.do(t, argvOf(strings.Fields(call)...))
	}
	l.do(t, argvOf("EXEC"))
	l.do(t, argvOf("CONFIG", "SET", "requirepass", "s3cret"))
	l.do(t, argvOf("CONFIG", "SET", "requirepass", ""))
	log := fmt.Sprint(l.do(t, argvOf("SLOWLOG", "GET", "-1")))
	require.Greater(t, strings.Count(log, "(redacted)"), 2*len(calls))
	require.NotContains(t, log, "s3cret")
}
