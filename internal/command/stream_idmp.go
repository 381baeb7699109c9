package command

import (
	"encoding/binary"
	"math/bits"

	"github.com/zeebo/xxh3"

	"godwit/internal/engine"
	"godwit/internal/object"
	"godwit/internal/stream"
)

const (
	errIDMPTwice = "ERR syntax error, IDMP/IDMPAUTO specified multiple times"
	errIDMPAuto  = "ERR syntax error, IDMP/IDMPAUTO can be used only with auto-generated IDs"
	errAutoPID   = "ERR syntax error, IDMPAUTO requires a non-empty producer ID"
	errPID       = "ERR syntax error, IDMP requires a non-empty producer ID"
	errIID       = "ERR syntax error, IDMP requires a non-empty idempotent ID"
)

// idmpArgs are IDMP or IDMPAUTO of XADD: what keeps an entry that is sent again from being added
// again.
type idmpArgs struct {
	pid, given []byte // given is the iid of IDMP
	auto       bool
	sum        [16]byte // the iid of IDMPAUTO
}

// used reports whether there is such an option.
func (o *idmpArgs) used() bool { return o.pid != nil }

// iid returns the idempotent ID.
func (o *idmpArgs) iid() []byte {
	if o.auto {
		return o.sum[:]
	}
	return o.given
}

// parse reads the option, which argument i begins, and returns the number of its arguments.
func (o *idmpArgs) parse(c *engine.Ctx, i int, auto bool) (n int, ok bool) {
	pid, iid := c.Args[i+1], c.Args[i+1]
	if !auto {
		iid = c.Args[i+2]
	}
	switch {
	case o.used():
		c.Err(errIDMPTwice)
	case auto && len(pid) == 0:
		c.Err(errAutoPID)
	case len(pid) == 0:
		c.Err(errPID)
	case len(iid) == 0:
		c.Err(errIID)
	case auto:
		o.pid, o.auto = pid, true
		return 2, true
	default:
		o.pid, o.given = pid, iid
		return 3, true
	}
	return 0, false
}

// hash makes the iid of IDMPAUTO from the fields, as Redis does. It is the same for all orders of
// the fields.
func (o *idmpArgs) hash(fields [][]byte) {
	if !o.auto {
		return
	}
	var sum, xor xxh3.Uint128
	var length [8]byte
	var h xxh3.Hasher
	for i := 0; i < len(fields); i += 2 {
		h.Reset()
		binary.LittleEndian.PutUint64(length[:], uint64(len(fields[i])))
		_, _ = h.Write(fields[i])
		_, _ = h.Write(length[:])
		_, _ = h.Write(fields[i+1])
		pair := h.Sum128()
		sum.Lo += pair.Lo
		sum.Hi += pair.Hi
		xor.Lo ^= pair.Lo
		xor.Hi ^= pair.Hi
	}
	binary.LittleEndian.PutUint64(o.sum[:], sum.Lo^bits.RotateLeft64(xor.Hi, 1))
	binary.LittleEndian.PutUint64(o.sum[8:], sum.Hi^bits.RotateLeft64(xor.Lo, 1))
}

// isDuplicate reports whether the producer has added the entry already. It counts that and replies
// with the entry's ID. Whoever must be obeyed has asked that already, and sends new entries with
// their ID, duplicates as they came. As in Redis the count does not touch the key for WATCH.
func (o *idmpArgs) isDuplicate(c *engine.Ctx, x *object.Edit, auto bool) bool {
	if !o.used() || c.Obeyed() && !auto {
		return false
	}
	id, ok := x.Stream().Lookup(o.pid, o.iid(), c.Now)
	if !ok && !c.Obeyed() {
		return false
	}
	m := x.ChangingStream().UseIDMP(stream.DefaultDuration, stream.DefaultMaxSize)
	m.Duplicate = stream.More(m.Duplicate)
	bulkID(c, id)
	c.Dirty(1)
	return true
}

// note records the entry that was added.
func (o *idmpArgs) note(c *engine.Ctx, s *stream.Stream, id stream.ID) {
	if !o.used() {
		return
	}
	now := c.Now
	if c.Obeyed() {
		now = int64(id.Ms) // it was added then
	}
	s.UseIDMP(stream.DefaultDuration, stream.DefaultMaxSize)
	s.Note(o.pid, o.iid(), id, now)
}

// idmpOf returns the stream's settings and counts.
func idmpOf(s *stream.Stream) stream.IDMP {
	if own := s.IDMP(); own != nil {
		return *own
	}
	return stream.DefaultIDMP()
}

