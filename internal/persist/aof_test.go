package persist

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"sort"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/logging"
	"godwit/internal/logging/loggingtest"
	"godwit/internal/propagation"
	"godwit/internal/resp"
	"godwit/internal/vfs"
)

// model is a server with strings: what logs are replayed into, and what bases are made of.
type model struct {
	data map[string]string // "db/key"
	db   int
	read int64
}

func newModel() *model { return &model{data: map[string]string{}} }

func (m *model) Step(fn func())     { fn() }
func (m *model) Loaded(bytes int64) { m.read = bytes }
func (m *model) Begin(bool)         {}

func (m *model) Check(argv [][]byte) error {
	arity := map[string]int{"set": 3, "del": 2, "select": 2}[strings.ToLower(string(argv[0]))]
	if arity != len(argv) {
		return fmt.Errorf("Unknown command '%s'", argv[0])
	}
	return nil
}

func (m *model) Exec(argv [][]byte) error {
	if err := m.Check(argv); err != nil {
		return err
	}
	key := fmt.Sprintf("%d/%s", m.db, argv[1])
	switch strings.ToLower(string(argv[0])) {
	case "set":
		m.data[key] = string(argv[2])
	case "del":
		delete(m.data, key)
	case "select":
		n, err := strconv.Atoi(string(argv[1]))
		if err != nil || n < 0 || n > 15 {
			return errors.New("ERR DB index is out of range")
		}
		m.db = n
	}
	return nil
}

func (m *model) clone() map[string]string {
	c := map[string]string{}
	for k, v := range m.data {
		c[k] = v
	}
	return c
}

// loadRDB reads what fixture's bases in "RDB form" are: a magic, a length, commands.
func (m *model) loadRDB(r *bufio.Reader, _ int64) (int64, error) {
	head, err := r.ReadString('\n')
	if err != nil {
		return 0, err
	}
	var n int
	if _, err := fmt.Sscanf(head, "REDIS %d\n", &n); err != nil {
		return 0, err
	}
	if n < 0 || n > 1<<20 {
		return 0, errors.New("a length that no test writes")
	}
	body := make([]byte, n)
	if _, err := io.ReadFull(r, body); err != nil {
		return 0, err
	}
	p := newLogParser(bytes.NewReader(body), 0, int64(n))
	for {
		p.unit()
		p.spans = p.spans[:0]
		args, err := p.next()
		if err == io.EOF {
			return int64(len(head) + n), nil
		}
		if err != nil {
			return 0, err
		}
		var argv [][]byte
		for _, s := range args {
			argv = append(argv, p.buf[s.from:s.to])
		}
		if err := m.Exec(argv); err != nil {
			return 0, err
		}
	}
}

