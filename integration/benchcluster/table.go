package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"godwit/internal/testserver"
)

// result is what one run has measured.
type result struct {
	kind         testserver.Kind
	took         time.Duration
	cpu          float64 // seconds of both servers during the move
	idle, during latency
}

func (r *result) String() string {
	return fmt.Sprintf("%.1f s, CPU %.1f s, p99.9 %.2f ms idle, %.2f ms during the move",
		r.took.Seconds(), r.cpu, r.idle.p999, r.during.p999)
}

// table shows the results, and how Godwit compares.
func (s *settings) table(list []result) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d MiB in strings of %d bytes, %d slots, from one master to another; two"+
		" clients that send %d commands a second each for other keys.\n\n", s.mb, s.value, moving,
		s.rate)
	b.WriteString("| | seconds | MiB/s | CPU s | idle p50 | p99 | p99.9 | moving p50 | p99 |" +
		" p99.9 | worst |\n|---|---|---|---|---|---|---|---|---|---|---|\n")
	for _, r := range list {
		fmt.Fprintf(&b, "| %s | %.1f | %.0f | %.1f | %.2f | %.2f | %.2f | %.2f | %.2f | %.2f |"+
			" %.2f |\n", names[r.kind], r.took.Seconds(), float64(s.mb)/r.took.Seconds(), r.cpu,
			r.idle.p50, r.idle.p99, r.idle.p999, r.during.p50, r.during.p99, r.during.p999,
			r.during.worst)
	}
	ours := median(list, testserver.Godwit)
	if ours == nil {
		return b.String()
	}
	b.WriteByte('\n')
	if r := median(list, testserver.Redis8); r != nil {
		x := r.took.Seconds() / ours.took.Seconds()
		fmt.Fprintf(&b, "- %.1f times as fast as Redis's reshard%s\n", x, goal(x >= 3, "3"))
	}
	if r := median(list, testserver.Valkey9); r != nil {
		x := ours.took.Seconds() / r.took.Seconds()
		fmt.Fprintf(&b, "- %.2f times Valkey's time%s\n", x, goal(x <= 1.2, "at most 1.2"))
	}
	x := ours.during.p999 - ours.idle.p999
	fmt.Fprintf(&b, "- p99.9 of other keys is %.2f ms above idle%s\n", x, goal(x <= 3,
		"at most 3"))
	return b.String()
}

var names = map[testserver.Kind]string{
	testserver.Redis8:  "Redis, `redis-cli --cluster reshard`",
	testserver.Valkey9: "Valkey, `CLUSTER MIGRATESLOTS`",
	testserver.Godwit:  "Godwit, `CLUSTER MIGRATESLOTS`",
}

func goal(met bool, want string) string {
	if met {
		return " (goal: " + want + ")"
	}
	return " (the goal, " + want + ", is missed)"
}

// median returns the run of a kind that took the median time, nil if there is none.
func median(list []result, k testserver.Kind) *result {
	var mine []result
	for _, r := range list {
		if r.kind == k {
			mine = append(mine, r)
		}
	}
	if len(mine) == 0 {
		return nil
	}
	slices.SortFunc(mine, func(a, b result) int { return int(a.took - b.took) })
	return &mine[(len(mine)-1)/2]
}
