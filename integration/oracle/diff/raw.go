package diff

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"godwit/internal/resp/client"
)

// raw sends bytes on a connection of its own, closes the sending side, and compares everything that
// comes back.
func (r *Runner) raw(c Cmd, at int) (*Failure, error) {
	var got [2][]byte
	for i, s := range r.sides() {
		conn, err := Dial(s.Addr)
		if err != nil {
			return r.connFailure(at, err)
		}
		got[i], err = conn.Exchange(c.Args[0])
		conn.Close()
		if err != nil && i == 0 {
			return nil, fmt.Errorf("redis: %w after %v", err, c)
		}
		if err != nil {
			got[i] = append(got[i], err.Error()...)
		}
	}
	if bytes.Contains(got[0], []byte("message\r\n")) &&
		slices.Equal(ordered(got[0]), ordered(got[1])) {
		// later servers put what a client sends to itself after the reply, 7.0 within it
		return nil, nil
	}
	if frame, differ := r.firstDifference(got); differ {
		return &Failure{At: at, Class: class(c, frame), A: Quote(got[0]), B: Quote(got[1])}, nil
	}
	return nil, nil
}

// ordered returns the lines of b, sorted.
func ordered(b []byte) []string {
	lines := strings.Split(string(b), "\r\n")
	slices.Sort(lines)
	return lines
}

// firstDifference returns the first pair of frames that differ in the bytes of two connections. Of
// the commands in raw sessions only HELLO needs a comparator; its reply is known by its first
// field.
func (r *Runner) firstDifference(got [2][]byte) (frame [2][]byte, differ bool) {
	for len(got[0])+len(got[1]) > 0 {
		for i, b := range got {
			frame[i], got[i] = nil, nil
			switch _, rest, err := client.Parse(b); {
			case err == nil:
				frame[i], got[i] = b[:len(b)-len(rest)], rest
			case len(b) > 0: // not a reply, or cut off
				frame[i] = b
			}
		}
		if bytes.Equal(frame[0], frame[1]) {
			continue
		}
		a, errA := Decode(frame[0])
		b, errB := Decode(frame[1])
		if errA == nil && errB == nil && len(a.Elems) == 1 && len(b.Elems) == 1 {
			a, b = a.Elems[0], b.Elems[0] // of an EXEC
		}
		hello := errA == nil && errB == nil && len(a.Elems) > 0 && a.Elems[0].Str == "server"
		if !hello || !r.Known.equal(cmdOf("HELLO"), a, b) {
			return frame, true
		}
	}
	return frame, false
}
