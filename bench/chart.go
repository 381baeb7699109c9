//go:build linux

package main

import (
	"fmt"
	"html"
	"slices"
	"strings"
)

// chart is a picture with a group of bars for each of its figures, a bar for each server.
type chart struct {
	path, title string
	figures     []pageFigure
	relative    bool // to Redis 8
}

// charts returns the pictures of the docs.
func charts() []chart {
	speed := func(name, title string) pageFigure {
		row := title + ": " + name
		if !slices.Contains([]string{titleScripts, titleSketches, titleStreams}, title) {
			row += ", pipeline 16"
		}
		return pageFigure{name, row, measureCPU.name}
	}
	single := func(name string) pageFigure {
		return pageFigure{name + ", pipeline 1", titleStrings + ": " + name + ", pipeline 1",
			measureCPU.name}
	}
	key := func(row string) pageFigure { return pageFigure{row, titleMemory + ": " + row, "B/key"} }
	element := func(name, row string) pageFigure {
		return pageFigure{name, titleElements + ": " + row, measureElement.name}
	}
	return []chart{
		{"docs/speed.svg", "Server CPU for each command, at pipeline 16 if not said; Redis 8 = 1",
			[]pageFigure{single("GET"), single("SET"),
				speed("GET", titleStrings), speed("SET", titleStrings),
				speed("INCR", titleStrings), speed("MSET of 10", titleStrings),
				speed("MGET of 10", titleBatches), speed("HSET", titleCollections),
				speed("SADD", titleCollections), speed("ZADD", titleCollections),
				speed("LPUSH", titleCollections), speed("RPOP", titleCollections),
				speed("LRANGE_100", titleCollections), speed("EVAL of GET", titleScripts),
				speed("PFADD to one", titleSketches), speed(rowXADD, titleStreams),
				speed(rowXREADGROUP, titleStreams)}, true},
		{"docs/memory.svg", "Bytes of memory for each, less is better",
			[]pageFigure{key(rss8), key(rss64), key(rssDeadline),
				element("hash of 5 fields", "small hashes, for each hash of 5 fields"),
				element("field of a large hash", "hash, for each field"),
				element("member of a large set", "set, for each member"),
				element("member of a sorted set", "zset, for each member"),
				{"entry of a stream", entryFigure(rowEntry), measureElement.name},
				{"pending entry of a stream", entryFigure(rowPending), measureElement.name},
			}, false},
		{"docs/latency.svg", "p99.9 of a GET in milliseconds, less is better", latencyBars(),
			false},
	}
}

func latencyBars() (all []pageFigure) {
	for _, name := range eventNames {
		all = append(all, pageFigure{name, titleEvents + ": " + name, measureP999.name})
	}
	return append(all, pageFigure{expiryMeanwhile, titleExpiry + ": " + expiryMeanwhile,
		measureP999.name})
}

// Measures of the charts in pixels.
const (
	chartWidth  = 760
	chartLeft   = 210 // where bars begin
	chartBars   = 480 // the longest bar
	chartBar    = 11
	chartGap    = 10 // between groups
	chartTop    = 54
	chartColors = `<style>
text { font: 13px sans-serif; fill: #24292f }
.n { font-size: 10px }
.s0 { fill: #c46a5a }
.s1 { fill: #6f86c4 }
.s2 { fill: #b8bec6 }
.s3 { fill: #2f7a5f }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3 }
.s2 { fill: #5b636d }
.s3 { fill: #4fae8a }
}
</style>
`
)

// bar is one bar of a group.
type bar struct {
	value float64
	text  string
}

// bars returns a figure's bars, one for each server.
func (c *chart) bars(f *figure) []bar {
	all := make([]bar, 0, len(f.cells))
	for _, cell := range f.cells {
		b := bar{leading(cell), cell}
		if c.relative {
			ratio, _ := printedRatio(f.of(titleRedis8), cell)
			b.text = strings.TrimSuffix(ratio, "×")
			b.value = leading(b.text)
		}
		all = append(all, b)
	}
	return all
}

// svg renders the chart from the tables of the reports.
func (c *chart) svg(tables []table) (string, error) {
	var groups [][]bar
	var titles []string
	most := 0.0
	for _, p := range c.figures {
		f, err := find(tables, p.what, p.measure)
		if err != nil {
			return "", err
		}
		group := c.bars(&f)
		for _, b := range group {
			most = max(most, b.value)
		}
		groups, titles = append(groups, group), f.titles
	}
	step := chartBar*len(titles) + chartGap
	var sb strings.Builder
	height := chartTop + step*len(groups)
	fmt.Fprintf(&sb,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\">\n%s",
		chartWidth, height, chartWidth, chartColors)
	fmt.Fprintf(&sb, "<title>%[1]s</title>\n<text x=\"0\" y=\"16\">%[1]s</text>\n", c.title)
	for i, name := range titles {
		fmt.Fprintf(&sb, "<rect class=\"s%d\" x=\"%d\" y=\"27\" width=\"12\" height=\"12\"/>"+
			"<text x=\"%d\" y=\"38\">%s</text>\n", i, 90*i, 90*i+18, html.EscapeString(name))
	}
	for i, p := range c.figures {
		y := chartTop + step*i
		fmt.Fprintf(&sb, "<text x=\"0\" y=\"%d\">%s</text>\n", y+step/2, html.EscapeString(p.name))
		for j, b := range groups[i] {
			top, width := y+chartBar*j, b.value/max(most, 1e-9)*chartBars
			fmt.Fprintf(&sb, "<rect class=\"s%d\" x=\"%d\" y=\"%d\" width=\"%.1f\" height=\"%d\"/>"+
				"<text class=\"n\" x=\"%.0f\" y=\"%d\">%s</text>\n", j, chartLeft, top,
				max(width, 1), chartBar-1, chartLeft+width+5, top+chartBar-2, b.text)
		}
	}
	return sb.String() + "</svg>\n", nil
}
