package diff

// Reads that block in rounds about blocking, and what wakes them. Redis 7.0 is sent none: there,
// clients go on waiting when their group or their key has gone.

// hasReads reports whether the rounds have reads that block.
func (g *Generator) hasReads() bool {
	return g.cfg.Reference != Redis7 && g.has("xreadgroup") && g.has("xadd")
}

// readKey returns one of the keys of streams, seldom another.
func (g *Generator) readKey() string {
	if g.chance(0.06) {
		return g.blockKey()
	}
	return g.pick("x0", "x1")
}

// expiringKey returns a key that may go by itself: no XREADGROUP waits there. In Redis it waits
// until the cron comes by.
func (g *Generator) expiringKey() string { return g.pick("l0", "l1", "l2", "z0", "z1") }

// blockingRead returns a read that blocks when it finds nothing.
func (g *Generator) blockingRead() []string {
	args := []string{"XREAD"}
	id := g.pick("$", "$", "0", g.recentID())
	if g.chance(0.6) {
		args = []string{"XREADGROUP", "GROUP", g.pick("g1", "g1", "g2"), g.pick("c1", "c2", "c3")}
		id = g.pick(">", ">", ">", ">", ">", "0")
		if g.chance(0.2) {
			args = append(args, "NOACK")
		}
	}
	if g.chance(0.5) {
		args = append(args, "COUNT", g.pick("1", "1", "2"))
	}
	key := g.readKey()
	if args[0] == "XREADGROUP" { // see expiringKey
		key = g.pick("x0", "x1")
	}
	args = append(args, "BLOCK", g.pick("0", "0", "1000000"))
	if g.chance(0.02) {
		args[len(args)-1] = g.pick("-1", "x", "0.5", "")
	}
	return append(args, "STREAMS", key, id)
}

// groupFirst returns a step that makes the group of an XREADGROUP, half of the time.
func (g *Generator) groupFirst(args []string) []Cmd {
	if args[0] != "XREADGROUP" || g.chance(0.5) {
		return nil
	}
	return g.supported(stepOf(0, "XGROUP", "CREATE", args[len(args)-2], args[2],
		g.pick("$", "$", "0"), "MKSTREAM"))
}

// readDriver returns a command that adds entries, or changes groups while clients wait.
func (g *Generator) readDriver() []string {
	key, group := g.readKey(), g.pick("g1", "g1", "g2")
	switch g.rnd.IntN(20) {
	case 0, 1, 2, 3, 4, 5, 6, 7:
		return []string{"XADD", key, g.nextID(), "f", g.newValue()}
	case 8, 9, 10, 11:
		return []string{"XGROUP", "CREATE", key, group, g.pick("$", "0"), "MKSTREAM"}
	case 12:
		return []string{"XGROUP", "DESTROY", key, group}
	case 13:
		return []string{"XGROUP", "SETID", key, group, g.pick("$", "0", g.recentID())}
	case 14:
		return []string{"XGROUP", "DELCONSUMER", key, group, g.pick("c1", "c2", "c3")}
	case 15:
		return []string{"XDEL", key, g.recentID(), g.recentID()}
	case 16:
		return []string{"XTRIM", key, "MAXLEN", g.pick("0", "1", "3")}
	case 17:
		return []string{"XACK", key, group, g.recentID(), g.recentID()}
	case 18:
		return []string{"XADD", key, "MAXLEN", "0", g.nextID(), "f", g.newValue()}
	}
	return []string{"XPENDING", key, group}
}
