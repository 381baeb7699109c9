package persist

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"godwit/internal/persist/rdb"
	"godwit/internal/spec"
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
	defer c.claim(name)()
	if !looksLikeManifest(name, text) {
		c.printf("Checking a single AOF")
		return c.logFile(checkedFile{path: name, last: true, base: isBase(name)}) && !c.blocked
	}
	c.printf("Checking a multi-part AOF")
	m, err := parseManifest(name, text)
	if err != nil {
		c.printf("%s", err)
		return false
	}
	return c.parts(filepath.Dir(name), m)
}

// isBase reports whether a file is what a rewrite wrote. The single file of an old version becomes
// a base too, but is a log.
func isBase(name string) bool { return strings.Contains(filepath.Base(name), ".base.") }

// headBytes is as much of a file as tells its format.
const headBytes = 256

// foreign returns what a file that begins with head is, "" if it may be a log or an RDB file.
func foreign(head []byte) string {
	if len(head) == 0 || head[0] == '*' || head[0] == '#' || rdb.IsFile(head) {
		return ""
	}
	return rdb.Describe(head)
}

// looksLikeManifest tells a manifest from a log. A log's first byte is '*', '#' or the R of an RDB
// file.
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
		if !c.logFile(checkedFile{
			path: filepath.Join(dir, f.name), last: i == len(files)-1, base: isBase(f.name),
		}) {
			return false
		}
	}
	if c.blocked {
		return false
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

// checkedFile is a file of a log.
type checkedFile struct {
	path       string
	size       int64
	last, base bool
}

// logFile checks one file: an RDB file, commands, or one followed by the other. The end of the last
// file may be cut off.
func (c *Checker) logFile(file checkedFile) bool {
	path := file.path
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
	file.size = size
	start := int64(0)
	br := bufio.NewReaderSize(f, checkBuffer)
	head, _ := br.Peek(headBytes)
	if what := foreign(head); what != "" {
		c.at(0, "This is no append-only file but %s", what)
		c.printf("AOF %s is not valid, and nothing is changed.", path)
		return false
	}
	if rdb.IsFile(head) {
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
	l := logCheck{p: newLogParser(f, start, size), table: c.commands()}
	l.p.until = c.Until
	if err := l.run(); err != nil {
		return c.cannot("read file", path, err)
	}
	if l.p.late >= 0 {
		return c.rewind(file, l.p.late)
	}
	l.report(c)
	if l.problem == nil {
		if c.Until != 0 {
			c.printf("Truncate nothing in AOF %s to timestamp %d", path, c.Until)
		}
		c.printf("AOF analyzed: filename=%s, size=%d, ok_up_to=%d, diff=0, commands=%d, "+
			"transactions=%d", path, size, size, l.commands, l.transactions)
		if len(l.unknown) == 0 {
			c.printf("AOF %s is valid", path)
		}
		return true
	}
	p := l.problem
	c.at(p.offset, "%s", p.reason)
	c.printf("AOF analyzed: filename=%s, size=%d, ok_up_to=%d, diff=%d, commands=%d, "+
		"transactions=%d", path, size, p.okUpTo, size-p.okUpTo, l.commands, l.transactions)
	return c.fix(file, p)
}

// commands returns the commands that a log may have.
func (c *Checker) commands() *spec.Table {
	if c.table == nil {
		c.table = spec.New()
	}
	return c.table
}

// logCheck reads the commands of one file.
type logCheck struct {
	p                      *logParser
	commands, transactions int
	problem                *logProblem

	table   *spec.Table
	unknown []finding // commands that a server does not know
}

// command counts a command.
func (l *logCheck) command(args []span) {
	l.commands++
	word := func(i int) []byte { return l.p.buf[args[i].from:args[i].to] }
	if len(args) == 0 || l.table.Top(word(0)) != nil {
		return
	}
	f := finding{what: "command '" + strings.ToLower(printable(string(word(0)))) + "'",
		offset: l.p.base + int64(args[0].from)}
	if len(args) > 1 {
		f.key = printable(string(word(1)))
	}
	note(&l.unknown, f)
}

// report lists the commands that a server does not know.
func (l *logCheck) report(c *Checker) {
	for _, f := range l.unknown {
		line := fmt.Sprintf("[in the way] %d of %s, which this server does not know, the first at "+
			"offset %d", f.n, f.what, f.offset)
		if f.key != "" {
			line += fmt.Sprintf(" with the argument '%s'", f.key)
		}
		c.printf("%s", line)
		c.blocked = true
	}
}

// run reads to the end, to the first problem or to what is too late. Its error is the file
// system's.
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
			l.problem = &logProblem{l.p.offset(), end,
				"the command here is incomplete, but others follow it", false}
		case err == errShort:
			l.problem = &logProblem{l.p.offset(), end,
				"the file ends within a command or transaction", true}
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
	l.command(args)
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
		l.command(args)
		if isWord(l.p, args, "exec") {
			l.transactions++
			return nil
		}
	}
}
