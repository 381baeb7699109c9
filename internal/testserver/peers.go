package testserver

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// Peer is one of the two newest servers that scripts/peers.sh unpacks. Their folder is
// $GODWIT_PEERS, else godwit/peers in the user's cache folder.
type Peer string

// The peers.
const (
	Redis  Peer = "redis"
	Valkey Peer = "valkey"
)

// known lists the versions of the peers whose differences from Godwit somebody has reviewed. Under
// any other version TB reports differences instead of failing for them. Add a version here once its
// reports have been read.
var known = map[Peer][]string{
	Redis:  {"8.0.6"},
	Valkey: {"9.1.2"},
}

// Program returns the path of one of the peer's programs: server, cli, benchmark or sentinel.
// Without the peers it skips the test, except in CI, where that is a failure.
func (p Peer) Program(t testing.TB, name string) string {
	t.Helper()
	return peerFile(t, p.file(name))
}

// Find returns the path of one of the peer's programs for tools, or an error that says how to get
// it.
func (p Peer) Find(name string) (string, error) {
	path := filepath.Join(peersDir(), p.file(name))
	if _, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("%s (%w)", noPeers, err)
	}
	return path, nil
}

// file returns where a program is in the peers' folder.
func (p Peer) file(name string) string { return filepath.Join("bin", string(p)+"-"+name) }

// noPeers says what to do without the peers.
const noPeers = "no newer servers to compare with: run scripts/peers.sh"

// Conf returns the path of the configuration file that the peer's package installs.
func (p Peer) Conf(t testing.TB) string {
	t.Helper()
	return peerFile(t, filepath.Join("root/etc", string(p), string(p)+".conf"))
}

func peerFile(t testing.TB, name string) string {
	t.Helper()
	path := filepath.Join(peersDir(), name)
	if _, err := os.Stat(path); err != nil {
		Missing(t, fmt.Sprintf("%s (%s)", noPeers, err))
	}
	return path
}

func peersDir() string {
	if dir := os.Getenv("GODWIT_PEERS"); dir != "" {
		return dir
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return filepath.Join(os.TempDir(), "godwit-peers") // does not exist: no home, no cache
	}
	return filepath.Join(cache, "godwit", "peers")
}

// Start starts the peer's server as StartRedis starts redis-server.
func (p Peer) Start(t testing.TB, dir string, args ...string) *Server {
	t.Helper()
	return startSocket(t, p.Program(t, "server"), dir, args)
}

// Version returns the version of the peer's server, "8.0.6".
func (p Peer) Version(t testing.TB) string {
	t.Helper()
	path := p.Program(t, "server")
	versions.Lock()
	defer versions.Unlock()
	v, ok := versions.of[path]
	if !ok {
		out, err := exec.Command(path, "--version").Output()
		if err != nil {
			t.Fatalf("%s --version: %v", path, err)
		}
		_, v, _ = strings.Cut(string(out), "v=")
		v, _, _ = strings.Cut(v, " ")
		versions.of[path] = v
	}
	return v
}

var versions = struct {
	sync.Mutex
	of map[string]string // by path of the server
}{of: make(map[string]string)}

// TB returns where a comparison with the peer reports differences. Under a known version that is t
// itself. Otherwise it turns a failure into a report and a skipped test. Reports also go to the
// file $GODWIT_REPORT, which CI prints.
func (p Peer) TB(t testing.TB) testing.TB {
	t.Helper()
	v := p.Version(t)
	for _, k := range known[p] {
		if k == v {
			return t
		}
	}
	return &lenient{t, fmt.Sprintf("%s %s, which nobody has looked at yet", p, v)}
}

// lenient reports failures instead of failing.
type lenient struct {
	testing.TB
	peer string
}

func (l *lenient) report(text string) {
	l.Helper()
	line := fmt.Sprintf("%s: differs from %s: %s", l.Name(), l.peer, text)
	l.Log(line)
	path := os.Getenv("GODWIT_REPORT")
	if path == "" {
		return
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		l.TB.Fatal(err)
	}
	defer f.Close()
	fmt.Fprintln(f, line)
}

func (l *lenient) Error(args ...any) { l.Helper(); l.report(fmt.Sprintln(args...)) }

func (l *lenient) Errorf(format string, args ...any) {
	l.Helper()
	l.report(fmt.Sprintf(format, args...))
}

func (l *lenient) Fatal(args ...any) { l.Helper(); l.Error(args...); l.FailNow() }

func (l *lenient) Fatalf(format string, args ...any) {
	l.Helper()
	l.Errorf(format, args...)
	l.FailNow()
}

func (l *lenient) Fail() { l.Helper(); l.report("failed") }

func (l *lenient) FailNow() { l.Helper(); l.Skip("differs from " + l.peer) }
