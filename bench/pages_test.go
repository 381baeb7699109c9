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
	pages := []string{"README.md", benchmarksPath, chartPath}
	root := t.TempDir()
	for _, path := range append([]string{resultsPath, persistPath}, pages...) {
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
	for _, path := range []string{resultsPath, persistPath, "README.md"} {
		text, err := os.ReadFile(filepath.Join("..", path))
		succeeds(t, err)
		for _, table := range parseTables(string(text)) {
			for i, h := range table.header {
				for _, row := range table.rows {
					if h != "ratio" {
						continue
					}
					want, _ := printedRatio(row[i-2], row[i-1])
					if row[i] != want {
						t.Errorf("%s, %s, %s: %s ÷ %s is %s, not %s", path, table.title, row[0],
							row[i-1], row[i-2], want, row[i])
					}
					ratios++
				}
			}
		}
	}
	if ratios < 100 {
		t.Errorf("only %d ratios found", ratios)
	}
}

func TestPrintedRatio(t *testing.T) {
	for _, c := range []struct {
		redis, godwit, ratio string
		value                float64
	}{
		{"3", "2", "0.67×", 0.67},
		{"7391.13 ms", "4.33 ms", "0.0006×", 0.0006},
		{"0", "3", "–", 0},
		{"2", "0", "0.00×", 0},
	} {
		ratio, value := printedRatio(c.redis, c.godwit)
		equal(t, c.ratio, ratio)
		equal(t, c.value, value)
	}
}

func TestLosses(t *testing.T) {
	for _, c := range []struct {
		p    pair
		lost bool
	}{
		{pair{"", "k ops/s", "100", "96"}, false},
		{pair{"", "k ops/s", "100", "94"}, true},
		{pair{"", "ms", "100", "104"}, false},
		{pair{"", "ms", "100", "106"}, true},
		{pair{"", "throughput kept", "92 %", "59 %"}, true},
	} {
		equal(t, c.lost, c.p.lost())
	}
}

func TestWrapped(t *testing.T) {
	equal(t, "a b\n", wrapped(" a\nb "))
	long := wrapped(strings.Repeat("wört ", 100))
	for line := range strings.Lines(long) {
		equal(t, true, utf8.RuneCountInString(strings.TrimSuffix(line, "\n")) <= lineWidth)
	}
	equal(t, 100, len(strings.Fields(long)))
}
