package testserver

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// asServer has the test binary be a server: it listens on its port and answers everything with
// PONG. If its folder has a file named refuse, it removes that and ends as a server does whose port
// is taken.
const asServer = "GODWIT_TEST_AS_SERVER"

func TestMain(m *testing.M) {
	if os.Getenv(asServer) == "" {
		os.Exit(Main(m))
	}
	port, _ := Argument(os.Args, "--port")
	if os.Remove("refuse") == nil {
		fmt.Println("bind: Address already in use")
		os.Exit(1)
	}
	l, err := net.Listen("tcp", "127.0.0.1:"+port)
	if err != nil {
		panic(err)
	}
	fmt.Println("listening on", port)
	for {
		c, err := l.Accept()
		if err != nil {
			panic(err)
		}
		_, _ = c.Read(make([]byte, 100))
		_, _ = c.Write([]byte("+PONG\r\n"))
		c.Close()
	}
}

// fake returns the options of a server that is the test binary.
func fake(t *testing.T, args ...string) Options {
	return Options{Program: os.Args[0], Dir: Dir(t), Args: args, Env: []string{asServer + "=1"}}
}

func TestLife(t *testing.T) {
	s := Run(t, fake(t))
	v, err := s.Do("PING")
	require.NoError(t, err)
	require.Equal(t, "PONG", v.Text())
	require.NoError(t, s.WaitLog("listening on"))
	require.NoError(t, s.Stop())
	require.True(t, s.Ended())
	require.Equal(t, -1, s.ExitCode(), "it does not catch SIGTERM")
	require.ErrorContains(t, s.WaitLog("never said"), "listening on", "it shows the log")
	again, err := s.Restart()
	require.NoError(t, err)
	require.Equal(t, s.Dir, again.Dir)
	require.NotEqual(t, s.Port, again.Port)
	again.Kill()
	require.Empty(t, again.Sick())
}

func TestTakenPort(t *testing.T) {
	refuse := func(o Options) string {
		name := filepath.Join(o.Dir, "refuse")
		require.NoError(t, os.WriteFile(name, nil, 0o644))
		return name
	}
	o := fake(t)
	name := refuse(o)
	s := Run(t, o)
	require.NoFileExists(t, name, "the first one has refused")
	require.True(t, Answers("tcp", s.Addr))

	o = fake(t, "--port", "1")
	refuse(o)
	_, err := Start(o)
	require.ErrorContains(t, err, "does not start: code 1")
	require.ErrorContains(t, err, "Address already in use")
}

func TestPorts(t *testing.T) {
	seen := map[int]bool{}
	for range 100 {
		port, err := Port()
		require.NoError(t, err)
		require.False(t, seen[port])
		seen[port] = true
		if runtime.GOOS == "linux" {
			_, err = claimPort(port)
			require.ErrorIs(t, err, syscall.EADDRINUSE, "what another process would be told")
		}
	}
}

func TestCommandLine(t *testing.T) {
	o := Options{Dir: "/d", Args: []string{"file.conf", "--port", "7", "--save", "1 1"}}
	args, err := o.commandLine()
	require.NoError(t, err)
	want := "file.conf --bind 127.0.0.1 --dir /d --port 7 --save 1 1"
	require.Equal(t, want, strings.Join(args, " "))
}

func TestTail(t *testing.T) {
	s := &Server{Log: filepath.Join(t.TempDir(), "log")}
	ours := "panic: oh\n\ngoroutine 1 [running]:\ngodwit/internal/x.f()"
	log := "started\n\n" + ours + "\n\ngoroutine 2 [select]:\nruntime.gopark()\n"
	require.NoError(t, os.WriteFile(s.Log, []byte(log), 0o644))
	require.Equal(t, ours, s.Tail())
	require.True(t, strings.HasPrefix(s.Sick(), "panic: oh"))
}
