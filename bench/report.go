//go:build linux

package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"
)

// busyMachine is the share of CPU time used by others above which the report warns.
const busyMachine = 0.05

// report collects tables and renders them as Markdown.
type report struct {
	plan     plan
	contest  contest
	machine  string
	log      io.Writer // gets a line for each row
	took     time.Duration
	others   float64 // share of the machine's CPU time that went to other processes
	sections []*section
}

type section struct {
	title, note string
	header      []string
	rows        [][]string
}

func newReport(p plan, c contest, machine string, log io.Writer) *report {
	return &report{plan: p, contest: c, machine: machine, log: log}
}

func (r *report) section(title, note string, header ...string) *section {
	s := &section{title: title, note: note, header: header}
	r.sections = append(r.sections, s)
	return s
}

func (s *section) row(cells ...string) { s.rows = append(s.rows, cells) }

// count renders 3000000 as 3 M and 150000 as 150 k.
func count(n int) string {
	switch {
	case n >= 1_000_000:
		return strings.TrimRight(strings.TrimRight(fmt.Sprintf("%.2f", float64(n)/1e6), "0"), ".") +
			" M"
	case n >= 10_000:
		return fmt.Sprintf("%d k", n/1000)
	}
	return fmt.Sprint(n)
}

// markdown renders the whole report, the goals first.
func (r *report) markdown() string {
	var head, body strings.Builder
	head.WriteString(wrapped(fmt.Sprintf("%s. Medians of %d round(s), each begun by another "+
		"server%s, %s in all. Other processes used %.0f %% of the machine's CPU time meanwhile.",
		r.machine, r.plan.rounds, r.plan.differences(), r.took.Round(time.Second), r.others*100)))
	if r.others > busyMachine {
		head.WriteString("That is too much for p99.9 latencies to mean much: " +
			"repeat on a quieter machine.\n")
	}
	if r.plan.small() {
		head.WriteString("Smaller than the full plan: too small or too short to judge the goals, " +
			"hence the\nbrackets.\n")
	}
	head.WriteString("\n" + wrapped("`ratio` is Godwit ÷ the better one of the other servers; "+
		"Redis 7 is not compared with."))
	for _, s := range r.sections {
		s.markdown(&body)
	}
	if s := goalSection(parseTables(body.String()), r.plan.small()); s != nil {
		s.markdown(&head)
	}
	return head.String() + body.String()
}

func (s *section) markdown(sb *strings.Builder) {
	sb.WriteString("\n" + wrapped(fmt.Sprintf("**%s.** %s", s.title, s.note)) + "\n")
	s.table(sb)
}

// lineWidth is the most columns of a line of prose.
const lineWidth = 100

// wrapped breaks text into lines of at most lineWidth columns, each with its newline.
func wrapped(text string) string {
	var sb strings.Builder
	width := 0
	for word := range strings.FieldsSeq(text) {
		n := utf8.RuneCountInString(word)
		switch {
		case width == 0:
		case width+1+n > lineWidth:
			sb.WriteByte('\n')
			width = 0
		default:
			sb.WriteByte(' ')
			width++
		}
		sb.WriteString(word)
		width += n
	}
	return sb.String() + "\n"
}

// table writes rows padded to equal width, so that the source reads as a table too.
func (s *section) table(sb *strings.Builder) {
	width := make([]int, len(s.header))
	for _, row := range append([][]string{s.header}, s.rows...) {
		for i, cell := range row {
			width[i] = max(width[i], utf8.RuneCountInString(cell), 3)
		}
	}
	line := func(cells []string) {
		for i, w := range width {
			sb.WriteString("| " + cells[i] +
				strings.Repeat(" ", w-utf8.RuneCountInString(cells[i])) + " ")
		}
		sb.WriteString("|\n")
	}
	line(s.header)
	for _, w := range width {
		sb.WriteString("|" + strings.Repeat("-", w+2))
	}
	sb.WriteString("|\n")
	for _, row := range s.rows {
		line(row)
	}
}

// putBetween replaces the text between the markers of that name in the file.
func putBetween(path, mark, text string) error {
	old, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	updated, err := betweenMarkers(string(old), mark, text)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return replaceFile(path, updated)
}

// betweenMarkers does what putBetween does, on the text of a file.
func betweenMarkers(doc, mark, text string) (string, error) {
	markBegin, markEnd := "<!-- "+mark+":begin -->", "<!-- "+mark+":end -->"
	head, rest, ok := strings.Cut(doc, markBegin)
	if !ok {
		return "", errors.New("no " + markBegin)
	}
	_, tail, ok := strings.Cut(rest, markEnd)
	if !ok {
		return "", errors.New("no " + markEnd + " after " + markBegin)
	}
	return head + markBegin + "\n" + strings.Trim(text, "\n") + "\n" + markEnd + tail, nil
}

// replaceFile writes a file under a temporary name first, so that an interrupt leaves the old text
// or the new one.
func replaceFile(path, text string) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".bench-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.WriteString(text)
	if err := errors.Join(err, f.Chmod(0o644), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
