package command

import (
	"godwit/internal/engine"
	"godwit/internal/hll"
	"godwit/internal/keyspace"
	"godwit/internal/object"
)

var _ = family(hllHandlers)

func hllHandlers() engine.Handlers {
	return engine.Handlers{
		"pfadd":      pfaddCmd,
		"pfcount":    pfcountCmd,
		"pfmerge":    pfmergeCmd,
		"pfdebug":    pfdebugCmd,
		"pfselftest": pfselftestCmd,
	}
}

// hllAt returns the bytes of the HyperLogLog at e, which must exist. It replies with an error and
// reports false if e holds something else.
func hllAt(c *engine.Ctx, e object.Entry) ([]byte, bool) {
	if !isString(c, e) {
		return nil, false
	}
	if e.Encoding() != object.EncInt {
		b := c.DB.StringBytes(e, nil)
		if hll.Check(b) == nil {
			if !c.E.HasRoom(int64(len(b))) { // A snapshot may need a copy of the old bytes.
				c.Err(engine.ErrNoMemory)
				return nil, false
			}
			return b, true
		}
	}
	c.Err(engine.ErrNotHLL)
	return nil, false
}

// hllWriter is the value of a HyperLogLog that a command changes.
type hllWriter struct {
	c *engine.Ctx
	e object.Entry
	b []byte
}

// openHLL opens the HyperLogLog at e for changes.
func openHLL(c *engine.Ctx, e object.Entry) hllWriter {
	w := hllWriter{c: c, e: e}
	w.resize(e.StringLen(), 0)
	return w
}

func (w *hllWriter) resize(n, room int) { w.e, w.b = w.c.DB.Resize(w.e, n, room) }

// densify converts a sparse value to a dense one.
func (w *hllWriter) densify() error {
	var dense [hll.DenseSize]byte
	if err := hll.ToDense(dense[:], w.b); err != nil {
		return err
	}
	w.resize(len(dense), 0)
	copy(w.b, dense[:])
	return nil
}

// add adds an element. It reports whether that changed a register.
func (w *hllWriter) add(elem []byte) (changed bool, err error) {
	index, rank := hll.Hash(elem)
	if !hll.Dense(w.b) {
		if cap(w.b)-len(w.b) < hll.Room {
			w.resize(len(w.b), hll.Room)
		}
		w.b, changed, err = hll.SetSparse(w.b, index, rank, w.c.E.Cfg.HLLSparseMaxBytes)
		if err != hll.ErrDense {
			return changed, err
		}
		if err := w.densify(); err != nil {
			return false, err
		}
	}
	return hll.SetDense(w.b, index, rank), nil
}

// addAll adds elements up to the first error. It returns how many of them changed a register.
func (w *hllWriter) addAll(elems [][]byte) (changed int, err error) {
	for _, elem := range elems {
		var up bool
		if up, err = w.add(elem); err != nil {
			break
		}
		if up {
			changed++
		}
	}
	// The value may have grown meanwhile, and shrunk again.
	if len(w.b) != w.e.StringLen() {
		w.resize(len(w.b), 0)
	}
	return changed, err
}

func pfaddCmd(c *engine.Ctx) {
	key, elems := c.Args[1], c.Args[2:]
	e := c.DB.Lookup(key)
	changes := 0
	if !e.Exists() {
		e, elems = createHLL(c, key, elems)
		changes++
		if len(elems) == 0 {
			c.Dirty(changes)
			changed(c, "pfadd", key)
			c.Int(1)
			return
		}
	} else if _, ok := hllAt(c, e); !ok {
		return
	}
	w := openHLL(c, e)
	n, err := w.addAll(elems)
	if err != nil {
		// Of a corrupt value, only the part before the register is checked. So some elements may
		// have been added before the error. They stay, as in Redis. The command cannot be logged,
		// because it fails.
		if n > 0 {
			hll.Invalidate(w.b)
			c.Dirty(n)
			c.Changed(key)
			propagateSet(c, key, w.b, keyspace.KeepTTL)
		}
		c.Err(engine.ErrCorruptHLL)
		return
	}
	if changes += n; changes == 0 {
		c.Int(0)
		return
	}
	w.done(key, changes)
	c.Int(1)
}

