package command

import (
	"math"

	"godwit/internal/arena"
	"godwit/internal/engine"
)

// debugServerSubs returns the subcommands of DEBUG that act on the server as a whole.
func debugServerSubs() []debugSub {
	return []debugSub{
		{"set-clock-offset", 3, 3, " <milliseconds>", []string{
			"Move the wall clock by <milliseconds> against the system's, as if somebody had " +
				"set it."}, debugClockOffset},
		{"panic", 2, 2, "", []string{"Crash the server by a panic."}, func(*engine.Ctx) {
			panic("DEBUG PANIC")
		}},
		{"segfault", 2, 2, "",
			[]string{"Crash the server by an access to memory that is not there."},
			func(*engine.Ctx) {
				arena.Fault()
			}},
	}
}

func debugClockOffset(c *engine.Ctx) {
	ms, ok := intArg(c, c.Args[2])
	if !ok {
		return
	}
	if most := int64(math.MaxInt64 / 4 / 1_000_000); ms > most || ms < -most {
		c.Err("ERR value is out of range")
		return
	}
	c.E.SetClockOffset(ms)
	c.OK()
}
