//go:build linux

package main

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// The figures on the pages are made from the reports, by `make figures` and at the end of `make
// bench`. The reports are the only place where a figure is written down.
const (
	resultsPath     = "bench/RESULTS.md"
	persistPath     = "bench/PERSIST.md"
	replicationPath = "bench/REPLICATION.md"
	streamsPath     = "bench/STREAMS.md"
	benchmarksPath  = "docs/benchmarks.md"
)

// reportPaths lists the reports.
var reportPaths = []string{resultsPath, persistPath, replicationPath, streamsPath}

// noise is the share by which a figure may be worse without being listed as a loss.
const noise = 0.05

// lost reports whether Godwit's figure is worse than the better one of the others by more than
// noise.
func (f *figure) lost() bool {
	_, best := f.best()
	r, g := leading(best), leading(f.godwit())
	if higherIsBetter(f.measure) {
		return g < r*(1-noise)
	}
	return g > r*(1+noise)
}

// lossTable returns a table of what Godwit does worse.
func lossTable(tables []table) string {
	s := section{header: []string{"what", "measure", "better", "its figure", "Godwit", "ratio"}}
	for i := range tables {
		for _, f := range tables[i].figures() {
			if f.lost() {
				title, best := f.best()
				ratio, _ := f.ratio()
				s.row(f.what, f.measure, title, best, f.godwit(), ratio)
			}
		}
	}
	return s.text()
}

// text renders the table alone.
func (s *section) text() string {
	var sb strings.Builder
	s.table(&sb)
	return sb.String()
}

// pageFigure is a figure that a page or a chart shows under a name of its own.
type pageFigure struct{ name, what, measure string }

// headlines lists the figures of README's table.
func headlines() []pageFigure {
	cpu, ops := measureCPU.name, measureOps.name
	return []pageFigure{
		{"GET", titleStrings + ": GET, pipeline 1", cpu},
		{"GET, pipeline 16", titleStrings + ": GET, pipeline 16", cpu},
		{"SET, pipeline 16", titleStrings + ": SET, pipeline 16", cpu},
		{"MGET of 10, pipeline 16", titleBatches + ": MGET of 10, pipeline 16", cpu},
		{"GET, pipeline 16", titleStrings + ": GET, pipeline 16", ops},
		{"SET, pipeline 16", titleStrings + ": SET, pipeline 16", ops},
		{"GET, p99.9 under moderate load", "Latency under moderate load: p99.9", "ms"},
		{"a key with a value of 64 bytes", titleMemory + ": " + rss64, measureKey.name},
		{"a member of a large sorted set", titleElements + ": zset, for each member",
			measureElement.name},
		{"an entry of a stream, three small fields", entryFigure(rowEntry), measureElement.name},
		{"an entry that is pending in a group", entryFigure(rowPending), measureElement.name},
		{"load a file of mixed keys", titleFiles + ": load", measureSeconds.name},
	}
}

// entryFigure returns the label of a figure of entries that come close to each other.
func entryFigure(row string) string {
	return fmt.Sprintf("%s: %s, entries a ms %d", titleStreamMemory, row, streamDense)
}

// headlineTable renders README's table.
func headlineTable(tables []table) (string, error) {
	var s section
	for _, h := range headlines() {
		f, err := find(tables, h.what, h.measure)
		if err != nil {
			return "", err
		}
		if s.header == nil {
			s.header = append(append([]string{"", "unit"}, f.titles...), ratioHead)
		}
		if titles := s.header[2 : len(s.header)-1]; !slices.Equal(titles, f.titles) {
			return "", fmt.Errorf("the reports compare different servers: %q has %s, not %s",
				h.what, strings.Join(f.titles, ", "), strings.Join(titles, ", "))
		}
		ratio, _ := f.ratio()
		s.row(append(append([]string{h.name, h.measure}, f.cells...), ratio)...)
	}
	return s.text(), nil
}

// reasons renders the figures that are the reasons for Godwit.
func reasons(tables []table) (string, error) {
	var sb strings.Builder
	for _, r := range []struct{ what, measure, text, unit string }{
		{titleMemory + ": " + rss64, measureKey.name,
			"**Memory.** A key of 16 bytes with a value of 64 takes", " bytes"},
		{titleSnapshots + ": BGSAVE of strings", measureGrowth.name,
			"**No fork.** What a snapshot of strings under a full write load adds to memory:",
			" %"},
		{titleEmpty, measureMs.name,
			"**Exact expiry.** Expired keys are freed at once; no server serves them. Many keys " +
				"are due within one second. From the last deadline until DBSIZE is 0:", " ms"},
	} {
		f, err := find(tables, r.what, r.measure)
		if err != nil {
			return "", err
		}
		text := "- " + r.text + " " + f.godwit() + r.unit
		for i, t := range f.titles {
			if t == titleRedis8 || t == titleValkey9 {
				text += fmt.Sprintf("; in %s %s", t, f.cells[i])
			}
		}
		text = strings.TrimSpace(wrapped(text + "."))
		sb.WriteString(strings.ReplaceAll(text, "\n", "\n  ") + "\n")
	}
	return sb.String(), nil
}

// updatePages writes the figures of the reports into README and the docs beside it.
func updatePages(readme string) error {
	root := filepath.Dir(readme)
	var tables []table
	for _, path := range reportPaths {
		text, err := os.ReadFile(filepath.Join(root, path))
		if err != nil {
			return err
		}
		tables = append(tables, parseTables(string(text))...)
	}
	numbers, err1 := headlineTable(tables)
	why, err2 := reasons(tables)
	if err := cmp.Or(err1, err2); err != nil {
		return err
	}
	losses := lossTable(tables)
	for _, part := range []struct{ path, mark, text string }{
		{readme, "why", why},
		{readme, "bench", numbers},
		{readme, "losses", losses},
		{filepath.Join(root, benchmarksPath), "losses", losses},
	} {
		if err := putBetween(part.path, part.mark, part.text); err != nil {
			return err
		}
	}
	for _, c := range charts() {
		picture, err := c.svg(tables)
		if err != nil {
			return err
		}
		if err := replaceFile(filepath.Join(root, c.path), picture); err != nil {
			return err
		}
	}
	return nil
}
