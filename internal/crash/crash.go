// Package crash reports faults of the server itself: panics, and errors for which the Go runtime
// ends the process.
//
//	panic on a goroutine of ours ──→ Guard    ──→ report, end of the process
//	panic where nothing has changed → Contain ──→ report, an error of that command
//	fatal error of the runtime ─────→ SetCrashOutput: the runtime's own words (follow.go)
//
// All of them reach the log file, also when standard error leads nowhere. A report says what ran,
// without any user's values, and where each goroutine was. A panic that is not contained ends the
// process, because the state may be half changed: what was acknowledged is on the disk, and nothing
// more may get there.
//
// A crash concerns the whole process, so there is one reporter, which Report sets.
package crash

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"time"
)

// ExitCode is the exit code of the process after a panic.
const ExitCode = 2

// Reporter says where reports go and what they contain. The zero value writes to standard error.
type Reporter struct {
	// Write takes a whole report. It must not use what the panic may have left locked.
	Write func(report []byte)
	// Facts returns lines about the process and what it was doing. Any goroutine may call it, and
	// what it reads may be in any state. If it panics, the report says so and goes on.
	Facts func() []string
}

var process struct {
	mu        sync.Mutex // held for ever by the goroutine that ends the process
	reporter  Reporter
	contained int
	exit      func(code int) // nil: os.Exit; for tests
}

// Report sets the process's reporter.
func Report(r Reporter) {
	process.mu.Lock()
	process.reporter = r
	process.mu.Unlock()
}

// Guard returns the function that every goroutine defers in its first line:
// defer crash.Guard("what it is")(). That function reports a panic and ends the process. From the
// call of Guard on, the goroutine's faults of mapped memory are panics too.
func Guard(what string) func() {
	debug.SetPanicOnFault(true)
	return func() {
		if v := recover(); v != nil {
			Fatal(what, v)
		}
	}
}

// Fatal reports a panic with the value v and ends the process. A deferred function must call it,
// while the panic's stack is still there.
func Fatal(what string, v any) {
	process.mu.Lock() // others that panic meanwhile wait here for the end
	write("Godwit crashed by a panic: "+what, v, debug.Stack())
	if process.exit != nil {
		process.exit(ExitCode)
		process.mu.Unlock()
		return
	}
	os.Exit(ExitCode)
}

// maxContained is how many contained panics are reported in full, because a client can repeat one.
const maxContained = 10

// Contain runs fn and reports whether it panicked. fn may change nothing but variables that the
// caller throws away after a panic. what says what fn does, without values.
func Contain(what string, fn func()) (panicked bool) {
	defer func() {
		if v := recover(); v != nil {
			panicked = true
			Contained(what, v, debug.Stack())
		}
	}()
	fn()
	return false
}

// Contained reports a panic that the caller has recovered, and that changed nothing.
func Contained(what string, v any, stack []byte) {
	process.mu.Lock()
	defer process.mu.Unlock()
	headline := "A command failed by a panic, nothing was changed, and the server goes on: " + what
	if process.contained++; process.contained <= maxContained {
		write(headline, v, stack)
	} else {
		hand([]byte(headline + "\n" + message(v) + "\n"))
	}
}

// write makes the report and hands it over. process.mu must be held.
func write(headline string, v any, stack []byte) {
	var b bytes.Buffer
	b.WriteString("\n\n=== GODWIT BUG REPORT START: Cut & paste starting from here ===\n")
	fmt.Fprintf(&b, "%s\n%s\n", headline, message(v))
	b.WriteString("\n------ WHAT RAN ------\n")
	for _, line := range facts(process.reporter.Facts) {
		b.WriteString(line + "\n")
	}
	fmt.Fprintf(&b, "\n------ STACK TRACE ------\n%s", stack)
	fmt.Fprintf(&b, "\n------ ALL GOROUTINES ------\n%s", goroutines())
	b.WriteString("\n=== GODWIT BUG REPORT END. Make sure to include from START to END. ===\n\n")
	hand(b.Bytes())
}

// hand gives a report to the reporter. process.mu must be held.
func hand(report []byte) {
	if w := process.reporter.Write; w != nil {
		w(report)
		return
	}
	_, _ = os.Stderr.Write(report) // an error cannot be reported
}

// message returns the panic's value as text. It cannot be a user's value: the tree panics with
// errors and constant strings only.
func message(v any) string {
	kind := fmt.Sprintf("%T", v)
	if _, ok := v.(runtime.Error); ok {
		kind = "runtime error"
	}
	text := fmt.Sprint(v)
	if a, ok := v.(interface{ Addr() uintptr }); ok {
		text += fmt.Sprintf(" (address %#x)", a.Addr())
	}
	return fmt.Sprintf("panic (%s) at %s: %s", kind, time.Now().Format(time.RFC3339), text)
}

// facts calls list, which may panic itself.
func facts(list func() []string) (lines []string) {
	if list == nil {
		return nil
	}
	defer func() {
		if v := recover(); v != nil {
			lines = append(lines, fmt.Sprint("(more cannot be told: ", v, ")"))
		}
	}()
	return list()
}

// maxStacks bounds the stacks of all goroutines in a report, in bytes.
const maxStacks = 256 << 10

func goroutines() string {
	b := make([]byte, maxStacks)
	b = b[:runtime.Stack(b, true)]
	if len(b) < maxStacks {
		return string(b)
	}
	return strings.ToValidUTF8(string(b), "") + "\n(more goroutines are left out)\n"
}
