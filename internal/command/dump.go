package command

import (
	"errors"
	"strconv"
	"sync"

	"godwit/internal/crash"
	"godwit/internal/engine"
	"godwit/internal/keyspace"
	"godwit/internal/object"
	"godwit/internal/persist/rdb"
)

var _ = family(dumpHandlers)

func dumpHandlers() engine.Handlers {
	return engine.Handlers{
		"dump":           dumpCmd,
		"restore":        restoreCmd,
		"restore-asking": restoreCmd,
	}
}

func dumpCmd(c *engine.Ctx) {
	e := c.DB.LookupRead(c.Args[1])
	if !e.Exists() {
		c.Null()
		return
	}
	kept := payloads.Get().(*[]byte)
	enc := payloadEncoder(c)
	enc.B = (*kept)[:0]
	rdb.Dump(&enc, c.E.KS.Heap, e)
	c.Bulk(enc.B)
	if *kept = enc.B; cap(*kept) <= keptPayload {
		payloads.Put(kept)
	}
}

// payloads are the buffers of DUMP, as long as they are no larger than keptPayload.
var payloads = sync.Pool{New: func() any { return new([]byte) }}

const keptPayload = 256 << 10

// dumpValue returns the DUMP payload of an entry's value.
func dumpValue(c *engine.Ctx, e object.Entry) []byte {
	enc := payloadEncoder(c)
	rdb.Dump(&enc, c.E.KS.Heap, e)
	return enc.B
}

// payloadEncoder returns an encoder of payloads for the version that is asked for.
func payloadEncoder(c *engine.Ctx) rdb.Encoder {
	cfg := c.E.Cfg
	return rdb.Encoder{Compress: cfg.RDBCompression, Target: rdb.Target(cfg.RDBVersion)}
}

// restoreOptions are the arguments of RESTORE after the payload.
type restoreOptions struct {
	replace, absolute bool
	meta              rdb.Meta
}

func parseRestore(c *engine.Ctx) (o restoreOptions, ok bool) {
	o.meta = rdb.NoAccess()
	for i := 4; i < len(c.Args); i++ {
		more := i+1 < len(c.Args)
		switch a := c.Args[i]; {
		case is(a, "replace"):
			o.replace = true
		case is(a, "absttl"):
			o.absolute = true
		case is(a, "idletime") && more && o.meta.Freq < 0:
			i++
			if o.meta.Idle, ok = intArg(c, c.Args[i]); !ok {
				return o, false
			}
			if o.meta.Idle < 0 {
				c.Err("ERR Invalid IDLETIME value, must be >= 0")
				return o, false
			}
		case is(a, "freq") && more && o.meta.Idle < 0:
			i++
			n, ok := intArg(c, c.Args[i])
			if !ok {
				return o, false
			}
			if n < 0 || n > 255 {
				c.Err("ERR Invalid FREQ value, must be >= 0 and <= 255")
				return o, false
			}
			o.meta.Freq = int(n)
		default:
			c.Err(engine.ErrSyntax)
			return o, false
		}
	}
	return o, true
}

func restoreCmd(c *engine.Ctx) {
	o, ok := parseRestore(c)
	if !ok {
		return
	}
	key := c.Args[1]
	if !o.replace && c.DB.Lookup(key).Exists() {
		c.Err(engine.ErrBusyKey)
		return
	}
	ttl, ok := intArg(c, c.Args[2])
	if !ok {
		return
	}
	if ttl < 0 {
		c.Err("ERR Invalid TTL value, must be >= 0")
		return
	}
	var v rdb.Value
	var err error
	if crash.Contain("decoding the payload of RESTORE", func() {
		v, err = rdb.Restore(c.Args[3], rdb.ReadOptions{NoChecksum: c.E.Debug.SkipChecksums,
			Streams: c.E.KS.Heap.Lim.Stream})
	}) {
		c.Err(engine.ErrInternal)
		return
	}
	switch {
	case errors.Is(err, rdb.ErrPayload):
		c.Err("ERR DUMP payload version or checksum are wrong")
		return
	case err != nil:
		c.E.Log.Warning("RESTORE of a broken payload, its integrity check failed: %s", err)
		c.Err("ERR Bad data format")
		return
	}
	if ttl != 0 {
		o.meta.Deadline = ttl
		if !o.absolute {
			o.meta.Deadline = addMs(c.Now, ttl)
		}
	}
	restore(c, key, &v, &o)
}

// addMs adds two times without overflow.
func addMs(now, ms int64) int64 {
	if sum := now + ms; sum >= now {
		return sum
	}
	return 1<<63 - 1
}

// restore stores the value.
func restore(c *engine.Ctx, key []byte, v *rdb.Value, o *restoreOptions) {
	deadline := o.meta.Deadline
	if deadline != 0 && c.Past(deadline) {
		if o.replace && c.DB.Delete(key) {
			c.Changed(key)
			c.Notify(keyspace.EvGeneric, "del", key)
			c.PropagateAs(delName(c), key)
			c.Dirty(1)
		}
		c.OK()
		return
	}
	was := c.DB.TypeAt(key)
	put := rdb.Insert
	if o.replace {
		put = rdb.Replace
	}
	c.Changed(key) // Before it has the idle time that IDLETIME says: under LRM a change ends that.
	if err := put(c.DB, key, v, o.meta); err != nil {
		c.E.Log.Warning("RESTORE of a broken payload, its integrity check failed: %s", err)
		c.Err("ERR Bad data format")
		return
	}
	o.propagate(c, key)
	c.Notify(keyspace.EvGeneric, "restore", key)
	c.DB.Overwritten(key, was, c.DB.TypeAt(key))
	c.Dirty(1)
	c.OK()
}

// propagate replaces a relative time, and a payload that only newer servers read: by an older one,
// see payloadTarget, or by commands for a hash whose fields have deadlines, because Redis and
// Valkey each write those in a way of their own.
func (o *restoreOptions) propagate(c *engine.Ctx, key []byte) {
	newer := rdb.PayloadVersion(c.Args[3]) > rdb.Version
	timed := o.meta.Deadline != 0 && !o.absolute
	if !newer && !timed || !c.Propagating() {
		return // as it came
	}
	argv := append([][]byte(nil), c.Args...)
	if newer {
		e := c.DB.Peek(key)
		if c.E.KS.Heap.HasFieldDeadlines(e) {
			propagateHash(c, key, c.DB.Open(e))
			return
		}
		enc := rdb.Encoder{Compress: c.E.Cfg.RDBCompression, Target: payloadTarget(c)}
		rdb.Dump(&enc, c.E.KS.Heap, e)
		argv[3] = enc.B
	}
	if timed {
		argv[2] = strconv.AppendInt(nil, o.meta.Deadline, 10)
		argv = append(argv, []byte("ABSTTL"))
	}
	c.PropagateEach(argv...)
}

// payloadTarget returns the version of payloads that are propagated: the lowest that holds the
// value, as in snapshots, or one that Redis 7.0 reads, if rdb-version says that it must.
func payloadTarget(c *engine.Ctx) rdb.Target {
	switch t := rdb.Target(c.E.Cfg.RDBVersion); t {
	case rdb.Redis5, rdb.Redis70:
		return rdb.Redis70
	}
	return rdb.Auto
}

// delName returns the name of the command that propagates a deletion.
func delName(c *engine.Ctx) []byte {
	if c.E.KS.P.LazyServerDel {
		return []byte("UNLINK")
	}
	return []byte("DEL")
}
