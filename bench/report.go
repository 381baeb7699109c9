//go:build linux

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"
)

// Targets, as Godwit ÷ Redis or in milliseconds of difference.
const (
	targetThroughput = 1.6 // at least, GET and SET at pipeline 16
	targetCPU        = 1.0 // at most, pipeline 1
	targetBulkCPU    = 0.5 // at most
	targetRSS        = 0.8 // at most, 64-byte values
	targetStall      = 2.0 // ms at most, p99.9 of an event minus idle
	targetCollection = 1.3 // at least, pipeline 16
)

// busyMachine is the share of CPU time used by others above which the report warns.
const busyMachine = 0.05

// report collects tables and renders them as Markdown.
type report struct {
	plan     plan
	machine  string
	took     time.Duration
	others   float64 // share of the machine's CPU time that went to other processes
	sections []*section
}

type section struct {
	title, note string
	header      []string
	rows        [][]string
}

func newReport(p plan, machine string) *report { return &report{plan: p, machine: machine} }

func (r *report) section(title, note string, header ...string) *section {
	s := &section{title: title, note: note, header: header}
	r.sections = append(r.sections, s)
	return s
}

func (s *section) row(cells ...string) { s.rows = append(s.rows, cells) }

func (r *report) last() *section { return r.sections[len(r.sections)-1] }

// atMost and atLeast render a target with its verdict. A quick run is too small to judge, so its
// verdict is in brackets.
func (r *report) atMost(value, limit float64, unit string) string {
	return r.verdict("≤ "+trim(limit)+unit, value <= limit)
}

func (r *report) atLeast(value, limit float64, unit string) string {
	return r.verdict("≥ "+trim(limit)+unit, value >= limit)
}

func (r *report) verdict(target string, met bool) string {
	word := "missed"
	if met {
		word = "met"
	}
	if r.plan.quick {
		word = "(" + word + ")"
	}
	return target + " " + word
}

func trim(v float64) string { return fmt.Sprintf("%.1f", v) }

func (r *report) throughputHeader() {
	r.section("Throughput and server CPU",
		fmt.Sprintf("redis-benchmark, 50 connections, %s keys, %d-byte values. Ratios are Godwit "+
			"÷ Redis.",
			count(r.plan.keys), r.plan.valueSize),
		"command", "pipeline", "Redis k ops/s", "Godwit k ops/s", "ratio", "target",
		"Redis CPU µs/op", "Godwit CPU µs/op", "ratio", "target")
}

func (r *report) throughputRow(test string, pipeline int, rps, cpu *series) {
	ops, used := rps.show("%.0f", 1e3), cpu.show("%.2f", 1)
	var speed, cost string
	if pipeline == 16 && (test == "get" || test == "set") {
		speed = r.atLeast(ops.value, targetThroughput, "")
	}
	if pipeline == 1 {
		cost = r.atMost(used.value, targetCPU, "")
	}
	r.last().row(strings.ToUpper(test), fmt.Sprint(pipeline), ops.redis, ops.godwit, ops.ratio,
		speed,
		used.redis, used.godwit, used.ratio, cost)
}

func (r *report) latency(p50, p99, p999, worst *series) {
	s := r.section("Latency under moderate load",
		fmt.Sprintf("A GET each millisecond beside 8 connections with about 2,000 commands a "+
			"second each; %s keys.", count(r.plan.keys)),
		"percentile", "Redis ms", "Godwit ms", "ratio")
	for _, l := range []struct {
		name string
		v    *series
	}{{"p50", p50}, {"p99", p99}, {"p99.9", p999}, {"max", worst}} {
		v := l.v.show("%.3f", 1)
		s.row(l.name, v.redis, v.godwit, v.ratio)
	}
}

func (r *report) rssHeader() {
	r.section("Memory",
		"Growth of resident memory since the idle start, for each key (16-byte keys).",
		"keys", "value bytes", "Redis B/key", "Godwit B/key", "ratio", "target")
}

func (r *report) rssRow(keys, size int, perKey *series) {
	v, target := perKey.show("%.0f", 1), ""
	if size == 64 {
		target = r.atMost(v.value, targetRSS, "")
	}
	r.last().row(count(keys), fmt.Sprint(size), v.redis, v.godwit, v.ratio, target)
}

func (r *report) bulk(cpu *series) {
	v := cpu.show("%.2f", 1)
	r.section("Bulk load",
		fmt.Sprintf("`redis-cli --pipe` with %s SETs of %d-byte values.", count(r.plan.keys),
			r.plan.valueSize),
		"", "Redis CPU µs/op", "Godwit CPU µs/op", "ratio", "target").
		row("SET", v.redis, v.godwit, v.ratio, r.atMost(v.value, targetBulkCPU, ""))
}

