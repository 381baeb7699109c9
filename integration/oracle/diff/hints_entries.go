package diff

import (
	"strconv"
)

// The hints of the data type stream. IDs are numbers that grow through the round, three to a
// millisecond. Those that are asked for are of the last few entries, so that commands meet them.

// entryID returns the n-th ID of the round.
func entryID(n int) string { return strconv.Itoa(n/3+1) + "-" + strconv.Itoa(n%3) }

// recentID returns the ID of one of the last entries, whole or its milliseconds only.
func (g *Generator) recentID() string {
	id := entryID(max(1, g.serial-g.rnd.IntN(14)))
	if g.chance(0.12) {
		return id[:len(id)-2]
	}
	return id
}

// nextID returns an ID that is larger than those before, or leaves its second number to the server.
func (g *Generator) nextID() string {
	g.serial++
	id := entryID(g.serial)
	if g.chance(0.15) {
		return id[:len(id)-1] + "*"
	}
	return id
}

func entryHints() map[string]hint {
	bad := oneOf("$", ">", "-", "+", "*", "x", "", "0", "0-0", "1-2-3", "(2-1", "1-*",
		"18446744073709551615-18446744073709551615", "18446744073709551616-1", " 1-1", "1--0")
	id := mostly(0.1, func(g *Generator) []string { return []string{g.recentID()} }, bad)
	bound := mostly(0.35, oneOf("-", "+", "-", "+", "0"), func(g *Generator) []string {
		if g.chance(0.3) {
			return []string{"(" + g.recentID()}
		}
		return id(g)
	})
	next := mostly(0.08, func(g *Generator) []string { return []string{g.nextID()} }, id)
	idle := mostly(0.1, oneOf("0", "0", "0", "100000000", "200000000"), oneOf("-1", "x", "1"))
	group := mostly(0.05, oneOf("g1", "g1", "g1", "g2"), oneOf("", "g3"))
	consumer := mostly(0.05, oneOf("c1", "c2", "c3"), oneOf("", "c4"))
	count := mostly(0.1, oneOf("1", "2", "3", "5", "10"), oneOf("0", "-1", "1000", "x",
		"9223372036854775807"))
	t := map[string]hint{
		"*.id": id, "xadd.id": next, "xadd.auto-id": mostly(0.12, next, oneOf("*")),
		"xsetid.last-id": next, "xsetid.max-deleted-id": id,
		"xsetid.entries-added": mostly(0.2, oneOf("100000"), oneOf("-1", "0", "x")),
		"xread.id":             mostly(0.4, oneOf("0", "0", "$", "+"), id),
		"xreadgroup.id":        mostly(0.3, oneOf(">"), mostly(0.4, oneOf("0"), id)),
		"xgroup|create.id":     mostly(0.3, oneOf("0"), id),
		"*.group":              group, "*.consumer": consumer, "*.min-idle-time": idle,
		"*.threshold":   oneOf("0", "1", "3", "5", "10", "1000", "-1"),
		"*.entriesread": mostly(0.3, oneOf("0", "-1"), oneOf("-2", "x", "1")),
		"xclaim.ms":     idle,
		"xclaim.lastid": id,
		"xclaim.unix-time-milliseconds": mostly(0.2, oneOf("0", "1", "1000", "4000000000000"),
			oneOf("-1", "x")),
		"xtrim.count":             mostly(0.2, oneOf("0", "1000000"), oneOf("-1", "x")),
		"xadd.count":              mostly(0.2, oneOf("0", "1000000"), oneOf("-1", "x")),
		"xread.milliseconds":      oneOf("1", "2"),
		"xreadgroup.milliseconds": oneOf("1", "2"),
	}
	for _, c := range []string{"xrange", "xrevrange", "xpending"} {
		t[c+".start"], t[c+".end"], t[c+".count"] = bound, bound, count
	}
	t["xautoclaim.start"] = mostly(0.4, oneOf("0", "0-0", "-"), bound)
	for _, c := range []string{"xread", "xreadgroup", "xautoclaim"} {
		t[c+".count"] = count
	}
	return t
}
