package vfs

import (
	"io"
	"io/fs"
	"strconv"
	"syscall"
)

// memFile is an open file of a Mem.
type memFile struct {
	m                      *Mem
	name                   string // when it was opened, for messages
	node                   *node
	offset                 int64
	reads, writes, appends bool
	closed                 bool
}

// begin takes the lock. The caller must release it whatever begin returns.
func (f *memFile) begin(op string, allowed bool) error {
	f.m.mu.Lock()
	switch {
	case f.closed:
		return &fs.PathError{Op: op, Path: f.name, Err: fs.ErrClosed}
	case !allowed:
		return &fs.PathError{Op: op, Path: f.name, Err: syscall.EBADF}
	}
	return f.m.powered(op, f.name)
}

func (f *memFile) Read(p []byte) (int, error) {
	err := f.begin("read", f.reads || len(p) == 0)
	defer f.m.mu.Unlock()
	switch {
	case err != nil:
		return 0, err
	case f.node.dir:
		return 0, &fs.PathError{Op: "read", Path: f.name, Err: syscall.EISDIR}
	case len(p) == 0:
		return 0, nil
	case f.offset >= int64(len(f.node.data)):
		return 0, io.EOF
	}
	n := copy(p, f.node.data[f.offset:])
	f.offset += int64(n)
	return n, nil
}

func (f *memFile) Write(p []byte) (int, error) {
	err := f.begin("write", f.writes)
	defer f.m.mu.Unlock()
	if err != nil || len(p) == 0 {
		return 0, err
	}
	if f.appends {
		f.offset = int64(len(f.node.data))
	}
	f.node.change(dataChange{offset: f.offset, bytes: append([]byte{}, p...)})
	f.offset += int64(len(p))
	f.m.did("write", f.name, strconv.Itoa(len(p)))
	return len(p), nil
}

func (f *memFile) Truncate(size int64) error {
	err := f.begin("truncate", true)
	defer f.m.mu.Unlock()
	if err == nil && (size < 0 || !f.writes) {
		err = &fs.PathError{Op: "truncate", Path: f.name, Err: syscall.EINVAL}
	}
	if err != nil {
		return err
	}
	f.node.change(dataChange{offset: size})
	f.m.did("truncate", f.name, strconv.FormatInt(size, 10))
	return nil
}

func (f *memFile) Seek(offset int64, whence int) (int64, error) {
	err := f.begin("seek", true)
	defer f.m.mu.Unlock()
	if err != nil {
		return 0, err
	}
	switch whence {
	case io.SeekCurrent:
		offset += f.offset
	case io.SeekEnd:
		offset += int64(len(f.node.data))
	}
	if offset < 0 || whence < io.SeekStart || whence > io.SeekEnd {
		return 0, &fs.PathError{Op: "seek", Path: f.name, Err: syscall.EINVAL}
	}
	f.offset = offset
	return offset, nil
}

func (f *memFile) Sync() error {
	err := f.begin("sync", true)
	defer f.m.mu.Unlock()
	if err != nil {
		return err
	}
	for _, c := range f.node.pending {
		f.node.synced = c.apply(f.node.synced)
	}
	f.node.pending = nil
	f.m.did("sync", f.name)
	return nil
}

// failSync is what Faulty calls in place of Sync. The data that should have become durable never
// will, but can still be read.
func (f *memFile) failSync() {
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	f.node.pending = nil
	f.m.did("failed sync", f.name)
}

func (f *memFile) Close() error {
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	if f.closed {
		return &fs.PathError{Op: "close", Path: f.name, Err: fs.ErrClosed}
	}
	f.closed = true
	return nil
}

// change records and applies a change of the data.
func (n *node) change(c dataChange) {
	n.data = c.apply(n.data)
	n.pending = append(n.pending, c)
}

// apply changes data, which may be reused. A gap before a write is filled with zeros.
func (c dataChange) apply(data []byte) []byte {
	end := c.offset + int64(len(c.bytes))
	if c.bytes == nil && end < int64(len(data)) {
		return data[:end]
	}
	for int64(len(data)) < end {
		data = append(data, make([]byte, end-int64(len(data)))...)
	}
	copy(data[c.offset:], c.bytes)
	return data
}
