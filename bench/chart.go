//go:build linux

package main

import (
	"fmt"
	"strings"
)

// bars lists the figures of the chart, all of them in bytes.
var bars = []struct{ name, what, measure string }{
	{"string of 8 bytes", "Memory: keys 3 M, value bytes 8", "B/key"},
	{"string of 64 bytes", "Memory: keys 3 M, value bytes 64", "B/key"},
	{"hash of 5 fields", "Memory of collections: small hashes, for each hash of 5 fields", "B"},
	{"field of a large hash", "Memory of collections: hash, for each field", "B"},
	{"member of a large set", "Memory of collections: set, for each member", "B"},
	{"member of a sorted set", "Memory of collections: zset, for each member", "B"},
}

// Measures of the chart in pixels.
const (
	chartWidth  = 640
	chartLeft   = 170 // where bars begin
	chartScale  = 2.2 // pixels for a byte
	chartRow    = 40
	chartTop    = 34
	chartColors = `<style>
text { font: 13px sans-serif; fill: #24292f }
.redis { fill: #b8bec6 }
.godwit { fill: #2f7a5f }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3 }
.redis { fill: #5b636d }
.godwit { fill: #4fae8a }
}
</style>
`
)

// chart renders the memory of keys and elements as a picture with two bars for each.
func chart(tables []table) (string, error) {
	var sb strings.Builder
	height := chartTop + chartRow*len(bars)
	fmt.Fprintf(&sb,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\">\n%s",
		chartWidth, height, chartWidth, chartColors)
	fmt.Fprintf(&sb, "<title>Bytes of memory, Redis and Godwit</title>\n"+
		"<text x=\"0\" y=\"16\">Bytes of memory</text>\n")
	for i, name := range sideNames {
		x := chartLeft + 90*i
		fmt.Fprintf(&sb, "<rect class=\"%s\" x=\"%d\" y=\"6\" width=\"12\" height=\"12\"/>"+
			"<text x=\"%d\" y=\"16\">%s</text>\n", strings.ToLower(name), x, x+18, name)
	}
	for i, b := range bars {
		p, err := find(tables, b.what, b.measure)
		if err != nil {
			return "", err
		}
		y := chartTop + chartRow*i
		fmt.Fprintf(&sb, "<text x=\"0\" y=\"%d\">%s</text>\n", y+20, b.name)
		for side, cell := range [sides]string{p.redis, p.godwit} {
			width := leading(cell) * chartScale
			top := y + 14*side
			fmt.Fprintf(&sb, "<rect class=\"%s\" x=\"%d\" y=\"%d\" width=\"%.0f\" height=\"13\"/>"+
				"<text x=\"%.0f\" y=\"%d\">%s</text>\n", strings.ToLower(sideNames[side]),
				chartLeft, top, width, chartLeft+width+6, top+11, cell)
		}
	}
	return sb.String() + "</svg>\n", nil
}
