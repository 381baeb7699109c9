package persist

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"godwit/internal/vfs"
)

// The manifest names the files that together are the append-only log, one a line:
//
//	file appendonly.aof.2.base.rdb seq 2 type b
//	file appendonly.aof.1.incr.aof seq 1 type h
//	file appendonly.aof.2.incr.aof seq 2 type i
//
// A base (b, at most one) holds the data set as of a rewrite, the incremental files (i, by rising
// seq) what was written since; to load is to read the base and then each of them. A history file
// (h) is of no more use and waits to be deleted. Words may be quoted as in redis.conf; pairs that
// this version does not know are skipped, as Redis does, so that files of newer versions load.
//
// The manifest is the one place that decides: a file counts from the moment the manifest that names
// it has been renamed into place, and a crash between any two steps leaves either the old list or
// the new one.
//
// Format: Redis 7's aof.c and redis-check-aof; "startoffset" and "endoffset" are Redis 8's.
type manifest struct {
	base    *aofFile
	incr    []aofFile // by rising seq
	history []aofFile // newest first

	baseSeq, incrSeq int64 // the highest that were given out
}

// aofFile is a line of the manifest.
type aofFile struct {
	name string
	seq  int64
	kind byte // fileBase, fileIncr, fileHistory
}

const (
	fileBase    = 'b'
	fileIncr    = 'i'
	fileHistory = 'h'

	// manifestLine is the longest line in bytes, its end included.
	manifestLine = 1024
	// manifestMax bounds the file: it is a list of a few names.
	manifestMax = 4 << 20

	tempPrefix     = "temp-"
	manifestSuffix = ".manifest"
)

// ManifestError says what is wrong with a manifest.
type ManifestError struct {
	File   string
	Line   int    // from 1; 0 when the file as a whole is meant
	Text   string // the line
	Reason string
}

func (e *ManifestError) Error() string {
	if e.Line == 0 {
		return fmt.Sprintf("AOF manifest %s: %s", e.File, e.Reason)
	}
	return fmt.Sprintf("AOF manifest %s, line %d: %s: %q", e.File, e.Line, e.Reason, e.Text)
}

// Names of the files; base is appendfilename.

func manifestName(base string) string { return base + manifestSuffix }

func baseName(base string, seq int64, rdb bool) string {
	suffix := ".base.aof"
	if rdb {
		suffix = ".base.rdb"
	}
	return base + "." + strconv.FormatInt(seq, 10) + suffix
}

func incrName(base string, seq int64) string {
	return base + "." + strconv.FormatInt(seq, 10) + ".incr.aof"
}

func (m *manifest) clone() *manifest {
	n := *m
	if m.base != nil {
		b := *m.base
		n.base = &b
	}
	n.incr = append([]aofFile(nil), m.incr...)
	n.history = append([]aofFile(nil), m.history...)
	return &n
}

// empty reports whether there is nothing to load.
func (m *manifest) empty() bool { return m.base == nil && len(m.incr) == 0 }

// files returns those to load, in order.
func (m *manifest) files() []aofFile {
	var list []aofFile
	if m.base != nil {
		list = append(list, *m.base)
	}
	return append(list, m.incr...)
}

// maxSeq is the highest number that a manifest may have. Above it there is room for what extensible
// has let pass.
const maxSeq = math.MaxInt64 - 1<<32

// extensible returns an error if no file can be added, because its number would not be read again.
func (m *manifest) extensible() error {
	if top := max(m.baseSeq, m.incrSeq); top > maxSeq-1<<32 {
		return fmt.Errorf("AOF manifest: there is no seq behind %d", top)
	}
	return nil
}

// names reports whether a file has that name, whatever its number: names are made of numbers, but
// nobody makes a manifest keep to that.
func (m *manifest) names(name string) bool {
	same := func(f aofFile) bool { return f.name == name }
	return m.base != nil && same(*m.base) || slices.ContainsFunc(m.incr, same) ||
		slices.ContainsFunc(m.history, same)
}

// addBase makes a new base file the base; the old one becomes history.
func (m *manifest) addBase(filename string, rdb bool) string {
	if m.base != nil {
		m.retire(*m.base)
	}
	m.baseSeq++
	for m.names(baseName(filename, m.baseSeq, rdb)) {
		m.baseSeq++
	}
	m.base = &aofFile{baseName(filename, m.baseSeq, rdb), m.baseSeq, fileBase}
	return m.base.name
}

