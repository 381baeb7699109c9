package script

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"godwit/internal/lua"
	"godwit/internal/lua/compiler"
)

// This file holds the commands of a debugging session, whose texts redis-cli and its users know.

var debugHelp = strings.Split(`Lua debugger:
[h]elp               Show this text.
[s]tep, [n]ext       Run the current line and stop again.
[c]ontinue           Run to the next breakpoint.
[l]ist [line] [ctx]  Show the source around a line (0: the current one), with ctx lines (5)
                     before and after it.
[w]hole              Show all of the source.
[p]rint              Show the local variables.
[p]rint <var>        Show a variable: a local one of any caller, KEYS or ARGV.
[b]reak              Show the breakpoints.
[b]reak <line> ...   Add a breakpoint. -<line> removes one, 0 removes all.
[t]race              Show the callers.
[e]val <code>        Run Lua code. It does not see local variables.
[r]edis <cmd> ...    Run a command.
[m]axlen [len]       Show at most so many bytes of values and replies (0: all).
[a]bort              End the script. In a synchronous session, what it has written stays.

In scripts, redis.debug(...) shows values, and redis.breakpoint() stops before the next line.`,
	"\n")

// maxWords is how many words of a command that a script calls are shown.
const maxWords = 10

// prompt serves the client until the script is to go on. It reports whether the client is there.
func (d *debugger) prompt(t *lua.Thread) bool {
	for {
		argv, err := d.command()
		if err != nil {
			d.end(t, err)
		}
		if argv == nil || d.lost != nil {
			switch err := d.read(); err {
			case nil:
				continue
			case io.EOF:
				d.step, d.breaks = false, nil
				return false
			default:
				d.end(t, err)
			}
		}
		if d.execute(t, strings.ToLower(argv[0]), argv[1:]) {
			return true
		}
		if d.s.L.Ended() != nil {
			d.end(t, nil)
		}
		d.send()
	}
}

// execute runs a command and reports whether the script goes on.
func (d *debugger) execute(t *lua.Thread, name string, args []string) (resume bool) {
	switch name {
	case "s", "step", "n", "next":
		d.step = true
		return true
	case "c", "continue":
		return true
	case "a", "abort":
		t.Raise(lua.TableValue(errorTable(t, "ERR script aborted for user request")))
	case "h", "help":
		for _, l := range debugHelp {
			d.log(l)
		}
	case "t", "trace":
		d.trace(t)
	case "m", "maxlen":
		d.setMaxLen(args)
	case "b", "break":
		d.setBreaks(args)
	case "e", "eval":
		d.eval(t, strings.Join(args, " "))
	case "p", "print":
		d.print(t, args)
	case "w", "whole":
		d.list(1, 1_000_000)
	case "l", "list":
		around := aroundLines
		if len(args) > 1 {
			around = atoi(args[1])
		}
		d.list(atoi(strings.Join(args[:min(1, len(args))], "")), around)
	case "r", "redis":
		if len(args) > 0 {
			d.redis(t, args)
			break
		}
		fallthrough
	default:
		d.log("<error> Unknown Redis Lua debugger command or wrong number of arguments.")
	}
	return false
}

// atoi reads the number that a word begins with, as C does.
func atoi(s string) int {
	end := 0
	for end < len(s) && (s[end]-'0' < 10 || end == 0 && s[0] == '-') {
		end++
	}
	n, _ := strconv.Atoi(s[:end])
	return n
}

func (d *debugger) setMaxLen(args []string) {
	if len(args) == 1 {
		d.maxLen, d.trimmed = atoi(args[0]), true
		if d.maxLen != 0 && d.maxLen <= leastMaxLen {
			d.maxLen = leastMaxLen
		}
	}
	if d.maxLen == 0 {
		d.log("<value> replies are unlimited.")
		return
	}
	d.log(fmt.Sprintf("<value> replies are truncated at %d bytes.", d.maxLen))
}

func (d *debugger) setBreaks(args []string) {
	if len(args) == 0 {
		d.listBreaks()
		return
	}
	for _, a := range args {
		line, err := strconv.Atoi(a)
		switch {
		case err != nil, strconv.Itoa(line) != a: // +1 is none, neither is 01
			d.log("Invalid argument:'" + a + "'")
		case line == 0:
			d.breaks = nil
			d.log("All breakpoints removed.")
		case line > 0:
			d.addBreak(line)
		default:
			d.removeBreak(-line)
		}
	}
}

