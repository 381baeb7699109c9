package soak

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

const (
	longestWait = 2 * time.Second
	// shortWaits are no fault, however short Redis's are. The runtime's collector and the system's
	// own noise take as long.
	shortWaits  = 200 * time.Millisecond
	timesRedis  = 20
	fewestKeys  = 0.9  // of Redis's
	fewerHits   = 0.01 // than Redis's
	leftAtFlush = mb
)

// faults returns what is wrong with a run of Godwit, whatever Redis does.
func faults(sc *scenario, f figures) []string {
	if f.err != nil {
		return []string{f.err.Error()}
	}
	var found []string
	if f.wait > longestWait {
		found = append(found, fmt.Sprintf("%q waits %v", f.waitFor, f.wait))
	}
	for _, e := range []struct {
		what   string
		excess int64
	}{
		{"used_memory during the load", f.overUsed}, {"RSS during the load", f.overRSS},
		{"used_memory after the load", f.restUsed}, {"RSS after the load", f.restRSS},
		{"used_memory after FLUSHALL", f.left - leftAtFlush},
		{"RSS after FLUSHALL", f.leftRSS - roomAfterFlush},
	} {
		if e.excess > 0 {
			found = append(found,
				fmt.Sprintf("%s: %s MB more than allowed", e.what, megabytes(e.excess)))
		}
	}
	if f.overUsed > 0 {
		found = append(found, "at the peak: "+f.atWorst)
	}
	if f.restUsed > 0 || f.restRSS > 0 {
		found = append(found, "after the load: "+f.atRest)
	}
	if f.left > leftAtFlush || f.leftRSS > roomAfterFlush {
		found = append(found, "after FLUSHALL: "+f.grown)
	}
	if sc.check != nil {
		if fault := sc.check(f); fault != "" {
			found = append(found, fault)
		}
	}
	return found
}

// differences returns where Godwit falls short of Redis under the same load.
func differences(sc *scenario, ours, theirs figures) []string {
	var found []string
	if allowed := max(shortWaits, timesRedis*theirs.wait); ours.wait > allowed {
		found = append(found, fmt.Sprintf("%q waits %v; Redis's longest wait is %v", ours.waitFor,
			ours.wait, theirs.wait))
	}
	if ours.keys < fewestKeys*theirs.keys {
		found = append(found, fmt.Sprintf("%.0f keys, Redis has %.0f", ours.keys, theirs.keys))
	}
	if ours.hits < theirs.hits-fewerHits {
		found = append(found, fmt.Sprintf("%.4f of the reads hit, with Redis %.4f", ours.hits,
			theirs.hits))
	}
	if sc.compare != nil {
		if difference := sc.compare(ours, theirs); difference != "" {
			found = append(found, difference)
		}
	}
	return found
}

// line is one run of a scenario in the table.
type line struct {
	name   string
	size   int
	ours   figures
	theirs *figures
	faults []string
}

// table is the report.
type table struct{ lines []line }

func (t *table) add(l line) { t.lines = append(t.lines, l) }

// markdown returns the table. Pairs of figures are Redis's and Godwit's. Memory is in MB.
func (t *table) markdown() string {
	var sb strings.Builder
	sb.WriteString("Pairs are Redis / Godwit; memory in MB, waits in ms.\nAfter FLUSHALL: " +
		"what is more than just after the start.\n\n")
	sb.WriteString("| scenario | size | limit | used peak | used settled " +
		"| RSS peak | RSS settled | keys | hits | fragmentation | longest wait | seconds " +
		"| used after FLUSHALL | RSS after FLUSHALL | refused of commands | faults |\n|" +
		strings.Repeat("---|", 16) + "\n")
	for _, l := range t.lines {
		pair := func(show func(figures) string) string {
			if l.theirs == nil {
				return "– / " + show(l.ours)
			}
			return show(*l.theirs) + " / " + show(l.ours)
		}
		size := func(field func(figures) int64) string {
			return pair(func(f figures) string { return megabytes(field(f)) })
		}
		share := func(field func(figures) float64, format string) string {
			return pair(func(f figures) string {
				if field(f) == 0 {
					return "–"
				}
				return fmt.Sprintf(format, field(f))
			})
		}
		cells := []string{l.name, strconv.Itoa(l.size), megabytes(l.ours.limit),
			size(func(f figures) int64 { return f.peakUsed }),
			size(func(f figures) int64 { return f.used }),
			size(func(f figures) int64 { return f.peakRSS }),
			size(func(f figures) int64 { return f.rss }),
			share(func(f figures) float64 { return f.keys }, "%.0f"),
			share(func(f figures) float64 { return f.hits }, "%.4f"),
			share(func(f figures) float64 { return f.frag }, "%.2f"),
			pair(func(f figures) string { return fmt.Sprintf("%.1f", float64(f.wait)/1e6) }),
			pair(func(f figures) string { return fmt.Sprintf("%.1f", f.loadTime.Seconds()) }),
			size(func(f figures) int64 { return f.left }),
			size(func(f figures) int64 { return f.leftRSS }),
			pair(func(f figures) string { return fmt.Sprintf("%d of %d", f.refused, f.done) }),
			verdict(l.faults)}
		sb.WriteString("| " + strings.Join(cells, " | ") + " |\n")
	}
	return sb.String()
}

func verdict(faults []string) string {
	if len(faults) == 0 {
		return "none"
	}
	first, _, _ := strings.Cut(faults[0], "\n")
	return fmt.Sprintf("%d: %.100s", len(faults), strings.ReplaceAll(first, "|", "/"))
}

func megabytes(n int64) string { return fmt.Sprintf("%.1f", float64(n)/float64(mb)) }
