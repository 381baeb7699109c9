package persist

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"godwit/internal/logging"
	"godwit/internal/vfs"
)

// How a checker changes a file
//
// It cuts off the end of the last file of a log, and nothing else. It never cuts a base, because
// every file after it relies on all of it. It never cuts so that nothing is left, because then more
// than the end is wrong. A durable copy of the file is kept before the first byte goes. No server
// may be writing to the folder meanwhile.

// fix cuts the file off where its last whole unit ends, if that is asked for and can be.
func (c *Checker) fix(f checkedFile, p *logProblem) bool {
	path, size := f.path, f.size
	if why := f.uncuttable(p.okUpTo); why != "" {
		c.printf("AOF %s is not valid. %s, so it is not cut off. Restore it from a backup or a "+
			"replica.", path, why)
		return false
	}
	if !c.Fix {
		c.printf("AOF %s is not valid. Use the --fix option to try fixing it.", path)
		return false
	}
	c.printf("This will shrink the AOF %s from %d bytes, with %d bytes, to %d bytes", path, size,
		size-p.okUpTo, p.okUpTo)
	if !p.torn {
		c.printf("More than a torn end is lost: everything from the damage on")
	}
	if !c.Yes && !c.agreed() {
		c.printf("Aborting...")
		return false
	}
	if !c.truncate(path, p.okUpTo) {
		return false
	}
	c.printf("Successfully truncated AOF %s", path)
	return true
}

// uncuttable says why the file cannot end at that offset, "" if it can.
func (f *checkedFile) uncuttable(at int64) string {
	switch {
	case !f.last:
		return "It is not the last file"
	case f.base:
		return "It is the base file, on which all that follows is built"
	case at == 0:
		return "Nothing of it would be left"
	}
	return ""
}

// rewind cuts a log off at the first unit that is later than asked for.
func (c *Checker) rewind(f checkedFile, at int64) bool {
	switch {
	case at == 0:
		c.printf("AOF %s has nothing before timestamp %d, aborting...", f.path, c.Until)
		return false
	case !f.last:
		c.printf("Failed to truncate AOF %s to timestamp %d to offset %d because it is not the "+
			"last file.", f.path, c.Until, at)
		c.printf("Without the files after it, and their lines in the manifest, it can be.")
		return false
	case f.uncuttable(at) != "":
		c.printf("Failed to truncate AOF %s to timestamp %d. %s.", f.path, c.Until,
			f.uncuttable(at))
		return false
	}
	if !c.truncate(f.path, at) {
		return false
	}
	c.printf("Successfully truncated AOF %s to timestamp %d", f.path, c.Until)
	return true
}

// truncate makes a file shorter, durably, and keeps a copy of what it was.
func (c *Checker) truncate(path string, size int64) bool {
	if c.inUse {
		c.printf("A server is using this log: nothing is changed. Stop it first.")
		return false
	}
	copied, err := c.backup(path)
	if err != nil {
		return c.cannot("keep a copy of", path, err)
	}
	c.printf("The file as it was is kept as %s", copied)
	f, err := c.FS.Open(path, os.O_RDWR, 0)
	if err != nil {
		return c.cannot("open file", path, err)
	}
	if err = f.Truncate(size); err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return c.cannot("truncate", path, err)
	}
	return true
}

// backup copies a file, durably, to a name that nothing has yet.
func (c *Checker) backup(path string) (name string, err error) {
	src, err := c.FS.Open(path, os.O_RDONLY, 0)
	if err != nil {
		return "", err
	}
	defer src.Close()
	var dst vfs.File
	for n := 0; ; n++ {
		name = path + ".bak"
		if n > 0 {
			name = fmt.Sprintf("%s.bak.%d", path, n)
		}
		dst, err = c.FS.Open(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		if !errors.Is(err, os.ErrExist) {
			break
		}
	}
	if err != nil {
		return "", err
	}
	if _, err = io.Copy(dst, src); err == nil {
		err = dst.Sync()
	}
	if err = errors.Join(err, dst.Close()); err == nil {
		err = c.FS.SyncDir(filepath.Dir(name))
	}
	if err != nil {
		_ = c.FS.Remove(name) // half a copy is none
	}
	return name, err
}

// claim takes the locks of the logs that a file may belong to, and warns if a server has one. The
// result gives them back.
func (c *Checker) claim(path string) (leave func()) {
	var locks []io.Closer
	dir := filepath.Dir(path)
	list, _ := c.FS.ReadDir(dir)
	for _, f := range list {
		log, ok := strings.CutSuffix(f.Name(), lockSuffix)
		if !ok || !strings.HasPrefix(filepath.Base(path), log+".") {
			continue
		}
		lock, err := c.FS.Lock(filepath.Join(dir, f.Name()))
		var other *vfs.LockedError
		switch {
		case err == nil:
			locks = append(locks, lock)
		case errors.As(err, &other):
			c.inUse = true
			c.printf("WARNING: a server is using this log (%s): what is found may be a command "+
				"that is being written.", other)
		}
	}
	return func() {
		for _, l := range locks {
			_ = l.Close() // it ends with the process at the latest
		}
	}
}

// agreed asks whether to go on.
func (c *Checker) agreed() bool {
	if _, err := io.WriteString(c.Out, "Continue? [y/N]: "); err != nil || c.In == nil {
		return false
	}
	line, err := bufio.NewReader(io.LimitReader(c.In, 100)).ReadString('\n')
	if err != nil && err != io.EOF {
		c.printf("%s", logging.OSError(err))
	}
	return strings.HasPrefix(strings.ToLower(line), "y")
}
