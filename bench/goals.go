//go:build linux

package main

import (
	"fmt"
	"slices"
	"strings"
)

// against says what a goal compares Godwit's figure with.
type against int

const (
	theBetter    against = iota // the better one of the others: a ratio
	valkey                      // Valkey 9: a ratio
	itself                      // another row of its own: a ratio
	aboveItself                 // another row of its own: a difference
	nothing                     // the figure by itself
	anyOfMeasure                // theBetter, the highest ratio of RESULTS' rows whose label ends so
)

// goal is a limit for a figure of the reports.
type goal struct {
	what, measure string // see find
	against       against
	than          string // the other row, for itself and aboveItself
	limit         float64
	atLeast       bool   // the limit is the least, not the most
	unit          string // for aboveItself and nothing
}

// goals returns all goals, in the order of the table.
func goals() []goal {
	all := speedGoals()
	all = append(all, lightGoals()...)
	all = append(all, memoryGoals()...)
	all = append(all, latencyGoals()...)
	all = append(all, streamGoals()...)
	all = append(all, replicationGoals()...)
	return append(all, persistGoals()...)
}

// Titles of the sections that goals and pages take figures from.
const (
	titleStrings     = "Strings"
	titleCollections = "Collections"
	titleBatches     = "Batches"
	titleScripts     = "Scripts"
	titleSketches    = "HyperLogLog and geo"
	titleLight       = "Light load"
	titleIdle        = "Idle"
	titleMemory      = "Memory of keys"
	titleOverhead    = "Memory of keys beyond their own bytes"
	titleElements    = "Memory of collections"
	titleEvents      = "Latency during heavy work"
	titleExpiry      = "Mass expiry"
	titleEmpty       = "Mass expiry, from the last deadline until all are gone"
	titleSnapshots   = "Snapshots under a full write load"
	titleFiles       = "Files"
	titleFileSize    = "Size of the file"
	titleLog         = "The log"

	titleStreamMemory  = "Memory of streams"
	titleStreamDeleted = "Memory of a stream without 90 % of its entries"
	titleStreams       = "Streams"
	titleReaders       = "Wake-up of a blocked reader"
	titleBigStream     = "One large stream"
	titleBigStreamSave = "Latency beside a large stream"

	titleFullSync    = "Full synchronization"
	titleSyncLatency = "Latency during a full synchronization"
	titleReplicaCost = "What a replica costs"
	titleApply       = "Applying the stream"
	titleLag         = "Lag of a replica"
)

// persistTitles lists the sections of `make bench-persist`.
var persistTitles = []string{titleSnapshots, titleFiles, titleFileSize, titleLog}

func speedGoals() (all []goal) {
	cpu := func(title, row string, limit float64) {
		all = append(all, goal{what: title + ": " + row, measure: measureCPU.name, limit: limit})
	}
	const p1, p16 = ", pipeline 1", ", pipeline 16"
	cpu(titleStrings, "GET"+p16, 0.6)
	cpu(titleStrings, "SET"+p16, 0.5)
	cpu(titleStrings, "INCR"+p16, 0.5)
	cpu(titleStrings, "MSET of 10"+p16, 0.4)
	cpu(titleBatches, "MGET of 10"+p16, 0.45)
	for _, c := range []struct {
		name  string
		limit float64
	}{{"HSET", 0.5}, {"ZADD", 0.5}, {"SADD", 0.5}, {"LPUSH", 0.6}, {"RPOP", 0.7},
		{"LRANGE_100", 0.45}} {
		cpu(titleCollections, c.name+p16, c.limit)
	}
	cpu(titleScripts, "EVAL of GET", 0.55)
	cpu(titleScripts, "EVAL of 100 additions", 1.2)
	cpu(titleScripts, "EVAL of a loop of 10,000", 2)
	cpu(titleScripts, "EVAL of a table of 1,000", 2)
	cpu(titleScripts, "EVAL of strings", 1.1)
	cpu(titleScripts, "EVAL of cjson", 1)
	cpu(titleScripts, "EVAL of cmsgpack", 1)
	cpu(titleSketches, "PFADD to one", 0.7)
	cpu(titleStrings, "MSET of 10"+p1, 0.65)
	for _, name := range []string{"GET", "SET", "INCR"} {
		cpu(titleStrings, name+p1, 0.85)
	}
	for _, name := range []string{"HSET", "ZADD"} {
		cpu(titleCollections, name+p1, 0.85)
	}
	all = append(all, goal{what: p1, measure: measureCPU.name, against: anyOfMeasure, limit: 1})
	for _, c := range batchCases() {
		if c.pipeline > 1 && c.name != "MGET of 10" {
			cpu(titleBatches, c.name+p16, 0.8)
		}
	}
	cpu(titleBatches, mixedName+p16, 0.8)
	return all
}

