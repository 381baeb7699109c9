package server

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"sync"

	"godwit/internal/crash"
	"godwit/internal/engine"
)

// A session of SCRIPT DEBUG YES changes nothing in the server: it runs in a process of its own. A
// Go process cannot fork, so this program is started anew, in a folder that has a snapshot of the
// data set and a configuration with all directives and users. It gets the client's connection as
// file 3 and the command on its standard input. It answers, runs the script, and ends.

const (
	// DebugArg is the argument that makes this program run a session. The folder follows.
	DebugArg = "--debug-session"

	debugConfig   = "session.conf"
	debugSnapshot = "session.rdb"
	debugFile     = 3
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
	dir, err := os.MkdirTemp(".", "temp-debug-")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.RemoveAll(dir)
		}
	}()
	if dir, err = filepath.Abs(dir); err != nil {
		return err
	}
	if err = s.eng.SaveAside(filepath.Join(dir, debugSnapshot)); err != nil {
		return err
	}
	text := []byte(s.eng.ConfigText())
	if err = os.WriteFile(filepath.Join(dir, debugConfig), text, 0o600); err != nil {
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

// sessions are the processes that run.
type sessions struct {
	mu   sync.Mutex
	runs map[*os.Process]string // with its folder
}

// start begins a session. Its folder is removed when it ends.
func (d *sessions) start(dir string, conn *os.File, command []byte) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.Command(self, DebugArg, dir)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.ExtraFiles = []*os.File{conn}
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.runs == nil {
		d.runs = map[*os.Process]string{}
	}
	d.runs[cmd.Process] = dir
	go func() {
		defer crash.Guard("debugging a script")()
		_, _ = in.Write(command) // the process says what it misses
		_ = in.Close()
		_ = cmd.Wait()
		_ = os.RemoveAll(dir)
		d.mu.Lock()
		defer d.mu.Unlock()
		delete(d.runs, cmd.Process)
	}()
	return nil
}

// kill ends all sessions and removes their folders.
func (d *sessions) kill() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for p, dir := range d.runs {
		_ = p.Kill() // it may have ended
		_ = os.RemoveAll(dir)
	}
}

// DebugSession runs the session of this process. The data set is loaded.
func DebugSession(e *engine.Engine, in io.Reader) error {
	var command debugCommand
	if err := json.NewDecoder(in).Decode(&command); err != nil {
		return err
	}
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
	_, _ = nc.Write(cl.W.Buf) // the client may have gone
	return nil
}

// debugConn is the connection of a session. It implements engine.Conn and engine.Talker.
type debugConn struct{ nc net.Conn }

// Talk implements engine.Talker.
func (c debugConn) Talk() io.ReadWriter { return goTalk(c) }

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
