package diff

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"time"
)

// TestShrinkFindsTheCause hides three commands, needed in order, in long streams.
func TestShrinkFindsTheCause(t *testing.T) {
	for seed := range uint64(30) {
		rnd := rand.New(rand.NewPCG(seed, 0))
		var stream []Cmd
		for i := range 500 {
			stream = append(stream, cmdOf("noise", strconv.Itoa(i), "x"))
		}
		at := []int{rnd.IntN(500), rnd.IntN(500), rnd.IntN(500)}
		slices.Sort(at)
		for i := range at {
			stream = slices.Insert(stream, at[i]+i,
				cmdOf("step"+strconv.Itoa(i), "needed", "superfluous"))
		}
		test := func(s []Cmd) (int, bool) {
			next := 0
			for i, c := range s {
				if next < 3 && c.Name() == "step"+strconv.Itoa(next) &&
					slices.ContainsFunc(c.Args, func(a []byte) bool {
						return string(a) == "needed"
					}) {
					if next++; next == 3 {
						return i + 1, true
					}
				}
			}
			return 0, false
		}
		got := shrink(stream, test, 2000, time.Now().Add(time.Minute))
		want := []Cmd{cmdOf("step0", "needed"), cmdOf("step1", "needed"), cmdOf("step2", "needed")}
		if len(got) != 3 || !slices.EqualFunc(got, want, func(a, b Cmd) bool {
			return a.String() == b.String()
		}) {
			t.Fatalf("seed %d: shrunk to %v", seed, got)
		}
	}
}

func TestShrinkKeepsItsBudget(t *testing.T) {
	runs := 0
	stream := make([]Cmd, 300)
	for i := range stream {
		stream[i] = cmdOf("x", strconv.Itoa(i))
	}
	got := shrink(stream, func(s []Cmd) (int, bool) {
		runs++
		return len(s), len(s) == 300
	}, 25, time.Now().Add(time.Minute))
	if runs > 25 || len(got) != 300 {
		t.Fatalf("%d replays for a budget of 25, %d commands left", runs, len(got))
	}
}

func TestShrinkCutsRawBytesByLines(t *testing.T) {
	stream := []Cmd{{Raw: true, Args: [][]byte{[]byte("PING\r\nBAD\r\nGET k\r\n")}}}
	test := func(s []Cmd) (int, bool) {
		return 1, len(s) == 1 && bytes.Contains(s[0].Args[0], []byte("BAD"))
	}
	got := shrink(stream, test, 100, time.Now().Add(time.Minute))
	if len(got) != 1 || string(got[0].Args[0]) != "BAD\r\n" {
		t.Fatalf("shrunk to %v", got)
	}
}
