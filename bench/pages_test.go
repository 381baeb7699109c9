//go:build linux

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestPagesSayWhatTheReportsSay updates copies of the pages from the reports. Nothing may change.
func TestPagesSayWhatTheReportsSay(t *testing.T) {
	pages := []string{"README.md", benchmarksPath}
	for _, c := range charts() {
		pages = append(pages, c.path)
	}
	root := t.TempDir()
	for _, path := range append(reportPaths, pages...) {
		text, err := os.ReadFile(filepath.Join("..", path))
		succeeds(t, err)
		succeeds(t, os.MkdirAll(filepath.Dir(filepath.Join(root, path)), 0o700))
		succeeds(t, os.WriteFile(filepath.Join(root, path), text, 0o600))
	}
	tree, err := filepath.Abs("..")
	succeeds(t, err)
	t.Chdir(root)
	succeeds(t, run(t.Context(), options{figures: true}, nil, nil))
	for _, path := range pages {
		want, err := os.ReadFile(path)
		succeeds(t, err)
		got, err := os.ReadFile(filepath.Join(tree, path))
		succeeds(t, err)
		if string(want) != string(got) {
			t.Errorf("%s does not say what the reports say: make figures", path)
		}
	}
}

// TestRatiosAreThoseOfTheirColumns divides the figures of every table that has ratios.
func TestRatiosAreThoseOfTheirColumns(t *testing.T) {
	ratios := 0
	for _, path := range append(reportPaths, "README.md") {
		text, err := os.ReadFile(filepath.Join("..", path))
		succeeds(t, err)
		for _, table := range parseTables(string(text)) {
			for i, f := range table.figures() {
				if table.measure == "" {
					f.measure = table.rows[i][1] // README has a measure for each row
				}
				want, _ := f.ratio()
				row := table.rows[i]
				if got := row[len(row)-1]; got != want {
					t.Errorf("%s, %s: of %v the ratio is %s, not %s", path, f.what, f.cells, want,
						got)
				}
				ratios++
			}
		}
	}
	if ratios < 100 {
		t.Errorf("only %d ratios found", ratios)
	}
}

// TestReportsHaveEveryGoal finds the row of every goal in one of the reports.
func TestReportsHaveEveryGoal(t *testing.T) {
	var tables []table
	for _, path := range reportPaths {
		text, err := os.ReadFile(filepath.Join("..", path))
		succeeds(t, err)
		tables = append(tables, parseTables(string(text))...)
	}
	for _, g := range goals() {
		if _, _, ok := g.value(tables); !ok {
			t.Errorf("no figure for the goal %s", g.name())
		}
	}
}

func TestPrintedRatio(t *testing.T) {
	for _, c := range []struct {
		redis, godwit, ratio string
		value                float64
	}{
		{"3", "2", "0.67×", 2.0 / 3},
		{"7391.13 ms", "4.33 ms", "0.0006×", 4.33 / 7391.13},
		{"0", "3", "–", 0},
		{"2", "0", "0.00×", 0},
	} {
		ratio, value := printedRatio(c.redis, c.godwit)
		equal(t, c.ratio, ratio)
		equal(t, c.value, value)
	}
}

// figureOf returns a figure of all four servers.
func figureOf(measure string, cells ...string) figure {
	return figure{"row", measure, redisAlone().titles(), cells}
}

func TestRatioIsToTheBetterOfTheNewServers(t *testing.T) {
	for _, c := range []struct {
		f           figure
		best, ratio string
	}{
		{figureOf("CPU µs/op", "4", "2", "1", "1"), titleValkey9, "0.50×"},
		{figureOf("k ops/s", "400", "200", "900", "800"), titleRedis8, "2.00×"},
		{figure{"", "B", []string{titleRedis7, titleGodwit}, []string{"2", "1"}}, titleRedis7,
			"0.50×"},
		{figure{"", "B", []string{"mine", titleGodwit}, []string{"2", "1"}}, "mine", "0.50×"},
	} {
		best, _ := c.f.best()
		equal(t, c.best, best)
		ratio, _ := c.f.ratio()
		equal(t, c.ratio, ratio)
	}
}

