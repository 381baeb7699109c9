package integration

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"godwit/internal/resp/client"
	"godwit/internal/testserver"
)

// refusal is a command line that the server must refuse.
type refusal struct {
	name string
	args []string
	want []string // parts of the output
	only bool     // only Godwit refuses it
}

// refusals returns what the server must refuse while another one listens on port busy.
func refusals(t *testing.T, busy int) []refusal {
	t.Helper()
	dir := t.TempDir()
	file := func(name, content string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(content), 0o644))
		return path
	}
	looped := file("loop.conf", "")
	require.NoError(t, os.WriteFile(looped, []byte("include "+looped+"\n"), 0o644))
	port := strconv.Itoa(freePort())
	return []refusal{
		{name: "port in use",
			args: []string{"--port", strconv.Itoa(busy), "--bind", "127.0.0.1"},
			want: []string{"Could not create server TCP listening socket 127.0.0.1:" +
				strconv.Itoa(busy), "Address already in use"}},
		{name: "no such address", args: []string{"--port", port, "--bind", "203.0.113.77"},
			want: []string{"203.0.113.77:" + port, "assign requested address"}},
		{name: "no such file", args: []string{filepath.Join(dir, "none.conf")},
			want: []string{"can't open config file '" + filepath.Join(dir, "none.conf") +
				"': No such file or directory"}},
		{name: "unknown directive",
			args: []string{file("unknown.conf", "# first\nport "+port+"\nfrobnicate yes\n")},
			want: []string{"at line 3", ">>> 'frobnicate yes'",
				"Bad directive or wrong number of arguments"}},
		{name: "bad value", args: []string{file("value.conf", "maxmemory lots\n")},
			want: []string{"at line 1", ">>> 'maxmemory lots'"}},
		{name: "bad enum", args: []string{file("enum.conf", "\n\nloglevel loud\n")},
			want: []string{"at line 3", ">>> 'loglevel loud'"}},
		{name: "unbalanced quotes", args: []string{file("quotes.conf", "logfile \"abc\n")},
			want: []string{"at line 1", "nbalanced quotes"}},
		{name: "out of range", args: []string{"--port", "65536"},
			want: []string{">>> 'port \"65536\"'", "between"}},
		{name: "unknown argument", args: []string{"--nonsense", "1"},
			want: []string{"'nonsense ", "Bad directive or wrong number of arguments"}},
		{name: "in an included file",
			args: []string{file("outer.conf",
				"port "+port+"\ninclude "+file("inner.conf", "hz often\n")+"\n")},
			want: []string{"hz often"}},
		{name: "include that includes itself", args: []string{looped}, want: []string{"include"},
			only: true},
		{name: "log that cannot be written",
			args: []string{"--port", port, "--logfile", filepath.Join(dir, "no", "such", "dir")},
			want: []string{"Can't open the log file: No such file or directory"}},
		{name: "no such directory",
			args: []string{"--port", port, "--dir", filepath.Join(dir, "nowhere")},
			want: []string{"No such file or directory"}},
		{name: "socket that cannot be made",
			args: []string{"--port", "0", "--unixsocket", filepath.Join(dir, "nowhere", "s")},
			want: []string{"Failed opening Unix socket", "No such file or directory"}},
		{name: "renaming nothing",
			args: []string{file("rename.conf", "rename-command nosuch other\n")},
			want: []string{"o such command"}},
		{name: "certificate",
			args: []string{"--port", "0", "--tls-port", port, "--tls-cert-file",
				filepath.Join(dir, "none"), "--tls-key-file", "none", "--tls-auth-clients", "no"},
			want: []string{"ertificate"}},
	}
}

// TestRefusesToStart checks that a server that cannot start says why in one clear message and exits
// with 1.
func TestRefusesToStart(t *testing.T) {
	t.Parallel()
	busy := startServer(t)
	for _, c := range refusals(t, busy.Port) {
		t.Run(c.name, func(t *testing.T) {
			if c.only {
				godwitOnly(t)
			}
			s, err := launch(t.TempDir(), "", c.args...)
			require.NoError(t, err)
			require.Equal(t, 1, s.Exited(t), s.Output())
			for _, part := range c.want {
				require.Contains(t, s.Output(), part)
			}
			require.Empty(t, s.Sick())
		})
	}
	require.True(t, testserver.Answers("tcp", busy.Addr), "the first server does not mind")
}

