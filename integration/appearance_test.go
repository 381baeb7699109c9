package integration

import (
	"encoding/json"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestLogoAndLogFormat reads port and process number out of the logo, and the other lines as JSON.
func TestLogoAndLogFormat(t *testing.T) {
	t.Parallel()
	godwitOnly(t)
	s := startServer(t, "--always-show-logo", "yes", "--log-format", "json",
		"--log-timestamp-format", "milliseconds", "--availability-zone", "here")
	log := s.Output()
	for what, want := range map[string]int{"Port": s.Port, "PID": s.Pid} {
		m := regexp.MustCompile(what + `: (\d+)`).FindStringSubmatch(log)
		require.NotNil(t, m, log)
		require.Equal(t, strconv.Itoa(want), m[1])
	}
	lines := 0
	for line := range strings.Lines(log) {
		if !strings.HasPrefix(line, "{") {
			continue
		}
		var f struct {
			Pid                             int
			Role, Timestamp, Level, Message string
		}
		require.NoError(t, json.Unmarshal([]byte(line), &f), line)
		require.Equal(t, s.Pid, f.Pid)
		require.Regexp(t, `^\d{13}$`, f.Timestamp)
		require.NotEmpty(t, f.Message)
		lines++
	}
	require.Positive(t, lines)
	c := s.dial(t)
	require.Contains(t, fmt.Sprint(do(t, c, "HELLO").Elems), "availability_zone")
	require.Equal(t, "here", fieldOf(t, c, "availability_zone"))
	do(t, c, "CONFIG", "SET", "availability-zone", "", "log-format", "logfmt")
	require.NotContains(t, fmt.Sprint(do(t, c, "HELLO").Elems), "availability_zone")
}

// TestUnixSocketGroup gives the socket to a group that the process is in, and to none that exists.
func TestUnixSocketGroup(t *testing.T) {
	t.Parallel()
	godwitOnly(t)
	group, err := user.LookupGroupId(strconv.Itoa(os.Getegid()))
	if err != nil {
		t.Skip(err)
	}
	if os.Getuid() == 0 {
		if other, err := user.LookupGroup("daemon"); err == nil {
			group = other
		}
	}
	dir := t.TempDir()
	s, err := launchReady(dir, "--unixsocket", "sock", "--unixsocketgroup", group.Name)
	require.NoError(t, err)
	t.Cleanup(func() { s.Finish(t) })
	info, err := os.Stat(filepath.Join(dir, "sock"))
	require.NoError(t, err)
	require.Equal(t, group.Gid, strconv.Itoa(int(info.Sys().(*syscall.Stat_t).Gid)))
	bad, err := launch(t.TempDir(), "", "--port", "0", "--save", "", "--unixsocket", "sock",
		"--unixsocketgroup", "nosuchgroup")
	require.NoError(t, err)
	require.NotZero(t, bad.Exited(t))
	require.Contains(t, bad.Output(), "getgrnam error for group 'nosuchgroup'")
}

// TestSleepBeforeFlush makes writes to the log slow, which shows in INFO and LATENCY.
func TestSleepBeforeFlush(t *testing.T) {
	t.Parallel()
	godwitOnly(t)
	c := startServer(t, "--appendonly", "yes", "--enable-debug-command", "yes",
		"--latency-monitor-threshold", "1").dial(t)
	do(t, c, "DEBUG", "AOF-FLUSH-SLEEP", 5000)
	do(t, c, "SET", "k", "v")
	eventually(t, "the write has been waited for", func() bool {
		text := do(t, c, "INFO", "debug").Text()
		m := regexp.MustCompile(`eventloop_duration_aof_sum:(\d+)`).FindStringSubmatch(text)
		us, err := strconv.Atoi(m[1])
		return err == nil && us >= 5000
	})
	require.Contains(t, fmt.Sprint(do(t, c, "LATENCY", "LATEST").Elems), "aof-write")
}
