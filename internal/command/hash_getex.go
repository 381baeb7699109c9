package command

import (
	"math"
	"slices"
	"strconv"

	"godwit/internal/engine"
	"godwit/internal/object"
)

func hgetdelCmd(c *engine.Ctx) {
	h, found, ok := writeHash(c)
	if !ok {
		return
	}
	fields, ok := fieldList(c, 2, errNumFields)
	if !ok {
		return
	}
	deleted := 0
	var names [][]byte
	c.Array(len(fields))
	ahead := h.Lookahead(fields, 1)
	for i, field := range fields {
		ahead.Reach(i)
		if !replyField(c, h, found, field) {
			continue
		}
		h.Delete(field)
		deleted++
		if c.E.KS.P.FieldEvents {
			names = append(names, field)
		}
	}
	if deleted == 0 {
		return
	}
	hashChanged(c, "hdel", deleted, names, 1)
	if h.Empty() {
		emptied(c, h.Edit, c.Args[1])
	}
	c.PropagateAs(append([][]byte{[]byte("HDEL"), c.Args[1]}, fields...)...)
}

func hgetexCmd(c *engine.Ctx) {
	h, found, ok := writeHash(c)
	if !ok {
		return
	}
	option, deadline, at := expireToken(c.Args[2]), int64(0), 2
	switch {
	case option.timed():
		if deadline, ok = fieldDeadline(c, c.Args[3], option.unit(), option.absolute()); !ok {
			return
		}
		if at = 4; len(c.Args) == at+1 {
			c.Err(errArity(c))
			return
		}
	case option == expirePersist:
		at = 3
	}
	fields, ok := fieldList(c, at, errNumFields)
	if !ok {
		return
	}
	if found && at > 2 {
		h.AllowDeadlines()
	}
	var w fieldWrites
	c.Array(len(fields))
	ahead := h.Lookahead(fields, 1)
	for i, field := range fields {
		ahead.Reach(i)
		if !replyField(c, h, found, field) || at == 2 {
			continue
		}
		if option.timed() {
			w.expire(c, h, field, deadline)
		} else if d, _ := h.Deadline(field); d != 0 {
			h.SetDeadline(field, 0)
			w.updated = append(w.updated, field)
		}
	}
	if option == expirePersist {
		w.finish(c, h, "hpersist")
		w.propagate(c, "HPERSIST", 0)
	} else {
		w.finish(c, h, "hexpire")
		w.propagate(c, "HPEXPIREAT", deadline)
	}
}

// setexOptions are the options of HSETEX.
type setexOptions struct {
	keyCond  condition // NX, XX: on the key.
	cond     condition // FNX, FXX: on the fields.
	expire   expireOption
	timeAt   int // The index of the argument with the time.
	deadline int64
	pairs    [][]byte // Field, value, field, value, …
}

// parse reads the arguments after the key and replies with Redis's errors.
func (o *setexOptions) parse(c *engine.Ctx) bool {
	for i := 2; i < len(c.Args); i++ {
		arg := c.Args[i]
		switch e := expireToken(arg); {
		case is(arg, "fields"):
			return o.parsePairs(c, i)
		case e != expireNone && e != expirePersist:
			if o.expire != expireNone {
				c.Err("ERR Only one of EX, PX, EXAT, PXAT or KEEPTTL arguments can be specified")
				return false
			}
			if o.expire = e; e == expireKeep {
				continue
			}
			if i++; i == len(c.Args) {
				c.Err("ERR missing expire time")
				return false
			}
			var ok bool
			if o.deadline, ok = fieldDeadline(c, c.Args[i], e.unit(), e.absolute()); !ok {
				return false
			}
			o.timeAt = i
		case is(arg, "fxx"), is(arg, "fnx"):
			if o.cond != always {
				c.Err("ERR Only one of FXX or FNX arguments can be specified")
				return false
			}
			if o.cond = ifMissing; is(arg, "fxx") {
				o.cond = ifPresent
			}
		case is(arg, "nx"), is(arg, "xx"):
			cond := ifMissing
			if is(arg, "xx") {
				cond = ifPresent
			}
			if o.keyCond != always && o.keyCond != cond {
				c.Err(engine.ErrSyntax)
				return false
			}
			o.keyCond = cond
		default:
			c.Err("ERR unknown argument: " + cString(arg, len(arg)))
			return false
		}
	}
	c.Err(errFieldsMissing)
	return false
}