// TestSignals checks that SIGTERM and SIGINT end the server in order, whatever its clients do.
func TestSignals(t *testing.T) {
	t.Parallel()
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		for _, threads := range []string{"1", "3"} {
			socket := filepath.Join(t.TempDir(), "socket")
			s := startServer(t, "--unixsocket", socket, "--io-threads", threads)
			busy := s.dial(t)
			for range 1000 {
				busy.Queue("INCR", "n")
			}
			require.NoError(t, busy.Flush())
			half := s.dial(t)
			require.NoError(t, half.Send([]byte("*2\r\n$4\r\nECHO\r\n$100\r\nabc")))
			require.NoError(t, syscall.Kill(s.Pid, sig))
			require.Zero(t, s.Exited(t), s.Output())
			for _, line := range []string{"scheduling shutdown...", "User requested shutdown...",
				"ready to exit, bye bye..."} {
				require.Contains(t, s.Output(), line)
			}
			require.NoFileExists(t, socket)
			_, err := half.Receive()
			require.Error(t, err)
		}
	}
}

// TestLogLines checks the log lines that tools wait for.
func TestLogLines(t *testing.T) {
	t.Parallel()
	logfile := filepath.Join(t.TempDir(), "log")
	s := startServer(t, "--logfile", logfile)
	raw, err := os.ReadFile(logfile)
	require.NoError(t, err)
	require.Contains(t, string(raw), "Server initialized")
	require.Contains(t, string(raw), "Ready to accept connections")
	lines := strings.Split(strings.TrimSpace(string(raw)), "\n")
	require.Regexp(t,
		`^`+strconv.Itoa(s.Pid)+`:[CM] \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d\.\d{3} [-.*#] `,
		lines[len(lines)-1])
	require.NotContains(t, s.Output(), "Ready", "it went into the file")
}

// TestDaemonize checks that the first process exits with 0. The second one writes its pid file and
// removes it when it ends.
func TestDaemonize(t *testing.T) {
	t.Parallel()
	for _, stdin := range []bool{false, true} {
		dir := t.TempDir()
		port := freePort()
		pidfile := filepath.Join(dir, "pid")
		conf := fmt.Sprintf("port %d\nbind 127.0.0.1\ndaemonize yes\npidfile %s\n"+
			"logfile %s/log\ndir %s\nsave \"\"\n", port, pidfile, dir, dir)
		args, input := []string{filepath.Join(dir, "conf")}, ""
		require.NoError(t, os.WriteFile(args[0], []byte(conf), 0o644))
		if stdin {
			args, input = []string{"-"}, conf
		}
		s, err := launch(dir, input, args...)
		require.NoError(t, err)
		require.Zero(t, s.Exited(t), s.Output())
		addr := fmt.Sprintf("127.0.0.1:%d", port)
		eventually(t, "the server in the background answers", func() bool {
			return testserver.Answers("tcp", addr)
		})
		raw, err := os.ReadFile(pidfile)
		require.NoError(t, err)
		pid, err := strconv.Atoi(strings.TrimSpace(string(raw)))
		require.NoError(t, err)
		require.NotEqual(t, s.Pid, pid)
		c := redis.NewClient(&redis.Options{Addr: addr})
		require.Equal(t, strconv.Itoa(pid), infoField(t, c, "process_id"))
		c.Close()
		require.NoError(t, syscall.Kill(pid, syscall.SIGTERM))
		eventually(t, "the server in the background ends", func() bool {
			return syscall.Kill(pid, 0) != nil || zombie(pid)
		})
		require.NoFileExists(t, pidfile)
	}
}

// zombie reports whether a process has ended and nobody has waited for it.
func zombie(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && strings.Contains(string(stat), ") Z ")
}

