package command

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"godwit/internal/engine"
	"godwit/internal/object"
	"godwit/internal/resp"
	"godwit/internal/scan"
)

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
	match    []byte // nil: everything
	noValues bool   // HSCAN NOVALUES
	typed    bool
	typeName string // when typed: the only type wanted, in any case
}

// scanKind says which command of the family parses its options.
type scanKind uint8

const (
	scanKeys   scanKind = iota // SCAN
	scanFields                 // HSCAN
	scanElems                  // SSCAN, ZSCAN
)

// parseCursor reads the cursor, answering with Redis's error. The commands on a key look the key up
// between this and parseOptions: for a missing one the options are never read.
func (o *scanOptions) parseCursor(c *engine.Ctx, arg []byte) (ok bool) {
	if o.cursor, ok = scan.ParseCursor(arg); !ok {
		c.Err(engine.ErrInvalidCursor)
	}
	return ok
}

// open reads the arguments of HSCAN, SSCAN and ZSCAN and opens the collection of type t, in Redis's
// order of checks. It reports false when it has answered: with an error, or for a missing key with
// a walk that is through.
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

// parseOptions reads what follows the cursor, answering with Redis's errors.
func (o *scanOptions) parseOptions(c *engine.Ctx, args [][]byte, kind scanKind) (ok bool) {
	o.count = 10
	for ; len(args) > 0; args = args[2:] {
		if is(args[0], "novalues") {
			if kind != scanFields {
				c.Err("ERR NOVALUES option can only be used in HSCAN")
				return false
			}
			o.noValues = true
			if args = args[1:]; len(args) == 0 {
				break
			}
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
	}
	return true
}

// walk takes steps from the cursor on until they have seen about count elements or the walk is
// through, and returns the next cursor, 0 at the end. Like Redis it stops after ten times as many
// steps as elements are wanted, in case most buckets are empty, and counts what was seen, not what
// matched.
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

// scanReply is the answer of a command of the SCAN family. Elements go into the reply as they are
// found; done puts in front of them what is known only in the end. Nothing else may be answered
// between.
//
// A packed collection is answered as a whole, with cursor 0 whatever the client sent; a large one
// by walk:
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
	at    int // where the reply begins
	n     int // strings in it
}

// reply begins the answer.
func (o *scanOptions) reply(c *engine.Ctx) scanReply {
	return scanReply{c: c, match: o.match, at: len(c.Buf)}
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

// done ends the answer.
func (r *scanReply) done(cursor uint64) {
	var tmp [64]byte
	var digits [20]byte
	w := resp.Writer{Buf: tmp[:0], Proto: r.c.Proto}
	w.Array(2)
	w.Bulk(strconv.AppendUint(digits[:0], cursor, 10))
	w.Array(r.n)
	r.c.Buf = slices.Insert(r.c.Buf, r.at, w.Buf...)
}

func scanCmd(c *engine.Ctx) {
	var o scanOptions
	if !o.parseCursor(c, c.Args[1]) || !o.parseOptions(c, c.Args[2:], scanKeys) {
		return
	}
	r := o.reply(c)
	r.done(o.walk(func(cursor uint64) (next uint64, seen int) {
		next = c.DB.Scan(cursor, func(e object.Entry) {
			seen++
			if r.wants(e.Key()) && (!o.typed || strings.EqualFold(o.typeName, e.Type().String())) {
				r.bulk(e.Key())
			}
		})
		return next, seen
	}))
}

func keysCmd(c *engine.Ctx) {
	pattern := c.Args[1]
	all := string(pattern) == "*"
	var keys [][]byte
	for cursor := uint64(0); ; {
		cursor = c.DB.Scan(cursor, func(e object.Entry) {
			if all || scan.Match(pattern, e.Key(), false) {
				keys = append(keys, e.Key())
			}
		})
		if cursor == 0 {
			break
		}
	}
	c.Array(len(keys))
	for _, k := range keys {
		c.Bulk(k)
	}
}
