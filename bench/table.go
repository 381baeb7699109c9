//go:build linux

package main

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// measure is what the figures of a table are, and how they are printed.
type measure struct {
	name  string
	scale float64 // what a value is divided by
}

// print renders a value with three significant digits. Digits before the point are never rounded
// off.
func (m *measure) print(v float64) string {
	v /= m.scale
	places := 0
	if v != 0 {
		places = max(0, 2-int(math.Floor(math.Log10(math.Abs(v)))))
	}
	return strconv.FormatFloat(v, 'f', places, 64)
}

var (
	measureCPU  = measure{"CPU µs/op", 1}
	measureUser = measure{"own CPU µs/op", 1}
	measureOps  = measure{"k ops/s", 1e3}
	measureP50  = measure{"p50 ms", 1}
	measureP99  = measure{"p99 ms", 1}
	measureP999 = measure{"p99.9 ms", 1}
	measureMax  = measure{"max ms", 1}
)

// comparison is a section of the report with a table for each of its measures. A table has a column
// for each server, and one for the ratio.
type comparison struct {
	report   *report
	title    string
	measures []measure
	tables   []*section
}

// ratioHead is the head of the column with Godwit ÷ the better one of the others.
const ratioHead = "ratio"

// compare begins a comparison. labels are the heads of the columns that name a row.
func (r *report) compare(title, note string, labels []string, measures ...measure) *comparison {
	c := &comparison{report: r, title: title, measures: measures}
	for _, m := range measures {
		head := slices.Concat(labels, r.contest.titles(), []string{ratioHead})
		c.tables = append(c.tables, r.section(title+" ("+m.name+")", note, head...))
		note = ""
	}
	return c
}

// row adds a row to each table. values holds a series for each measure. A measure whose series is
// nil has no such row.
func (c *comparison) row(labels []string, values ...*series) {
	line := strings.TrimSuffix(c.title+": "+strings.Join(labels, ", "), ": ")
	for i, m := range c.measures {
		if values[i] == nil {
			continue
		}
		f := figure{measure: m.name, titles: c.report.contest.titles()}
		for side := range c.report.contest {
			f.cells = append(f.cells, m.print(values[i].median(side)))
		}
		ratio, _ := f.ratio()
		c.tables[i].row(slices.Concat(labels, f.cells, []string{ratio})...)
		line += fmt.Sprintf("  %s %s %s", m.name, f.godwit(), ratio)
	}
	fmt.Fprintln(c.report.log, line)
}

// table is a table of a report, with the title of its section and what it measures.
type table struct {
	title, measure string
	header         []string
	rows           [][]string
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
			name, measure, _ := strings.Cut(strings.TrimSuffix(title, ")"), " (")
			tables = append(tables, table{title: name, measure: measure, header: cells})
			inside = true
		case !strings.HasPrefix(cells[0], "---"):
			t := &tables[len(tables)-1]
			t.rows = append(t.rows, cells)
		}
	}
	return tables
}

// servers returns the range of columns that belong to servers. It is empty for a table that does
// not compare any.
func (t *table) servers() (from, to int) {
	to = slices.Index(t.header, titleGodwit) + 1
	known := func(h string) bool {
		return slices.ContainsFunc(opponents, func(o opponent) bool { return o.title == h })
	}
	for from = to - 1; from > 0 && known(t.header[from-1]); from-- {
	}
	if from < 0 || to-from < 2 {
		return 0, 0
	}
	return from, to
}

// label names a row by the cells before the first figure. A bare number stands behind the head of
// its column.
func (t *table) label(row []string, cells int) string {
	var words []string
	for i, h := range t.header[:cells] {
		switch {
		case row[i] == "":
		case i == 0 && strings.Trim(row[i], "0123456789") != "":
			words = append(words, row[i])
		default:
			words = append(words, h+" "+row[i])
		}
	}
	return strings.Join(words, ", ")
}

// figures returns the rows of a table that compares servers.
func (t *table) figures() (all []figure) {
	from, to := t.servers()
	if from == to {
		return nil
	}
	for _, row := range t.rows {
		what := t.title
		if l := t.label(row, from); l != "" {
			what += ": " + l
		}
		all = append(all, figure{what, t.measure, t.header[from:to], row[from:to]})
	}
	return all
}

// find returns the figure with that label and measure.
func find(tables []table, what, measure string) (figure, error) {
	for i := range tables {
		for _, f := range tables[i].figures() {
			if f.what == what && f.measure == measure {
				return f, nil
			}
		}
	}
	return figure{}, fmt.Errorf("the reports have no %q of %q", measure, what)
}