func TestConfigFromStdin(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	port := freePort()
	s, err := launch(dir,
		fmt.Sprintf("bind 127.0.0.1\nport 1\nport %d\nsave \"\"\nmaxmemory 12mb\n", port), "-")
	require.NoError(t, err)
	t.Cleanup(func() { s.Finish(t) })
	s.Addr = fmt.Sprintf("127.0.0.1:%d", port)
	require.NoError(t, s.Ready())
	require.Equal(t, "12582912", s.client(t).ConfigGet(t.Context(), "maxmemory").Val()["maxmemory"])
}

// TestConfigFile checks quoting, units, include and repeated directives. Arguments override the
// file. CONFIG REWRITE keeps what people wrote, and a restart finds what was set.
func TestConfigFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	inner, conf := filepath.Join(dir, "inner.conf"), filepath.Join(dir, "main.conf")
	require.NoError(t, os.WriteFile(inner, []byte("maxmemory 1gb\nslowlog-max-len 11\n"), 0o644))
	original := "# my server\n\ninclude " + inner +
		"\n  MAXMEMORY 2MB   \n# the log\nslowlog-max-len 12\n" +
		"rename-command FLUSHALL \"\"\nrename-command CONFIG \"secret config\"\n" +
		"client-output-buffer-limit normal 10mb 5mb 60\nrequirepass \"pass \\x41 word\"\nhz " +
		"20\nhz 30\n"
	require.NoError(t, os.WriteFile(conf, []byte(original), 0o644))
	password := func(o *redis.Options) { o.Password = "pass A word" }
	s := startServer(t, conf, "--hz", "40")
	c, ctx := s.client(t, password), t.Context()
	get := func(c *redis.Client, name string) any {
		t.Helper()
		v, err := c.Do(ctx, "secret config", "GET", name).Result()
		require.NoError(t, err)
		return pairs(t, v)[name]
	}
	require.Equal(t, "2097152", get(c, "maxmemory"))
	require.Equal(t, "12", get(c, "slowlog-max-len"))
	require.Equal(t, "40", get(c, "hz"))
	require.Contains(t, get(c, "client-output-buffer-limit"), "normal 10485760 5242880 60")
	require.ErrorContains(t, c.FlushAll(ctx).Err(), "ERR unknown command 'flushall'")
	require.ErrorContains(t, c.ConfigResetStat(ctx).Err(), "ERR unknown command 'config'")

	require.NoError(t,
		c.Do(ctx, "secret config", "SET", "maxmemory", "3mb", "slowlog-max-len", "13",
			"maxmemory-policy", "allkeys-lfu").Err())
	require.NoError(t, c.Do(ctx, "secret config", "REWRITE").Err())
	raw, err := os.ReadFile(conf)
	require.NoError(t, err)
	text := string(raw)
	for _, line := range []string{"# my server\n", "# the log\nslowlog-max-len 13\n",
		"include " + inner + "\n", "maxmemory-policy allkeys-lfu\n", "maxmemory 3mb\n",
		"client-output-buffer-limit normal 10mb 5mb 60\n"} {
		require.Contains(t, text, line)
	}
	require.Less(t, strings.Index(text, "# my server"), strings.Index(text, "# the log"))
	require.Equal(t, "maxmemory 1gb\nslowlog-max-len 11\n", read(t, inner),
		"an included file is somebody else's")
	s.stop(t)

	s = startServer(t, conf, "--port", strconv.Itoa(s.Port), "--dir", s.Dir)
	c = s.client(t, password)
	require.Equal(t, "3145728", get(c, "maxmemory"))
	require.Equal(t, "13", get(c, "slowlog-max-len"))
	require.Equal(t, "allkeys-lfu", get(c, "maxmemory-policy"))
	require.Equal(t, "40", get(c, "hz"), "the rewrite has what was given as an argument")
	require.ErrorContains(t, c.FlushAll(ctx).Err(), "ERR unknown command")
	require.NoError(t, c.Do(ctx, "secret config", "REWRITE").Err())
	if built.godwit {
		require.Equal(t, text, read(t, conf), "a second rewrite changes nothing")
	}
}