// parsePairs reads FIELDS numfields field value … from argument i on.
func (o *setexOptions) parsePairs(c *engine.Ctx, i int) bool {
	wrong := errArity(c)
	if i >= len(c.Args)-3 {
		c.Err(wrong)
		return false
	}
	n, ok := object.ParseInt(c.Args[i+1])
	if !ok || n < 1 || n > math.MaxInt32 {
		c.Err("ERR invalid number of fields")
		return false
	}
	if o.pairs = c.Args[i+2:]; int64(len(o.pairs)) != 2*n {
		c.Err(wrong)
		return false
	}
	return true
}

// holds reports whether the conditions hold, that on fields for all of them.
func (o *setexOptions) holds(h object.Fields, found bool) bool {
	if o.keyCond != always && found != (o.keyCond == ifPresent) {
		return false
	}
	if o.cond == always {
		return true
	}
	ahead := h.Lookahead(o.pairs, 2)
	for i := 0; i < len(o.pairs); i += 2 {
		ahead.Reach(i)
		if (found && h.Has(o.pairs[i])) != (o.cond == ifPresent) {
			return false
		}
	}
	return true
}

func hsetexCmd(c *engine.Ctx) {
	var o setexOptions
	if !o.parse(c) {
		return
	}
	h, found, ok := writeHash(c)
	if !ok {
		return
	}
	if !o.holds(h, found) {
		c.Int(0)
		return
	}
	if !found {
		h = newHash(c)
	}
	h.Reserve(o.pairs)
	if o.expire.timed() {
		h.AllowDeadlines()
	}
	var w fieldWrites
	keeps := false // a deadline
	ahead := h.Lookahead(o.pairs, 2)
	for i := 0; i < len(o.pairs); i += 2 {
		ahead.Reach(i)
		if o.expire == expireKeep && !keeps {
			d, _ := h.Deadline(o.pairs[i])
			keeps = d != 0
		}
		if field, value := o.pairs[i], o.pairs[i+1]; o.expire == expireNone {
			h.Set(field, value)
		} else {
			h.SetKeep(field, value)
			if o.expire.timed() {
				w.expire(c, h, field, o.deadline)
			}
		}
	}
	hashChanged(c, "hset", len(o.pairs)/2, o.pairs, 2)
	w.finish(c, h, "hexpire")
	if len(w.deleted) == 0 { // Else it is an HDEL of each field.
		o.propagate(c, len(w.updated) > 0, keeps)
	}
	c.Int(1)
}

// propagate sends an HSET, if no field has a deadline. Else the time is absolute, and NX and XX,
// which Redis does not know, are left out. timed says whether a field has got a deadline, keeps
// whether one has kept its own.
func (o *setexOptions) propagate(c *engine.Ctx, timed, keeps bool) {
	if !timed && !keeps {
		c.PropagateAs(append([][]byte{wordHSet, c.Args[1]}, o.pairs...)...)
		return
	}
	timed = timed && o.expire != expirePXAT
	if !timed && o.keyCond == always {
		return
	}
	argv := append([][]byte(nil), c.Args...)
	if timed {
		argv[o.timeAt-1], argv[o.timeAt] = []byte("PXAT"), strconv.AppendInt(nil, o.deadline, 10)
	}
	options := argv[2 : len(argv)-len(o.pairs)]
	rest := slices.DeleteFunc(options, func(a []byte) bool { return is(a, "nx") || is(a, "xx") })
	c.PropagateAs(append(argv[:2+len(rest)], o.pairs...)...)
}
