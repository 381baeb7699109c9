package script

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"godwit/internal/lua"
)

// A session of SCRIPT DEBUG runs one script of EVAL under the eyes of its client. The script is
// compiled with an instruction at the beginning of each line (lua.Hooks.Line). Where it stops, the
// client sends commands as arrays of bulk strings, and gets arrays of status replies:
//
//	Godwit   * Stopped at 2, stop reason = step over | -> 2   local t = {}
//	client   print t
//	Godwit   <value> {}
//	client   continue
//	Godwit   <endsession>            and then the script's reply
//
// While the client thinks, the server waits. So a session runs in a process of its own, or the
// client has asked for a synchronous one.

const (
	// defaultMaxLen is how many bytes of a value or a reply are shown.
	defaultMaxLen = 256
	leastMaxLen   = 60
	// aroundLines is how many lines before and after a line are listed.
	aroundLines = 5
	// maxDebugArgs bounds the words of a command, and their length in bytes.
	maxDebugArgs = 1024
	maxBreaks    = 64
	// askLimit is how often it is looked, without a limit, whether the client is there.
	askLimit = 5 * time.Second
)

// debugger is a session.
type debugger struct {
	s      *State
	conn   io.ReadWriter
	in     []byte // read and not yet used
	source []string
	out    []string

	line    int // that runs
	breaks  []int
	step    bool          // stop at the next line
	called  bool          // redis.breakpoint has been called
	resumed time.Time     // when the script was last told to go on
	limit   time.Duration // for how long it may run then; 0: no limit
	late    bool          // it has
	asked   time.Time     // when it was last looked whether the client is there
	maxLen  int           // 0: no limit
	trimmed bool          // the client knows how to change that
	last    map[*lua.Thread][]place
}

// place is the line that runs in a frame, and the instruction at which it was seen.
type place struct{ pc, line int }

// DebugOptions say how to debug a script.
type DebugOptions struct {
	Conn io.ReadWriter
	// Limit is for how long the script may run before it stops by itself. 0 sets no limit.
	Limit time.Duration
}

// Debug compiles a script for a session and calls run, in which the script can be run under the
// eyes of its client. The text of an error is for the client.
func (h *Host) Debug(body []byte, o DebugOptions, run func(sc *Script)) error {
	d := &debugger{s: h.State, conn: o.Conn, limit: o.Limit, step: true, maxLen: defaultMaxLen,
		source: strings.Split(strings.TrimRight(string(body), "\r\n"), "\n"),
		last:   map[*lua.Thread][]place{}, resumed: time.Now()}
	h.debug, h.L.Line = d, d.hook
	defer func() {
		h.debug, h.L.Line = nil, nil
		d.log("<endsession>")
		d.send()
	}()
	sc, err := h.compileScript(string(body))
	if err != nil {
		return err
	}
	run(sc)
	return nil
}

// hook is called when a line begins, and when a jump has led into one.
func (d *debugger) hook(t *lua.Thread, line int) {
	if source, _, _ := t.Position(0); !isScript(source) {
		return
	}
	if !d.begins(t, line) {
		return
	}
	d.line = line
	stops := slices.Contains(d.breaks, line)
	reason := "step over"
	switch {
	case d.called:
		reason = "redis.breakpoint() called"
	case stops:
		reason = "break point"
	case d.late:
		reason = "timeout reached, infinite loop?"
	case !d.step:
		return
	}
	late := d.late
	d.step, d.called, d.late = false, false, false
	d.log(fmt.Sprintf("* Stopped at %d, stop reason = %s", line, reason))
	d.show(line)
	d.send()
	if !d.prompt(t) && late {
		t.Raise(lua.String(d.s.L.End(errDebugGone).Error())) // no pcall catches it
	}
	d.resumed = time.Now()
}

// begins reports whether a line begins, as Lua sees it: a function begins, a jump has led back, or
// the line is not the one before.
func (d *debugger) begins(t *lua.Thread, line int) bool {
	depth, pc := t.Place()
	seen := d.last[t]
	for len(seen) <= depth {
		seen = append(seen, place{-1, -1})
	}
	seen = seen[:depth+1]
	last := seen[depth]
	seen[depth] = place{pc, line}
	d.last[t] = seen
	return pc == 0 || pc <= last.pc || line != last.line
}

