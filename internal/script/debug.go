package script

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"weak"

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
	// maxPending is how much a client may send ahead, in bytes.
	maxPending = 1 << 20
	// maxThreads is of how many coroutines it is known which lines they run. They take memory that
	// does not count as the script's.
	maxThreads = 1000
	// askLimit is how often it is looked, without a limit, whether the client is there.
	askLimit = 5 * time.Second
	// maxShown is how many bytes are shown at a time. What a script shows beyond that before it
	// stops, or a command, is left out.
	maxShown = 16 << 20
)

// debugger is a session.
type debugger struct {
	s      *State
	conn   io.ReadWriter
	in     []byte // read and not yet used
	source []string
	out    []string
	shown  int // bytes of out that count for maxShown

	line    int // that runs
	breaks  []int
	step    bool          // stop at the next line
	called  bool          // redis.breakpoint has been called
	resumed time.Time     // when the script was last told to go on
	limit   time.Duration // for how long it may run then; 0: no limit
	late    bool          // it has
	asked   time.Time     // when it was last looked whether the client is there
	lost    error         // why the client cannot be written to; one of DebugOptions.Conn
	maxLen  int           // 0: no limit
	trimmed bool          // the client knows how to change that
	last    map[weak.Pointer[lua.Thread]][]place
	ended   bool
}

// place is the line that runs in a frame, and the instruction at which it was seen.
type place struct{ pc, line int }

// DebugOptions say how to debug a script.
type DebugOptions struct {
	// Conn is the connection with the client. Read returns 0 without an error if nothing has come
	// for some time. Both methods return io.EOF if the client has gone or does not read: the script
	// goes on without it, for Limit. Any other error ends the script, as one of Caller.Interrupt
	// does.
	Conn io.ReadWriter
	// Limit is for how long the script may run before it stops by itself. 0 sets no limit.
	Limit time.Duration
}

// ErrClientLost says that the client of a session cannot be written to. It must get no reply: that
// would follow half a line.
var ErrClientLost = errors.New("the client of a debugging session does not read or has gone")

// Debug compiles a script for a session and calls run, in which the script can be run under the
// eyes of its client. The text of an error is for the client, but for that of ErrClientLost.
func (h *Host) Debug(body []byte, o DebugOptions, run func(sc *Script)) error {
	d := &debugger{s: h.State, conn: o.Conn, limit: o.Limit, step: true, maxLen: defaultMaxLen,
		last: map[weak.Pointer[lua.Thread]][]place{}, resumed: time.Now()}
	if text := strings.TrimRight(string(body), "\r\n"); text != "" {
		d.source = strings.Split(text, "\n")
	}
	h.debug, h.L.Line = d, d.hook
	defer func() {
		h.debug, h.L.Line = nil, nil
		d.finish()
	}()
	sc, err := h.compileScript(string(body))
	if err != nil {
		return err
	}
	run(sc)
	if d.lost != nil {
		return ErrClientLost
	}
	return nil
}

// finish ends the session, before the script's reply is sent.
func (d *debugger) finish() {
	if d == nil || d.ended {
		return
	}
	d.ended = true
	d.clip()
	d.log("<endsession>")
	d.send()
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
	d.clip()
	d.log(fmt.Sprintf("* Stopped at %d, stop reason = %s", line, reason))
	d.show(line)
	d.send()
	if !d.prompt(t) && late {
		d.end(t, errDebugGone)
	}
	d.resumed = time.Now()
}

// end ends the script: no pcall catches it.
func (d *debugger) end(t *lua.Thread, err error) { t.Raise(lua.String(d.s.L.End(err).Error())) }

// begins reports whether a line begins, as Lua sees it: a function begins, a jump has led back, or
// the line is not the one before.
func (d *debugger) begins(t *lua.Thread, line int) bool {
	depth, pc := t.Place()
	key := weak.Make(t) // the session keeps no coroutine
	seen := d.last[key]
	if seen == nil && len(d.last) == maxThreads {
		clear(d.last) // a line that one of them has not finished begins again
	}
	for len(seen) <= depth {
		seen = append(seen, place{-1, -1})
	}
	seen = seen[:depth+1]
	last := seen[depth]
	seen[depth] = place{pc, line}
	d.last[key] = seen
	return pc <= 1 || pc <= last.pc || line != last.line
}

// overtime notes when the script has run for too long since it was told to go on. It then stops at
// the next line. Where no such line comes, because there is no limit or the code is that of the
// command eval or what a script loads, it ends when the client has gone.
func (d *debugger) overtime(now time.Time) error {
	d.late = d.limit > 0 && now.Sub(d.resumed) >= d.limit
	if min(now.Sub(d.resumed), now.Sub(d.asked)) < cmp.Or(d.limit, askLimit) {
		return nil
	}
	source, _, _ := d.s.L.Current().Position(0)
	if d.late && isScript(source) {
		return nil
	}
	d.asked = now
	return d.gone(d.read())
}

// gone returns the error that ends a script whose client cannot be read from, nil if it can.
func (d *debugger) gone(err error) error {
	if err == io.EOF {
		return errDebugGone
	}
	return err
}

// read reads what the client has sent meanwhile. Its error is one of DebugOptions.Conn.
func (d *debugger) read() error {
	if d.lost != nil || len(d.in) > maxPending {
		return cmp.Or(d.lost, io.EOF)
	}
	buf := make([]byte, 1024)
	n, err := d.conn.Read(buf)
	if d.in = append(d.in, buf[:n]...); n > 0 {
		return nil // the next one says more
	}
	return err
}

// isScript reports whether lines of a chunk with this name are shown.
func isScript(source string) bool { return strings.Contains(source, "user_script") }

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

// log adds a line to what is sent next, if that is not too much.
func (d *debugger) log(line string) {
	const overhead = 16 // of a line
	if d.shown += len(line) + overhead; d.shown <= maxShown {
		d.out = append(d.out, strings.NewReplacer("\r", " ", "\n", " ").Replace(line))
	}
}

// clip says that lines have been left out, if so, and lets more come.
func (d *debugger) clip() {
	if d.shown > maxShown {
		d.out = append(d.out, "<hint> What follows was too long and is not shown.")
	}
	d.shown = 0
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
	d.clip()
	b := fmt.Appendf(nil, "*%d\r\n", len(d.out))
	for _, l := range d.out {
		b = append(append(append(b, '+'), l...), "\r\n"...)
	}
	d.out = d.out[:0]
	if d.lost == nil {
		_, d.lost = d.conn.Write(b) // it has waited for the client, which does not read or is gone
	}
}

// show lists a line of the source.
func (d *debugger) show(line int) {
	text := "<out of range source code line>"
	if line >= 1 && line <= len(d.source) {
		text = d.source[line-1]
	}
	marks := []byte("   ")
	if line == d.line {
		marks = []byte("-> ")
	}
	if slices.Contains(d.breaks, line) {
		marks[2] = '#'
	}
	d.log(fmt.Sprintf("%s%-3d %s", marks, line, text))
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
		n := 0
		if len(line) > 0 && line[0] == mark {
			n = atoi(string(line[1:]))
		}
		if n < 1 || n > maxDebugArgs {
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
		if string(rest[size:size+2]) != "\r\n" {
			return nil, errDebugProtocol
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
	errDebugProtocol = debugError("ERR protocol error")
	errDebugGone     = debugError("ERR timeout during Lua debugging with client closing connection")
)