func (r *report) expiry(idle, during, diff, empty *series) {
	s := r.section("Mass expiry",
		fmt.Sprintf("%s keys, all due within one second; a second client's GETs meanwhile.",
			count(r.plan.expireKeys)),
		"server", "idle p99.9 ms", "p99.9 ms meanwhile", "difference ms", "target",
		"empty after the last deadline")
	for side := range sides {
		target := ""
		if side == sideGodwit {
			target = r.atMost(diff.median(side), targetStall, " ms")
		}
		s.row(sideNames[side], ms(idle.median(side)), ms(during.median(side)),
			ms(diff.median(side)), target,
			fmt.Sprintf("%.0f ms", empty.median(side)))
	}
}

func (r *report) events(p999, diff, worst []series) {
	p := &r.plan
	s := r.section("Latency during heavy work",
		fmt.Sprintf("p99.9 of a GET every %v, and its difference to idle. `growth`: from %s to "+
			"%s keys at %s inserts a second, through a "+
			"doubling of the table; `overwrite`: the same load without growth; "+
			"`flushall async` of %s keys; `unlink` of %d strings of %d MiB.",
			p.eventProbeEvery, count(p.growFrom), count(p.growTo), count(p.growRate),
			count(p.growTo), p.bigValues, p.bigValueSize>>20),
		"during", "Redis p99.9 ms", "Redis − idle", "Redis max", "Godwit p99.9 ms", "Godwit − idle",
		"Godwit max", "target")
	for i, name := range eventNames {
		target := ""
		if name != "idle" && name != "overwrite" {
			target = r.atMost(diff[i].median(sideGodwit), targetStall, " ms")
		}
		cells := []string{name}
		for side := range sides {
			cells = append(cells, ms(p999[i].median(side)), ms(diff[i].median(side)),
				ms(worst[i].median(side)))
		}
		s.row(append(cells, target)...)
	}
}

func (r *report) collectionsHeader() {
	r.section("Collections",
		fmt.Sprintf("The rest of redis-benchmark's default list: 50 connections, members from %s.",
			count(r.plan.elements)),
		"command", "pipeline", "Redis k ops/s", "Godwit k ops/s", "ratio", "target",
		"Redis CPU µs/op", "Godwit CPU µs/op", "ratio", "target")
}

func (r *report) collectionsRow(test string, pipeline int, rps, cpu *series) {
	ops, used := rps.show("%.0f", 1e3), cpu.show("%.2f", 1)
	var speed, cost string
	if pipeline == 16 {
		speed = r.atLeast(ops.value, targetCollection, "")
	} else {
		cost = r.atMost(used.value, targetCPU, "")
	}
	r.last().row(strings.ToUpper(test), fmt.Sprint(pipeline), ops.redis, ops.godwit, ops.ratio,
		speed,
		used.redis, used.godwit, used.ratio, cost)
}

func (r *report) elementsHeader() {
	r.section("Memory of collections",
		fmt.Sprintf("Growth of used_memory: one collection of %s elements, members of 14 bytes, "+
			"hash values of 2 to 8; and %s small hashes.",
			count(r.plan.elements), count(r.plan.elements)),
		"collection", "for each", "Redis B", "Godwit B", "ratio", "target")
}

func (r *report) elementsRow(k elementKind, per *series) {
	v := per.show("%.1f", 1)
	r.last().row(k.name, k.per, v.redis, v.godwit, v.ratio,
		r.verdict(fmt.Sprintf("≤ %.2f", k.target), v.value <= k.target))
}

func (r *report) big(names []string, cpu []series, stall *series) {
	s := r.section("Large collections",
		fmt.Sprintf("Server CPU: ZRANK and ZRANGE of 10 on a sorted set of %s, for each command; "+
			"the set operations on %s members each, half of them common.",
			count(r.plan.bigMembers), count(r.plan.elements)),
		"command", "Redis CPU µs", "Godwit CPU µs", "ratio", "target")
	for i, name := range names {
		v := cpu[i].show("%.2f", 1)
		s.row(name, v.redis, v.godwit, v.ratio, r.atMost(v.value, targetCPU, ""))
	}
	v := stall.show("%.2f ms", 1)
	s.row("DEL of the big set: longest wait of others", v.redis, v.godwit, v.ratio, "")
}

func ms(v float64) string { return fmt.Sprintf("%.2f", v) }

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

// markdown renders the whole report.
func (r *report) markdown() string {
	var sb strings.Builder
	sb.WriteString(wrapped(fmt.Sprintf("%s. Medians of %d round(s), servers alternating, "+
		"%s in all. Other processes used %.0f %% of the machine's CPU time meanwhile.",
		r.machine, r.plan.rounds, r.took.Round(time.Second), r.others*100)))
	if r.others > busyMachine {
		sb.WriteString("That is too much for p99.9 latencies to mean much: " +
			"repeat on a quieter machine.\n")
	}
	if r.plan.quick {
		sb.WriteString("A quick run: too small and too short to judge the targets, " +
			"hence the brackets.\n")
	}
	for _, s := range r.sections {
		sb.WriteString("\n" + wrapped(fmt.Sprintf("**%s.** %s", s.title, s.note)) + "\n")
		s.table(&sb)
	}
	return sb.String()
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
