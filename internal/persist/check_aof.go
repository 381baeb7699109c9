package persist

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"

	"godwit/internal/logging"
)

// AOF checks a log: a manifest with all files that it names, or a single file.
func (c *Checker) AOF(name string) bool {
	f, err := c.FS.Open(name, os.O_RDONLY, 0)
	if err != nil {
		return c.cannot("open file", name, err)
	}
	text, err := io.ReadAll(io.LimitReader(f, manifestMax+1))
	f.Close()
	if err != nil {
		return c.cannot("read file", name, err)
	}
	if !looksLikeManifest(name, text) {
		c.printf("Checking a single AOF")
		return c.logFile(name, true)
	}
	c.printf("Checking a multi-part AOF")
	m, err := parseManifest(name, text)
	if err != nil {
		c.printf("%s", err)
		return false
	}
	return c.parts(filepath.Dir(name), m)
}

// looksLikeManifest tells a manifest from a log, whose first byte is '*', '#' or the R of an RDB file.
func looksLikeManifest(name string, text []byte) bool {
	if strings.HasSuffix(name, manifestSuffix) {
		return true
	}
	for len(text) > 0 && text[0] == '#' {
		_, text, _ = bytes.Cut(text, []byte{'\n'})
	}
	return bytes.HasPrefix(text, []byte("file "))
}

func (c *Checker) parts(dir string, m *manifest) bool {
	files := m.files()
	for i, f := range files {
		kind := "INCR"
		if f.kind == fileBase {
			kind = "BASE"
		}
		c.printf("Checking the %s file %s", kind, f.name)
		if !c.logFile(filepath.Join(dir, f.name), i == len(files)-1) {
			return false
		}
	}
	c.printf("All AOF files and the manifest are valid")
	return true
}

// logProblem is what is wrong with a log.
type logProblem struct {
	offset int64 // of what is wrong
	okUpTo int64 // end of the last whole unit
	reason string
	torn   bool // nothing but the end is missing
}

// logFile checks one file: an RDB file, commands, or one followed by the other. The end of the last file may be cut off.
func (c *Checker) logFile(path string, last bool) bool {
	f, err := c.FS.Open(path, os.O_RDONLY, 0)
	if err != nil {
		return c.cannot("open file", path, err)
	}
	defer f.Close()
	size, err := f.Seek(0, io.SeekEnd)
	if err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		return c.cannot("read file", path, err)
	}
	start := int64(0)
	br := bufio.NewReaderSize(f, checkBuffer)
	if magic, _ := br.Peek(5); string(magic) == "REDIS" {
		c.at(0, "Checking its RDB part")
		var ok bool
		if start, ok = c.snapshot(br); !ok {
			c.printf("The RDB part of %s is not valid, and nothing can fix that", path)
			return false
		}
	}
	if _, err := f.Seek(start, io.SeekStart); err != nil {
		return c.cannot("read file", path, err)
	}
	l := logCheck{p: newLogParser(f, start, size)}
	l.p.until = c.Until
	if err := l.run(); err != nil {
		return c.cannot("read file", path, err)
	}
	if l.p.late >= 0 {
		return c.rewind(path, l.p.late, last)
	}
	if l.problem == nil {
		if c.Until != 0 {
			c.printf("Truncate nothing in AOF %s to timestamp %d", path, c.Until)
		}
		c.printf("AOF analyzed: filename=%s, size=%d, ok_up_to=%d, diff=0, commands=%d, transactions=%d", path, size, size, l.commands, l.transactions)
		c.printf("AOF %s is valid", path)
		return true
	}
	p := l.problem
	c.at(p.offset, "%s", p.reason)
	c.printf("AOF analyzed: filename=%s, size=%d, ok_up_to=%d, diff=%d, commands=%d, transactions=%d", path, size, p.okUpTo, size-p.okUpTo, l.commands, l.transactions)
	return c.fix(path, size, p, last)
}

// logCheck reads the commands of one file.
type logCheck struct {
	p                      *logParser
	commands, transactions int
	problem                *logProblem
}

// run reads to the end, to the first problem or to what is too late; the error is the file system's.
func (l *logCheck) run() error {
	for {
		l.p.unit()
		l.p.spans = l.p.spans[:0]
		end := l.p.offset()
		err := l.unit()
		var fe *formatError
		switch {
		case l.p.late >= 0: // what follows does not matter, damage included
			return nil
		case err == nil:
			continue
		case err == io.EOF:
			return nil
		case errors.As(err, &fe):
			l.problem = &logProblem{fe.offset, end, fe.reason, false}
		case err == errShort && damaged(l.p.buf[l.p.pos:]):
			l.problem = &logProblem{l.p.offset(), end, "the command here is incomplete, but others follow it", false}
		case err == errShort:
			l.problem = &logProblem{l.p.offset(), end, "the file ends within a command or transaction", true}
		default:
			return err
		}
		return nil
	}
}

// unit reads one command or one transaction.
func (l *logCheck) unit() error {
	args, err := l.p.next()
	if err != nil {
		return err
	}
	if isWord(l.p, args, "exec") {
		return &formatError{l.p.base + int64(args[0].from), "an EXEC without MULTI"}
	}
	l.commands++
	if !isWord(l.p, args, "multi") {
		return nil
	}
	for {
		args, err := l.p.next()
		switch {
		case err == io.EOF:
			return errShort
		case err != nil:
			return err
		case isWord(l.p, args, "multi"):
			return &formatError{l.p.base + int64(args[0].from), "a MULTI within a transaction"}
		}
		l.commands++
		if isWord(l.p, args, "exec") {
			l.transactions++
			return nil
		}
	}
}

// fix cuts the file off where its last whole unit ends, if that is asked for.
func (c *Checker) fix(path string, size int64, p *logProblem, last bool) bool {
	switch {
	case !c.Fix && last:
		c.printf("AOF %s is not valid. Use the --fix option to try fixing it.", path)
		return false
	case !c.Fix:
		c.printf("AOF %s is not valid.", path)
		return false
	case !last:
		c.printf("AOF %s is not valid, and because it is not the last file it cannot be cut off.", path)
		return false
	}
	c.printf("This will shrink the AOF %s from %d bytes, with %d bytes, to %d bytes", path, size, size-p.okUpTo, p.okUpTo)
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

// rewind cuts a log off at the first unit that is later than asked for.
func (c *Checker) rewind(path string, at int64, last bool) bool {
	switch {
	case at == 0:
		c.printf("AOF %s has nothing before timestamp %d, aborting...", path, c.Until)
		return false
	case !last:
		c.printf("Failed to truncate AOF %s to timestamp %d to offset %d because it is not the last file.", path, c.Until, at)
		c.printf("Without the files after it, and their lines in the manifest, it can be.")
		return false
	}
	if !c.truncate(path, at) {
		return false
	}
	c.printf("Successfully truncated AOF %s to timestamp %d", path, c.Until)
	return true
}

// truncate makes a file shorter, durably.
func (c *Checker) truncate(path string, size int64) bool {
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
