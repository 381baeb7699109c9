package diff

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"godwit/internal/resp"
)

// Cmd is one step of a stream.
type Cmd struct {
	Client int           // which connection sends it; connections stay open through a round
	Args   [][]byte      // the command, or, when Raw, the single blob of bytes to send
	Inline bool          // sent as one quoted line instead of a multibulk
	Raw    bool          // Args[0] goes out as is on a connection of its own, which is then closed
	Sleep  time.Duration // nothing is sent for so long; there are no Args
	Step   bool          // sent alone, see step.go
	Tell   bool          // sent alone, and heard by everybody, see tell.go
	Close  bool          // the connection is closed; there are no Args
	Disk   Disk          // the data goes through files, see disk.go; there are no Args
}

// Name returns the command's name in lower case, "" for raw bytes.
func (c Cmd) Name() string {
	if c.Raw || len(c.Args) == 0 {
		return ""
	}
	return strings.ToLower(string(c.Args[0]))
}

// FullName returns the name with that of the subcommand, as rules have it: "client|list". Of a
// command without subcommands the second part is its first argument.
func (c Cmd) FullName() string {
	name := c.Name()
	if len(c.Args) > 1 && name != "" {
		name += "|" + strings.ToLower(string(c.Args[1]))
	}
	return name
}

// has reports whether one of the arguments is the word, in any case.
func (c Cmd) has(word string) bool {
	return slices.ContainsFunc(c.Args, func(a []byte) bool {
		return strings.EqualFold(string(a), word)
	})
}

// sorts reports whether the command is a SORT, or a script that may call it.
func (c Cmd) sorts() bool {
	if isSort(c.Name()) {
		return true
	}
	script := slices.Contains([]string{"eval", "eval_ro", "script", "function"}, c.Name())
	return script && slices.ContainsFunc(c.Args, func(a []byte) bool {
		return bytes.Contains(bytes.ToLower(a), []byte("sort"))
	})
}

// hasNUL reports whether an argument holds a NUL.
func (c Cmd) hasNUL() bool {
	return slices.ContainsFunc(c.Args, func(a []byte) bool { return bytes.IndexByte(a, 0) >= 0 })
}

// String returns the line that stands for the command in a case file.
func (c Cmd) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "c%d", c.Client)
	if c.Step {
		b.WriteString(" step")
	}
	if c.Tell {
		b.WriteString(" tell")
	}
	switch {
	case c.Close:
		b.WriteString(" close")
	case c.Disk != "":
		fmt.Fprintf(&b, " disk %s", c.Disk)
	case c.Sleep > 0:
		fmt.Fprintf(&b, " sleep %d", c.Sleep.Milliseconds())
	case c.Raw:
		b.WriteString(" raw")
	case c.Inline:
		b.WriteString(" inline")
	}
	for _, a := range c.Args {
		b.WriteByte(' ')
		b.WriteString(Quote(a))
	}
	return b.String()
}

// Append appends the command's bytes on the wire to dst.
func (c Cmd) Append(dst []byte) []byte {
	if c.Raw {
		return append(dst, c.Args[0]...)
	}
	if c.Inline {
		for i, a := range c.Args {
			if i > 0 {
				dst = append(dst, ' ')
			}
			dst = append(dst, quoteAlways(a)...)
		}
		return append(dst, "\r\n"...)
	}
	return resp.AppendCommand(dst, c.Args...)
}

// Quote spells an argument as redis-cli would accept it: bare if that is unambiguous, otherwise in
// double quotes with \xHH for what does not print.
func Quote(a []byte) string {
	bare := len(a) > 0
	for _, c := range a {
		if c <= ' ' || c >= 0x7f || strings.IndexByte(`"'\#`, c) >= 0 {
			bare = false
			break
		}
	}
	if bare {
		return string(a)
	}
	return quoteAlways(a)
}

