package integration

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"godwit/internal/testserver"
)

// TestStockConfigurations checks that the files that come with Redis and Valkey start the server.
func TestStockConfigurations(t *testing.T) {
	t.Parallel()
	godwitOnly(t)
	start := func(t *testing.T, path string) {
		text, err := os.ReadFile(path)
		if os.IsPermission(err) {
			t.Skipf("%s cannot be read: %v", path, err)
		}
		require.NoError(t, err)
		dir := t.TempDir()
		// These directives point to what the distribution's package prepares for its own user.
		for name, value := range map[string]string{
			"dir": dir, "logfile": `""`, "pidfile": filepath.Join(dir, "pid"), "daemonize": "no",
			"include": filepath.Join(dir, "*.include"),
		} {
			text = regexp.MustCompile(`(?m)^`+name+` .*$`).ReplaceAll(text, []byte(name+" "+value))
		}
		file := filepath.Join(dir, "conf")
		require.NoError(t, os.WriteFile(file, text, 0o644))
		s := startServer(t, file, "--dir", dir)
		require.LessOrEqual(t, strings.Count(s.Output(), "WARNING: the directive"), 2,
			"defaults need no warning")
	}
	t.Run("installed", func(t *testing.T) {
		if _, err := os.Stat("/etc/redis/redis.conf"); err != nil {
			t.Skip(err)
		}
		start(t, "/etc/redis/redis.conf")
	})
	for _, p := range []testserver.Peer{testserver.Redis, testserver.Valkey} {
		t.Run(string(p), func(t *testing.T) { start(t, p.Conf(t)) })
	}
}

// TestSecretsStayHidden checks that a server that does not start prints no password.
func TestSecretsStayHidden(t *testing.T) {
	t.Parallel()
	godwitOnly(t)
	file := func(line string) string {
		path := filepath.Join(t.TempDir(), "conf")
		require.NoError(t, os.WriteFile(path, []byte("save \"\"\n"+line+"\n"), 0o644))
		return path
	}
	users := filepath.Join(t.TempDir(), "users.acl")
	require.NoError(t, os.WriteFile(users, []byte("user default on nopass ~* +@all\n"+
		"user a on >s3cret s3cret +@al\nusr b >s3cret\n"), 0o644))
	for _, args := range [][]string{
		{file("user alice on >s3cret ~* +@al")}, {file("user alice on s3cret ~* +@all")},
		{file("user alice on #s3cret")}, {file("user alice on >s3cret (~x >s3cret)")},
		{file("user alice on >s3cret (~x +@s3cret")}, {file("usr alice on >s3cret")},
		{file("user alice on >s3cret\nuser alice on >s3cret")},
		{file("requirepass s3cret s3cret")}, {file("requirpass s3cret")},
		{file(`masterauth "s3cret`)}, {"--requirepass", "s3cret", "s3cret"},
		{"--requirepas", "s3cret"}, {"--user", "alice on >s3cret +@al"},
		{"--user", "alice", "on", ">s3cret", "+@al"}, {"--aclfile", users},
		{"--replicaof", "h", "1", "--masterauth", "s3cret"},
	} {
		s, err := launch(t.TempDir(), "", append(args, "--port", "0")...)
		require.NoError(t, err)
		require.Equal(t, 1, s.Exited(t), "%q: %s", args, s.Output())
		require.NotContains(t, s.Output(), "s3cret", "%q", args)
		require.NotEmpty(t, s.Output(), "%q", args)
		s.stop(t)
	}
}

// TestCommandLineIsHidden checks that a password among the arguments does not stay in the list of
// processes.
func TestCommandLineIsHidden(t *testing.T) {
	t.Parallel()
	godwitOnly(t)
	commandLine := func(pid int) string {
		raw, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline")
		if os.IsNotExist(err) {
			t.Skip("no /proc")
		}
		require.NoError(t, err)
		return strings.TrimRight(string(raw), "\x00")
	}
	s := startServer(t, "--user", "default", "on", "nopass", "~*", "&*", "+@all", "--user", "a",
		">s3cret", "--masterauth", "s3cret")
	require.Equal(t, built.path+" "+s.Addr, commandLine(s.Pid))
	c := s.dial(t)
	v, err := c.Do("CONFIG", "SET", "proc-title-template",
		"{title} {port} "+strings.Repeat("x", 300))
	require.NoError(t, err)
	require.Equal(t, "OK", v.Text())
	require.True(t,
		strings.HasPrefix(commandLine(s.Pid), built.path+" "+strconv.Itoa(s.Port)+" xxx"))
	v, err = c.Do("CONFIG", "SET", "proc-title-template", "short")
	require.NoError(t, err)
	require.Equal(t, "OK", v.Text())
	require.Equal(t, "short", commandLine(s.Pid))

	s = startServer(t, "--set-proc-title", "no", "--proc-title-template", "other")
	require.Contains(t, commandLine(s.Pid), "--set-proc-title\x00no")

	dir := t.TempDir()
	port := freePort()
	pidfile := filepath.Join(dir, "pid")
	s, err = launch(dir, "", "--port", strconv.Itoa(port), "--bind", "127.0.0.1", "--daemonize",
		"yes", "--pidfile", pidfile,
		"--dir", dir, "--save", "", "--requirepass", "s3cret")
	require.NoError(t, err)
	require.Zero(t, s.Exited(t))
	pid := 0
	require.Eventually(t, func() bool {
		raw, _ := os.ReadFile(pidfile)
		pid, _ = strconv.Atoi(strings.TrimSpace(string(raw)))
		return pid != 0
	}, patience, 5*time.Millisecond)
	t.Cleanup(func() { endProcess(pid) })
	require.Equal(t, built.path+" 127.0.0.1:"+strconv.Itoa(port), commandLine(pid))
}

func endProcess(pid int) {
	if p, err := os.FindProcess(pid); err == nil {
		_ = p.Kill()
	}
}
