package command

import (
	"math"
	"slices"
	"strconv"

	"godwit/internal/engine"
	"godwit/internal/object"
	"godwit/internal/stream"
)

var _ = family(streamReadHandlers)

// streamReadHandlers returns the commands that read streams onwards, and those of groups.
func streamReadHandlers() engine.Handlers {
	return engine.Handlers{
		"xread":                 xreadCmd,
		"xreadgroup":            xreadgroupCmd,
		"xgroup|create":         xgroupCreateCmd,
		"xgroup|setid":          xgroupSetIDCmd,
		"xgroup|destroy":        xgroupDestroyCmd,
		"xgroup|createconsumer": xgroupCreateConsumerCmd,
		"xgroup|delconsumer":    xgroupDelConsumerCmd,
		"xgroup|help":           helpOf(xgroupHelp...),
		"xack":                  xackCmd,
		"xackdel":               xackdelCmd,
		"xnack":                 xnackCmd,
		"xpending":              xpendingCmd,
		"xclaim":                xclaimCmd,
		"xautoclaim":            xautoclaimCmd,
	}
}

// streamRead is an XREAD or XREADGROUP: what it is asked for, and how far it has come.
type streamRead struct {
	count    int64 // entries of each stream, 0 for all
	maxCount int64 // entries in all, 0 for any number
	maxSize  int64 // bytes of the reply after which there is no further entry, 0 for none
	wait     bool
	deadline int64  // steady ms, 0 for none
	claim    int64  // what has been pending for so many ms is delivered too; -1: nothing
	noAck    bool   // what is delivered is not pending
	group    []byte // nil for XREAD
	consumer []byte
	keys     [][]byte
	ids      [][]byte

	began   int   // where the reply begins
	entries int64 // in the reply
}

// parse reads the arguments. It replies with Redis's errors and reports false if they are wrong.
func (r *streamRead) parse(c *engine.Ctx, grouped bool) bool {
	r.claim = -1
	for i := 1; i < len(c.Args); i++ {
		opt, more := c.Args[i], c.Args[i+1:]
		switch {
		case is(opt, "streams") && len(more) > 0:
			return r.parseStreams(c, more, grouped)
		case is(opt, "group") && len(more) > 1:
			if !grouped {
				return onlyGrouped(c, "GROUP")
			}
			r.group, r.consumer = more[0], more[1]
			i += 2
		case is(opt, "noack"):
			if !grouped {
				return onlyGrouped(c, "NOACK")
			}
			r.noAck = true
		case is(opt, "claim") && len(more) > 0 && !grouped:
			return onlyGrouped(c, "CLAIM")
		case len(more) > 0:
			if !r.parseOption(c, opt, more[0]) {
				return false
			}
			i++
		default:
			c.Err(engine.ErrSyntax)
			return false
		}
	}
	c.Err(engine.ErrSyntax)
	return false
}

// onlyGrouped replies that an option is not one of XREAD.
func onlyGrouped(c *engine.Ctx, option string) bool {
	c.Err("ERR The " + option +
		" option is only supported by XREADGROUP. You called XREAD instead.")
	return false
}

// parseOption reads an option that has one argument.
func (r *streamRead) parseOption(c *engine.Ctx, opt, arg []byte) (ok bool) {
	switch {
	case is(opt, "block"):
		r.wait = true
		r.deadline, ok = blockArg(c, arg)
	case is(opt, "count"):
		r.count, ok = intArg(c, arg)
		r.count = max(r.count, 0)
	case is(opt, "maxcount"):
		r.maxCount, ok = readLimitArg(c, arg, "MAXCOUNT")
	case is(opt, "maxsize"):
		r.maxSize, ok = readLimitArg(c, arg, "MAXSIZE")
	case is(opt, "claim"):
		if r.claim, ok = object.ParseInt(arg); !ok {
			c.Err("ERR min-idle-time is not an integer or out of range")
		} else if r.claim < 0 {
			c.Err("ERR min-idle-time must be a positive integer")
			ok = false
		}
	default:
		c.Err(engine.ErrSyntax)
	}
	return ok
}

