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

// Recorder is a target that keeps what it is given as text: "0 SET key value", 0 being the database.
type Recorder struct {
	Lines []string // one for each command
	Units []string // one for each unit, with " | " between its commands

	buf propagation.Buffer
}

// Attach makes a Recorder the target Log of a feed.
func Attach(f *propagation.Feed) *Recorder {
	r := &Recorder{}
	f.Attach(propagation.Log, r)
	return r
}

// BeginUnit implements propagation.Target.
func (r *Recorder) BeginUnit() *propagation.Buffer {
	r.buf = propagation.Buffer{DB: propagation.NoDB}
	return &r.buf
}

// EndUnit implements propagation.Target.
func (r *Recorder) EndUnit(int) {
	lines := Decode(r.buf.B)
	r.Lines = append(r.Lines, lines...)
	r.Units = append(r.Units, strings.Join(lines, " | "))
}

// EndBatch implements propagation.Target.
func (r *Recorder) EndBatch() {}

// Decode returns the commands of a unit, each with its database. It panics if the text is no unit.
func Decode(text []byte) (lines []string) {
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