// addIncr appends a new incremental file.
func (m *manifest) addIncr(filename string) string {
	m.incrSeq++
	for m.names(incrName(filename, m.incrSeq)) {
		m.incrSeq++
	}
	f := aofFile{incrName(filename, m.incrSeq), m.incrSeq, fileIncr}
	m.incr = append(m.incr, f)
	return f.name
}

// retireIncr turns all incremental files but the last keep into history.
func (m *manifest) retireIncr(keep int) {
	for len(m.incr) > keep {
		m.retire(m.incr[0])
		m.incr = m.incr[1:]
	}
}

func (m *manifest) retire(f aofFile) {
	f.kind = fileHistory
	m.history = append([]aofFile{f}, m.history...)
}

// append appends the manifest's text to dst.
func (m *manifest) append(dst []byte) []byte {
	if m.base != nil {
		dst = m.base.append(dst)
	}
	for _, list := range [][]aofFile{m.history, m.incr} {
		for _, f := range list {
			dst = f.append(dst)
		}
	}
	return dst
}

func (f *aofFile) append(dst []byte) []byte {
	dst = append(dst, "file "...)
	if needsQuotes(f.name) {
		dst = appendQuotedName(dst, f.name)
	} else {
		dst = append(dst, f.name...)
	}
	dst = append(dst, " seq "...)
	dst = strconv.AppendInt(dst, f.seq, 10)
	dst = append(dst, " type "...)
	return append(dst, f.kind, '\n')
}

func needsQuotes(s string) bool {
	for i := range len(s) {
		if c := s[i]; c <= ' ' || c >= 0x7f || c == '"' || c == '\\' || c == '\'' {
			return true
		}
	}
	return s == ""
}

func appendQuotedName(dst []byte, s string) []byte {
	dst = append(dst, '"')
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
		case c < ' ' || c >= 0x7f:
			dst = fmt.Appendf(dst, `\x%02x`, c)
		default:
			dst = append(dst, c)
		}
	}
	return append(dst, '"')
}

// readManifest reads the manifest in dir; without one it is empty, and found is false.
func readManifest(fsys vfs.FS, dir, filename string) (m *manifest, found bool, err error) {
	name := filepath.Join(dir, manifestName(filename))
	f, err := fsys.Open(name, os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return &manifest{}, false, nil
	}
	if err != nil {
		return nil, false, &LoadError{name, -1, "can't open the AOF manifest file for reading", err}
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, manifestMax+1))
	if err != nil {
		return nil, false, &LoadError{name, -1, "can't read the AOF manifest file", err}
	}
	if len(text) > manifestMax {
		return nil, false, &ManifestError{File: name, Reason: "it is too long for a manifest"}
	}
	m, err = parseManifest(name, text)
	return m, true, err
}

// write puts the manifest in place: temporary file, sync, rename, sync of the folder. After an
// error from behind the rename (renamed is true) either the old or the new one is on the disk.
func (m *manifest) write(fsys vfs.FS, dir, filename string) (renamed bool, err error) {
	name := manifestName(filename)
	return replaceFile(fsys, dir, tempPrefix+name, name, m.append(nil))
}

// replaceFile replaces the content of name by text. On failure name holds what it held before,
// unless renamed is true: then it may hold either.
func replaceFile(fsys vfs.FS, dir, temp, name string, text []byte) (renamed bool, err error) {
	tempPath, path := filepath.Join(dir, temp), filepath.Join(dir, name)
	f, err := fsys.Open(tempPath, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		return false, fmt.Errorf("can't open the file %s: %w", tempPath, err)
	}
	if _, err = f.Write(text); err == nil {
		err = f.Sync()
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		return false, fmt.Errorf("can't write the file %s: %w", tempPath, err)
	}
	if err := fsys.Rename(tempPath, path); err != nil {
		return false, fmt.Errorf("can't rename %s to %s: %w", tempPath, path, err)
	}
	if err := fsys.SyncDir(dir); err != nil {
		return true, fmt.Errorf("can't sync the folder %s: %w", dir, err)
	}
	return true, nil
}
