package vfs

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
)

// Op is a kind of operation that a Fault can fail.
type Op uint8

// The kinds of operations. OpCreate is an Open that creates, OpOpen any other.
const (
	OpOpen Op = iota
	OpCreate
	OpRead
	OpWrite
	OpSync
	OpTruncate
	OpRename
	OpRemove
	OpSyncDir
	OpMkdir
	OpLock
	opCount
)

func (o Op) String() string {
	return [opCount]string{"open", "create", "read", "write", "sync", "truncate", "rename",
		"remove", "syncdir", "mkdir", "lock"}[o]
}

// Fault fails one operation, or all operations from one on.
type Fault struct {
	Op    Op
	Name  string // only files whose base name contains this; for a rename the new name
	After int64  // operations of this kind that still work; with OpWrite and Bytes: bytes
	Bytes bool   // the write that crosses After bytes writes up to there: a short write
	Err   error  // nil: ENOSPC for writes, creations and truncations, else EIO
	Once  bool   // later operations work again
}

// Plan is a set of faults and a record of what has happened. It may be changed while the file
// system is in use.
type Plan struct {
	mu     sync.Mutex
	faults []*armed
	seen   [opCount]int64
	fired  int
}

// armed is a fault and the count of operations it has let pass.
type armed struct {
	Fault
	passed int64
	done   bool
}

// NewPlan returns a plan with these faults.
func NewPlan(faults ...Fault) *Plan {
	p := &Plan{}
	p.Add(faults...)
	return p
}

// Add adds faults. Their counts begin now.
func (p *Plan) Add(faults ...Fault) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, f := range faults {
		if f.Err == nil {
			f.Err = f.Op.usualError()
		}
		p.faults = append(p.faults, &armed{Fault: f})
	}
}

func (o Op) usualError() error {
	switch o {
	case OpWrite, OpCreate, OpTruncate, OpMkdir:
		return syscall.ENOSPC
	}
	return syscall.EIO
}

// Clear removes all faults, as if the disk had room again.
func (p *Plan) Clear() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.faults = nil
}

// Fired returns how many operations have failed.
func (p *Plan) Fired() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.fired
}

// Seen returns how many operations of the kind were requested, failed ones included. Tests use it
// to enumerate them.
func (p *Plan) Seen(op Op) int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.seen[op]
}

// check counts an operation and returns its error. For a write it also returns how much of size to
// write before the error.
func (p *Plan) check(op Op, name string, size int) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.seen[op]++
	for _, f := range p.faults {
		if f.Op != op || f.done || !strings.Contains(filepath.Base(name), f.Name) {
			continue
		}
		weight, allowed := int64(1), 0
		if f.Bytes {
			weight = int64(size)
			allowed = int(max(0, min(weight, f.After-f.passed)))
		}
		if f.passed += weight; f.passed <= f.After {
			continue
		}
		f.done = f.Once
		p.fired++
		return allowed, f.Err
	}
	return size, nil
}

// Faulty returns fsys with the plan's faults.
func Faulty(fsys FS, plan *Plan) FS { return faultyFS{FS: fsys, plan: plan} }

type faultyFS struct {
	FS
	plan *Plan
}

func (f faultyFS) Open(name string, flag int, perm fs.FileMode) (File, error) {
	op := OpOpen
	if flag&os.O_CREATE != 0 {
		if _, err := f.FS.Stat(name); err != nil {
			op = OpCreate
		}
	}
	if _, err := f.plan.check(op, name, 0); err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	file, err := f.FS.Open(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return &faultyFile{File: file, name: name, plan: f.plan}, nil
}

func (f faultyFS) Rename(from, to string) error {
	if _, err := f.plan.check(OpRename, to, 0); err != nil {
		return &os.LinkError{Op: "rename", Old: from, New: to, Err: err}
	}
	return f.FS.Rename(from, to)
}

func (f faultyFS) Remove(name string) error {
	if _, err := f.plan.check(OpRemove, name, 0); err != nil {
		return &fs.PathError{Op: "remove", Path: name, Err: err}
	}
	return f.FS.Remove(name)
}

func (f faultyFS) SyncDir(dir string) error {
	if _, err := f.plan.check(OpSyncDir, dir, 0); err != nil {
		return &fs.PathError{Op: "syncdir", Path: dir, Err: err}
	}
	return f.FS.SyncDir(dir)
}

func (f faultyFS) MkdirAll(dir string, perm fs.FileMode) error {
	if _, err := f.plan.check(OpMkdir, dir, 0); err != nil {
		return &fs.PathError{Op: "mkdir", Path: dir, Err: err}
	}
	return f.FS.MkdirAll(dir, perm)
}

type faultyFile struct {
	File
	name string
	plan *Plan
}

func (f *faultyFile) Read(p []byte) (int, error) {
	if _, err := f.plan.check(OpRead, f.name, len(p)); err != nil {
		return 0, &fs.PathError{Op: "read", Path: f.name, Err: err}
	}
	return f.File.Read(p)
}

func (f *faultyFile) Write(p []byte) (int, error) {
	allowed, failure := f.plan.check(OpWrite, f.name, len(p))
	n := 0
	if allowed > 0 || failure == nil {
		var err error
		if n, err = f.File.Write(p[:allowed]); err != nil {
			return n, err
		}
	}
	if failure != nil {
		return n, &fs.PathError{Op: "write", Path: f.name, Err: failure}
	}
	return n, nil
}

func (f *faultyFile) Sync() error {
	if _, err := f.plan.check(OpSync, f.name, 0); err != nil {
		if mem, ok := f.File.(*memFile); ok {
			mem.failSync()
		}
		return &fs.PathError{Op: "sync", Path: f.name, Err: err}
	}
	return f.File.Sync()
}

func (f *faultyFile) Truncate(size int64) error {
	if _, err := f.plan.check(OpTruncate, f.name, 0); err != nil {
		return &fs.PathError{Op: "truncate", Path: f.name, Err: err}
	}
	return f.File.Truncate(size)
}