func lightGoals() (all []goal) {
	for _, rate := range lightRates {
		for _, m := range []measure{measureCPU, measureP50} {
			all = append(all, goal{what: fmt.Sprintf("%s: requests a second %d", titleLight, rate),
				measure: m.name, against: valkey, limit: 1.1})
		}
	}
	for _, conns := range []int{0, fullPlan().idleConns} {
		all = append(all, goal{what: fmt.Sprintf("%s: connections %d", titleIdle, conns),
			measure: measureIdle.name, against: nothing, limit: 0.2, unit: " %"})
	}
	return all
}

func memoryGoals() []goal {
	key := measureKey.name
	element := func(row string, limit float64) goal {
		return goal{what: titleElements + ": " + row, measure: measureElement.name, limit: limit}
	}
	return []goal{
		{what: titleOverhead + ": " + rss64, measure: key, limit: 0.5},
		{what: titleMemory + ": " + rss8, measure: key, limit: 0.7},
		{what: titleMemory + ": " + rssDeadline, measure: key, limit: 0.8},
		{what: titleMemory + ": " + rssTenth, measure: key, against: itself,
			than: titleMemory + ": " + rss64, limit: 1},
		element("zset, for each member", 0.65),
		element("hash, for each field", 0.65),
		element("set, for each member", 0.75),
		element("small hashes, for each hash of 5 fields", 0.65),
	}
}

func latencyGoals() (all []goal) {
	add := func(title, row string) {
		all = append(all, goal{what: title + ": " + row, measure: measureP999.name,
			against: aboveItself, than: title + ": idle", limit: 1, unit: " ms"})
	}
	for _, name := range eventNames {
		if name != eventIdle && name != eventOverwrite {
			add(titleEvents, name)
		}
	}
	add(titleExpiry, expiryMeanwhile)
	return all
}

// streamGoals returns the goals of `make bench-streams`.
func streamGoals() (all []goal) {
	for _, h := range streamShapes {
		for _, row := range []struct {
			name  string
			limit float64
		}{{rowEntry, 0.8}, {rowPending, 0.3}} {
			all = append(all, goal{what: fmt.Sprintf("%s: %s, entries a ms %d",
				titleStreamMemory, row.name, h.perMs), measure: measureElement.name,
				limit: row.limit})
		}
	}
	all = append(all, goal{what: titleStreamDeleted, measure: measureShare.name, against: nothing,
		limit: 0.3})
	for _, row := range []struct {
		name  string
		limit float64
	}{{rowXADD, 0.8}, {rowXRANGE, 0.8}, {rowXREADGROUP, 0.7}, {rowXACK, 0.8},
		{rowXAUTOCLAIM, 0.5}, {rowNothingIdle, 0.5}} {
		all = append(all, goal{what: titleStreams + ": " + row.name, measure: measureCPU.name,
			limit: row.limit})
	}
	for _, w := range streamWakeups() {
		all = append(all, goal{what: titleReaders + ": " + w.name, measure: measureP50.name,
			limit: 1.1})
	}
	for _, name := range bigStreamCommands() {
		row := titleBigStream + ": " + name + ", stream "
		all = append(all, goal{what: row + streamLarge, measure: measureCPU.name, against: itself,
			than: row + streamSmall, limit: 2})
	}
	return append(all, goal{what: titleBigStreamSave + ": BGSAVE", measure: measureP999.name,
		against: aboveItself, than: titleBigStreamSave + ": " + eventIdle, limit: 2, unit: " ms"})
}

// persistGoals returns the goals of `make bench-persist`.
func persistGoals() (all []goal) {
	for _, k := range snapshotKinds() {
		what := titleSnapshots + ": " + k.name
		all = append(all,
			goal{what: what, measure: measureGrowth.name, against: nothing, limit: 10, unit: " %"},
			goal{what: what, measure: measureKept.name, against: nothing, limit: 80,
				atLeast: true, unit: " %"})
	}
	everysec := titleLog + ": everysec, pipeline 16"
	return append(all,
		goal{what: titleFiles + ": SAVE", measure: measureSeconds.name, limit: 0.8},
		goal{what: titleFiles + ": load", measure: measureSeconds.name, limit: 0.8},
		goal{what: titleFileSize, measure: measureMB.name, limit: 1.02},
		goal{what: everysec, measure: measureOps.name, against: itself,
			than: titleLog + ": no log, pipeline 16", limit: 0.9, atLeast: true})
}

