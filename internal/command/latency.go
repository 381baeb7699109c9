package command

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"godwit/internal/engine"
	"godwit/internal/metrics"
	"godwit/internal/spec"
)

func latencyLatestCmd(c *engine.Ctx) {
	names := c.E.Latency.Names()
	c.Array(len(names))
	for _, name := range names {
		ev := c.E.Latency.Get(name)
		s := ev.Latest()
		c.Array(4)
		c.BulkString(name)
		c.Int(s.Time)
		c.Int(s.Latency)
		c.Int(ev.Max())
	}
}

func latencyHistoryCmd(c *engine.Ctx) {
	ev := c.E.Latency.Get(string(c.Args[2]))
	if ev == nil {
		c.Array(0)
		return
	}
	c.Array(ev.Len())
	for i := range ev.Len() {
		s := ev.At(i)
		c.Array(2)
		c.Int(s.Time)
		c.Int(s.Latency)
	}
}

func latencyResetCmd(c *engine.Ctx) {
	if len(c.Args) == 2 {
		c.Int(int64(c.E.Latency.ResetAll()))
		return
	}
	n := int64(0)
	for _, a := range c.Args[2:] {
		n += boolInt(c.E.Latency.Reset(string(a)))
	}
	c.Int(n)
}

// latencyHistogramCmd shows those of the named commands that have run. The name of a container
// includes its subcommands. Unknown names are ignored.
func latencyHistogramCmd(c *engine.Ctx) {
	var shown []*spec.Command
	add := func(cmd *spec.Command) {
		if c.E.CommandStats(cmd).Hist.Count() > 0 {
			shown = append(shown, cmd)
		}
	}
	addAll := func(cmd *spec.Command) {
		add(cmd)
		for _, s := range cmd.Sub {
			add(s)
		}
	}
	if len(c.Args) == 2 {
		for _, cmd := range c.E.Table().List() {
			addAll(cmd)
		}
	}
	for _, a := range c.Args[2:] {
		if cmd := c.E.Table().Get(string(a)); cmd != nil {
			addAll(cmd)
		}
	}
	c.Map(len(shown))
	for _, cmd := range shown {
		h := &c.E.CommandStats(cmd).Hist
		var steps []int64
		h.Cumulative(func(us int64, count uint64) { steps = append(steps, us, int64(count)) })
		c.BulkString(cmd.FullName())
		c.Map(2)
		c.BulkString("calls")
		c.Int(int64(h.Count()))
		c.BulkString("histogram_usec")
		c.Map(len(steps) / 2)
		for _, n := range steps {
			c.Int(n)
		}
	}
}

func latencyGraphCmd(c *engine.Ctx) {
	name := string(c.Args[2])
	ev := c.E.Latency.Get(name)
	if ev == nil {
		c.Err("ERR No samples available for event '" + cString([]byte(name), len(name)) + "'")
		return
	}
	c.Verbatim("txt", latencyGraph(name, ev, c.Now/1000))
}

const graphCols = 80

// latencyGraph returns the picture of LATENCY GRAPH, with each sample's age below it.
func latencyGraph(name string, ev *metrics.Event, now int64) string {
	s := ev.Stats(now)
	values, labels := make([]int64, ev.Len()), make([]string, ev.Len())
	for i := range values {
		values[i], labels[i] = ev.At(i).Latency, age(now-ev.At(i).Time)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s - high %d ms, low %d ms (all time high %d ms)\n",
		name, s.Max, s.Min, s.AllTime)
	b.WriteString(strings.Repeat("-", graphCols) + "\n")
	for i := 0; i < len(values); i += graphCols {
		if i > 0 {
			b.WriteByte('\n')
		}
		end := min(i+graphCols, len(values))
		sparkline(&b, values[i:end], labels[i:end], s.Min, s.Max)
	}
	return b.String()
}

// age formats a time span in its largest whole unit.
func age(sec int64) string {
	switch {
	case sec < 60:
		return strconv.FormatInt(sec, 10) + "s"
	case sec < 3600:
		return strconv.FormatInt(sec/60, 10) + "m"
	case sec < 24*3600:
		return strconv.FormatInt(sec/3600, 10) + "h"
	}
	return strconv.FormatInt(sec/(24*3600), 10) + "d"
}

// sparkRows is the height of a sparkline in lines. Each line can show three levels.
const sparkRows = 4

// sparkline draws one column for each value, with low at the bottom and high at the top. Below an
// empty line it writes the labels downwards. The format is Redis's.
func sparkline(b *strings.Builder, values []int64, labels []string, low, high int64) {
	const levels = "_o#"
	const steps = sparkRows * len(levels)
	step := func(v int64) int {
		return min(int(float64((v-low)*int64(steps))/float64(max(high-low, 1))), steps-1)
	}
	line := make([]byte, len(values))
	draw := func(at func(col int) byte) {
		for i := range line {
			line[i] = at(i)
		}
		b.Write(line)
		b.WriteByte('\n')
	}
	for row := sparkRows - 1; row >= 0; row-- {
		draw(func(i int) byte {
			switch k := step(values[i]) - row*len(levels); {
			case k < 0:
				return ' '
			case k < len(levels):
				return levels[k]
			}
			return '|'
		})
	}
	draw(func(int) byte { return ' ' })
	longest := len(slices.MaxFunc(labels, func(a, b string) int { return len(a) - len(b) }))
	for row := range longest {
		draw(func(i int) byte {
			if row < len(labels[i]) {
				return labels[i][row]
			}
			return ' '
		})
	}
}

// remedy returns advice against an event, or "" if it knows none.
func remedy(event string) string {
	switch event {
	case "command":
		return "Slow commands: SLOWLOG GET names them. Commands that walk whole collections or " +
			"all keys hold up everybody."
	case "fast-command":
		return "Commands that are fast by nature took long: the machine is short of CPU, or " +
			"swaps (compare used_memory_rss with its memory)."
	case "expire-cycle":
		return "Many keys fall due in the same moment: spread their deadlines, or lower " +
			"active-expire-effort."
	case "eviction-cycle":
		return "Commands have to evict: maxmemory is too low for the load, or " +
			"maxmemory-eviction-tenacity too high."
	case "eviction-del":
		return "Deleting single evicted values takes long: lazyfree-lazy-eviction yes frees them " +
			"in slices."
	}
	return ""
}

// latencyDiagnosis returns the reply of LATENCY DOCTOR: what happened, and what helps.
func latencyDiagnosis(e *engine.Engine) string {
	names := e.Latency.Names()
	if len(names) == 0 {
		if e.Cfg.LatencyMonitorThreshold == 0 {
			return "The latency monitor is off in this instance: CONFIG SET " +
				"latency-monitor-threshold <milliseconds> turns it on.\n"
		}
		return "No latency over latency-monitor-threshold was seen. All is well.\n"
	}
	var b strings.Builder
	b.WriteString("This instance was slow at times:\n\n")
	for i, name := range names {
		s := e.Latency.Get(name).Stats(e.Now() / 1000)
		fmt.Fprintf(&b,
			"%d. %s: %d latency spikes (average %dms, mean deviation %dms, period %.2f sec). "+
				"Worst all time event %dms.\n",
			i+1, name, s.Samples, s.Average, s.Mad, s.Period, s.AllTime)
	}
	b.WriteString("\nWhat may help:\n\n")
	for _, name := range names {
		if r := remedy(name); r != "" {
			b.WriteString("- " + r + "\n")
		}
	}
	return b.String()
}
