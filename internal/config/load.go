package config

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sort"
	"strings"

	"godwit/internal/logging"
	"godwit/internal/resp"
)

// maxInclude bounds how deeply files include one another. A file that includes itself ends with an
// error here, instead of exhausting the stack.
const maxInclude = 16

// LineError reports a line of the configuration that cannot be used.
type LineError struct {
	Source string // file name, "standard input" or "command line"
	Line   int    // from 1
	Text   string // the line, trimmed, without secrets
	Reason string
}

func (e *LineError) Error() string {
	return fmt.Sprintf("%s:%d: %s: %s", e.Source, e.Line, e.Text, e.Reason)
}

// OpenError reports a configuration file that cannot be read.
type OpenError struct {
	Path string
	Err  error
}

func (e *OpenError) Error() string {
	return fmt.Sprintf("Fatal error, can't open config file '%s': %s", e.Path,
		logging.OSError(e.Err))
}

// Unwrap returns the system's error.
func (e *OpenError) Unwrap() error { return e.Err }

// Fatal formats an error of Load, or any other error about the configuration, for standard error,
// in the form that operators know from Redis. program is name and version: "Godwit 0.1.0".
func Fatal(err error, program string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n*** FATAL CONFIG FILE ERROR (%s) ***\n", program)
	var e *LineError
	if errors.As(err, &e) {
		fmt.Fprintf(&b, "Reading the configuration file, at line %d (%s)\n>>> '%s'\n%s\n",
			e.Line, e.Source, e.Text, e.Reason)
	} else {
		fmt.Fprintf(&b, "%s\n", err)
	}
	return b.String()
}

// Load reads the configuration from the program's arguments (without the program's name), as
// redis-server does:
//
//	[FILE] [--directive value …]… [-]
//
// It reads the file first, then standard input if the first or the last argument is "-", then the
// directives of the command line. Later values win. A directive takes the words up to the next one
// that starts with "--". Also accepted are "--port 6380" as one argument, --save without a value
// for --save "", and one argument that holds all words of a list. Errors are *LineError or
// *OpenError.
func Load(args []string, stdin io.Reader) (*Config, error) {
	c := Default()
	l := newLoader(c)
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		if args[0] != "" {
			path, err := filepath.Abs(args[0])
			if err != nil {
				return nil, &OpenError{args[0], err}
			}
			c.File = path
			if err := l.files(args[0]); err != nil {
				return nil, err
			}
		}
		args = args[1:]
		if len(args) > 0 && args[0] == "-" && len(args) > 1 {
			return nil, &LineError{"command line", 1, `"-"`, errBadLine.Error()}
		}
	}
	lines, useStdin := commandLine(args)
	if useStdin {
		text, err := io.ReadAll(stdin)
		if err != nil {
			return nil, &OpenError{"standard input", err}
		}
		if err := l.text("standard input", string(text)); err != nil {
			return nil, err
		}
	}
	if err := l.text("command line", strings.Join(lines, "\n")); err != nil {
		return nil, err
	}
	return c, l.finish()
}

// Parse reads configuration text on top of the defaults. source names the text in errors.
func Parse(source, text string) (*Config, error) {
	l := newLoader(Default())
	if err := l.text(source, text); err != nil {
		return nil, err
	}
	return l.c, l.finish()
}

// commandLine turns arguments into configuration lines, and reports whether to read stdin too.
func commandLine(args []string) (lines []string, stdin bool) {
	complete := true // the last directive has a value, so "--" may start the next
	var line strings.Builder
	for i, a := range args {
		last := i == len(args)-1
		switch {
		case a == "-" && (i == 0 || last):
			stdin = true
		case complete && strings.HasPrefix(a, "--"):
			if line.Len() > 0 {
				lines = append(lines, line.String())
				line.Reset()
			}
			line.WriteString(a[2:] + " ")
			words, ok := splitArgs(a)
			complete = !ok || len(words) != 1
			if strings.EqualFold(a, "--save") && (last || strings.HasPrefix(args[i+1], "--")) {
				line.WriteString(`""`)
				complete = true
			}
		default:
			line.WriteString(quote(a) + " ")
			complete = true
		}
	}
	if line.Len() > 0 {
		lines = append(lines, line.String())
	}
	return lines, stdin
}

// splitArgs splits a line into words. The quoting is that of inline requests.
func splitArgs(line string) ([]string, bool) {
	if i := strings.IndexByte(line, 0); i >= 0 {
		line = line[:i] // a C string ends here
	}
	var p resp.Parser
	// The leading space keeps a line that starts with * or $ from being parsed as RESP.
	argv, _, err := p.Next([]byte(" "+line+"\n"), &resp.Limits{MaxInline: len(line) + 2})
	if err != nil {
		return nil, false
	}
	words := make([]string, len(argv))
	for i, a := range argv {
		words[i] = string(a)
	}
	return words, true
}

