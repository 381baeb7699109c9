package diff

import (
	"bytes"
	"slices"
	"time"
)

// fails reports whether a stream still shows the difference that is being shrunk. need is the index
// after the command that differs: the rest of the stream is not needed.
type fails func([]Cmd) (need int, ok bool)

// shrink returns a shorter stream for which the predicate still holds. It is delta debugging over
// commands, from halves down to single ones, then over each command's arguments. It stops early
// after budget replays or at the deadline.
func shrink(stream []Cmd, test fails, budget int, deadline time.Time) []Cmd {
	try := func(s []Cmd) ([]Cmd, bool) {
		if budget <= 0 || len(s) == 0 || time.Now().After(deadline) {
			return nil, false
		}
		budget--
		need, ok := test(s)
		if !ok {
			return nil, false
		}
		return s[:min(need, len(s))], true
	}
	for size := max(1, len(stream)/2); ; size /= 2 {
		for removed := true; removed; {
			removed = false
			for end := len(stream); end > 0; end = min(end-size, len(stream)) {
				from := max(0, end-size)
				if s, ok := try(slices.Delete(slices.Clone(stream), from, end)); ok {
					stream, removed = s, true
				}
			}
			// Another pass pays only at the finest grain, where removals enable others.
			removed = removed && size == 1
		}
		if size <= 1 {
			break
		}
	}
	return shrinkArgs(stream, try)
}

func shrinkArgs(stream []Cmd, try func([]Cmd) ([]Cmd, bool)) []Cmd {
	for i := range stream { // the length stays: only shorter forms of all commands are taken
		for j := len(stream[i].Args) - 1; j > 0; j-- {
			s := slices.Clone(stream)
			s[i].Args = slices.Delete(slices.Clone(s[i].Args), j, j+1)
			if s, ok := try(s); ok && len(s) == len(stream) {
				stream = s
			}
		}
		if stream[i].Raw {
			stream = shrinkLines(stream, i, try)
		}
	}
	return stream
}

// shrinkLines removes lines from the raw bytes of stream[at].
func shrinkLines(stream []Cmd, at int, try func([]Cmd) ([]Cmd, bool)) []Cmd {
	lines := bytes.SplitAfter(stream[at].Args[0], []byte("\n"))
	for j := len(lines) - 1; j >= 0; j-- {
		less := slices.Delete(slices.Clone(lines), j, j+1)
		s := slices.Clone(stream)
		s[at].Args = [][]byte{bytes.Join(less, nil)}
		if s, ok := try(s); ok && len(s) == len(stream) {
			stream, lines = s, less
		}
	}
	return stream
}

// shrinkTime bounds one shrink: streams of blocking commands replay slowly.
const shrinkTime = 20 * time.Second

// Shrink cuts a failing stream down on the runner's servers. The result fails in the same class. ok
// is false if the difference does not show again at all: then it depended on time, or on something
// before the stream.
func (r *Runner) Shrink(stream []Cmd, f *Failure, budget int) (small []Cmd, last *Failure,
	ok bool) {
	stateEvery := r.StateEvery
	r.StateEvery = 0
	defer func() { r.StateEvery = stateEvery }()
	test := func(s []Cmd) (int, bool) {
		if !comparable(s) {
			return 0, false
		}
		got, _, err := r.Exec(s)
		if err != nil || got == nil || got.Class != f.Class {
			return 0, false
		}
		last = got
		return got.At + 1, true
	}
	whole := slices.Clone(stream[:min(len(stream), f.At+1)])
	for range 3 {
		if _, ok = test(whole); ok {
			return shrink(whole, test, budget, time.Now().Add(shrinkTime)), last, true
		}
	}
	return whole, f, false
}
