package persist

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"godwit/internal/logging"
)

// Replayer is the server as the loader of a log sees it. Its methods but Step are called within a
// step.
type Replayer interface {
	// Step runs fn on the executor; clients are served between steps.
	Step(fn func())
	// Begin says that the commands of a file follow, which may be the base of the log.
	Begin(base bool)
	// Check says why a command could not run at all: an unknown name or a wrong number of
	// arguments.
	Check(argv [][]byte) error
	// Exec runs a command without expiry, eviction or propagation. argv is borrowed. The error says
	// why it could not run: what Check says, or the error it answered with, which no command of a
	// sound log does.
	Exec(argv [][]byte) error
	// Loaded sets the number of bytes that are loaded of all files together.
	Loaded(bytes int64)
}

// RDBLoader reads an RDB file from r into the keyspace, outside of steps, and returns how many
// bytes of it were used; more may follow. Its errors name the offset. before is the number of bytes
// of other files that have been loaded.
type RDBLoader func(r *bufio.Reader, before int64) (used int64, err error)

// LoadError says why a log cannot be loaded: the server must not start.
type LoadError struct {
	File   string
	Offset int64 // bytes; -1: of the file as a whole
	Reason string
	Err    error // may be nil
}

func (e *LoadError) Error() string {
	s := e.Reason
	if e.Err != nil {
		s += ": " + logging.OSError(e.Err)
	}
	if e.Offset < 0 {
		return fmt.Sprintf("AOF file %s: %s", e.File, s)
	}
	return fmt.Sprintf("AOF file %s, offset %d: %s", e.File, e.Offset, s)
}

func (e *LoadError) Unwrap() error { return e.Err }

// Prepare reads the manifest, and takes a single file of an old version into the layout. It returns
// the bytes there are to load, and ErrNoAOF if there is no log: the server then starts empty. It
// comes before Load and Open. The folder is this process's from then on: see aof_folder.go.
func (a *AOF) Prepare() (total int64, err error) {
	if err := a.take(lockPatience); err != nil {
		return 0, err
	}
	m, _, err := readManifest(a.o.FS, a.dir, a.o.FileName)
	if err != nil {
		return 0, err
	}
	a.man = m
	if err := a.upgrade(); err != nil {
		return 0, err
	}
	if a.man.empty() {
		if name := a.stray(); name != "" {
			return 0, &LoadError{name, -1, "there is no manifest that names it. Bring " +
				manifestName(a.o.FileName) +
				" back, or move the files away to start without their data", nil}
		}
		return 0, ErrNoAOF
	}
	for _, f := range a.man.files() {
		info, err := a.o.FS.Stat(a.path(f.name))
		if err != nil {
			return 0, &LoadError{f.name, -1, "the manifest names it, but it cannot be opened", err}
		}
		if info.IsDir() {
			return 0, &LoadError{f.name, -1, "it is a folder", nil}
		}
		total += info.Size()
		if f.kind == fileBase {
			a.baseSize = info.Size()
		}
	}
	return total, nil
}

// CheckManifest reads the manifest, for a start with the log turned off: what is wrong with it is
// said before somebody turns the log on, and loses what it names.
func (a *AOF) CheckManifest() error {
	a.locate()
	_, _, err := readManifest(a.o.FS, a.dir, a.o.FileName)
	return err
}

// stray returns the name of a file that looks like part of a log and has data in it, "" if there is
// none. To start over it would overwrite a base and go on in an incremental file, which would then
// be half of two logs. What an interrupted first start leaves is empty.
func (a *AOF) stray() string {
	list, err := a.o.FS.ReadDir(a.dir)
	if err != nil {
		return ""
	}
	// empty is in bytes: an RDB file without keys has some 90, depending on versions and numbers.
	const empty = 96
	for _, f := range list {
		rest, ok := strings.CutPrefix(f.Name(), a.o.FileName+".")
		_, kind, _ := strings.Cut(rest, ".")
		if !ok || kind != "incr.aof" && kind != "base.aof" && kind != "base.rdb" {
			continue
		}
		info, err := a.o.FS.Stat(a.path(f.Name()))
		if err == nil && (info.Size() > empty || kind != "base.rdb" && info.Size() > 0) {
			return f.Name()
		}
	}
	return ""
}

