package persist

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"godwit/internal/logging"
	"godwit/internal/spec"
	"godwit/internal/vfs"
)

// checkBuffer is the size of read buffers in bytes.
const checkBuffer = 64 << 10

// Checker reads files as the server would, and says what it finds. It is what redis-check-rdb and
// redis-check-aof are to Redis. Each method reports whether the file is sound.
type Checker struct {
	FS  vfs.FS
	Out io.Writer
	In  io.Reader // answers questions
	Now int64     // unix ms: what has expired
	// Library loads a library of functions as a server would, if it is set. code is borrowed.
	Library func(code []byte) error

	Fix bool // cut off the end of a log that is damaged, after asking
	Yes bool // without asking

	inUse   bool        // a server has the log
	blocked bool        // a load would refuse something, though files can be read to their ends
	table   *spec.Table // the commands that a log may have

	// Until is in unix seconds. If it is not 0, a log is cut off at the first annotation with a
	// later time.
	Until int64
}

func (c *Checker) printf(format string, args ...any) { fmt.Fprintf(c.Out, format+"\n", args...) }

// at prints a line about an offset of a file.
func (c *Checker) at(offset int64, format string, args ...any) {
	c.printf("[offset %d] "+format, append([]any{offset}, args...)...)
}

// cannot reports a file that cannot be read or changed.
func (c *Checker) cannot(what, name string, err error) bool {
	c.printf("Cannot %s %s: %s", what, name, logging.OSError(err))
	return false
}

// RDB checks a snapshot file.
func (c *Checker) RDB(name string) bool {
	f, err := c.FS.Open(name, os.O_RDONLY, 0)
	if err != nil {
		return c.cannot("open file", name, err)
	}
	defer f.Close()
	c.at(0, "Checking RDB file %s", name)
	end, ok := c.snapshot(bufio.NewReaderSize(f, checkBuffer))
	if !ok {
		return false
	}
	info, err := c.FS.Stat(name)
	if err != nil {
		return c.cannot("look at", name, err)
	}
	if left := info.Size() - end; left > 0 {
		c.at(end, "%d bytes follow the end; they are ignored", left)
	}
	return !c.blocked
}

// printable makes a text fit for a line of output.
func printable(s string) string {
	if len(s) > 200 {
		s = s[:200] + "…"
	}
	q := strconv.Quote(s)
	return strings.ReplaceAll(q[1:len(q)-1], `\"`, `"`)
}