// readLimitArg reads the limit of an option.
func readLimitArg(c *engine.Ctx, arg []byte, option string) (int64, bool) {
	n, ok := intArg(c, arg)
	if ok && n <= 0 {
		c.Err("ERR " + option + " must be a positive integer")
		return 0, false
	}
	return n, ok
}

// blockArg reads a timeout in ms. It returns the time at which it ends, in ms of the steady clock,
// or 0 for never.
func blockArg(c *engine.Ctx, arg []byte) (deadline int64, ok bool) {
	ms, ok := timeoutArg(c, arg)
	switch {
	case !ok || ms == 0:
		return 0, ok
	case ms > math.MaxInt64-c.E.Steady():
		c.Err("ERR timeout is out of range")
		return 0, false
	}
	return c.E.Steady() + ms, true
}

// parseStreams reads the keys and their IDs, and checks what can be checked then only.
func (r *streamRead) parseStreams(c *engine.Ctx, args [][]byte, grouped bool) bool {
	n := len(args) / 2
	r.keys, r.ids = args[:n], args[n:]
	switch {
	case len(args)%2 != 0 && grouped:
		c.Err("ERR Unbalanced 'xreadgroup' list of streams: for each stream key an ID or '>' " +
			"must be specified.")
	case len(args)%2 != 0:
		c.Err("ERR Unbalanced 'xread' list of streams: for each stream key an ID, '+', or '$' " +
			"must be specified.")
	case grouped && r.group == nil:
		c.Err("ERR Missing GROUP option for XREADGROUP")
	case r.maxCount > 0 && r.maxCount < r.count:
		c.Err("ERR MAXCOUNT must be greater than or equal to COUNT")
	default:
		return true
	}
	return false
}

// limit returns how many entries the next stream may add to the reply, 0 for any number. ok is
// false if it may add none.
func (r *streamRead) limit(c *engine.Ctx) (n int64, ok bool) {
	if r.entries > 0 && r.full(c) {
		return 0, false
	}
	switch left := r.maxCount - r.entries; {
	case r.maxCount == 0:
		return r.count, true
	case r.count == 0:
		return left, left > 0
	default:
		return min(r.count, left), left > 0
	}
}

// full reports whether the reply is as large as it may get. XREADGROUP goes on whatever the limit
// of the client's output is: what it delivers is pending then.
func (r *streamRead) full(c *engine.Ctx) bool {
	return r.maxSize > 0 && int64(c.Size()-r.began) >= r.maxSize || r.group == nil && overOutput(c)
}

// begin begins the reply. streams is the number of streams in it. If that is not known yet, it is
// below 0, and end puts it where begin was.
func (r *streamRead) begin(c *engine.Ctx, streams int) {
	r.began = c.Mark()
	if streams > 0 {
		r.header(c, streams)
	}
}

// header replies with the number of streams.
func (r *streamRead) header(c *engine.Ctx, streams int) {
	if c.Proto == 3 {
		c.Map(streams)
	} else {
		c.Array(streams)
	}
}

// end says how many streams are in the reply, if begin did not know it.
func (r *streamRead) end(c *engine.Ctx, streams int) {
	if c.Proto == 3 {
		insertHead(c, r.began, '%', streams)
	} else {
		insertHead(c, r.began, '*', streams)
	}
}

// headText is the length of the longest head of an array or map.
const headText = 24

// appendHead appends the head of an array or map.
func appendHead(dst []byte, kind byte, n int) []byte {
	return append(strconv.AppendInt(append(dst, kind), int64(n), 10), '\r', '\n')
}

// insertHead puts the head of an array or map at a position that Mark has returned.
func insertHead(c *engine.Ctx, at int, kind byte, n int) {
	var buf [headText]byte
	c.Insert(at, appendHead(buf[:0], kind, n))
}