// createHLL creates a HyperLogLog at an absent key with the first few elements, as long as it fits
// in the entry. It returns the elements that are left.
func createHLL(c *engine.Ctx, key []byte, elems [][]byte) (object.Entry, [][]byte) {
	var buf [hll.EmptySize + 8*hll.Room]byte
	b := hll.AppendEmpty(buf[:0])
	for len(elems) > 0 && cap(b)-len(b) >= hll.Room {
		index, rank := hll.Hash(elems[0])
		var err error
		if b, _, err = hll.SetSparse(b, index, rank, c.E.Cfg.HLLSparseMaxBytes); err != nil {
			break // It must become dense.
		}
		elems = elems[1:]
	}
	hll.Invalidate(b)
	return c.DB.Set(key, object.RawValue(b), keyspace.KeepTTL), elems
}

// done records the changes of the registers and sends the event.
func (w *hllWriter) done(key []byte, changes int) {
	hll.Invalidate(w.b)
	w.c.Dirty(changes)
	changed(w.c, "pfadd", key)
}

func pfcountCmd(c *engine.Ctx) {
	if len(c.Args) > 2 {
		pfcountUnion(c)
		return
	}
	key := c.Args[1]
	e := c.DB.LookupRead(key)
	if !e.Exists() {
		c.Int(0)
		return
	}
	b, ok := hllAt(c, e)
	if !ok {
		return
	}
	n, ok := hll.Cached(b)
	if !ok {
		var err error
		if n, err = hll.Count(b); err != nil {
			c.Err(engine.ErrCorruptHLL)
			return
		}
		// The estimate is cached in the value. So PFCOUNT, a reading command, changes the value and
		// propagates.
		w := openHLL(c, e)
		hll.SetCached(w.b, n)
		c.Changed(key)
		c.Dirty(1)
	} else if e.Encoding() == object.EncEmbstr {
		openHLL(c, e) // It leaves the value in the form in which Redis does.
	}
	c.Int(int64(n))
}

// join adds the HyperLogLog at e to the union. It replies with an error and reports false if e is
// not a valid one.
func join(c *engine.Ctx, u *hll.Union, e object.Entry) bool {
	b, ok := hllAt(c, e)
	if !ok {
		return false
	}
	if u.Add(b) != nil {
		c.Err(engine.ErrCorruptHLL)
		return false
	}
	return true
}

// joinAll adds the HyperLogLogs at all keys of the command to the union. It replies with an error
// and reports false if one is not valid.
func joinAll(c *engine.Ctx, u *hll.Union) bool {
	keys := c.Args[1:]
	ahead := c.DB.Lookahead(keys, 1)
	for i, key := range keys {
		ahead.Reach(i)
		if e := c.DB.LookupRead(key); e.Exists() && !join(c, u, e) {
			return false
		}
	}
	return true
}

func pfcountUnion(c *engine.Ctx) {
	var u hll.Union
	if joinAll(c, &u) {
		c.Int(int64(u.Count()))
	}
}

func pfmergeCmd(c *engine.Ctx) {
	var u hll.Union
	if !joinAll(c, &u) {
		return
	}
	key := c.Args[1]
	e := c.DB.Lookup(key)
	if !e.Exists() {
		var buf [hll.EmptySize]byte
		e = c.DB.Set(key, object.RawValue(hll.AppendEmpty(buf[:0])), keyspace.KeepTTL)
	}
	w := openHLL(c, e)
	if err := w.store(&u); err != nil {
		c.Err(engine.ErrCorruptHLL)
		return
	}
	w.done(key, 1)
	c.OK()
}

// store raises the registers to those of the union.
func (w *hllWriter) store(u *hll.Union) error {
	if !hll.Dense(w.b) {
		if !u.Dense {
			err := w.storeSparse(u)
			if err != hll.ErrDense {
				return err
			}
		}
		if err := w.densify(); err != nil {
			return err
		}
	}
	u.StoreDense(w.b)
	return nil
}

// storeSparse does what store does, for a sparse value. On an error the value is unchanged.
func (w *hllWriter) storeSparse(u *hll.Union) error {
	var buf [hll.MaxSparse + hll.Room]byte
	b, err := u.StoreSparse(append(buf[:0], w.b...), w.c.E.Cfg.HLLSparseMaxBytes)
	if err != nil {
		return err
	}
	w.resize(len(b), 0)
	copy(w.b, b)
	return nil
}
