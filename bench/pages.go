//go:build linux

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// The figures on the pages are made from the reports, by `make figures` and at the end of `make
// bench`. The reports are the only place where a figure is written down.
const (
	resultsPath    = "bench/RESULTS.md"
	persistPath    = "bench/PERSIST.md"
	benchmarksPath = "docs/benchmarks.md"
	chartPath      = "docs/memory.svg"
)

// table is a table of a report, with the title of its section.
type table struct {
	title  string
	header []string
	rows   [][]string
}

// parseTables returns the tables of a report.
func parseTables(text string) (tables []table) {
	title, inside := "", false
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if t, ok := strings.CutPrefix(line, "**"); ok {
			title, _, _ = strings.Cut(t, ".**")
		}
		if !strings.HasPrefix(line, "|") {
			inside = false
			continue
		}
		cells := strings.Split(strings.Trim(line, "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		switch {
		case !inside:
			tables, inside = append(tables, table{title: title, header: cells}), true
		case !strings.HasPrefix(cells[0], "---"):
			t := &tables[len(tables)-1]
			t.rows = append(t.rows, cells)
		}
	}
	return tables
}

// label names a row by the cells before the first figure.
func (t *table) label(row []string) string {
	var words []string
	for i, h := range t.header {
		if strings.HasPrefix(h, "Redis") {
			break
		}
		switch {
		case h == "compared with":
		case i == 0 && !strings.ContainsAny(row[i][:1], "0123456789"):
			words = append(words, row[i])
		default:
			words = append(words, h+" "+row[i])
		}
	}
	return strings.Join(words, ", ")
}

// pair is a figure of both servers.
type pair struct{ what, measure, redis, godwit string }

// pairs returns the figures of a table that stand side by side.
func (t *table) pairs() (all []pair) {
	for i, h := range t.header {
		measure, ok := strings.CutPrefix(h, "Redis")
		j := slices.Index(t.header, "Godwit"+measure)
		if !ok || j < 0 || strings.Contains(measure, "− idle") { // that is a difference
			continue
		}
		for _, row := range t.rows {
			what := t.title
			if l := t.label(row); l != "" {
				what += ": " + l
			}
			all = append(all, split(pair{what, strings.TrimSpace(measure), row[i], row[j]})...)
		}
	}
	return all
}

// split returns two pairs for one whose cells say what was before and during something.
func split(p pair) []pair {
	const both, arrow = "before → during", " → "
	if !strings.Contains(p.measure, both) {
		return []pair{p}
	}
	before, during := p, p
	before.measure = strings.Replace(p.measure, both, "before", 1)
	during.measure = strings.Replace(p.measure, both, "during", 1)
	before.redis, during.redis, _ = strings.Cut(p.redis, arrow)
	before.godwit, during.godwit, _ = strings.Cut(p.godwit, arrow)
	return []pair{before, during}
}

// find returns the figure with that label and measure.
func find(tables []table, what, measure string) (pair, error) {
	for i := range tables {
		for _, p := range tables[i].pairs() {
			if p.what == what && p.measure == measure {
				return p, nil
			}
		}
	}
	return pair{}, fmt.Errorf("the reports have no %q of %q", measure, what)
}

// noise is the share by which a figure may be worse without being listed as a loss.
const noise = 0.05

// lost reports whether Godwit's figure is worse than Redis's by more than noise.
func (p pair) lost() bool {
	r, g := leading(p.redis), leading(p.godwit)
	if strings.Contains(p.measure, "op/s") || strings.Contains(p.measure, "ops/s") ||
		strings.Contains(p.measure, "kept") {
		return g < r*(1-noise)
	}
	return g > r*(1+noise)
}

// lossTable returns a table of what Godwit does worse.
func lossTable(tables []table) string {
	s := section{header: []string{"what", "measure", "Redis", "Godwit"}}
	for i := range tables {
		for _, p := range tables[i].pairs() {
			if p.lost() {
				s.row(p.what, p.measure, p.redis, p.godwit)
			}
		}
	}
	var sb strings.Builder
	s.table(&sb)
	return sb.String()
}