// stream begins the reply of one stream.
func (r *streamRead) stream(c *engine.Ctx, key []byte) {
	if c.Proto != 3 {
		c.Array(2)
	}
	c.Bulk(key)
}

// xreadCmd replies with what follows an ID in each of the streams.
func xreadCmd(c *engine.Ctx) {
	var r streamRead
	if !r.parse(c, false) {
		return
	}
	var some [someStreams]streamAfter
	streams := some[:0]
	serve := 0
	for i := range r.keys {
		s, ok := r.after(c, i)
		if !ok {
			return
		}
		if s.has() {
			serve++
		}
		streams = append(streams, s)
	}
	if serve == 0 {
		r.waitAfter(c, streams)
		return
	}
	known := r.maxCount == 0 && r.maxSize == 0
	if !known {
		serve = -1
	}
	n := 0
	r.begin(c, serve)
	for i := range streams {
		s := &streams[i]
		if !s.has() {
			continue
		}
		limit, ok := r.limit(c)
		if !ok {
			break
		}
		n++
		r.stream(c, r.keys[i])
		r.replyAfter(c, s, limit)
	}
	if !known {
		r.end(c, n)
	}
}

// someStreams is how many streams of an XREAD or XREADGROUP are kept on the stack.
const someStreams = 4

// streamAfter is a stream, nil if there is none, and what of it XREAD is asked for.
type streamAfter struct {
	s  *stream.Stream
	id stream.ID // what follows this one
}

// has reports whether there is an entry.
func (s *streamAfter) has() bool {
	if s.s == nil || !s.id.Less(s.s.LastID) {
		return false
	}
	_, ok := firstAfter(s.s, s.id)
	return ok
}

// firstAfter begins to walk the entries that follow an ID. ok is false if there are none.
func firstAfter(s *stream.Stream, id stream.ID) (it stream.Iter, ok bool) {
	from, ok := id.Next()
	if !ok {
		return it, false
	}
	it = s.Range(from, stream.MaxID, false)
	return it, it.Next()
}

// after opens stream i and reads its ID.
func (r *streamRead) after(c *engine.Ctx, i int) (a streamAfter, ok bool) {
	if a.s, ok = readStream(c, r.keys[i]); !ok {
		return a, false
	}
	id := r.ids[i]
	if len(id) != 1 || id[0] != '$' && id[0] != '+' && id[0] != '>' {
		a.id, ok = streamIDArg(c, id, 0)
		return a, ok
	}
	switch {
	case id[0] == '>':
		c.Err("ERR The > ID can be specified only when calling XREADGROUP using the GROUP " +
			"<group> <consumer> option.")
		return a, false
	case a.s == nil:
	case id[0] == '$':
		a.id = a.s.LastID
	case a.s.Len() > 0:
		a.id, _ = a.s.Last().Prev()
	}
	return a, true
}

// replyAfter replies with the entries of one stream.
func (r *streamRead) replyAfter(c *engine.Ctx, s *streamAfter, limit int64) {
	w := readWalk{limit: limit}
	if w.it, w.more = firstAfter(s.s, s.id); !w.more {
		c.Array(0)
		return
	}
	for w.begin(c); w.more; w.next(c, r) {
		replyEntry(c, &w.it)
	}
	w.end(c, r)
}

// waitAfter waits until one of the streams gets an entry that XREAD is asked for. "$" is then what
// it is now.
func (r *streamRead) waitAfter(c *engine.Ctx, streams []streamAfter) {
	if !r.wait || !c.MayBlock() {
		c.NullArray()
		return
	}
	w := engine.Wait{Keys: r.keys, Type: object.Stream, Deadline: r.deadline,
		OnTimeout: replyNullArray}
	for i, id := range r.ids {
		if len(id) != 1 || id[0] != '$' {
			continue
		}
		if w.Args == nil {
			w.Args = slices.Clone(c.Args)
		}
		w.Args[len(c.Args)-len(r.ids)+i] = streams[i].id.Append(nil)
	}
	c.Block(w)
}
