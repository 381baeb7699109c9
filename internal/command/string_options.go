package command

import (
	"encoding/hex"
	"math"
	"strconv"

	"github.com/zeebo/xxh3"

	"godwit/internal/engine"
	"godwit/internal/keyspace"
	"godwit/internal/object"
)

// expireOption says what a write command does to the key's deadline.
type expireOption uint8

const (
	expireNone expireOption = iota
	expireEX
	expirePX
	expireEXAT
	expirePXAT
	expireKeep    // KEEPTTL.
	expirePersist // PERSIST.
)

// timed reports whether the option has a time.
func (o expireOption) timed() bool { return expireEX <= o && o <= expirePXAT }

// absolute reports whether the time counts from the epoch rather than from now.
func (o expireOption) absolute() bool { return o == expireEXAT || o == expirePXAT }

// unit returns the unit of the time in ms.
func (o expireOption) unit() int64 {
	if o == expireEX || o == expireEXAT {
		return 1000
	}
	return 1
}

// expireToken returns the option that the token names, or expireNone.
func expireToken(arg []byte) expireOption {
	switch {
	case is(arg, "ex"):
		return expireEX
	case is(arg, "px"):
		return expirePX
	case is(arg, "exat"):
		return expireEXAT
	case is(arg, "pxat"):
		return expirePXAT
	case is(arg, "keepttl"):
		return expireKeep
	case is(arg, "persist"):
		return expirePersist
	}
	return expireNone
}

// condition is what must hold for a conditional write.
type condition uint8

const (
	always condition = iota
	ifMissing
	ifPresent
	ifEqual
	ifNotEqual
	ifDigest
	ifNotDigest
)

// operand reports whether the condition compares the value with an argument.
func (k condition) operand() bool { return k >= ifEqual }

// compareToken returns the comparing condition that the token names, or always.
func compareToken(arg []byte) condition {
	switch {
	case is(arg, "ifeq"):
		return ifEqual
	case is(arg, "ifne"):
		return ifNotEqual
	case is(arg, "ifdeq"):
		return ifDigest
	case is(arg, "ifdne"):
		return ifNotDigest
	}
	return always
}

// writeOptions are the options that SET, GETEX and MSETEX share. Each command says in allow which
// of them it takes.
type writeOptions struct {
	cond    condition
	operand []byte
	get     bool
	expire  expireOption
	time    []byte
}

// allowed is a set of groups of options.
type allowed uint8

const (
	allowExists  allowed = 1 << iota // NX, XX.
	allowCompare                     // IFEQ, IFNE, IFDEQ, IFDNE.
	allowGet                         // GET.
	allowKeep                        // KEEPTTL.
	allowPersist                     // PERSIST.
)

// parse reads the options and replies with a syntax error. An option may be given twice, and the
// last one counts. Options that contradict each other are an error.
func (o *writeOptions) parse(c *engine.Ctx, args [][]byte, allow allowed) bool {
	for i := 0; i < len(args); i++ {
		n := o.one(args[i:], allow)
		if n == 0 {
			c.Err(engine.ErrSyntax)
			return false
		}
		i += n - 1
	}
	return true
}

// one reads one option from the front of args. It returns the number of arguments it took, or 0 if
// there is no valid option.
func (o *writeOptions) one(args [][]byte, allow allowed) int {
	arg := args[0]
	if e := expireToken(arg); e != expireNone {
		switch {
		case o.expire != expireNone && o.expire != e,
			e == expireKeep && allow&allowKeep == 0, e == expirePersist && allow&allowPersist == 0:
			return 0
		case !e.timed():
			o.expire = e
			return 1
		case len(args) < 2:
			return 0
		}
		o.expire, o.time = e, args[1]
		return 2
	}
	cond := always
	switch {
	case is(arg, "get") && allow&allowGet != 0:
		o.get = true
		return 1
	case is(arg, "nx") && allow&allowExists != 0:
		cond = ifMissing
	case is(arg, "xx") && allow&allowExists != 0:
		cond = ifPresent
	case allow&allowCompare != 0:
		cond = compareToken(arg)
	}
	if cond == always || o.cond != always && o.cond != cond {
		return 0
	}
	if !cond.operand() {
		o.cond = cond
		return 1
	}
	if len(args) < 2 {
		return 0
	}
	o.cond, o.operand = cond, args[1]
	return 2
}

