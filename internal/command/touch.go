package command

import (
	"godwit/internal/engine"
	"godwit/internal/object"
)

// setTouches says what commands read of large values, so that a pipeline's reads overlap. Of
// commands with many members only the first is told: they fetch the others themselves (Lookahead).
func setTouches(t *engine.Table) {
	t.SetTouch(touchFilter, "bf.add", "bf.exists")
	t.SetTouch(touchMember(2),
		"sadd", "srem", "sismember", "smismember",
		"hset", "hmset", "hsetnx", "hget", "hmget", "hdel", "hexists", "hstrlen", "hincrby",
		"hincrbyfloat",
		"zscore", "zmscore", "zrank", "zrevrank")
	t.SetTouch(touchMember(3), "zincrby")
	t.SetTouch(touchZAdd, "zadd")
	t.SetTouch(func(w *object.Warmup, e object.Entry, argv [][]byte) { w.Leave(e, argv[2]) },
		"zrem")
	large := (*object.Heap).HasLargeStreams
	t.SetTouchIf(large, touchEntry(2), "xdel", "xrange", "xrevrange")
	t.SetTouchIf(large, touchEntry(5), "xclaim")
	t.SetTouchIf(large, touchIDs, "xdelex", "xackdel")
}

// warmZAdd fetches what giving members these scores reads of a large set: the members that args,
// items of width arguments, begin with.
func warmZAdd(c *engine.Ctx, z object.SortedSet, args [][]byte, width int, scores []float64) {
	w := c.E.Warmup()
	for i, score := range scores {
		w.Score(z.E, score, args[i*width+width-1])
	}
	w.Run()
}

// touchMember is for commands whose member or field is argument i.
func touchMember(i int) engine.Touch {
	return func(w *object.Warmup, e object.Entry, argv [][]byte) { w.Member(e, argv[i]) }
}

// touchZAdd is for ZADD: of a call without options it tells score and member.
func touchZAdd(w *object.Warmup, e object.Entry, argv [][]byte) {
	if score, ok := object.ParseScore(argv[2]); ok {
		w.Score(e, score, argv[3])
	}
}

// touchEntry is for commands whose argument i is the ID of an entry.
func touchEntry(i int) engine.Touch {
	return func(w *object.Warmup, e object.Entry, argv [][]byte) { warmEntry(w, e, argv[i]) }
}

// touchIDs is for commands that have a block of IDs behind other options.
func touchIDs(w *object.Warmup, e object.Entry, argv [][]byte) {
	for i := 2; i+2 < len(argv); i++ {
		if is(argv[i], "ids") {
			warmEntry(w, e, argv[i+2])
			return
		}
	}
}

// warmEntry notes the entry of a stream with that ID, if it is one.
func warmEntry(w *object.Warmup, e object.Entry, arg []byte) {
	if s := w.Stream(e); s != nil {
		if id, ok := parseStreamID(arg, 0); ok {
			w.Entries.Entry(s, id)
		}
	}
}
