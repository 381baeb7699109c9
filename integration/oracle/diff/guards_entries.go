package diff

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

// The guards of the data type stream. They keep the clocks of the servers out of replies, and what
// servers may do in their own way.

// autoKey is the stream whose IDs lie far ahead of the clock, so that those that the servers choose
// follow from the last one.
const (
	autoKey = "stauto"
	farID   = "99999999999999-*"
)

func entryGuards() map[string]guard {
	t := map[string]guard{
		"xadd": func(g *Generator, args [][]byte) [][]byte {
			return guardAutoID(g, guardTrim(g, args))
		},
		"xtrim": guardTrim, "xread": guardReads, "xsetid": guardAdded,
		"xreadgroup": func(g *Generator, args [][]byte) [][]byte {
			return guardConsumers(g, guardReads(g, args))
		},
		"xgroup|create": guardRead, "xgroup|setid": guardRead, "xpending": guardIdle,
	}
	for _, c := range []string{"xclaim", "xautoclaim"} {
		t[c] = func(g *Generator, args [][]byte) [][]byte {
			if args = guardIdle(g, args); len(args) < 4 {
				return args
			}
			return guardConsumer(g, args, args[1:2], args[2], args[3])
		}
	}
	return t
}

// guardAutoID sends a command whose ID the server chooses to autoKey. Another one before it makes
// sure that the last ID lies ahead.
func guardAutoID(g *Generator, args [][]byte) [][]byte {
	if !choosesID(Cmd{Args: args}) {
		return args
	}
	args[1] = []byte(autoKey)
	g.after = append(g.after, Cmd{Args: args})
	return cmdOf("XADD", autoKey, farID, "f", "v").Args
}

// choosesID reports whether the command may be an XADD whose ID is the time.
func choosesID(c Cmd) bool {
	return c.Name() == "xadd" && len(c.Args) > 2 && slices.ContainsFunc(c.Args[2:],
		func(a []byte) bool { return string(a) == "*" })
}

// ahead reports whether the command makes sure that the last ID of autoKey lies ahead.
func ahead(c Cmd) bool {
	return c.Name() == "xadd" && len(c.Args) > 2 && string(c.Args[2]) == farID
}

// guardTrim gives a threshold of the kind that the option asks for. Which entries go by ~ follows
// from how a server divides them into nodes. So it removes all of them, or none.
func guardTrim(g *Generator, args [][]byte) [][]byte {
	for i := 2; i+1 < len(args); i++ {
		word := strings.ToUpper(string(args[i]))
		if word == "LIMIT" {
			if n, err := strconv.Atoi(string(args[i+1])); err == nil && n > 0 {
				args[i+1] = []byte("1000000")
			}
		}
		if word != "MAXLEN" && word != "MINID" {
			continue
		}
		at := i + 1
		approximately := string(args[at]) == "~"
		if at+1 < len(args) && (approximately || string(args[at]) == "=") {
			at++
		}
		_, err := strconv.ParseInt(string(args[at]), 10, 64)
		switch {
		case word == "MAXLEN" && approximately && err == nil:
			args[at] = []byte(g.pick("0", "1000000"))
		case word == "MINID" && approximately:
			args[at] = []byte(g.pick("0", strconv.Itoa(math.MaxInt64), "x"))
		case word == "MINID" && g.chance(0.9):
			args[at] = []byte(g.recentID())
		}
	}
	return args
}

// guardReads gives as many IDs as keys, most of the time. A server before 7.4 does not know the ID
// +, and one before 7.2 waits for ever where a timeout is beyond the end of time.
func guardReads(g *Generator, args [][]byte) [][]byte {
	at := slices.IndexFunc(args, func(a []byte) bool {
		return strings.EqualFold(string(a), "STREAMS")
	})
	if at > 0 && g.chance(0.85) {
		args = slices.Clone(args[:at+1])
		n := max(1, g.rnd.IntN(6)-2)
		for range n {
			args = append(args, []byte(g.key()))
		}
		for range n {
			args = append(args, []byte(g.value(&Arg{Name: "id", Type: "string"})[0]))
		}
	}
	for i, a := range args {
		if g.cfg.Reference != Redis8 && string(a) == "+" {
			args[i] = []byte("$")
		}
		if i > 0 && strings.EqualFold(string(args[i-1]), "BLOCK") && len(a) > 15 {
			args[i] = []byte("1")
		}
	}
	return args
}

// guardConsumers makes the consumer of an XREADGROUP first, see guardConsumer.
func guardConsumers(g *Generator, args [][]byte) [][]byte {
	var keys, group [][]byte
	for i := 1; i+2 < len(args); i++ {
		switch strings.ToUpper(string(args[i])) {
		case "GROUP":
			group = args[i+1 : i+3]
		case "STREAMS":
			keys = args[i+1 : i+1+(len(args)-i-1)/2]
		}
	}
	if len(group) == 0 {
		return args
	}
	return guardConsumer(g, args, keys, group[0], group[1])
}

// guardConsumer makes the group of a command first, now and then, so that there is one. In rounds
// whose data goes through a log it makes the consumer too: Redis does not log that a command has
// made one if there was nothing to deliver. 7.0 makes none then.
func guardConsumer(g *Generator, args, keys [][]byte, group, consumer []byte) [][]byte {
	var all []Cmd
	for _, k := range keys {
		if g.chance(0.3) {
			all = append(all, Cmd{Args: append(split("XGROUP CREATE"), k, group, []byte("0"))})
		}
		if g.logs || g.cfg.Reference == Redis7 {
			all = append(all,
				Cmd{Args: append(split("XGROUP CREATECONSUMER"), k, group, consumer)})
		}
	}
	all = append(all, Cmd{Args: args})
	g.after = append(g.after, all[1:]...)
	return all[0].Args
}

// guardIdle leaves only idle times that no entry reaches between the two servers' answers, and
// counts of deliveries that do not overflow: Redis goes on below zero then.
func guardIdle(g *Generator, args [][]byte) [][]byte {
	claims := strings.HasSuffix(strings.ToLower(string(args[0])), "claim")
	for i := 2; i < len(args); i++ {
		n, err := strconv.ParseInt(string(args[i]), 10, 64)
		if err == nil && n > 1<<60 && strings.EqualFold(string(args[i-1]), "RETRYCOUNT") {
			args[i] = []byte("1000")
		}
		if err != nil || n <= 0 || n >= 90_000_000 {
			continue
		}
		if claims && i == 4 || strings.EqualFold(string(args[i-1]), "IDLE") {
			args[i] = []byte("100000000")
		}
	}
	return args
}

// guardAdded sets numbers of entries ever added that grow through the round, so that no group has
// read more. Servers since 8.2 cut off what groups have read.
func guardAdded(g *Generator, args [][]byte) [][]byte {
	return largeAfter(args, "ENTRIESADDED", strconv.Itoa(100_000+1000*g.serial))
}

// guardRead leaves out that a group has read more than was added, which servers since 8.2 cut off.
func guardRead(_ *Generator, args [][]byte) [][]byte {
	return largeAfter(args, "ENTRIESREAD", "0")
}

// largeAfter replaces numbers that are not negative behind the word.
func largeAfter(args [][]byte, word, by string) [][]byte {
	for i := 3; i < len(args); i++ {
		n, err := strconv.ParseInt(string(args[i]), 10, 64)
		if err == nil && n >= 0 && strings.EqualFold(string(args[i-1]), word) {
			args[i] = []byte(by)
		}
	}
	return args
}
