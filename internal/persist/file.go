package persist

import (
	"encoding/binary"
	"io"
	"os"
	"path/filepath"

	"godwit/internal/object"
	"godwit/internal/persist/rdb"
	"godwit/internal/vfs"
)

// autoSyncBytes is how many bytes of a snapshot file are written between two fsyncs under
// rdb-save-incremental-fsync.
const autoSyncBytes = 4 << 20

// FileOptions say how a file is written.
type FileOptions struct {
	Temp string // path of the unfinished file
	// Final is the path of the complete file, which is renamed to it. Empty: it keeps the temporary
	// name.
	Final string
	RDB   *RDBFormat // what the file is written by; nil for a file of commands
	// Checksum adds 8 bytes of CRC64 behind an RDB file (rdbchecksum); without, they are 0.
	Checksum        bool
	IncrementalSync bool // rdb-save-incremental-fsync
}

// FileDest writes a file that replaces another one when it is complete: temporary name, fsync,
// rename, fsync of the folder.
type FileDest struct {
	fs       vfs.FS
	o        FileOptions
	f        vfs.File
	crc      uint64
	size     int64
	unsynced int
}

// NewFileDest creates the file under its temporary name.
func NewFileDest(fsys vfs.FS, o FileOptions) (*FileDest, error) {
	f, err := fsys.Open(o.Temp, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		return nil, err
	}
	return &FileDest{fs: fsys, o: o, f: f}, nil
}

// Write implements Dest.
func (d *FileDest) Write(p []byte) error {
	if d.o.RDB != nil {
		p = d.o.RDB.Pack(p)
	}
	return d.put(p)
}

// WriteString implements Dest.
func (d *FileDest) WriteString(f *object.FrozenString) error {
	if d.o.RDB != nil {
		return d.o.RDB.PackString(f, d.put)
	}
	return rdb.Pieces(f, make([]byte, chunkBytes), d.put)
}

// put writes bytes of the file.
func (d *FileDest) put(p []byte) error {
	if d.o.RDB != nil && d.o.Checksum {
		d.crc = rdb.CRC64(d.crc, p)
	}
	if _, err := d.f.Write(p); err != nil {
		return err
	}
	d.size += int64(len(p))
	d.unsynced += len(p)
	if d.o.IncrementalSync && d.unsynced >= autoSyncBytes {
		d.unsynced = 0
		return d.f.Sync()
	}
	return nil
}

// Commit implements Dest.
func (d *FileDest) Commit() error {
	if d.o.RDB != nil {
		if err := d.trailer(); err != nil {
			return err
		}
	}
	err := d.f.Sync()
	if cerr := d.f.Close(); err == nil {
		err = cerr
	}
	d.f = nil
	if err != nil || d.o.Final == "" {
		return err
	}
	if err = d.fs.Rename(d.o.Temp, d.o.Final); err != nil {
		return err
	}
	return d.fs.SyncDir(filepath.Dir(d.o.Final))
}

// trailer writes the checksum. It writes the header again if something in the file asks for a later
// version than the header names.
func (d *FileDest) trailer() error {
	if first, v := d.o.RDB.firstVersion(), d.o.RDB.Version(); v != first {
		if _, err := d.f.Seek(0, io.SeekStart); err != nil {
			return err
		}
		if _, err := d.f.Write(rdb.AppendHeader(nil, v)); err != nil {
			return err
		}
		if _, err := d.f.Seek(0, io.SeekEnd); err != nil {
			return err
		}
		if d.o.Checksum {
			d.crc = rdb.PatchVersion(d.crc, d.size, first, v)
		}
	}
	var sum [rdb.ChecksumLen]byte
	binary.LittleEndian.PutUint64(sum[:], d.crc)
	_, err := d.f.Write(sum[:])
	return err
}

// Abort implements Dest. The errors of cleaning up are not worth more than the one that led here.
func (d *FileDest) Abort() {
	if d.f != nil {
		_ = d.f.Close()
		d.f = nil
	}
	_ = d.fs.Remove(d.o.Temp)
}
