package server

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"time"

	"godwit/internal/crash"
	"godwit/internal/engine"
)

// A session of SCRIPT DEBUG YES changes nothing in the server: it runs in a process of its own. A
// Go process cannot fork, so this program is started anew, in a folder that has a snapshot of the
// data set and a configuration with all directives and users. It gets the client's connection as
// file 3 and the command on its standard input, which ends with the server. It removes the folder
// once it has read it, answers, runs the script, and ends.

const (
	// DebugArg is the argument that makes this program run a session. The folder follows.
	DebugArg = "--debug-session"

	debugConfig   = "session.conf"
	debugSnapshot = "session.rdb"
	debugFile     = 3

	// lastWrite is how long a session waits for its client to read the script's reply.
	lastWrite = time.Minute
)

var errNotOverTLS = errors.New("SCRIPT DEBUG YES is not offered over TLS, SYNC is")

// debugCommand is what a session runs.
type debugCommand struct {
	User  []byte // a name may be any bytes, which a JSON string is not
	DB    int
	Proto int
	Args  [][]byte
}

// DebugConfig returns the arguments that configure a session: the file in the folder, and what must
// be otherwise than in the server.
func DebugConfig(dir string) []string {
	return []string{filepath.Join(dir, debugConfig), "--port", "0", "--tls-port", "0",
		"--unixsocket", "", "--save", "", "--appendonly", "no", "--dir", dir, "--dbfilename",
		debugSnapshot, "--daemonize", "no", "--supervised", "no", "--pidfile", "", "--aclfile", "",
		"--replicaof", "no", "one", "--loglevel", "warning"}
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
	text := []byte(s.eng.ConfigText())
	if err = os.WriteFile(dir.file(debugConfig), text, 0o600); err != nil {
		return err
	}
	user := []byte(cl.UserName())
	command, err := json.Marshal(debugCommand{user, cl.DB().ID(), cl.W.Proto, argv})
	if err != nil {
		return err
	}
	if err = s.debugging.start(dir, f, command); err == nil {
		s.log.Notice("Forked child for debugging eval")
	}
	return err
}

// DebugSession is the session that this process runs.
type DebugSession struct {
	command debugCommand
	dir     string
}

// NewDebugSession reads what the session in the folder is to do from in, which the server keeps
// open. When the server ends, in does, and so does this process.
func NewDebugSession(dir string, in io.Reader) (*DebugSession, error) {
	d := &DebugSession{dir: dir}
	if err := json.NewDecoder(in).Decode(&d.command); err != nil {
		removeFolder(dir) // the server has ended
		return nil, err
	}
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
	command := &d.command
	nc, err := net.FileConn(os.NewFile(debugFile, "client"))
	if err != nil {
		return err
	}
	defer nc.Close()
	e.Enter()
	defer e.Release()
	user := e.Users().Get(string(command.User))
	if user == nil { // a client without a user may do everything
		return fmt.Errorf("the user %q does not exist", command.User)
	}
	cl := e.NewClient(debugConn{nc})
	cl.W.Stage, cl.W.Proto = nil, command.Proto
	cl.Debug, cl.User, cl.Authenticated = engine.DebugSync, user, true
	e.SelectDB(cl, command.DB)
	e.Exec(cl, command.Args)
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