func read(t testing.TB, path string) string {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// TestKill checks that a killed server leaves nothing that keeps the next one from starting.
func TestKill(t *testing.T) {
	t.Parallel()
	socket := filepath.Join(t.TempDir(), "socket")
	s := startServer(t, "--unixsocket", socket)
	c := s.dial(t)
	do(t, c, "SET", "k", "v")
	require.NoError(t, syscall.Kill(s.Pid, syscall.SIGKILL))
	require.Equal(t, -1, s.Exited(t))
	_, err := c.Do("PING")
	require.Error(t, err)
	require.FileExists(t, socket, "nobody could remove it")
	next := startServer(t, "--port", strconv.Itoa(s.Port), "--unixsocket", socket)
	require.True(t, testserver.Answers("unix", socket))
	require.True(t, testserver.Answers("tcp", next.Addr))
}

func TestUnixSocketOnly(t *testing.T) {
	t.Parallel()
	socket := filepath.Join(t.TempDir(), "socket")
	s := startServer(t, "--port", "0", "--unixsocket", socket, "--unixsocketperm", "750")
	eventually(t, "the server answers", func() bool { return testserver.Answers("unix", socket) })
	info, err := os.Stat(socket)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o750), info.Mode().Perm())
	c := redis.NewClient(&redis.Options{Network: "unix", Addr: socket})
	defer c.Close()
	require.Equal(t, "0", infoField(t, c, "tcp_port"))
	s.stop(t)
	require.NoFileExists(t, socket)
}

// TestBind checks several addresses, IPv6, and optional ones that do not exist. Without a password,
// protected mode refuses clients from outside.
func TestBind(t *testing.T) {
	t.Parallel()
	outside := outsideAddress()
	if outside == "" {
		t.Skip("this machine has the loopback interface only")
	}
	s := startServer(t, "--bind", "* -::*")
	addr := net.JoinHostPort(outside, strconv.Itoa(s.Port))
	do(t, s.dial(t), "PING")
	refused, err := client.Dial("tcp", addr)
	require.NoError(t, err)
	defer refused.Close()
	v, err := refused.Receive()
	require.NoError(t, err)
	require.Contains(t, v.Text(), "DENIED ")
	require.NoError(t, s.client(t).ConfigSet(t.Context(), "protected-mode", "no").Err())
	require.True(t, testserver.Answers("tcp", addr))
	require.NoError(t, s.client(t).ConfigSet(t.Context(), "bind", "127.0.0.1 -203.0.113.77").Err())
	_, err = net.DialTimeout("tcp", addr, time.Second)
	require.Error(t, err)
	do(t, s.dial(t), "PING")
}

// outsideAddress returns an IPv4 address of this machine that is not on the loopback interface.
func outsideAddress() string {
	addrs, err := net.InterfaceAddrs()
	if err != nil {
		return ""
	}
	for _, a := range addrs {
		if n, ok := a.(*net.IPNet); ok && n.IP.To4() != nil && !n.IP.IsLoopback() {
			return n.IP.String()
		}
	}
	return ""
}

// TestDescriptorLimit checks that maxclients shrinks to what the system allows. With next to no
// descriptors the server does not start.
func TestDescriptorLimit(t *testing.T) {
	t.Parallel()
	limited := func(n int) testserver.Options {
		return testserver.Options{Dir: t.TempDir(),
			Wrap: []string{"sh", "-c", fmt.Sprintf(`ulimit -n %d; exec "$@"`, n), "sh"}}
	}
	refused, err := testserver.Launch(limited(20))
	require.NoError(t, err)
	require.Equal(t, 1, refused.Exited(t), refused.Output())
	require.Contains(t, refused.Output(), "ulimit -n")

	s := server{testserver.Run(t, limited(100))}
	require.Equal(t, "68", s.client(t).ConfigGet(t.Context(), "maxclients").Val()["maxclients"])
}
