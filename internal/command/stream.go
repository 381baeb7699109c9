package command

import (
	"math"
	"slices"

	"godwit/internal/engine"
	"godwit/internal/object"
	"godwit/internal/stream"
)

// Errors of several commands of streams.
const (
	errStreamID    = "ERR Invalid stream ID specified as stream command argument"
	errStreamStart = "ERR invalid start ID for the interval"
	errStreamEnd   = "ERR invalid end ID for the interval"
	errNoSuchKey   = "ERR no such key"
)

var _ = family(streamHandlers)

// streamHandlers returns the commands of streams that are not about groups.
func streamHandlers() engine.Handlers {
	r := new(rewriter)
	return engine.Handlers{
		"xadd":            func(c *engine.Ctx) { xaddCmd(c, r) },
		"xtrim":           func(c *engine.Ctx) { xtrimCmd(c, r) },
		"xdel":            xdelCmd,
		"xdelex":          xdelexCmd,
		"xlen":            xlenCmd,
		"xrange":          func(c *engine.Ctx) { xrange(c, c.Args[2], c.Args[3], false) },
		"xrevrange":       func(c *engine.Ctx) { xrange(c, c.Args[3], c.Args[2], true) },
		"xsetid":          xsetidCmd,
		"xcfgset":         xcfgsetCmd,
		"xidmprecord":     xidmprecordCmd,
		"xinfo|stream":    xinfoStreamCmd,
		"xinfo|groups":    xinfoGroupsCmd,
		"xinfo|consumers": xinfoConsumersCmd,
		"xinfo|help":      helpOf(xinfoHelp...),
	}
}

// idText is the length of the longest text of an ID, and maxIDArg bounds what is read as one.
const (
	idText   = 41
	maxIDArg = 128
)

// parseStreamID reads an ID as Redis does: "ms" or "ms-seq", where seq is missing if there is none.
func parseStreamID(arg []byte, missing uint64) (id stream.ID, ok bool) {
	if len(arg) >= maxIDArg {
		return id, false
	}
	if end := slices.Index(arg, 0); end >= 0 {
		arg = arg[:end]
	}
	ms, id := arg, stream.ID{Seq: missing}
	if dash := slices.Index(arg, '-'); dash >= 0 {
		ms = arg[:dash]
		if id.Seq, ok = parseUnsigned(arg[dash+1:]); !ok {
			return id, false
		}
	}
	id.Ms, ok = parseUnsigned(ms)
	return id, ok
}

// parseUnsigned reads a number as Redis does where it takes only unsigned ones. What is not written
// as Redis writes it is left to C's strtoull, which takes spaces, a sign and zeros in front. A
// negative number is refused only if it is written as Redis writes it.
func parseUnsigned(b []byte) (uint64, bool) {
	if n, ok := object.ParseInt(b); ok {
		return uint64(n), n >= 0
	}
	for len(b) > 0 && (b[0] == ' ' || '\t' <= b[0] && b[0] <= '\r') {
		b = b[1:]
	}
	minus := false
	if len(b) > 0 && (b[0] == '-' || b[0] == '+') {
		minus, b = b[0] == '-', b[1:]
	}
	n := uint64(0)
	for _, ch := range b {
		d := uint64(ch - '0')
		if d > 9 || n > math.MaxUint64/10 || n*10 > math.MaxUint64-d {
			return 0, false
		}
		n = n*10 + d
	}
	if minus {
		n = -n
	}
	return n, len(b) > 0
}

// streamIDArg reads an ID. Without a number after the time, that is missing. It replies with
// Redis's error and reports false if it is none; "-" and "+" are none.
func streamIDArg(c *engine.Ctx, arg []byte, missing uint64) (stream.ID, bool) {
	id, ok := parseStreamID(arg, missing)
	if !ok {
		c.Err(errStreamID)
	}
	return id, ok
}

// streamIDArgs appends the IDs to dst. It replies with Redis's error and reports false if one is
// none.
func streamIDArgs(c *engine.Ctx, dst []stream.ID, args [][]byte) ([]stream.ID, bool) {
	for _, arg := range args {
		id, ok := streamIDArg(c, arg, 0)
		if !ok {
			return nil, false
		}
		dst = append(dst, id)
	}
	return dst, true
}

// anyStreamIDArg does what streamIDArg does, and takes "-" for the smallest and "+" for the largest
// ID.
func anyStreamIDArg(c *engine.Ctx, arg []byte, missing uint64) (stream.ID, bool) {
	if len(arg) == 1 {
		switch arg[0] {
		case '-':
			return stream.ID{}, true
		case '+':
			return stream.MaxID, true
		}
	}
	return streamIDArg(c, arg, missing)
}

// streamStartArg reads the first ID of a range, "(id" for the one that follows it.
func streamStartArg(c *engine.Ctx, arg []byte) (id stream.ID, ok bool) {
	if len(arg) <= 1 || arg[0] != '(' {
		return anyStreamIDArg(c, arg, 0)
	}
	if id, ok = streamIDArg(c, arg[1:], 0); !ok {
		return id, false
	}
	if id, ok = id.Next(); !ok {
		c.Err(errStreamStart)
	}
	return id, ok
}

// streamEndArg reads the last ID of a range, "(id" for the one before it.
func streamEndArg(c *engine.Ctx, arg []byte) (id stream.ID, ok bool) {
	if len(arg) <= 1 || arg[0] != '(' {
		return anyStreamIDArg(c, arg, math.MaxUint64)
	}
	if id, ok = streamIDArg(c, arg[1:], math.MaxUint64); !ok {
		return id, false
	}
	if id, ok = id.Prev(); !ok {
		c.Err(errStreamEnd)
	}
	return id, ok
}

// readStream opens the stream at key for reading. s is nil if the key is absent. It replies with
// WRONGTYPE and reports false if the key holds another type.
func readStream(c *engine.Ctx, key []byte) (s *stream.Stream, ok bool) {
	x, ok := openRead(c, key, object.Stream)
	if x == nil {
		return nil, ok
	}
	return x.Stream(), true
}

// existingStreamToWrite opens the stream at key for a command that may change it. It replies with
// an error and reports false if there is none.
func existingStreamToWrite(c *engine.Ctx, key []byte) (x *object.Edit, ok bool) {
	x, ok = openWrite(c, key, object.Stream)
	if ok && x == nil {
		c.Err(errNoSuchKey)
	}
	return x, x != nil
}

// bulkID replies with an ID.
func bulkID(c *engine.Ctx, id stream.ID) {
	var buf [idText]byte
	c.Bulk(id.Append(buf[:0]))
}

// replyEntry replies with the entry that it is at: its ID and its fields.
func replyEntry(c *engine.Ctx, it *stream.Iter) {
	c.Array(2)
	bulkID(c, it.ID)
	replyStreamFields(c, it)
}

// replyStreamFields replies with the names and values of the entry that it is at.
func replyStreamFields(c *engine.Ctx, it *stream.Iter) {
	n := it.Fields()
	c.Array(2 * n)
	for range n {
		c.Bulk(it.Name())
		bulkValue(c, it.Value())
	}
}

// replyEntries replies with the entries of a range, in reverse from the last on, at most limit of
// them if that is above 0.
func replyEntries(c *engine.Ctx, s *stream.Stream, from, to stream.ID, reverse bool, limit int64) {
	at, n := c.Mark(), int64(0)
	for it := s.Range(from, to, reverse); it.Next() && !overOutput(c); {
		replyEntry(c, &it)
		if n++; n == limit {
			break
		}
	}
	insertHead(c, at, '*', int(n))
}
