package engine

import (
	"errors"
	"fmt"
	"strconv"

	"godwit/internal/keyspace"
	"godwit/internal/persist"
	"godwit/internal/script"
	"godwit/internal/spec"
	"godwit/internal/vfs"
)

// LoadTarget implements persist.LoadTarget: where the loaders put the data set.
type LoadTarget struct {
	e      *Engine
	client *Client
	held   bool
}

// LoadTarget begins a load. With held the caller holds the executor throughout (DEBUG RELOAD).
// Otherwise each step takes it, and clients are answered between steps.
func (e *Engine) LoadTarget(held bool) *LoadTarget {
	t := &LoadTarget{e: e, held: held}
	t.Step(func() { t.client = e.LogClient() })
	return t
}

// Step runs fn with the executor. A step should take no more than a millisecond or two, because
// clients wait that long. fn must not call Step.
func (t *LoadTarget) Step(fn func()) {
	if !t.held {
		t.e.Enter()
		defer t.e.Release()
	}
	fn()
}

// Keyspace returns the keyspace to insert keys into, within a step.
func (t *LoadTarget) Keyspace() *keyspace.Keyspace { return t.e.KS }

// Expect sets the number of bytes to load, within a step.
func (t *LoadTarget) Expect(total int64) { t.e.loading.total = total }

// Function adds a library of functions, within a step.
func (t *LoadTarget) Function(code []byte, replace bool) error {
	_, err := t.e.Functions().Load(code, script.LoadOptions{Replace: replace, Patient: true})
	return err
}

// Loaded sets the number of bytes that have been loaded of all files together, within a step.
func (t *LoadTarget) Loaded(bytes int64) { t.e.loading.loaded = bytes }

// Stopped implements persist.RDBTarget.
func (t *LoadTarget) Stopped() error { return nil }

// Begin says that the commands of a file follow, which may be the base. It is called within a step.
func (t *LoadTarget) Begin(base bool) {
	if t.client.Origin = OriginLog; base {
		t.client.Origin = OriginBase
	}
}

// Exec runs a command of a log, within a step. It bypasses the gates and all statistics, because no
// client has sent it. argv is borrowed. ErrUnknownCommand reports that there is no such command.
// Other errors are a wrong number of arguments, or the command's own reply.
func (t *LoadTarget) Exec(argv [][]byte) error {
	e, c := t.e, t.client
	if len(argv) == 0 {
		return nil
	}
	cmd, err := t.find(argv)
	if err != nil {
		return err
	}
	ctx, within := &e.ctx, e.current
	if within == nil {
		e.current = c // a script of an old log calls commands for it
	} else {
		ctx = &Ctx{} // within DEBUG LOADAOF, whose own context is in use
	}
	*ctx = Ctx{Writer: &c.W, E: e, Client: c, Cmd: cmd, DB: c.db, Args: argv, Now: e.now}
	e.table.run[cmd.ID()](ctx)
	e.current = within
	e.Stats.Dirty += ctx.dirty
	reply := c.W.Buf
	c.W.Buf = reply[:0]
	if len(reply) > 0 && reply[0] == '-' {
		return errors.New(string(reply[1 : len(reply)-2]))
	}
	return nil
}

// Check returns an error if a command of a log cannot run at all. It is called within a step.
func (t *LoadTarget) Check(argv [][]byte) error {
	_, err := t.find(argv)
	return err
}

func (t *LoadTarget) find(argv [][]byte) (*spec.Command, error) {
	cmd := t.e.table.FindLogged(argv)
	if cmd == nil {
		return nil, unknownLogged(head(argv[0], 128))
	}
	if !cmd.AcceptsArgs(len(argv)) {
		return nil, fmt.Errorf("wrong number of arguments for '%s' command", cmd.FullName())
	}
	return cmd, nil
}

// ErrUnknownCommand reports a command of a log that does not exist.
var ErrUnknownCommand = errors.New("unknown command")

// unknownLogged is the name of one; it is ErrUnknownCommand in Redis's words.
type unknownLogged string

// Error implements error.
func (name unknownLogged) Error() string {
	quoted := strconv.Quote(string(name))
	return "Unknown command '" + quoted[1:len(quoted)-1] + "' reading the append only file; " +
		"godwit-server --check-aof lists all such commands"
}

// Is makes it equal to ErrUnknownCommand for errors.Is.
func (unknownLogged) Is(err error) bool { return err == ErrUnknownCommand }

// LogClient makes a client for the commands of a log. It is not listed, and no gate holds it.
func (e *Engine) LogClient() *Client {
	c := &Client{
		FD: -1, Origin: OriginLog, Authenticated: true,
		Created: e.Steady(), LastUsed: e.Steady(), db: e.KS.DB(0),
	}
	c.W.Proto = 2
	return c
}

// NewStore makes the engine keep its data set in files of fsys, and returns the store. Without a
// store SAVE and its kin are refused. NewStore touches no file.
func (e *Engine) NewStore(fsys vfs.FS) *persist.Store {
	s := persist.NewStore(persist.StoreOptions{Host: storeHost{e}, Config: e.Cfg, Keyspace: e.KS,
		FS: fsys, Log: e.Log, Feed: &e.Feed})
	e.persist.store, e.persist.aof = s, s.AOF()
	return s
}

// storeHost implements persist.Host.
type storeHost struct{ *Engine }

// Step implements persist.Host.
func (h storeHost) Step(fn func()) {
	h.Enter()
	defer h.Release()
	fn()
}

// LoadTarget implements persist.Host.
func (h storeHost) LoadTarget(held bool) persist.LoadTarget { return h.Engine.LoadTarget(held) }

// Replication implements persist.Host.
func (h storeHost) Replication() (p persist.ReplPoint, ok bool) { return h.replPoint() }

// Reselect implements persist.Host.
func (h storeHost) Reselect() bool {
	l := h.repl.replicas.backlog
	if l == nil || h.repl.master != nil {
		return false
	}
	l.Reselect()
	return true
}

// LogPlace implements persist.Host. A master says it at its end only: after another end its
// replicas are most likely elsewhere, for what they alone are sent counts too. In a cluster one of
// these replaces it, and has what follows, so it says it always, as replicas do.
func (h storeHost) LogPlace(end bool) (p persist.ReplPoint, ok bool) {
	if !end && h.repl.master == nil && !h.cluster.on || h.persist.strayed {
		return p, false
	}
	return h.replPoint()
}

// Restored implements persist.Host.
func (h storeHost) Restored(p persist.ReplPoint) { h.restorePoint(p) }

// EndLoading implements persist.Host. The stream begins where the data set is now.
func (h storeHost) EndLoading() {
	h.Engine.EndLoading()
	h.configureConfirm()
}

// Wake implements persist.Host.
func (h storeHost) Wake() { h.wake() }

func (e *Engine) wake() {
	if e.Wake != nil {
		e.Wake()
	}
}
