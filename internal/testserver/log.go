package testserver

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"time"
)

// Output returns everything that the process has written.
func (s *Server) Output() string {
	b, err := os.ReadFile(s.Log)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

// Tail returns the end of the log. After a panic these are the stacks that are in Godwit's code.
func (s *Server) Tail() string {
	log := s.Output()
	for _, begin := range []string{"panic: ", "SIGQUIT: "} {
		if _, trace, ok := strings.Cut(log, begin); ok {
			return begin + ownStacks(trace)
		}
	}
	return log[max(0, len(log)-6000):]
}

// ownStacks shortens a trace to the stacks that are in Godwit's code.
func ownStacks(trace string) string {
	out, stacks, _ := strings.Cut(trace, "\n\n")
	for stack := range strings.SplitSeq(stacks, "\n\n") {
		if strings.Contains(stack, "godwit/") {
			out += "\n\n" + stack[:min(len(stack), 4000)]
		}
	}
	return out[:min(len(out), 30000)]
}

var sickness = regexp.MustCompile(
	`(?s)(WARNING: DATA RACE|panic: |fatal error: |goroutine \d+ \[running\]).*`)

// Sick returns the log from the first sign of a crash or a data race, "" without one.
func (s *Server) Sick() string {
	bad := sickness.FindString(s.Output())
	return bad[:min(len(bad), 8000)]
}

// WaitLog waits until the log contains the text. The end of the process, or Patience, without it is
// an error.
func (s *Server) WaitLog(text string) error {
	for end := time.Now().Add(Patience); time.Now().Before(end); {
		over := s.Ended() // before the log is read
		if strings.Contains(s.Output(), text) {
			return nil
		}
		if over {
			break
		}
		time.Sleep(time.Millisecond)
	}
	return fmt.Errorf("%s does not say %q:\n%s", s.cmd, text, s.Tail())
}
