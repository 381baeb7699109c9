package command

import (
	"bytes"
	"math"
	"strconv"
	"strings"

	"godwit/internal/engine"
	"godwit/internal/object"
	"godwit/internal/resp"
	"godwit/internal/scan"
)

var _ = family(scanHandlers)

func scanHandlers() engine.Handlers {
	return engine.Handlers{
		"scan": scanCmd,
		"keys": keysCmd,
	}
}

// scanOptions are the options that the SCAN family shares.
type scanOptions struct {
	cursor   uint64
	count    int64
	match    []byte // nil: everything.
	noValues bool   // HSCAN NOVALUES, ZSCAN NOSCORES.
	typed    bool
	typeName string // If typed is set, the only type wanted, in any case.
}

// scanKind says which command of the family parses its options.
type scanKind uint8

const (
	scanKeys   scanKind = iota // SCAN.
	scanFields                 // HSCAN.
	scanElems                  // SSCAN.
	scanScored                 // ZSCAN.
)

// parseCursor reads the cursor and replies with Redis's error. The commands on a key look the key
// up between parseCursor and parseOptions. If the key is missing, the options are never read.
func (o *scanOptions) parseCursor(c *engine.Ctx, arg []byte) (ok bool) {
	if o.cursor, ok = scan.ParseCursor(arg); !ok {
		c.Err(engine.ErrInvalidCursor)
	}
	return ok
}

// open reads the arguments of HSCAN, SSCAN and ZSCAN and opens the collection of type t. It checks
// in Redis's order. It reports false if it has replied: with an error, or for a missing key with
// cursor 0 and no elements.
func (o *scanOptions) open(c *engine.Ctx, t object.Type, kind scanKind) (x *object.Edit, ok bool) {
	if !o.parseCursor(c, c.Args[2]) {
		return nil, false
	}
	x, ok = openRead(c, c.Args[1], t)
	if !ok {
		return nil, false
	}
	if x == nil {
		c.Array(2)
		c.BulkString("0")
		c.Array(0)
		return nil, false
	}
	return x, o.parseOptions(c, c.Args[3:], kind)
}

// parseOptions reads the arguments after the cursor and replies with Redis's errors.
func (o *scanOptions) parseOptions(c *engine.Ctx, args [][]byte, kind scanKind) (ok bool) {
	o.count = 10
	for len(args) > 0 {
		if is(args[0], "novalues") && kind != scanFields {
			c.Err("ERR NOVALUES option can only be used in HSCAN")
			return false
		}
		if is(args[0], "novalues") || kind == scanScored && is(args[0], "noscores") {
			o.noValues = true
			args = args[1:]
			continue
		}
		if len(args) == 1 {
			c.Err(engine.ErrSyntax)
			return false
		}
		v := args[1]
		switch {
		case is(args[0], "count"):
			if o.count, ok = intArg(c, v); !ok {
				return false
			}
			if o.count < 1 {
				c.Err(engine.ErrSyntax)
				return false
			}
		case is(args[0], "match"):
			o.match = v
			if string(v) == "*" {
				o.match = nil
			}
		case kind == scanKeys && is(args[0], "type"):
			o.typed, o.typeName = true, string(v)
		default:
			c.Err(engine.ErrSyntax)
			return false
		}
		args = args[2:]
	}
	return true
}

// walk calls step from the cursor on, until it has seen about count elements or reached the end. It
// returns the next cursor, 0 at the end. As in Redis, it makes at most ten times count steps, in
// case most buckets are empty. It counts the elements seen, not those that match.
func (o *scanOptions) walk(step func(cursor uint64) (next uint64, seen int)) uint64 {
	cursor := o.cursor
	steps := min(o.count, math.MaxInt64/10) * 10
	for seen := int64(0); ; steps-- {
		next, n := step(cursor)
		cursor = next
		if seen += int64(n); cursor == 0 || steps == 0 || seen >= o.count {
			return cursor
		}
	}
}

// scanReply builds the reply of a command of the SCAN family. Elements are written as they are
// found. done inserts the cursor and the number of elements in front of them. Nothing else may be
// written in between.
// The reply for a packed collection holds all elements, with cursor 0, whatever cursor the client
// sent. A large collection is read with walk:
//
//	r := o.reply(c)
//	if packed {
//		set.Each(func(v listpack.Value) bool {…; if r.wants(b) { r.bulk(b) }; …})
//		r.done(0)
//	} else {
//		r.done(o.walk(func(cursor uint64) (uint64, int) {…}))
//	}
type scanReply struct {
	c     *engine.Ctx
	match []byte
	at    int // Where the reply begins.
	n     int // The number of strings in it.
}

// reply begins the reply.
func (o *scanOptions) reply(c *engine.Ctx) scanReply {
	return scanReply{c: c, match: o.match, at: c.Mark()}
}

// wants reports whether the name of an element passes MATCH.
func (r *scanReply) wants(name []byte) bool {
	return r.match == nil || scan.Match(r.match, name, false)
}

// bulk adds one string.
func (r *scanReply) bulk(b []byte) {
	r.n++
	r.c.Bulk(b)
}

// done ends the reply.
func (r *scanReply) done(cursor uint64) {
	var digits [20]byte
	r.finish(string(strconv.AppendUint(digits[:0], cursor, 10)))
}

// finish is done with any cursor.
func (r *scanReply) finish(cursor string) {
	var tmp [96]byte
	w := resp.Writer{Buf: tmp[:0], Proto: r.c.Proto}
	w.Array(2)
	w.BulkString(cursor)
	w.Array(r.n)
	r.c.Insert(r.at, w.Buf)
}

func scanCmd(c *engine.Ctx) {
	var o scanOptions
	if !o.parseCursor(c, c.Args[1]) || !o.parseOptions(c, c.Args[2:], scanKeys) {
		return
	}
	r := o.reply(c)
	var due [][]byte
	r.done(o.walk(func(cursor uint64) (next uint64, seen int) {
		next = c.DB.Scan(cursor, func(e object.Entry, isDue bool) {
			seen++
			switch {
			case !r.wants(e.Key()):
			case isDue:
				due = append(due, bytes.Clone(e.Key()))
			case !o.typed || strings.EqualFold(o.typeName, e.Type().String()):
				r.bulk(e.Key())
			}
		})
		return next, seen
	}))
	for _, key := range due {
		c.DB.Peek(key) // which deletes it
	}
}

func keysCmd(c *engine.Ctx) {
	pattern := c.Args[1]
	all := string(pattern) == "*"
	at, n := c.Mark(), 0
	c.DB.Each(func(e object.Entry) {
		if key := e.Key(); (all || scan.Match(pattern, key, false)) && !overOutput(c) {
			c.Bulk(key)
			n++
		}
	})
	countedArray(c, at, n)
}

// countedArray puts the head of an array before the n elements that were written since Mark
// returned at.
func countedArray(c *engine.Ctx, at, n int) {
	var tmp [32]byte
	head := resp.Writer{Buf: tmp[:0], Proto: c.Proto}
	head.Array(n)
	c.Insert(at, head.Buf)
}
