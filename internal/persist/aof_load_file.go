package persist

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"strings"

	"godwit/internal/persist/rdb"
	"godwit/internal/vfs"
)

// fileLoader loads one file.
type fileLoader struct {
	a        *AOF
	r        Replayer
	rdb      RDBLoader
	f        vfs.File
	size     int64 // of the file
	name     string
	last     bool
	oldStyle bool // a single file of a version before 7
	base     bool

	before int64     // bytes of earlier files
	place  ReplPoint // where in the history of replication the file ends
	argv   [][]byte
}

const (
	// A step ends after so many units or, because a unit may be large, bytes.
	stepUnits = 256
	stepBytes = 256 << 10
)

func (l *fileLoader) load() (size int64, err error) {
	path := l.a.path(l.name)
	if l.f, err = l.a.o.FS.Open(path, os.O_RDONLY, 0); err != nil {
		return 0, &LoadError{l.name, -1, "can't open the append log file for reading", err}
	}
	defer l.f.Close()
	if l.size, err = l.f.Seek(0, io.SeekEnd); err == nil {
		_, err = l.f.Seek(0, io.SeekStart)
	}
	if err != nil {
		return 0, &LoadError{l.name, -1, "can't read", err}
	}
	at, err := l.preamble()
	if err != nil {
		return 0, err
	}
	end, err := l.commands(at)
	if errors.Is(err, errShort) {
		return end, l.cut(end)
	}
	return end, err
}

// preamble loads the RDB file at the start, if there is one, and returns where the commands begin.
func (l *fileLoader) preamble() (int64, error) {
	log := l.a.o.Log
	br := bufio.NewReaderSize(l.f, int(max(min(l.size, logWindow), 16)))
	head, _ := br.Peek(headBytes)
	if what := foreign(head); what != "" {
		return 0, &LoadError{l.name, 0, badFormat + "it is " + what + ". " + backupAdvice, nil}
	}
	if !rdb.IsFile(head) {
		_, err := l.f.Seek(0, io.SeekStart)
		return 0, err
	}
	if l.oldStyle {
		log.Notice("Reading RDB preamble from AOF file...")
	} else {
		log.Notice("Reading RDB base file on AOF loading...")
	}
	used, err := l.rdb(br, l.before)
	if err != nil {
		return 0, &LoadError{l.name, -1,
			"Error reading the RDB base file, AOF loading aborted: " + explain(err), nil}
	}
	if l.oldStyle {
		log.Notice("Reading the remaining AOF tail...")
	}
	if _, err := l.f.Seek(used, io.SeekStart); err != nil {
		return 0, &LoadError{l.name, used, "can't read", err}
	}
	return used, nil
}

// commands replays the commands from offset at on, and returns the end of the last whole unit. A
// transaction is one unit: it is collected here and run as a whole once its EXEC is there, because
// half a transaction at the end of the file must never run.
func (l *fileLoader) commands(at int64) (end int64, err error) {
	p := newLogParser(l.f, at, l.size-at)
	for first := true; err == nil; first = false {
		l.r.Step(func() {
			end, err = l.step(p, first)
			l.r.Loaded(l.before + end)
		})
	}
	l.place = p.place.at
	if err == io.EOF {
		return end, nil
	}
	return end, l.explain(err, p, end)
}

// step replays some units. end is where the next one begins; the error io.EOF says that there is
// none.
func (l *fileLoader) step(p *logParser, first bool) (end int64, err error) {
	if first { // each file begins as a client does
		l.r.Begin(l.base)
		if err := l.r.Exec([][]byte{[]byte("SELECT"), []byte("0")}); err != nil {
			return p.offset(), &LoadError{l.name, p.offset(), err.Error(), nil}
		}
	}
	from := p.offset()
	for n := 0; n < stepUnits && p.offset()-from < stepBytes; n++ {
		end = p.offset()
		if err := l.unit(p); err == io.EOF {
			return p.offset(), err
		} else if err != nil {
			return end, err
		}
	}
	return p.offset(), nil
}

// explain makes an error of one of the parser's. end is where the last whole unit ends: what --fix
// would keep.
func (l *fileLoader) explain(err error, p *logParser, end int64) error {
	var fe *formatError
	var le *LoadError
	switch {
	case errors.As(err, &fe):
		return &LoadError{l.name, fe.offset, badFormat + fe.reason + ". " + l.advice(end), nil}
	case err == errShort && damaged(p.buf[p.pos:]):
		return &LoadError{l.name, p.offset(),
			"the command here is incomplete, but others follow it: " +
				"this is no torn end but damage. " + l.advice(end), nil}
	case err == errShort, errors.As(err, &le):
		return err
	}
	return &LoadError{l.name, p.offset(), "Unrecoverable error reading the append only file", err}
}

