package command

import (
	"bytes"
	"strconv"
	"strings"

	"godwit/internal/engine"
	"godwit/internal/object"
	"godwit/internal/scan"
	"godwit/internal/slot"
)

// CLUSTERSCAN walks the keys of all nodes, one slot after the other. Its cursor is
//
//	mark-{tag}-n
//
// where the tag is of the slot that comes next, so that clients and the gate route it like a key. n
// is a cursor within that slot, of the node that has the mark: any other begins with the slot. The
// cursor 0 begins a walk at the first slot, and ends it.

// clusterCursor is a cursor of CLUSTERSCAN. tag is empty for the cursor 0.
type clusterCursor struct {
	tag  string
	slot int
	at   uint64 // within the slot
}

// clusterScanning is a CLUSTERSCAN that runs.
type clusterScanning struct {
	scanOptions
	c    *engine.Ctx
	from clusterCursor
	only int    // the slot to be walked, -1 for all
	tag  string // of only
	due  [][]byte
}

func clusterScan(c *engine.Ctx) {
	s := &clusterScanning{c: c, only: -1}
	if !s.parse() {
		return
	}
	switch {
	case s.from.tag == "" && s.only < 0:
		s.replyEmpty(clusterCursor{tag: slot.TagOf(0)})
	case s.only >= 0 && s.from.slot != s.only || s.from.tag == "":
		s.replyEmpty(clusterCursor{tag: s.tag})
	default:
		s.run()
	}
}

// parse reads the arguments. It replies with an error and reports false if they are invalid.
func (s *clusterScanning) parse() bool {
	c := s.c
	var ok bool
	if s.from, ok = parseClusterCursor(c.Args[1], scanMark(c.E)); !ok {
		c.Err("ERR Invalid cursor")
		return false
	}
	var rest [][]byte
	for args := c.Args[2:]; len(args) > 0; {
		if is(args[0], "slot") && len(args) > 1 {
			if s.only, ok = slotArg(c, args[1]); !ok {
				return false
			}
			s.tag = slot.TagOf(s.only)
		} else {
			rest = append(rest, args[:min(2, len(args))]...)
		}
		args = args[min(2, len(args)):]
	}
	switch {
	case !s.parseOptions(c, rest, scanKeys):
		return false
	case s.typed && !isTypeName(s.typeName):
		c.Err("ERR unknown type name '" + s.typeName + "'")
		return false
	case s.only >= 0 && s.from.tag != "" && s.from.slot != s.only:
		c.Err("ERR Cursor slot mismatch with SLOT argument")
		return false
	case s.only < 0:
		s.only, s.tag = patternSlot(s.match)
	}
	return true
}

// run walks on from the cursor, through slots of this node that lie side by side.
func (s *clusterScanning) run() {
	e := s.c.E
	r := s.reply(s.c)
	i := s.from.slot
	s.cursor = s.from.at
	for left := s.count; ; {
		seen := int64(0)
		s.count = left
		at := s.walk(func(cursor uint64) (next uint64, n int) {
			next, n = s.step(&r, i, cursor)
			seen += int64(n)
			return next, n
		})
		left -= seen
		if at == 0 {
			i++
		}
		s.cursor = at
		switch {
		case at == 0 && (i == slot.Count || s.only >= 0):
			r.finish("0")
		case at == 0 && !servesSlot(e, i):
			r.finish(clusterCursor{tag: slot.TagOf(i)}.text("0"))
		case at == 0 && left > 0:
			continue
		default:
			tag := slot.TagOf(i)
			if i == s.from.slot {
				tag = s.from.tag
			}
			r.finish(clusterCursor{tag: tag, at: at}.text(scanMark(e)))
		}
		break
	}
	for _, key := range s.due {
		s.c.DB.Peek(key) // which deletes it
	}
}

// step shows the keys of one step through a slot.
func (s *clusterScanning) step(r *scanReply, i int, cursor uint64) (next uint64, seen int) {
	next = s.c.DB.ScanSlot(i, cursor, func(e object.Entry, isDue bool) {
		seen++
		switch {
		case !r.wants(e.Key()):
		case isDue:
			s.due = append(s.due, bytes.Clone(e.Key()))
		case !s.typed || strings.EqualFold(s.typeName, e.Type().String()):
			r.bulk(e.Key())
		}
	})
	return next, seen
}

// replyEmpty replies with no keys and the cursor of another slot, which another node may have.
func (s *clusterScanning) replyEmpty(next clusterCursor) {
	r := s.reply(s.c)
	r.finish(next.text("0"))
}

// text returns the cursor under a node's mark.
func (c clusterCursor) text(mark string) string {
	return mark + "-{" + c.tag + "}-" + strconv.FormatUint(c.at, 10)
}

// scanMark returns what tells the cursors of this process from those of others, which count through
// tables of another order.
func scanMark(e *engine.Engine) string { return e.RunID()[:6] }

// parseClusterCursor reads what text writes, or 0. The place within the slot is 0 if the cursor is
// of another node.
func parseClusterCursor(b []byte, mark string) (c clusterCursor, ok bool) {
	if string(b) == "0" {
		return c, true
	}
	whose, rest, ok1 := strings.Cut(string(b), "-")
	tag, at, ok2 := strings.Cut(rest, "-")
	n, ok3 := scan.ParseCursor([]byte(at))
	if !ok1 || !ok2 || !ok3 || at == "" {
		return c, false
	}
	c.slot = slot.Of(b)
	c.tag = strings.TrimSuffix(strings.TrimPrefix(tag, "{"), "}")
	if whose == mark {
		c.at = n
	}
	return c, true
}

// patternSlot returns the slot of all keys that a pattern matches, with a tag for it, or -1 if they
// may be of several.
func patternSlot(pattern []byte) (i int, tag string) {
	if pattern == nil {
		return -1, ""
	}
	end := bytes.IndexAny(pattern, `*?[\`)
	if end < 0 {
		end = len(pattern)
	}
	b := slot.Tag(pattern[:end])
	if len(b) == end && end < len(pattern) {
		return -1, "" // there is no tag before the first wildcard
	}
	i = int(slot.CRC16(b)) % slot.Count
	if len(b) > 32 || bytes.ContainsAny(b, "{}-") || len(b) == 0 {
		return i, slot.TagOf(i)
	}
	return i, string(b)
}

// isTypeName reports whether a type of values is called that.
func isTypeName(name string) bool {
	for t := range object.Type(object.NumTypes) {
		if d := t.Description(); d != nil && strings.EqualFold(name, t.String()) {
			return true
		}
	}
	return false
}