// Loadable says why there is no log that could replace the data set, nil if there is.
func (a *AOF) Loadable() error {
	if a.state == aofWaitRewrite {
		return ErrNoAOF // what is there is older than the data set
	}
	a.locate()
	m, _, err := readManifest(a.o.FS, a.dir, a.o.FileName)
	if err != nil || !m.empty() {
		return err
	}
	if _, err := a.o.FS.Stat(filepath.Join(a.root, a.o.FileName)); err != nil {
		return ErrNoAOF
	}
	return nil
}

// upgrade makes a single log file, as versions before 7 wrote it, the base of the layout. The
// manifest comes first, then the file moves: a crash in between leaves a manifest with one base of
// that very name, and the file still outside, where the next start finds it.
func (a *AOF) upgrade() error {
	fsys, m := a.o.FS, a.man
	old := filepath.Join(a.root, a.o.FileName)
	if info, err := fsys.Stat(old); errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return &LoadError{a.o.FileName, -1, "cannot look at the old append-only file", err}
	} else if info.IsDir() {
		return nil
	}
	if !m.empty() {
		interrupted := m.base != nil && len(m.incr) == 0 && m.base.name == a.o.FileName
		if _, err := fsys.Stat(a.path(a.o.FileName)); !interrupted || err == nil {
			return nil
		}
	}
	a.o.Log.Notice("An old version of the append-only file, %s, is taken into the folder %s",
		a.o.FileName, a.o.DirName)
	if m.empty() {
		m.baseSeq++
		m.base = &aofFile{a.o.FileName, m.baseSeq, fileBase}
		if _, err := m.write(fsys, a.dir, a.o.FileName); err != nil {
			return err
		}
	}
	if err := fsys.Rename(old, a.path(a.o.FileName)); err != nil {
		return fmt.Errorf("can't move the old AOF file %s into dir %s: %w",
			a.o.FileName, a.o.DirName, err)
	}
	for _, dir := range []string{a.dir, a.root} {
		if err := fsys.SyncDir(dir); err != nil {
			return fmt.Errorf("can't sync the folder %s: %w", dir, err)
		}
	}
	a.o.Log.Notice("Successfully migrated an old-style AOF configuration (%s) "+
		"into the multi-part layout (%s).", a.o.FileName, a.o.DirName)
	return nil
}

// Load replays the log. A torn last unit of the last file is cut off, if aof-load-truncated allows;
// anything else wrong is an error.
//
// It is not called on the executor: it takes steps of its own, so that clients are told how far it
// is.
func (a *AOF) Load(r Replayer, rdb RDBLoader) error {
	r.Step(func() { a.loading = true })
	defer r.Step(func() { a.loading = false })
	files := a.man.files()
	var before, base, last int64
	var place ReplPoint
	for i, f := range files {
		start := time.Now()
		l := fileLoader{a: a, r: r, rdb: rdb, before: before, name: f.name,
			last: i == len(files)-1, oldStyle: f.name == a.o.FileName}
		l.base = isBase(f.name)
		size, err := l.load()
		if err != nil {
			return err
		}
		before, last, place = before+size, 0, l.place
		kind := "incr"
		if f.kind == fileBase {
			kind, base = "base", size
		} else {
			last = size
		}
		a.o.Log.Notice("DB loaded from %s file %s: %.3f seconds",
			kind, f.name, time.Since(start).Seconds())
	}
	r.Step(func() {
		a.baseSize, a.otherSize, a.fileSize, a.loaded = base, before-last, last, place
	})
	return nil
}
