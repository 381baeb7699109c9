//go:build linux

package main

import (
	"cmp"
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"godwit/internal/testserver"
)

// contestant is one of the servers that are compared.
type contestant struct {
	title string // the head of its columns
	path  string
}

// contest lists the servers of a run, newest first, with Godwit as the last. A server's place in it
// is its index in every series.
type contest []contestant

// Titles of the servers that are known by name.
const (
	titleRedis8  = "Redis 8"
	titleValkey9 = "Valkey 9"
	titleRedis7  = "Redis 7"
	titleGodwit  = "Godwit"
)

// opponent is a server that -against knows by name, and how its program is found.
type opponent struct {
	name, title string
	find        func() (string, error)
}

var opponents = []opponent{
	{"redis8", titleRedis8, peer(testserver.Redis)},
	{"valkey9", titleValkey9, peer(testserver.Valkey)},
	{"redis7", titleRedis7, func() (string, error) { return exec.LookPath("redis-server") }},
}

func peer(p testserver.Peer) func() (string, error) {
	return func() (string, error) {
		path, err := p.Find("server")
		if err != nil {
			err = fmt.Errorf("%w (make peers does that)", err)
		}
		return path, err
	}
}

// defaultAgainst is the default of -against.
const defaultAgainst = "redis8,valkey9,redis7"

// newContest reads the list of -against and puts Godwit behind it. Each word of the list is a known
// name, or NAME=PATH.
func newContest(against, godwit string) (contest, error) {
	var c contest
	for word := range strings.SplitSeq(against, ",") {
		one, err := parseOpponent(strings.TrimSpace(word))
		if err != nil {
			return nil, fmt.Errorf("-against %s: %w", word, err)
		}
		if slices.ContainsFunc(c, func(o contestant) bool { return o.title == one.title }) {
			return nil, fmt.Errorf("-against %s: named twice", word)
		}
		c = append(c, one)
	}
	return append(c, contestant{titleGodwit, godwit}), nil
}

func parseOpponent(word string) (contestant, error) {
	name, path, given := strings.Cut(word, "=")
	i := slices.IndexFunc(opponents, func(o opponent) bool { return o.name == name })
	switch {
	case name == "" || given && path == "" || strings.Contains(name, "|") || name == titleGodwit:
		return contestant{}, fmt.Errorf("want NAME=PATH or one of %s", defaultAgainst)
	case given && i < 0:
		return contestant{name, path}, nil
	case given:
		return contestant{opponents[i].title, path}, nil
	case i < 0:
		return contestant{}, fmt.Errorf("not one of %s, and no path given", defaultAgainst)
	}
	path, err := opponents[i].find()
	return contestant{opponents[i].title, path}, err
}

// resolve makes every path an absolute one.
func (c contest) resolve() error {
	for i := range c {
		full, err := exec.LookPath(c[i].path)
		if err != nil {
			return err
		}
		if c[i].path, err = filepath.Abs(full); err != nil {
			return err
		}
	}
	return nil
}

// godwit returns Godwit's place.
func (c contest) godwit() int { return len(c) - 1 }

func (c contest) titles() []string {
	titles := make([]string, 0, len(c))
	for _, one := range c {
		titles = append(titles, one.title)
	}
	return titles
}

// eachServer calls f for every server, once.
func (b *bench) eachServer(ctx context.Context, f func(side int) error) error {
	for side := range b.contest {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := f(side); err != nil {
			return fmt.Errorf("%s: %w", b.contest[side].title, err)
		}
	}
	return nil
}

// eachRound calls f for every server in every round. The first round begins with Godwit, each other
// with the server behind the one that the round before began with. So no server is the first or the
// last twice before all have been.
func (b *bench) eachRound(ctx context.Context, f func(side int) error) error {
	n := len(b.contest)
	for round := range b.plan.rounds {
		for i := range n {
			if err := ctx.Err(); err != nil {
				return err
			}
			side := (round + n - 1 + i) % n
			if err := f(side); err != nil {
				return fmt.Errorf("%s, round %d: %w", b.contest[side].title, round+1, err)
			}
		}
	}
	return nil
}

// startAll starts every server. stop ends them; it may be called after an error too.
func (b *bench) startAll(ctx context.Context) (all []*server, stop func(), err error) {
	stop = func() {
		for _, s := range all {
			s.stop()
		}
	}
	err = b.eachServer(ctx, func(side int) error {
		s, err := b.start(ctx, side)
		if err == nil {
			all = append(all, s)
		}
		return err
	})
	return all, stop, err
}

// figure is one measurement of all servers, as it is printed.
type figure struct {
	what, measure string
	titles, cells []string // of the servers
}

// of returns what is printed for the server with that title, "" if there is none.
func (f *figure) of(title string) string {
	if i := slices.Index(f.titles, title); i >= 0 {
		return f.cells[i]
	}
	return ""
}

func (f *figure) godwit() string { return f.of(titleGodwit) }

// best returns the title and the figure of the server that Godwit is compared with: the better one
// of all but the distribution's old Redis, which counts only where it is the only one.
func (f *figure) best() (title, cell string) {
	worse := func(a, b string) bool { return leading(a) > leading(b) }
	if higherIsBetter(f.measure) {
		worse = func(a, b string) bool { return leading(a) < leading(b) }
	}
	for i, t := range f.titles {
		if t == titleGodwit || t == titleRedis7 {
			continue
		}
		if title == "" || worse(cell, f.cells[i]) {
			title, cell = t, f.cells[i]
		}
	}
	return cmp.Or(title, titleRedis7), cmp.Or(cell, f.of(titleRedis7))
}

// ratio returns Godwit ÷ the better one of the others, printed and as a number.
func (f *figure) ratio() (string, float64) {
	_, best := f.best()
	return printedRatio(best, f.godwit())
}

// higherIsBetter reports whether a measure is one of which more is better.
func higherIsBetter(measure string) bool {
	return strings.Contains(measure, "ops/s") || strings.Contains(measure, "kept")
}
