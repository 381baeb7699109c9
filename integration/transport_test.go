package integration

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/redis/go-redis/v9"
)

// transport is one way from a client to the commands. Every test of commands runs over all of them.
type transport struct {
	name string
	via  string // of shared.at
	dial func(s *shard) *redis.Options
}

var transports = []transport{
	{"tcp", "loop", func(s *shard) *redis.Options { return &redis.Options{Addr: s.Addr} }},
	{"unix", "loop", func(s *shard) *redis.Options {
		return &redis.Options{Network: "unix", Addr: s.unix}
	}},
	{"tls", "loop", func(s *shard) *redis.Options {
		return &redis.Options{Addr: s.tls, TLSConfig: s.pki.client(true)}
	}},
	{"io-threads", "threads", func(s *shard) *redis.Options {
		return &redis.Options{Addr: s.Addr}
	}},
}

// sharedDatabases is how many databases a shared server has. Each test takes its own, so it bounds
// how many tests use the server at a time.
const sharedDatabases = 96

// shard is a server that many tests share.
type shard struct {
	*server
	unix, tls string
	pki       *pki
	free      chan int // databases that nobody uses
}

// shared holds the servers that tests share. The first test that needs one starts it.
var shared shardSet

type shardSet struct {
	mu     sync.Mutex
	dir    string
	shards map[string]*shard
	err    error // the first error of a start
}

func (set *shardSet) at(name string) (*shard, error) {
	set.mu.Lock()
	defer set.mu.Unlock()
	if s := set.shards[name]; s != nil || set.err != nil {
		return s, set.err
	}
	if set.shards == nil {
		if set.dir, set.err = os.MkdirTemp("", "godwit-shared-"); set.err != nil {
			return nil, set.err
		}
		set.shards = map[string]*shard{}
	}
	s, err := startShard(name, filepath.Join(set.dir, name))
	if err != nil {
		set.err = err
		return nil, err
	}
	set.shards[name] = s
	return s, nil
}

func startShard(name, dir string) (*shard, error) {
	if err := os.Mkdir(dir, 0o755); err != nil {
		return nil, err
	}
	p, err := newPKI(dir)
	if err != nil {
		return nil, err
	}
	s := &shard{unix: filepath.Join(dir, "socket"), pki: p, free: make(chan int, sharedDatabases)}
	tlsPort := strconv.Itoa(freePort())
	s.tls = "127.0.0.1:" + tlsPort
	args := append([]string{"--databases", strconv.Itoa(sharedDatabases),
		"--unixsocket", s.unix, "--unixsocketperm", "700",
		"--tls-port", tlsPort, "--enable-debug-command", "yes"}, p.args()...)
	if name == "threads" {
		args = append(args, "--io-threads", "4", "--io-threads-do-reads", "yes")
	}
	if s.server, err = launchReady(dir, args...); err != nil {
		return nil, err
	}
	for db := 1; db < sharedDatabases; db++ { // in 0 are those who select none, like TestGarbage
		s.free <- db
	}
	return s, nil
}

// stop ends the shared servers. It returns false if one of them raced, crashed or did not end.
func (set *shardSet) stop() bool {
	ok := true
	for name, s := range set.shards {
		if err := s.Stop(); err != nil {
			fmt.Printf("FAIL: the shared server %q: %v\n", name, err)
			ok = false
		}
		if bad := s.Sick(); bad != "" {
			fmt.Printf("FAIL: the log of the shared server %q:\n%s\n", name, bad)
			ok = false
		}
	}
	if set.dir != "" {
		os.RemoveAll(set.dir)
	}
	return ok
}

// env is what one run of a test of commands works with: a client on an empty database of its own.
type env struct {
	*testing.T
	ctx   context.Context
	c     *redis.Client
	shard *shard
	opt   redis.Options
	db    int
	proto int
}

// everywhere runs the test over every transport, in both versions of the protocol.
func everywhere(t *testing.T, test func(e *env)) {
	t.Parallel()
	for _, tr := range transports {
		for proto := 2; proto <= 3; proto++ {
			t.Run(fmt.Sprintf("%s/resp%d", tr.name, proto), func(t *testing.T) {
				test(newEnv(t, tr, proto))
			})
		}
	}
}

func newEnv(t *testing.T, tr transport, proto int) *env {
	t.Helper()
	s, err := shared.at(tr.via)
	if err != nil {
		t.Fatal(err)
	}
	e := &env{T: t, ctx: t.Context(), shard: s, db: <-s.free, proto: proto}
	e.opt = *tr.dial(s)
	e.opt.Protocol, e.opt.DB, e.opt.MaxRetries, e.opt.PoolSize = proto, e.db, -1, 4
	e.opt.ReadTimeout = patience
	opt := e.opt
	e.c = redis.NewClient(&opt)
	t.Cleanup(func() {
		if err := e.c.FlushDB(context.Background()).Err(); err != nil {
			t.Errorf("FLUSHDB: %v", err)
		}
		e.c.Close()
		s.free <- e.db
	})
	return e
}

// another returns a client on a second database, and the database's number.
func (e *env) another() (*redis.Client, int) {
	e.Helper()
	db := <-e.shard.free
	opt := e.opt
	opt.DB = db
	c := redis.NewClient(&opt)
	e.Cleanup(func() {
		if err := c.FlushDB(context.Background()).Err(); err != nil {
			e.Errorf("FLUSHDB: %v", err)
		}
		c.Close()
		e.shard.free <- db
	})
	return c, db
}

// conn opens a connection that the test has for itself.
func (e *env) conn() *redis.Conn {
	c := e.c.Conn()
	e.Cleanup(func() { c.Close() })
	return c
}

// errs checks the text of an error of the server.
func (e *env) errs(err error, want string) {
	e.Helper()
	if err == nil || err.Error() != want {
		e.Errorf("got error %v, want %s", err, want)
	}
}

// client returns a client of a test's own server. change may adjust its options.
func (s *server) client(t testing.TB, change ...func(*redis.Options)) *redis.Client {
	t.Helper()
	opt := &redis.Options{Addr: s.Addr, MaxRetries: -1, PoolSize: 8, ReadTimeout: patience}
	for _, f := range change {
		f(opt)
	}
	c := redis.NewClient(opt)
	t.Cleanup(func() { c.Close() })
	return c
}

// infoField returns a field of INFO.
func infoField(t testing.TB, c *redis.Client, name string) string {
	t.Helper()
	info, err := c.Info(t.Context(), "everything").Result()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(info) {
		if v, ok := strings.CutPrefix(line, name+":"); ok {
			return strings.TrimRight(v, "\r\n")
		}
	}
	t.Fatalf("INFO has no %s", name)
	return ""
}

func infoInt(t testing.TB, c *redis.Client, name string) int64 {
	t.Helper()
	n, err := strconv.ParseInt(infoField(t, c, name), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