// headlines lists the figures of README's table.
var headlines = []struct{ name, what, measure string }{
	{"GET, pipeline 1: CPU of the server", "Throughput and server CPU: GET, pipeline 1",
		"CPU µs/op"},
	{"GET, pipeline 1", "Throughput and server CPU: GET, pipeline 1", "k ops/s"},
	{"GET, pipeline 16", "Throughput and server CPU: GET, pipeline 16", "k ops/s"},
	{"SET, pipeline 16", "Throughput and server CPU: SET, pipeline 16", "k ops/s"},
	{"GET, p99.9 under moderate load", "Latency under moderate load: p99.9", "ms"},
	{"a key with a value of 64 bytes, of 3 M", "Memory: keys 3 M, value bytes 64", "B/key"},
	{"a member of a sorted set of 1 M", "Memory of collections: zset, for each member", "B"},
	{"load a file of 5 M mixed keys", "Files: load", ""},
}

// figures renders README's table.
func figures(tables []table) (string, error) {
	s := section{header: []string{"", "unit", "Redis 7.0", "Godwit", "ratio"}}
	for _, h := range headlines {
		p, err := find(tables, h.what, h.measure)
		if err != nil {
			return "", err
		}
		unit := h.measure
		if unit == "" {
			_, unit, _ = strings.Cut(p.redis, " ")
			p.redis, _, _ = strings.Cut(p.redis, " ")
			p.godwit, _, _ = strings.Cut(p.godwit, " ")
		}
		text, _ := printedRatio(p.redis, p.godwit)
		s.row(h.name, unit, p.redis, p.godwit, text)
	}
	var sb strings.Builder
	s.table(&sb)
	return sb.String(), nil
}

// reasons renders the three figures that are the reasons for Godwit.
func reasons(tables []table) (string, error) {
	memory, err := find(tables, "Memory: keys 3 M, value bytes 64", "B/key")
	if err != nil {
		return "", err
	}
	fork, err := find(tables, "Snapshots under a full write load: BGSAVE of strings", "memory")
	if err != nil {
		return "", err
	}
	i := slices.IndexFunc(tables, func(t table) bool { return t.title == "Mass expiry" })
	if i < 0 || len(tables[i].rows) != sides {
		return "", fmt.Errorf("the reports have no mass expiry")
	}
	empty := func(side int) string { return tables[i].rows[side][len(tables[i].header)-1] }
	item := func(format string, args ...any) string {
		text := strings.TrimSpace(wrapped("- " + fmt.Sprintf(format, args...)))
		return strings.ReplaceAll(text, "\n", "\n  ") + "\n"
	}
	return item("**Memory.** A key of 16 bytes with a value of 64 takes %s bytes; in Redis %s.",
			memory.godwit, memory.redis) +
			item("**No fork.** A snapshot of strings under a full write load adds %s to memory; "+
				"in Redis %s.", strings.TrimPrefix(fork.godwit, "+"),
				strings.TrimPrefix(fork.redis, "+")) +
			item("**Exact expiry.** Of a million keys due within one second the last is gone "+
				"%s after its deadline; in Redis %s.", empty(sideGodwit), empty(sideRedis)),
		nil
}

// updatePages writes the figures of the reports into README and the docs beside it.
func updatePages(readme string) error {
	root := filepath.Dir(readme)
	var tables []table
	for _, path := range []string{resultsPath, persistPath} {
		text, err := os.ReadFile(filepath.Join(root, path))
		if err != nil {
			return err
		}
		tables = append(tables, parseTables(string(text))...)
	}
	table, err := figures(tables)
	if err != nil {
		return err
	}
	why, err := reasons(tables)
	if err != nil {
		return err
	}
	bars, err := chart(tables)
	if err != nil {
		return err
	}
	losses := lossTable(tables)
	for _, part := range []struct{ path, mark, text string }{
		{readme, "why", why},
		{readme, "bench", table},
		{readme, "losses", losses},
		{filepath.Join(root, benchmarksPath), "losses", losses},
	} {
		if err := putBetween(part.path, part.mark, part.text); err != nil {
			return err
		}
	}
	return replaceFile(filepath.Join(root, chartPath), bars)
}