// unit replays one command or one transaction.
func (l *fileLoader) unit(p *logParser) error {
	p.unit()
	p.spans = p.spans[:0]
	args, err := p.next()
	if err != nil {
		return err
	}
	if !isWord(p, args, "multi") {
		return l.exec(p, args, p.offset())
	}
	return l.transaction(p)
}

const (
	badFormat = "Bad file format reading the append only file: "
	fixAdvice = "Make a backup of the AOF file, then use " +
		"godwit-server --check-aof --fix <filename.manifest>"
	// backupAdvice is for what a checker cannot mend.
	backupAdvice = "godwit-server --check-aof cannot mend this: " +
		"restore the folder from a backup or a replica"
)

// advice returns what to do about a file that is sound up to the offset.
func (l *fileLoader) advice(okUpTo int64) string {
	if f := (checkedFile{last: l.last, base: l.base}); f.uncuttable(okUpTo) != "" {
		return backupAdvice
	}
	return fixAdvice
}

// damaged reports whether complete commands follow the incomplete one that tail begins with: then
// its end is not torn off, but a length in it is wrong, and to cut it off would throw away all that
// follows.
func damaged(tail []byte) bool {
	const enough = 3 // commands in a row are no coincidence
	// budget is the bytes to parse: a value that looks like commands within commands would cost the
	// square of its length.
	budget := len(tail) + 64<<20
	for {
		i := bytes.Index(tail, []byte("\r\n*"))
		if i < 0 {
			return false
		}
		tail = tail[i+2:]
		p := logParser{buf: tail, eof: true}
		n := 0
		var err error
		for n < enough && err == nil {
			p.spans = p.spans[:0]
			if _, err = p.next(); err == nil {
				n++
			}
		}
		if budget -= p.reached; budget < 0 {
			return true // who knows: nothing is thrown away then
		}
		if n == enough || n > 0 && (err == io.EOF || err == errShort) {
			return true
		}
	}
}

func isWord(p *logParser, args []span, word string) bool {
	return len(args) == 1 && args[0].to-args[0].from == len(word) &&
		strings.EqualFold(string(p.buf[args[0].from:args[0].to]), word)
}

// transaction collects commands up to EXEC, then runs them.
func (l *fileLoader) transaction(p *logParser) error {
	first := len(p.spans)
	var sizes []int // arguments of each command
	for {
		args, err := p.next()
		if err == io.EOF || err == errShort {
			l.a.o.Log.Warning("Revert incomplete MULTI/EXEC transaction in AOF file %s", l.name)
			return errShort
		}
		if err != nil {
			return err
		}
		if isWord(p, args, "exec") {
			break
		}
		if isWord(p, args, "multi") {
			return &formatError{p.offset(), "a MULTI within a transaction"}
		}
		if err := l.r.Check(l.args(p, args)); err != nil {
			return &LoadError{l.name, p.base + int64(args[0].from), err.Error(), nil}
		}
		sizes = append(sizes, len(args))
	}
	for _, n := range sizes {
		if err := l.exec(p, p.spans[first:first+n], p.offset()); err != nil {
			return err
		}
		first += n
	}
	return nil
}

func (l *fileLoader) exec(p *logParser, args []span, end int64) error {
	if isWord(p, args, "exec") {
		return &formatError{end, "an EXEC without MULTI"}
	}
	if err := l.r.Exec(l.args(p, args)); err != nil {
		return &LoadError{l.name, p.base + int64(args[0].from), err.Error(), nil}
	}
	return nil
}

// args returns the arguments, good until the window moves.
func (l *fileLoader) args(p *logParser, args []span) [][]byte {
	argv := l.argv[:0]
	for _, s := range args {
		argv = append(argv, p.buf[s.from:s.to:s.to])
	}
	l.argv = argv
	return argv
}

// cut ends the file at offset end, where the last whole unit ends.
func (l *fileLoader) cut(end int64) error {
	log := l.a.o.Log
	if !l.last {
		return &LoadError{l.name, end, "the truncated file is not the last file", nil}
	}
	if !l.a.set.LoadTruncated {
		return &LoadError{l.name, end, "Unexpected end of file reading the append only file. " +
			l.advice(end) +
			" Or set the 'aof-load-truncated' configuration option to yes and restart the server",
			nil}
	}
	log.Warning("!!! Warning: short read while loading the AOF file %s!!!", l.name)
	log.Warning("!!! Truncating the AOF %s at offset %d !!!", l.name, end)
	f, err := l.a.o.FS.Open(l.a.path(l.name), os.O_WRONLY, 0)
	if err == nil {
		if err = f.Truncate(end); err == nil {
			err = f.Sync()
		}
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		return &LoadError{l.name, end, "Error truncating the AOF file", err}
	}
	log.Warning("AOF %s loaded anyway because aof-load-truncated is enabled", l.name)
	return nil
}