// deadline returns the deadline that the options set, in unix ms, or keyspace.KeepTTL, or 0. It
// replies with an error and reports false if the time is no number, not positive or out of range.
func (o *writeOptions) deadline(c *engine.Ctx) (int64, bool) {
	switch {
	case o.expire == expireKeep:
		return keyspace.KeepTTL, true
	case !o.expire.timed():
		return 0, true
	}
	n, ok := intArg(c, o.time)
	if !ok {
		return 0, false
	}
	unit := o.expire.unit()
	if n > 0 && n <= math.MaxInt64/unit {
		n *= unit
		if o.expire.absolute() {
			return n, true
		}
		if n <= math.MaxInt64-c.Now {
			return n + c.Now, true
		}
	}
	replyInvalidExpire(c)
	return 0, false
}

// past reports whether the deadline was given as an absolute time that is over. Then the key is
// deleted instead of written.
func (o *writeOptions) past(c *engine.Ctx, deadline int64) bool {
	return o.expire.absolute() && c.Past(deadline)
}

// digestLen is the length of a digest in hexadecimal characters.
const digestLen = 16

// validOperand checks the form of a digest to compare with. It replies with an error and reports
// false if it is invalid.
func validOperand(c *engine.Ctx, cond condition, operand []byte) bool {
	if cond != ifDigest && cond != ifNotDigest {
		return true
	}
	var buf [digestLen / 2]byte
	if len(operand) == digestLen {
		if _, err := hex.Decode(buf[:], operand); err == nil {
			return true
		}
	}
	c.Err("ERR must be exactly 16 hexadecimal characters")
	return false
}

// holds reports whether the condition holds for the string at e, which may be missing.
func (k condition) holds(c *engine.Ctx, e object.Entry, operand []byte) bool {
	switch k {
	case always:
		return true
	case ifMissing:
		return !e.Exists()
	case ifPresent:
		return e.Exists()
	}
	negated := k == ifNotEqual || k == ifNotDigest
	if !e.Exists() {
		return negated
	}
	var scratch [24]byte
	value := c.DB.StringBytes(e, &scratch)
	if k == ifEqual || k == ifNotEqual {
		return (string(value) == string(operand)) != negated
	}
	want, err := strconv.ParseUint(string(operand), 16, 64)
	return (err == nil && xxh3.Hash(value) == want) != negated
}

// changed announces a new value of the string at key, under the event's name.
func changed(c *engine.Ctx, event string, key []byte) {
	c.Changed(key)
	c.Notify(keyspace.EvString, event, key)
}

// deleteKey deletes an existing key, sends the event and propagates DEL.
func deleteKey(c *engine.Ctx, key []byte) {
	c.DB.Delete(key)
	c.Changed(key)
	c.Notify(keyspace.EvGeneric, "del", key)
	c.Dirty(1)
	c.PropagateAs([]byte("DEL"), key)
}

// propagateSet propagates a write as a plain SET of its result. deadline is in unix ms, or 0, or
// keyspace.KeepTTL.
func propagateSet(c *engine.Ctx, key, value []byte, deadline int64) {
	switch {
	case deadline == keyspace.KeepTTL:
		c.PropagateAs([]byte("SET"), key, value, []byte("KEEPTTL"))
	case deadline != 0:
		var buf [20]byte
		c.PropagateAs([]byte("SET"), key, value, []byte("PXAT"),
			strconv.AppendInt(buf[:0], deadline, 10))
	default:
		c.PropagateAs([]byte("SET"), key, value)
	}
}

// plain reports whether no option was given. Then the command propagates as it came.
func (o *writeOptions) plain() bool { return o.cond == always && !o.get && o.expire == expireNone }