// overtime notes when the script has run for too long since it was told to go on. It then stops at
// the next line. Code that has no such lines, that of the command eval and what a script loads,
// ends when the client has gone.
func (d *debugger) overtime(now time.Time) error {
	d.late = d.limit > 0 && now.Sub(d.resumed) >= d.limit
	source, _, _ := d.s.L.Current().Position(0)
	if now.Sub(later(d.resumed, d.asked)) < cmp.Or(d.limit, askLimit) || isScript(source) {
		return nil
	}
	d.asked = now
	if d.read() {
		return nil
	}
	return errDebugGone
}

// read reads what the client has sent meanwhile. It reports whether the client is there.
func (d *debugger) read() bool {
	buf := make([]byte, 1024)
	n, err := d.conn.Read(buf)
	d.in = append(d.in, buf[:n]...)
	return (n > 0 || err == nil) && len(d.in) <= 1<<20
}

// isScript reports whether lines of a chunk with this name are shown.
func isScript(source string) bool { return strings.Contains(source, "user_script") }

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// breakpoint implements redis.breakpoint.
func (s *State) breakpoint(t *lua.Thread) int {
	if s.debug != nil {
		s.debug.called = true
	}
	return push(t, lua.Bool(s.debug != nil))
}

// debugLog implements redis.debug.
func (s *State) debugLog(t *lua.Thread) int {
	d := s.debug
	if d == nil {
		return 0
	}
	var b strings.Builder
	fmt.Fprintf(&b, "<debug> line %d: ", d.line)
	for i, v := range t.Args(1) {
		if i > 0 {
			b.WriteString(", ")
		}
		describe(&b, v, 0)
	}
	d.log(b.String())
	return 0
}

// log adds a line to what is sent next.
func (d *debugger) log(line string) {
	d.out = append(d.out, strings.NewReplacer("\r", " ", "\n", " ").Replace(line))
}

// logTrimmed adds a line that may be long.
func (d *debugger) logTrimmed(line string) {
	if d.maxLen == 0 || len(line) <= d.maxLen {
		d.log(line)
		return
	}
	d.log(line[:d.maxLen] + " ...")
	if !d.trimmed {
		d.trimmed = true
		d.log("<hint> The above reply was trimmed. Use 'maxlen 0' to disable trimming.")
	}
}

// send sends the lines.
func (d *debugger) send() {
	b := fmt.Appendf(nil, "*%d\r\n", len(d.out))
	for _, l := range d.out {
		b = append(append(append(b, '+'), l...), "\r\n"...)
	}
	d.out = d.out[:0]
	_, _ = d.conn.Write(b) // that the client is gone shows when it is read from
}

// show lists a line of the source.
func (d *debugger) show(line int) {
	if line < 1 || line > len(d.source) {
		return
	}
	marks := []byte("   ")
	if line == d.line {
		marks = []byte("-> ")
	}
	if slices.Contains(d.breaks, line) {
		marks[2] = '#'
	}
	d.log(fmt.Sprintf("%s%-3d %s", marks, line, d.source[line-1]))
}

// list lists the lines around a line.
func (d *debugger) list(line, around int) {
	if line < 1 {
		line = d.line
	}
	for i := range d.source {
		if i+1 >= line-around && i+1 <= line+around {
			d.show(i + 1)
		}
	}
}

// command reads the client's next command. It returns nil while there is none yet.
func (d *debugger) command() (argv []string, err error) {
	rest := d.in
	number := func(mark byte) int {
		line, after, ok := bytes.Cut(rest, []byte("\r\n"))
		if !ok {
			return -1
		}
		n, bad := strconv.Atoi(string(line[min(1, len(line)):]))
		if bad != nil || line[0] != mark || n < 1 || n > maxDebugArgs {
			err = errDebugProtocol
		}
		rest = after
		return n
	}
	if len(rest) > 0 && rest[0] != '*' {
		return nil, errDebugProtocol
	}
	n := number('*')
	for range n {
		size := number('$')
		switch {
		case err != nil:
			return nil, err
		case size < 0 || len(rest) < size+2:
			return nil, nil
		}
		argv = append(argv, string(rest[:size]))
		rest = rest[size+2:]
	}
	if n > 0 {
		d.in = rest
	}
	return argv, err
}

type debugError string

func (e debugError) Error() string { return string(e) }

const (
	errDebugProtocol = debugError("protocol error")
	errDebugGone     = debugError("ERR timeout during Lua debugging with client closing connection")
)