func (d *debugger) listBreaks() {
	if len(d.breaks) == 0 {
		d.log("No breakpoints set. Use 'b <line>' to add one.")
		return
	}
	d.log(fmt.Sprintf("%d breakpoints set:", len(d.breaks)))
	for _, l := range d.breaks {
		d.show(l)
	}
}

func (d *debugger) addBreak(line int) {
	switch {
	case len(d.breaks) == maxBreaks:
		d.log("Too many breakpoints set.")
	case line > len(d.source) || slices.Contains(d.breaks, line):
		d.log("Wrong line number.")
	default:
		d.breaks = append(d.breaks, line)
		d.list(line, 1)
	}
}

func (d *debugger) removeBreak(line int) {
	i := slices.Index(d.breaks, line)
	if i < 0 {
		d.log("No breakpoint in the specified line.")
		return
	}
	d.breaks = slices.Delete(d.breaks, i, i+1)
	d.log("Breakpoint removed.")
}

// trace shows the functions of the script that run, with their lines.
func (d *debugger) trace(t *lua.Thread) {
	for level := range t.Levels() {
		source, line, ok := t.Position(level)
		if !ok || !isScript(source) {
			continue
		}
		which, name := "From", t.FunctionName(level)
		if level == 0 {
			which = "In"
		}
		if name == "" {
			name = "top level"
		}
		d.log(which + " " + name + ":")
		d.show(line)
	}
}

// print shows a variable, or all local ones of the running function.
func (d *debugger) print(t *lua.Thread, args []string) {
	if len(args) != 1 {
		name, v, ok := t.Local(0, 1)
		if !ok {
			d.log("No local variables in the current context.")
		}
		for i := 2; ok; i++ {
			d.value("<value> "+name+" = ", v)
			name, v, ok = t.Local(0, i)
		}
		return
	}
	for level := range t.Levels() {
		name, v, ok := t.Local(level, 1)
		for i := 2; ok; i++ {
			if name == args[0] {
				d.value("<value> ", v)
				return
			}
			name, v, ok = t.Local(level, i)
		}
	}
	if args[0] != "KEYS" && args[0] != "ARGV" {
		d.log("No such variable.")
		return
	}
	d.value("<value> ", d.s.L.Globals.GetString(args[0]))
}

// value shows a value.
func (d *debugger) value(prefix string, v lua.Value) {
	var b strings.Builder
	b.WriteString(prefix)
	describe(&b, v, 0)
	d.logTrimmed(b.String())
}

// eval runs code: as an expression, or else as it is.
func (d *debugger) eval(t *lua.Thread, code string) {
	f, err := d.s.compile("return "+code, "ldb_eval", d.s.L.Globals, compiler.Options{})
	if err != nil {
		f, err = d.s.compile(code, "ldb_eval", d.s.L.Globals, compiler.Options{})
	}
	if err != nil {
		d.log("<error> " + err.Error())
		return
	}
	d.resumed = time.Now()
	v, ok := t.Evaluate(lua.ClosureValue(f))
	if !ok {
		msg, _ := d.s.errorText(v)
		d.log("<error> " + strings.TrimPrefix(msg, "ERR "))
		return
	}
	d.value("<retval> ", v)
}

// redis runs a command, which shows itself and its reply.
func (d *debugger) redis(t *lua.Thread, args []string) {
	values := make([]lua.Value, len(args))
	for i, a := range args {
		values[i] = lua.String(a)
	}
	d.step = true
	_, _ = t.Evaluate(d.s.consts["redis.pcall"], values...)
	d.step = false
}

// calls shows a command that the script calls, if it is run line by line: its first words.
func (d *debugger) calls(argv [][]byte) {
	if !d.step {
		return
	}
	var b strings.Builder
	b.WriteString("<redis>")
	for i, a := range argv {
		if i == maxWords {
			fmt.Fprintf(&b, " ... (%d more)", len(argv)-i-1) // as Redis counts
			break
		}
		b.WriteString(" " + string(a[:min(len(a), maxDescribing)]))
	}
	d.log(b.String())
}

// replies shows a command's reply.
func (d *debugger) replies(reply []byte) {
	if !d.step {
		return
	}
	if reply[0] == '-' {
		d.fails(strings.TrimRight(string(reply), "\r\n"))
	}
	var b strings.Builder
	b.WriteString("<reply> ")
	describeReply(&b, reply)
	d.logTrimmed(b.String())
}

// fails shows an error that a function of the table redis makes. One of a command begins with '-'.
func (d *debugger) fails(msg string) {
	if d != nil && d.step {
		d.log("<error> " + msg[:min(len(msg), maxDescribing)])
	}
}