func TestLosses(t *testing.T) {
	for _, c := range []struct {
		f    figure
		lost bool
	}{
		{figureOf("k ops/s", "100", "90", "200", "96"), false},
		{figureOf("k ops/s", "90", "100", "90", "94"), true},
		{figureOf("ms", "100", "120", "1", "104"), false},
		{figureOf("ms", "120", "100", "120", "106"), true},
		{figureOf("throughput kept, %", "92", "80", "80", "59"), true},
	} {
		equal(t, c.lost, c.f.lost())
	}
}

func TestGoals(t *testing.T) {
	head := "| a | Redis 8 | Valkey 9 | Redis 7 | Godwit | ratio |\n|---|---|---|---|---|---|\n"
	tables := parseTables("**T (B).** Note.\n\n" + head +
		"| x | 10 | 20 | 1 | 5 | 0.50× |\n| y | 4 | 2 | 1 | 3 | 1.50× |\n")
	for _, c := range []struct {
		goal          goal
		bound, figure string
		v             float64
	}{
		{goal{limit: 0.5}, "≤ 0.5×", "0.50×", 0.5},
		{goal{against: valkey, limit: 1.1}, "≤ 1.1×", "0.25×", 0.25},
		{goal{against: nothing, limit: 8, atLeast: true, unit: " %"}, "≥ 8 %", "5 %", 5},
		{goal{against: itself, than: "T: y", limit: 1}, "≤ 1×", "1.67×", 5.0 / 3},
		{goal{against: aboveItself, than: "T: y", limit: 1, unit: " ms"}, "≤ 1 ms", "+2.00 ms", 2},
	} {
		c.goal.what, c.goal.measure = "T: x", "B"
		text, v, ok := c.goal.value(tables)
		equal(t, true, ok)
		equal(t, c.figure, text)
		equal(t, c.v, v)
		equal(t, c.bound, c.goal.bound())
	}
	highest := goal{what: "", measure: "B", against: anyOfMeasure}
	text, _, ok := highest.value(tables)
	equal(t, true, ok)
	equal(t, "1.50× (T: y)", text)
	missing := goal{what: "T: z", measure: "B"}
	_, _, ok = missing.value(tables)
	equal(t, false, ok)
}

func TestContest(t *testing.T) {
	t.Setenv("GODWIT_PEERS", t.TempDir())
	_, err := newContest(defaultAgainst, "x")
	fails(t, err, "make peers")
	for _, against := range []string{"", "nope", "a=", "=b", "a=b,a=c", "Godwit=b"} {
		_, err := newContest(against, "x")
		fails(t, err, "-against")
	}
	c, err := newContest("mine=/m, redis8=/r", "/g")
	succeeds(t, err)
	equal(t, contest{{"mine", "/m"}, {titleRedis8, "/r"}, {titleGodwit, "/g"}}, c)
}

// TestRoundsRotate sees which server each round begins with.
func TestRoundsRotate(t *testing.T) {
	b := &bench{contest: redisAlone()}
	b.plan.rounds = 5
	var order []int
	succeeds(t, b.eachRound(t.Context(), func(side int) error {
		order = append(order, side)
		return nil
	}))
	equal(t, []int{3, 0, 1, 2, 0, 1, 2, 3, 1, 2, 3, 0, 2, 3, 0, 1, 3, 0, 1, 2}, order)
}

func TestWrapped(t *testing.T) {
	equal(t, "a b\n", wrapped(" a\nb "))
	long := wrapped(strings.Repeat("wört ", 100))
	for line := range strings.Lines(long) {
		equal(t, true, utf8.RuneCountInString(strings.TrimSuffix(line, "\n")) <= lineWidth)
	}
	equal(t, 100, len(strings.Fields(long)))
}