// text returns the data set as commands.
func (m *model) text(rdb bool) []byte {
	var b []byte
	keys := []string{}
	for k := range m.data {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	for _, k := range keys {
		db, key, _ := strings.Cut(k, "/")
		n, _ := strconv.Atoi(db)
		b = resp.AppendCommand(propagation.AppendSelect(b, n), "SET", key, m.data[k])
	}
	if rdb {
		b = append(fmt.Appendf(nil, "REDIS %d\n", len(b)), b...)
	}
	return b
}

// fixture is a server with a log on a file system in memory.
type fixture struct {
	t    *testing.T
	fs   vfs.FS
	a    *AOF
	feed propagation.Feed // of a
	m    *model
	now  int64
	log  loggingtest.Buffer
	exit int

	set  AOFSettings
	slow bool // the worker waits until somebody waits for it
	busy bool
	fail error // of the next base
	base func()

	where func(end bool) (ReplPoint, bool) // AOFOptions.Place
}

func newFixture(t *testing.T, fsys vfs.FS, set AOFSettings) *fixture {
	f := &fixture{t: t, fs: fsys, now: 1_700_000_000_000, set: set}
	require.NoError(t, fsys.MkdirAll("/d", 0o755))
	return f
}

var usual = AOFSettings{Fsync: FsyncAlways, RewritePercentage: 100, RewriteMinSize: 1 << 20,
	LoadTruncated: true}

// start loads and opens the log as a server does.
func (f *fixture) start() error {
	log, err := logging.New(logging.Options{Out: &f.log, Level: logging.Debug})
	require.NoError(f.t, err)
	f.m = newModel()
	f.exit = -1
	f.a = NewAOF(AOFOptions{
		FS: f.fs, Log: log, Dir: func() string {
			return "/d"
		}, DirName: "appendonlydir", FileName: "appendonly.aof",
		Now: func() int64 { return f.now }, Clock: func() int64 {
			return f.now / 1000
		}, Base: f, Exit: func(code int) { f.exit = code }, Place: f.where,
	}, f.set)
	f.a.work.manual = f.slow
	f.feed.Attach(propagation.Log, f.a)
	if err = f.open(); err != nil && f.a.lock != nil {
		_ = f.a.lock.Close() // as the end of the process does
	}
	return err
}

func (f *fixture) open() error {
	if _, err := f.a.Prepare(); err == nil {
		if err := f.a.Load(f.m, f.m.loadRDB); err != nil {
			return err
		}
	} else if !errors.Is(err, ErrNoAOF) {
		return err
	}
	return f.a.Open()
}

func (f *fixture) mustStart() {
	f.t.Helper()
	require.NoError(f.t, f.start(), "%s", f.log.String())
}

// restart ends the server in an orderly way and starts it.
func (f *fixture) restart() {
	f.t.Helper()
	require.NoError(f.t, f.a.Close())
	f.mustStart()
}

func (f *fixture) Busy() bool { return f.busy }

func (f *fixture) Start(path string, rdb bool, done func(error)) error {
	text := f.m.text(rdb)
	f.base = func() {
		f.base = nil
		err := f.fail
		if err == nil {
			err = writeAll(f.fs, path, text)
		}
		f.fail = nil
		done(err)
	}
	return nil
}

func writeAll(fsys vfs.FS, path string, text []byte) error {
	w, err := fsys.Open(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		return err
	}
	if _, err = w.Write(text); err == nil {
		err = w.Sync()
	}
	return errors.Join(err, w.Close())
}

func (f *fixture) Cancel()               { f.base = nil }
func (f *fixture) Over(string)           {}
func (f *fixture) Empty(rdb bool) []byte { return newModel().text(rdb) }

// do runs one unit of commands ("SET k v") in the database as a batch of its own.
func (f *fixture) do(db int, cmds ...string) {
	f.unit(db, cmds...)
	f.a.EndBatch()
}

func (f *fixture) unit(db int, cmds ...string) {
	f.feed.Begin()
	for _, c := range cmds {
		argv := bytes.Fields([]byte(c))
		f.m.db = db
		require.NoError(f.t, f.m.Exec(argv))
		f.feed.Send(propagation.Log, db, argv)
	}
	f.feed.End()
}

// rewrite runs a rewrite to its end, with writes at every step.
func (f *fixture) rewrite(during func(step int)) {
	f.t.Helper()
	require.Equal(f.t, RewriteStarted, f.a.Rewrite(false))
	during(0)
	f.base()
	during(1)
	f.finish()
	during(2)
}

// finish lets the worker and the cron do what is left.
func (f *fixture) finish() {
	for range 8 {
		f.a.work.drain()
		for f.a.gc != nil && !f.a.gc.done.Load() {
			runtime.Gosched()
		}
		f.a.Cron()
	}
}

func (f *fixture) files() string {
	list, err := f.fs.ReadDir("/d/appendonlydir")
	require.NoError(f.t, err)
	var names []string
	for _, e := range list {
		names = append(names, e.Name())
	}
	return strings.Join(names, " ")
}

func (f *fixture) read(name string) string {
	b, err := vfs.ReadFile(f.fs, filepath.Join("/d/appendonlydir", name))
	require.NoError(f.t, err)
	return string(b)
}