// createStream stores an empty stream under a key that a lookup has found absent, and opens it. It
// takes its settings from the configuration, whose later changes are for later streams. The base
// of a log sets them by XCFGSET behind the entries, unless they are the defaults.
func createStream(c *engine.Ctx, key []byte) *object.Edit {
	x, cfg := c.DB.CreateStream(key), c.E.Cfg
	if c.Client.Origin == engine.OriginBase {
		return x
	}
	if cfg.StreamIDMPDuration != stream.DefaultDuration ||
		cfg.StreamIDMPMaxSize != stream.DefaultMaxSize {
		x.ChangingStream().UseIDMP(cfg.StreamIDMPDuration, int(cfg.StreamIDMPMaxSize))
	}
	return x
}

// idmpOption is an option of XCFGSET: its value, 0 if it is not there.
type idmpOption struct {
	token, twice, outside string
	high                  int64
	value                 int64
}

// xcfgsetCmd sets how long and how many idempotent IDs a stream keeps. If that changes, it forgets
// those that it has.
func xcfgsetCmd(c *engine.Ctx) {
	options := [2]idmpOption{
		{token: "idmp-duration", twice: "ERR IDMP-DURATION specified multiple times",
			outside: "ERR IDMP-DURATION must be between 1 and 86400 seconds", high: 86400},
		{token: "idmp-maxsize", twice: "ERR IDMP-MAXSIZE specified multiple times",
			outside: "ERR IDMP-MAXSIZE must be between 1 and 10000 entries", high: 10000},
	}
	for i := 2; i < len(c.Args); i += 2 {
		if !parseIDMPOption(c, options[:], c.Args[i:]) {
			return
		}
	}
	if len(c.Args) == 2 {
		c.Err("ERR At least one parameter must be specified")
		return
	}
	key := c.Args[1]
	x, ok := existingStreamToWrite(c, key)
	if !ok {
		return
	}
	if configureIDMP(x, options[0].value, int(options[1].value)) {
		c.Dirty(1)
	}
	c.OK()
}

// parseIDMPOption reads the option that args begins with.
func parseIDMPOption(c *engine.Ctx, options []idmpOption, args [][]byte) (ok bool) {
	for i := range options {
		o := &options[i]
		if !is(args[0], o.token) || len(args) == 1 {
			continue
		}
		if o.value != 0 {
			c.Err(o.twice)
			return false
		}
		if o.value, ok = intArg(c, args[1]); !ok {
			return false
		}
		if o.value < 1 || o.value > o.high {
			c.Err(o.outside)
			return false
		}
		return true
	}
	c.Err(engine.ErrSyntax)
	return false
}

// configureIDMP sets duration and maxSize, where they are not 0, and reports whether that changes
// anything.
func configureIDMP(x *object.Edit, duration int64, maxSize int) (changed bool) {
	was := idmpOf(x.Stream())
	if duration == 0 {
		duration = was.Duration
	}
	if maxSize == 0 {
		maxSize = was.MaxSize
	}
	if duration == was.Duration && maxSize == was.MaxSize {
		return false
	}
	s := x.ChangingStream()
	s.ClearIDMP()
	m := s.UseIDMP(duration, maxSize)
	m.Duration, m.MaxSize = duration, maxSize
	return true
}

// xidmprecordCmd records what a producer has added, for a log that was rewritten.
func xidmprecordCmd(c *engine.Ctx) {
	key, pid, iid := c.Args[1], c.Args[2], c.Args[3]
	if len(pid) == 0 {
		c.Err("ERR producer ID must be non-empty")
		return
	}
	if len(iid) == 0 {
		c.Err("ERR idempotent ID must be non-empty")
		return
	}
	id, ok := streamIDArg(c, c.Args[4], 0)
	if !ok {
		return
	}
	x, ok := existingStreamToWrite(c, key)
	if !ok {
		return
	}
	s := x.Stream()
	was, known := s.Lookup(pid, iid, 0) // whatever its age
	switch {
	case !s.Contains(id):
		c.Err("ERR No such message in stream")
		return
	case known && was != id:
		c.Err("ERR IID already exists for this producer with a different stream ID")
		return
	case !known:
		s = x.ChangingStream()
		s.UseIDMP(stream.DefaultDuration, stream.DefaultMaxSize)
		s.Note(pid, iid, id, 0) // whatever its age
		c.Dirty(1)
	}
	c.OK()
}