// replicationGoals returns the goals of `make bench-replication`.
func replicationGoals() (all []goal) {
	all = append(all,
		goal{what: titleFullSync, measure: measureSeconds.name, limit: 0.7},
		goal{what: titleFullSync, measure: measureGrowth.name, against: nothing, limit: 10,
			unit: " %"},
		goal{what: titleSyncLatency + ": " + rowSyncing, measure: measureP999.name,
			against: aboveItself, than: titleSyncLatency + ": " + eventIdle, limit: 2,
			unit: " ms"})
	for _, test := range replicaTests {
		row := titleReplicaCost + ": " + testTitle(test) + ", "
		all = append(all,
			goal{what: row + "server " + rowElsewhere, measure: measureOps.name,
				against: itself, than: row + "server " + rowAlone, limit: 0.92, atLeast: true},
			goal{what: titleApply + ": " + testTitle(test), measure: measureCPU.name,
				limit: 0.6})
	}
	return append(all, goal{what: titleLag, measure: measureP99.name, against: nothing, limit: 5,
		unit: " ms"})
}

// value returns the goal's figure from the tables, printed and as a number. ok is false if they do
// not have it.
func (g *goal) value(tables []table) (text string, v float64, ok bool) {
	if g.against == anyOfMeasure {
		return g.highest(tables)
	}
	f, err := find(tables, g.what, g.measure)
	if err != nil {
		return "", 0, false
	}
	switch g.against {
	case theBetter:
		text, v = f.ratio()
	case valkey:
		text, v = printedRatio(f.of(titleValkey9), f.godwit())
	case nothing:
		text, v = f.godwit(), leading(f.godwit())
		text = strings.TrimSpace(strings.TrimSuffix(text, strings.TrimSpace(g.unit))) + g.unit
	default:
		other, err := find(tables, g.than, g.measure)
		if err != nil {
			return "", 0, false
		}
		if g.against == itself {
			text, v = printedRatio(other.godwit(), f.godwit())
			break
		}
		v = leading(f.godwit()) - leading(other.godwit())
		text = fmt.Sprintf("%+.2f%s", v, g.unit)
	}
	return text, v, text != "–"
}

// highest returns the highest ratio of the measure of all rows whose label ends in what, and names
// the row. The parts that have reports of their own do not count.
func (g *goal) highest(tables []table) (text string, v float64, ok bool) {
	for i := range tables {
		if slices.Contains(persistTitles, tables[i].title) ||
			slices.Contains(streamTitles, tables[i].title) ||
			slices.Contains(replicationTitles, tables[i].title) {
			continue
		}
		for _, f := range tables[i].figures() {
			if f.measure != g.measure || !strings.HasSuffix(f.what, g.what) {
				continue
			}
			if t, r := f.ratio(); !ok || r > v {
				text, v, ok = t+" ("+f.what+")", r, true
			}
		}
	}
	return text, v, ok
}

// name says what the goal is about.
func (g *goal) name() string {
	switch g.against {
	case anyOfMeasure:
		return "The highest of all with" + strings.TrimPrefix(g.what, ",") + " (" + g.measure + ")"
	case valkey:
		return fmt.Sprintf("%s (%s), to Valkey 9", g.what, g.measure)
	case itself, aboveItself:
		_, than, _ := strings.Cut(g.than, ": ")
		return fmt.Sprintf("%s (%s), to its own %q", g.what, g.measure, than)
	}
	return fmt.Sprintf("%s (%s)", g.what, g.measure)
}

// bound prints the limit.
func (g *goal) bound() string {
	sign, unit := "≤ ", g.unit
	if g.atLeast {
		sign = "≥ "
	}
	if unit == "" {
		unit = "×"
	}
	return sign + fmt.Sprint(g.limit) + unit
}

// goalSection returns the table of the goals that the tables have figures for, nil if there is
// none. The verdict of a run that is too small to judge stands in brackets.
func goalSection(tables []table, brackets bool) *section {
	s := &section{title: "Goals", note: "Each with its figure of this run. A ratio is Godwit ÷ " +
		"the better one of Redis 8 and Valkey 9 where nothing else is said. A missed goal does " +
		"not fail the run.", header: []string{"goal", "limit", "figure", "verdict"}}
	for _, g := range goals() {
		text, v, ok := g.value(tables)
		if !ok {
			continue
		}
		word := "**missed**"
		if v <= g.limit && !g.atLeast || v >= g.limit && g.atLeast {
			word = "met"
		}
		if brackets {
			word = "(" + strings.Trim(word, "*") + ")"
		}
		s.row(g.name(), g.bound(), text, word)
	}
	if len(s.rows) == 0 {
		return nil
	}
	return s
}
