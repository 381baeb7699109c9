package vfs

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Mem is a file system in memory that can lose power.
//
// It holds two states of everything, and the changes that lead from one to the other:
//
//	what the process sees       changes since, in order        what is surely on the disk
//	names (path → node)         namePending: names             synced (path → node)
//	node.data                   node.pending: writes,          node.synced
//	                            truncations
//
// Sync empties a node's pending list. SyncDir takes a folder's changes out of namePending. Crash
// builds a new file system from the synced states and some of the pending changes.
//
// Invariant: the synced states with all pending changes applied in order equal what the process
// sees. The exception is a Sync that has failed: its data is seen, but will never be on the disk.
//
// Limits: there are no links, folders cannot be renamed, permissions are stored but not enforced,
// and all times are the same. Paths are cleaned. "." and "/" exist from the start, and relative
// names are not resolved against any directory.
type Mem struct {
	mu          sync.Mutex
	names       map[string]*node
	synced      map[string]*node
	namePending []nameChange
	locks       map[string]*memLock // the locks held, by name
	ops         int
	powerOff    int // operations after which everything fails; -1: never
	observe     func(n int, op string, crash func(seed uint64) *Mem)
}

// node is a file or folder, without its name.
type node struct {
	dir     bool
	perm    fs.FileMode
	data    []byte
	synced  []byte
	pending []dataChange
}

// dataChange is a write at an offset. If bytes is nil, it is a truncation to the offset.
type dataChange struct {
	offset int64
	bytes  []byte
}

// nameChange gives node the name to ("": none) and takes the name from ("": it had none) away. It
// describes creation, rename and removal.
type nameChange struct {
	from, to string
	node     *node
}

// ErrPowerOff is the error of every operation after the power is off.
var ErrPowerOff = errors.New("power is off")

// NewMem returns an empty file system.
func NewMem() *Mem {
	m := &Mem{names: map[string]*node{}, synced: map[string]*node{}, locks: map[string]*memLock{},
		powerOff: -1}
	for _, root := range []string{".", "/"} {
		n := &node{dir: true, perm: 0o755}
		m.names[root], m.synced[root] = n, n
	}
	return m
}

// Ops returns how many operations so far changed something or made it durable. PowerOffAfter and
// Observe count these operations.
func (m *Mem) Ops() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.ops
}

// PowerOffAfter lets n more of the operations happen that Ops counts. From then on everything fails
// with ErrPowerOff. Crash then returns what the disk holds.
func (m *Mem) PowerOffAfter(n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.powerOff = m.ops + n
}

// Observe makes m call f after each operation that Ops counts, with its number from 1 on and its
// description ("write dir/name 12"). f may crash the file system as it is at that moment, but must
// not call anything else of m. So one run visits every point of a power loss. After Observe(nil), f
// is not called again.
func (m *Mem) Observe(f func(n int, op string, crash func(seed uint64) *Mem)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.observe = f
}

// powered is called before every operation. mu must be held.
func (m *Mem) powered(op, name string) error {
	if m.powerOff >= 0 && m.ops >= m.powerOff {
		return &fs.PathError{Op: op, Path: name, Err: ErrPowerOff}
	}
	return nil
}

// did counts an operation. mu must be held.
func (m *Mem) did(op string, args ...string) {
	m.ops++
	if m.observe != nil {
		m.observe(m.ops, op+" "+strings.Join(args, " "), m.crash)
	}
}

// lookup returns a name's node. mu must be held.
func (m *Mem) lookup(op, name string) (*node, error) {
	n := m.names[name]
	if n == nil {
		return nil, &fs.PathError{Op: op, Path: name, Err: syscall.ENOENT}
	}
	return n, nil
}

// folder returns an error unless the folder of name exists. mu must be held.
func (m *Mem) folder(op, name string) error {
	dir, err := m.lookup(op, filepath.Dir(name))
	if err == nil && !dir.dir {
		err = &fs.PathError{Op: op, Path: name, Err: syscall.ENOTDIR}
	}
	return err
}

// rename records and applies a change of names. mu must be held.
func (m *Mem) rename(c nameChange) {
	c.apply(m.names)
	m.namePending = append(m.namePending, c)
}

func (c nameChange) apply(names map[string]*node) {
	if c.from != "" && names[c.from] == c.node {
		delete(names, c.from)
	}
	if c.to != "" {
		names[c.to] = c.node
	}
}

// Open implements FS.
func (m *Mem) Open(name string, flag int, perm fs.FileMode) (File, error) {
	name = filepath.Clean(name)
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.powered("open", name); err != nil {
		return nil, err
	}
	writes := flag&(os.O_WRONLY|os.O_RDWR) != 0
	n := m.names[name]
	switch {
	case n == nil && flag&os.O_CREATE == 0:
		return nil, &fs.PathError{Op: "open", Path: name, Err: syscall.ENOENT}
	case n == nil:
		if err := m.folder("open", name); err != nil {
			return nil, err
		}
		n = &node{perm: perm}
		m.rename(nameChange{to: name, node: n})
		m.did("create", name)
	case flag&(os.O_CREATE|os.O_EXCL) == os.O_CREATE|os.O_EXCL:
		return nil, &fs.PathError{Op: "open", Path: name, Err: syscall.EEXIST}
	case n.dir && writes:
		return nil, &fs.PathError{Op: "open", Path: name, Err: syscall.EISDIR}
	case flag&os.O_TRUNC != 0 && len(n.data) > 0:
		n.change(dataChange{offset: 0})
		m.did("truncate", name, "0")
	}
	return &memFile{m: m, name: name, node: n, reads: flag&os.O_WRONLY == 0, writes: writes,
		appends: flag&os.O_APPEND != 0}, nil
}

