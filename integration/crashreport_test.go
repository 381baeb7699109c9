package integration

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/resp/client"
	"godwit/internal/testserver"
)

// TestCrashReports checks each way in which the server may crash. It must leave one report in its
// log, which names what ran but no value, and exit with a code other than 0.
func TestCrashReports(t *testing.T) {
	godwitOnly(t)
	for _, end := range crashes {
		for _, place := range []string{"file", "", "rotated", "daemonize"} {
			t.Run(end.name+" "+place, func(t *testing.T) { crashReport(t, end, place) })
		}
	}
}

// crashWay is a way to crash.
type crashWay struct {
	name   string
	args   []string
	does   func(t *testing.T, c *client.Client, pid int)
	says   []string // the log must say this
	report bool     // Godwit's report, not only the runtime's words
}

var crashes = []crashWay{
	{"panic", nil, crashBy("DEBUG", "PANIC"),
		[]string{"DEBUG PANIC", "command: debug, 1 arguments <5 bytes>", "event loop"}, true},
	{"panic in a transaction", []string{"--io-threads", "2"},
		func(t *testing.T, c *client.Client, _ int) {
			do(t, c, "MULTI")
			do(t, c, "SET", "secretkey", "secretvalue")
			do(t, c, "DEBUG", "PANIC")
			_, err := c.Do("EXEC")
			require.Error(t, err)
		}, []string{"command: exec, 0 arguments", "within: debug"}, true},
	{"segfault", nil, crashBy("DEBUG", "SEGFAULT"), []string{"(address 0x", "command: debug"},
		true},
	{"abort", nil, func(t *testing.T, c *client.Client, pid int) {
		require.NoError(t, syscall.Kill(pid, syscall.SIGABRT))
		_, err := c.Receive()
		require.Error(t, err)
	}, []string{"SIGABRT: abort", "goroutine "}, false},
}

func crashBy(args ...any) func(t *testing.T, c *client.Client, _ int) {
	return func(t *testing.T, c *client.Client, _ int) {
		do(t, c, "SET", "secretkey", "secretvalue")
		_, err := c.Do(args...)
		require.Error(t, err, "the connection ends without a reply")
	}
}

func crashReport(t *testing.T, end crashWay, place string) {
	dir := t.TempDir()
	log := filepath.Join(dir, "server.log")
	args := append([]string{"--enable-debug-command", "yes"}, end.args...)
	if place != "" {
		args = append(args, "--logfile", log)
	}
	var s *server
	var err error
	if place == "daemonize" {
		s, err = launchDaemon(t, dir, args)
	} else {
		s, err = launchReady(dir, args...)
	}
	require.NoError(t, err)
	if place == "" {
		log = s.Log
	}
	c := s.dial(t)
	if place == "rotated" {
		require.NoError(t, os.Rename(log, log+".1"))
		// The runtime has the file by a descriptor of its own, which changes last.
		eventually(t, "another log file", func() bool {
			return holds(s.Pid, log) && !holds(s.Pid, log+".1")
		})
	}
	end.does(t, c, s.Pid)
	if place == "daemonize" {
		eventually(t, "the end", func() bool {
			return syscall.Kill(s.Pid, 0) != nil || zombie(s.Pid)
		})
	} else {
		require.NotZero(t, s.Exited(t))
	}
	text := read(t, log)
	for _, want := range end.says {
		require.True(t, strings.Contains(text, want), "%q in %.3000s", want, text)
	}
	require.False(t, strings.Contains(text, "secret"))
	if end.report {
		require.Equal(t, 1, strings.Count(text, "=== GODWIT BUG REPORT START"))
		require.Equal(t, 1, strings.Count(text, "=== GODWIT BUG REPORT END"))
		require.True(t, strings.Contains(text, "Godwit crashed by a panic"))
		require.True(t, strings.Contains(text, "used memory"))
	}
}

// holds reports whether a process has the file open.
func holds(pid int, path string) bool {
	links, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	return slices.ContainsFunc(links, func(link string) bool {
		to, err := os.Readlink(link)
		return err == nil && to == path
	})
}

// launchDaemon starts a server in the background and finds its process.
func launchDaemon(t *testing.T, dir string, args []string) (*server, error) {
	t.Helper()
	pidFile := filepath.Join(dir, "pid")
	args = append(args, "--daemonize", "yes", "--pidfile", pidFile)
	first, err := testserver.Launch(testserver.Options{Dir: dir, Args: args})
	if err != nil {
		return nil, err
	}
	s := &server{first}
	require.Zero(t, s.Exited(t))
	eventually(t, "a server in the background", func() bool {
		return testserver.Answers("tcp", s.Addr)
	})
	s.Pid, err = strconv.Atoi(strings.TrimSpace(read(t, pidFile)))
	t.Cleanup(func() {
		if !zombie(s.Pid) {
			_ = syscall.Kill(s.Pid, syscall.SIGKILL) // it has ended, unless the test fails
		}
	})
	return s, err
}