func quoteAlways(a []byte) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, c := range a {
		switch {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c == '\n':
			b.WriteString(`\n`)
		case c == '\r':
			b.WriteString(`\r`)
		case c == '\t':
			b.WriteString(`\t`)
		case c < ' ' || c >= 0x7f:
			fmt.Fprintf(&b, `\x%02x`, c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}

var errQuote = errors.New("unbalanced or unknown quoting")

// Unquote splits a line written by Quote into its arguments.
func Unquote(line string) ([][]byte, error) {
	var out [][]byte
	for i := 0; i < len(line); {
		if line[i] == ' ' || line[i] == '\t' {
			i++
			continue
		}
		var arg []byte
		if line[i] != '"' {
			end := strings.IndexAny(line[i:], " \t")
			if end < 0 {
				end = len(line) - i
			}
			out = append(out, []byte(line[i:i+end]))
			i += end
			continue
		}
		arg, n, err := unquoteOne(line[i:])
		if err != nil {
			return nil, err
		}
		out = append(out, arg)
		i += n
	}
	return out, nil
}

// unquoteOne reads one double-quoted argument and returns its length in s.
func unquoteOne(s string) ([]byte, int, error) {
	arg := []byte{}
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '"':
			return arg, i + 1, nil
		case '\\':
			i++
			if i >= len(s) {
				return nil, 0, errQuote
			}
			switch s[i] {
			case 'n':
				arg = append(arg, '\n')
			case 'r':
				arg = append(arg, '\r')
			case 't':
				arg = append(arg, '\t')
			case 'x':
				if i+2 >= len(s) {
					return nil, 0, errQuote
				}
				v, err := strconv.ParseUint(s[i+1:i+3], 16, 8)
				if err != nil {
					return nil, 0, errQuote
				}
				arg = append(arg, byte(v))
				i += 2
			default:
				arg = append(arg, s[i])
			}
		default:
			arg = append(arg, s[i])
		}
	}
	return nil, 0, errQuote
}

// ReadCase reads a stream from a case file with one command a line. A line has the connection
// ("cN"), then "step", "tell", "inline" or "raw" where it applies, then the arguments. Other lines
// are "sleep" with milliseconds, "disk" with the way through files, and "close". Empty lines and
// lines that start with '#' are skipped.
func ReadCase(path string) ([]Cmd, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var out []Cmd
	sc := bufio.NewScanner(f)
	sc.Buffer(nil, 64<<20)
	for n := 1; sc.Scan(); n++ {
		line := strings.TrimSpace(sc.Text())
		if line == "" || line[0] == '#' {
			continue
		}
		c, err := parseCase(line)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", path, n, err)
		}
		out = append(out, c)
	}
	return out, sc.Err()
}

func parseCase(line string) (Cmd, error) {
	args, err := Unquote(line)
	if err != nil {
		return Cmd{}, err
	}
	var c Cmd
	if len(args[0]) < 2 || args[0][0] != 'c' {
		return c, fmt.Errorf("line does not start with the connection (c0, c1 …)")
	}
	if c.Client, err = strconv.Atoi(string(args[0][1:])); err != nil {
		return c, err
	}
	args = args[1:]
	if len(args) > 0 && (string(args[0]) == "step" || string(args[0]) == "tell") {
		c.Step, c.Tell = string(args[0]) == "step", string(args[0]) == "tell"
		args = args[1:]
	}
	if len(args) == 1 && string(args[0]) == "close" {
		c.Close = true
		return c, nil
	}
	// Modes are bare lower-case words, which no generated command name equals.
	if len(args) > 0 && (string(args[0]) == "inline" || string(args[0]) == "raw") {
		c.Inline, c.Raw = string(args[0]) == "inline", string(args[0]) == "raw"
		args = args[1:]
	}
	if len(args) == 2 && string(args[0]) == "disk" {
		c.Disk = Disk(args[1])
		return c, c.Disk.check()
	}
	if len(args) == 2 && string(args[0]) == "sleep" {
		ms, err := strconv.Atoi(string(args[1]))
		c.Sleep = time.Duration(ms) * time.Millisecond
		return c, err
	}
	if len(args) == 0 {
		return c, fmt.Errorf("no command")
	}
	c.Args = args
	return c, nil
}

// WriteCase writes a stream to a file under a heading of comment lines.
func WriteCase(path, heading string, stream []Cmd) error {
	var b strings.Builder
	for l := range strings.SplitSeq(strings.TrimRight(heading, "\n"), "\n") {
		b.WriteString(strings.TrimRight("# "+l, " ") + "\n")
	}
	for _, c := range stream {
		b.WriteString(c.String() + "\n")
	}
	return os.WriteFile(path, []byte(b.String()), 0o644)
}