// Rename implements FS.
func (m *Mem) Rename(from, to string) error {
	from, to = filepath.Clean(from), filepath.Clean(to)
	m.mu.Lock()
	defer m.mu.Unlock()
	fail := func(err error) error {
		return &os.LinkError{Op: "rename", Old: from, New: to, Err: underlying(err)}
	}
	if err := m.powered("rename", from); err != nil {
		return fail(err)
	}
	n, err := m.lookup("rename", from)
	if err != nil {
		return fail(err)
	}
	if err := m.folder("rename", to); err != nil {
		return fail(err)
	}
	if old := m.names[to]; n.dir || old != nil && old.dir {
		return fail(syscall.EISDIR)
	}
	if from != to {
		m.rename(nameChange{from: from, to: to, node: n})
	}
	m.did("rename", from, to)
	return nil
}

func underlying(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}

// Remove implements FS.
func (m *Mem) Remove(name string) error {
	name = filepath.Clean(name)
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.powered("remove", name); err != nil {
		return err
	}
	n, err := m.lookup("remove", name)
	if err != nil {
		return err
	}
	if n.dir && len(m.entries(name)) > 0 {
		return &fs.PathError{Op: "remove", Path: name, Err: syscall.ENOTEMPTY}
	}
	m.rename(nameChange{from: name, node: n})
	m.did("remove", name)
	return nil
}

// MkdirAll implements FS.
func (m *Mem) MkdirAll(dir string, perm fs.FileMode) error {
	dir = filepath.Clean(dir)
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.powered("mkdir", dir); err != nil {
		return err
	}
	var missing []string
	for d := dir; ; d = filepath.Dir(d) {
		n := m.names[d]
		if n != nil && !n.dir {
			return &fs.PathError{Op: "mkdir", Path: d, Err: syscall.ENOTDIR}
		}
		if n != nil {
			break
		}
		missing = append(missing, d)
	}
	for i := len(missing) - 1; i >= 0; i-- {
		m.rename(nameChange{to: missing[i], node: &node{dir: true, perm: perm}})
		m.did("mkdir", missing[i])
	}
	return nil
}

// SyncDir implements FS.
func (m *Mem) SyncDir(dir string) error {
	dir = filepath.Clean(dir)
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.powered("syncdir", dir); err != nil {
		return err
	}
	if n, err := m.lookup("syncdir", dir); err != nil {
		return err
	} else if !n.dir {
		return &fs.PathError{Op: "syncdir", Path: dir, Err: syscall.ENOTDIR}
	}
	m.syncNames(dir)
	m.did("syncdir", dir)
	return nil
}

// syncNames makes durable the changes of names in the folder, and earlier changes of the same
// names. If a file was created in one folder and moved to another, and that is synced, it cannot be
// found in the first one afterwards.
func (m *Mem) syncNames(dir string) {
	touched := map[string]bool{}
	take := make([]bool, len(m.namePending))
	for i := len(m.namePending) - 1; i >= 0; i-- {
		c := m.namePending[i]
		for _, name := range []string{c.from, c.to} {
			take[i] = take[i] || name != "" && (touched[name] || filepath.Dir(name) == dir)
		}
		if take[i] {
			touched[c.from], touched[c.to] = c.from != "", c.to != ""
		}
	}
	var rest []nameChange
	for i, c := range m.namePending {
		if take[i] {
			c.apply(m.synced)
		} else {
			rest = append(rest, c)
		}
	}
	m.namePending = rest
}

// entries returns the names in a folder, sorted. mu must be held.
func (m *Mem) entries(dir string) []string {
	var names []string
	for name := range m.names {
		if filepath.Dir(name) == dir && name != dir {
			names = append(names, name)
		}
	}
	sort.Strings(names)
	return names
}

// ReadDir implements FS.
func (m *Mem) ReadDir(dir string) ([]fs.DirEntry, error) {
	dir = filepath.Clean(dir)
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.powered("readdir", dir); err != nil {
		return nil, err
	}
	n, err := m.lookup("open", dir)
	if err != nil {
		return nil, err
	}
	if !n.dir {
		return nil, &fs.PathError{Op: "readdir", Path: dir, Err: syscall.ENOTDIR}
	}
	var out []fs.DirEntry
	for _, name := range m.entries(dir) {
		out = append(out, fs.FileInfoToDirEntry(m.names[name].info(name)))
	}
	return out, nil
}

// Stat implements FS.
func (m *Mem) Stat(name string) (fs.FileInfo, error) {
	name = filepath.Clean(name)
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.powered("stat", name); err != nil {
		return nil, err
	}
	n, err := m.lookup("stat", name)
	if err != nil {
		return nil, err
	}
	return n.info(name), nil
}

// memInfo is a node's fs.FileInfo at one moment.
type memInfo struct {
	name string
	size int64
	mode fs.FileMode
}

func (n *node) info(name string) memInfo {
	mode := n.perm
	if n.dir {
		mode |= fs.ModeDir
	}
	return memInfo{name: filepath.Base(name), size: int64(len(n.data)), mode: mode}
}

func (i memInfo) Name() string       { return i.name }
func (i memInfo) Size() int64        { return i.size }
func (i memInfo) Mode() fs.FileMode  { return i.mode }
func (i memInfo) ModTime() time.Time { return time.Unix(0, 0) }
func (i memInfo) IsDir() bool        { return i.mode.IsDir() }
func (i memInfo) Sys() any           { return nil }