// loader is the state of one Load.
type loader struct {
	c     *Config
	seen  map[string]bool // directives set so far: lists grow from line to line
	depth int             // of nested includes
	read  func(path string) ([]byte, error)
	glob  func(pattern string) ([]string, error)
}

func newLoader(c *Config) *loader {
	return &loader{c: c, seen: make(map[string]bool), read: os.ReadFile, glob: filepath.Glob}
}

// files loads the file at path, or every file that matches path as a pattern, in order. A pattern
// without a match is no error.
func (l *loader) files(path string) error {
	if !filepath.IsAbs(path) && l.seen["dir"] {
		path = filepath.Join(l.c.Dir, path) // Redis has changed into that folder by now
	}
	paths := []string{path}
	if strings.ContainsAny(path, "*?[") {
		found, err := l.glob(path)
		if err == nil {
			paths = found
			sort.Strings(paths)
		}
	}
	for _, p := range paths {
		text, err := l.read(p)
		if err != nil {
			return &OpenError{p, err}
		}
		if err := l.text(p, string(text)); err != nil {
			return err
		}
	}
	return nil
}

// text loads the lines of a file or of the command line.
func (l *loader) text(source, text string) error {
	line := 0
	for s := range strings.SplitSeq(text, "\n") {
		line++
		s = strings.Trim(s, " \t\r\n")
		if s == "" || s[0] == '#' {
			continue
		}
		if err := l.line(source, line, s); err != nil {
			switch err.(type) {
			case *LineError, *OpenError: // from an included file
				return err
			}
			return &LineError{source, line, showable(s), err.Error()}
		}
	}
	return nil
}

func (l *loader) line(source string, no int, s string) error {
	words, ok := splitArgs(s)
	if !ok {
		return errQuotes
	}
	if len(words) == 0 {
		return nil
	}
	name, args := strings.ToLower(words[0]), words[1:]
	if d := index[name]; d != nil {
		return l.directive(d, args)
	}
	switch {
	case name == "include" && len(args) == 1:
		if l.depth++; l.depth > maxInclude {
			return fmt.Errorf("include is nested deeper than %d files", maxInclude)
		}
		defer func() { l.depth-- }()
		return l.files(args[0])
	case name == "rename-command" && len(args) == 2:
		l.c.Renames = append(l.c.Renames, Rename{args[0], args[1], source, no, showable(s)})
		return nil
	case name == "user" && len(args) >= 1:
		l.c.Users = append(l.c.Users, UserLine{args, source, no, showable(s)})
		return nil
	case name == "loadmodule" && len(args) >= 1:
		return l.loadModule(args)
	case name == "sentinel":
		return reason("sentinel directive while not in sentinel mode")
	}
	if len(args) == 1 {
		for _, o := range obsolete {
			if o == name {
				l.c.warnings = append(l.c.warnings,
					"WARNING: the directive '"+name+"' is obsolete and has no effect")
				return nil
			}
		}
	}
	return errBadLine
}

func (l *loader) directive(d *Directive, args []string) error {
	if d.Flags&Multi == 0 && len(args) != 1 {
		return errArity
	}
	if d.Flags&Multi != 0 && len(args) == 1 && args[0] != "" {
		words, ok := splitArgs(args[0])
		if !ok {
			return errQuotes
		}
		args = words
	}
	if d.Name == "dir" {
		dir, err := l.folder(args[0])
		if err != nil {
			return reason(logging.OSError(err))
		}
		args = []string{dir}
	}
	if err := d.value.parse(l.c, args, l.seen[d.Name]); err != nil {
		return err
	}
	l.seen[d.Name] = true
	return nil
}

// folder returns the value of a dir directive as an absolute path, relative to the one before. A
// folder that does not exist stops the load, so that the error can name the line.
func (l *loader) folder(dir string) (string, error) {
	if dir == "" {
		return "", &os.PathError{Op: "chdir", Path: dir, Err: os.ErrNotExist}
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(l.c.Dir, dir)
	}
	dir = filepath.Clean(dir)
	f, err := os.Open(dir + string(filepath.Separator))
	if err != nil {
		return "", err
	}
	return dir, f.Close()
}

// finish collects the warnings of a load, in table order, and looks for directives that do not go
// together.
func (l *loader) finish() error {
	for _, d := range table {
		if l.seen[d.Name] {
			l.c.given[d.Name] = true
			l.c.warnIgnored(d)
		}
	}
	if l.c.Cluster.Enabled && l.c.ReplicaOf != "" {
		return reason("replicaof directive not allowed in cluster mode")
	}
	return nil
}
