// Package propagationtest has a target of propagation for tests.
package propagationtest

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"godwit/internal/propagation"
	"godwit/internal/resp"
)

// Recorder is a target that keeps what it is given.
type Recorder struct {
	buf    propagation.Buffer
	starts []int // of the units
}

// Attach makes a Recorder the target Log of a feed.
func Attach(f *propagation.Feed) *Recorder { return AttachTo(f, propagation.Log) }

// AttachTo makes a Recorder a target of a feed.
func AttachTo(f *propagation.Feed, to propagation.Targets) *Recorder {
	r := &Recorder{}
	f.Attach(to, r)
	return r
}

// BeginUnit implements propagation.Target.
func (r *Recorder) BeginUnit(int) *propagation.Buffer {
	r.starts = append(r.starts, len(r.buf.B))
	r.buf.DB = propagation.NoDB // each unit says which database it is of
	return &r.buf
}

// EndBatch implements propagation.Target.
func (r *Recorder) EndBatch() {}

// Reset forgets what was recorded.
func (r *Recorder) Reset() { r.starts, r.buf.B = nil, nil }

// Lines returns a line for each command: "0 SET key value", 0 being the database.
func (r *Recorder) Lines() (lines []string) {
	for _, u := range r.units() {
		lines = append(lines, u...)
	}
	return lines
}

// Units returns a line for each unit, with " | " between its commands.
func (r *Recorder) Units() (lines []string) {
	for _, u := range r.units() {
		lines = append(lines, strings.Join(u, " | "))
	}
	return lines
}

func (r *Recorder) units() (units [][]string) {
	for i, from := range r.starts {
		to := len(r.buf.B)
		if i+1 < len(r.starts) {
			to = r.starts[i+1]
		}
		units = append(units, decode(r.buf.B[from:to]))
	}
	return units
}

// decode returns the commands of a unit, each with its database. It panics if the text is no unit.
func decode(text []byte) (lines []string) {
	var p resp.Parser
	db, in, multi := propagation.NoDB, false, false
	for len(text) > 0 {
		argv, n, err := p.Next(text, &resp.Limits{MaxBulk: 1 << 30, Authenticated: true})
		if err != nil || n == 0 {
			panic(fmt.Sprintf("propagated %q: %v", text, err))
		}
		text = text[n:]
		switch word := string(argv[0]); {
		case word == "SELECT" && len(argv) == 2:
			db, _ = strconv.Atoi(string(argv[1]))
		case word == "MULTI" && len(argv) == 1 && !multi && lines == nil:
			in, multi = true, true
		case word == "EXEC" && len(argv) == 1 && in && len(lines) > 1 && len(text) == 0:
			in = false
		default:
			lines = append(lines, fmt.Sprintf("%d %s", db, bytes.Join(argv, []byte(" "))))
		}
	}
	if in || len(lines) != 1 && !multi {
		panic(fmt.Sprintf("propagated %q, which is no unit", lines))
	}
	return lines
}
