package server

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"

	"godwit/internal/crash"
	"godwit/internal/logging"
	"godwit/internal/vfs"
)

// The processes of debugging sessions and their folders. A folder holds all data and the users'
// passwords, so it is removed as early as possible: by the session, when it has read it or when
// the server ends, by the server, when the session ends, and else by the next server that starts
// in the same place. As long as a server runs, it has the locks of its sessions' folders.

const (
	debugFolder = "temp-debug-"
	// maxSessions is how many sessions may run at a time: each has a copy of all data.
	maxSessions = 8
	// killPatience is how long the end of the server waits for that of a session.
	killPatience = 5 * time.Second
)

var (
	errSessions = fmt.Errorf("too many debugging sessions, at most %d can run at a time",
		maxSessions)
	errServerEnds = errors.New("the server shuts down")
)

// folder is the folder of a session.
type folder struct {
	dir  string
	lock io.Closer // nil: the file system has no locks
}

// newFolder makes a folder for a session.
func newFolder() (*folder, error) {
	dir, err := os.MkdirTemp(".", debugFolder)
	if err != nil {
		return nil, err
	}
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs // the server may move
	}
	f := &folder{dir: dir}
	f.lock, _ = vfs.OS().Lock(dir)
	return f, nil
}

func (f *folder) file(name string) string { return filepath.Join(f.dir, name) }

func (f *folder) remove() {
	removeFolder(f.dir)
	if f.lock != nil {
		_ = f.lock.Close() // nobody waits for it
	}
}

// removeFolder removes what is in a session's folder, and the folder, which may be gone. A folder
// that has anything else in it is not one of a session and stays.
func removeFolder(dir string) {
	for _, name := range []string{debugConfig, debugSnapshot, debugCommand, ""} {
		_ = os.Remove(filepath.Join(dir, name))
	}
}

// removeDeadFolders removes the folders of sessions whose server has ended.
func removeDeadFolders(log *logging.Logger) {
	found, _ := filepath.Glob(debugFolder + "*") // the pattern is well-formed
	for _, dir := range found {
		info, err := os.Lstat(dir)
		if err != nil || !info.IsDir() {
			continue
		}
		lock, err := vfs.OS().Lock(dir)
		if err != nil {
			continue // its server runs, or nothing is known
		}
		(&folder{dir, lock}).remove()
		if _, err = os.Lstat(dir); err != nil {
			log.Notice("Removed %s, which a debugging session has left behind", dir)
		}
	}
}

// sessions are the processes that run.
type sessions struct {
	mu    sync.Mutex
	runs  map[*os.Process]chan struct{} // closed at the end
	ended bool
}

// room reports with an error that no other session may begin.
func (d *sessions) room() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.ended:
		return errServerEnds
	case len(d.runs) >= maxSessions:
		return errSessions
	}
	return nil
}

// start begins a session. Its folder is removed when it ends.
func (d *sessions) start(dir *folder, conn *os.File) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.Command(self, DebugArg, dir.dir)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.ExtraFiles = []*os.File{conn}
	in, err := cmd.StdinPipe() // open until the process ends: it ends when this is closed
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	done := make(chan struct{})
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.runs == nil {
		d.runs = map[*os.Process]chan struct{}{}
	}
	d.runs[cmd.Process] = done
	go func() {
		defer crash.Guard("debugging a script")()
		_ = cmd.Wait()
		_ = in.Close()
		dir.remove()
		d.mu.Lock()
		delete(d.runs, cmd.Process)
		d.mu.Unlock()
		close(done)
	}()
	return nil
}

// kill ends all sessions and waits until their folders are removed. No others can begin.
func (d *sessions) kill() {
	var ends []chan struct{}
	d.mu.Lock()
	d.ended = true
	for p, done := range d.runs {
		_ = p.Kill() // it may have ended
		ends = append(ends, done)
	}
	d.mu.Unlock()
	patience := time.After(killPatience)
	for _, done := range ends {
		select {
		case <-done:
		case <-patience:
			return
		}
	}
}
