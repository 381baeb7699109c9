package server

import (
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"godwit/internal/crash"
	"godwit/internal/engine"
	"godwit/internal/resp"
)

// A session of SCRIPT DEBUG YES changes nothing in the server: it runs in a process of its own. A
// Go process cannot fork, so this program is started anew, in a folder that has a snapshot of the
// data set, a configuration with all directives and users, and the command, behind the name of the
// user, the number of the database and the version of RESP. It gets the client's connection as file
// 3, and a standard input that ends with the server. It removes the folder once it has read it,
// answers, runs the script, and ends.

const (
	// DebugArg is the argument that makes this program run a session. The folder follows.
	DebugArg = "--debug-session"

	debugConfig   = "session.conf"
	debugSnapshot = "session.rdb"
	debugCommand  = "session.command"
	debugFile     = 3

	// lastWrite is how long a session waits for its client to read the script's reply.
	lastWrite = time.Minute
)

var errNotOverTLS = errors.New("SCRIPT DEBUG YES is not offered over TLS, SYNC is")

// DebugConfig returns the arguments that configure a session: the file in the folder, and what must
// be otherwise than in the server.
func DebugConfig(dir string) []string {
	return []string{filepath.Join(dir, debugConfig), "--port", "0", "--tls-port", "0",
		"--unixsocket", "", "--save", "", "--appendonly", "no", "--dir", dir, "--dbfilename",
		debugSnapshot, "--daemonize", "no", "--supervised", "no", "--pidfile", "", "--aclfile", "",
		"--loglevel", "warning"}
}

// filer is a connection that can be given to another process.
type filer interface{ File() (*os.File, error) }

// debugApart implements engine.Engine.DebugApart.
func (s *Server) debugApart(cl *engine.Client, argv [][]byte) (err error) {
	conn, ok := cl.Conn.(filer)
	if !ok {
		return errNotOverTLS
	}
	f, err := conn.File()
	if err != nil {
		return err
	}
	defer f.Close()
	if err := s.debugging.room(); err != nil {
		return err
	}
	dir, err := newFolder()
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			dir.remove()
		}
	}()
	if err = s.eng.SaveAside(dir.file(debugSnapshot)); err != nil {
		return err
	}
	text := []byte(s.eng.SessionConfig())
	if err = os.WriteFile(dir.file(debugConfig), text, 0o600); err != nil {
		return err
	}
	var w resp.Writer
	w.Array(3 + len(argv))
	w.BulkString(cl.UserName())
	w.BulkString(strconv.Itoa(cl.DB().ID()))
	w.BulkString(strconv.Itoa(cl.W.Proto))
	for _, a := range argv {
		w.Bulk(a)
	}
	if err = os.WriteFile(dir.file(debugCommand), w.Buf, 0o600); err != nil {
		return err
	}
	if err = s.debugging.start(dir, f); err == nil {
		s.log.Notice("Forked child for debugging eval")
	}
	return err
}

// DebugSession is the session that this process runs.
type DebugSession struct {
	dir   string
	user  string
	db    int
	proto int
	args  [][]byte
}

// NewDebugSession reads what the session in the folder is to do. When the server ends, in does, and
// so does this process.
func NewDebugSession(dir string, in io.Reader) (*DebugSession, error) {
	text, err := os.ReadFile(filepath.Join(dir, debugCommand))
	if err != nil {
		return nil, err
	}
	var p resp.Parser
	words, _, err := p.Next(text, &resp.Limits{MaxBulk: math.MaxInt64, Authenticated: true})
	if err != nil {
		return nil, err
	}
	d := &DebugSession{dir: dir, user: string(words[0]), args: words[3:]}
	d.db, _ = strconv.Atoi(string(words[1]))    // the server has written it
	d.proto, _ = strconv.Atoi(string(words[2])) // so here
	go func() {
		defer crash.Guard("waiting for the end of the server")()
		_, _ = io.Copy(io.Discard, in)
		removeFolder(dir)
		os.Exit(1)
	}()
	return d, nil
}

// Run runs the session. The data set is loaded: the folder, in which it is, goes.
func (d *DebugSession) Run(e *engine.Engine) error {
	removeFolder(d.dir)
	nc, err := net.FileConn(os.NewFile(debugFile, "client"))
	if err != nil {
		return err
	}
	defer nc.Close()
	e.Enter()
	defer e.Release()
	user := e.Users().Get(d.user)
	if user == nil { // a client without a user may do everything
		return fmt.Errorf("the user %q does not exist", d.user)
	}
	cl := e.NewClient(debugConn{nc})
	cl.W.Stage, cl.W.Proto = nil, d.proto
	cl.Debug, cl.User, cl.Authenticated = engine.DebugSync, user, true
	e.SelectDB(cl, d.db)
	e.Exec(cl, d.args)
	if !cl.CloseASAP {
		_ = nc.SetWriteDeadline(time.Now().Add(lastWrite)) // Write shows it
		_, _ = nc.Write(cl.W.Buf)                          // the client may have gone
	}
	return nil
}

// debugConn is the connection of a session. It implements engine.Conn and engine.Talker.
type debugConn struct{ nc net.Conn }

// Talk implements engine.Talker.
func (c debugConn) Talk() io.ReadWriter { return &goTalk{nc: c.nc} }

// Flush implements engine.Conn.
func (debugConn) Flush() {}

// Resume implements engine.Conn.
func (debugConn) Resume() {}

// Close implements engine.Conn.
func (debugConn) Close() {}

// Buffers implements engine.Conn.
func (debugConn) Buffers() (in, inCap, out int) { return 0, 0, 0 }

// HeapReplies implements engine.Conn.
func (debugConn) HeapReplies() int { return 0 }

// Stage implements engine.Conn. The client has no stage.
func (debugConn) Stage(int, int) []byte { return nil }

// StageInsert implements engine.Conn.
func (debugConn) StageInsert(int, []byte) {}
