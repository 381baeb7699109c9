package command

import (
	"slices"

	"godwit/internal/engine"
	"godwit/internal/intset"
	"godwit/internal/keyspace"
	"godwit/internal/listpack"
	"godwit/internal/object"
	"godwit/internal/resp"
)

// setOp is an operation on several sets.
type setOp uint8

const (
	opInter setOp = iota
	opUnion
	opDiff
)

// openSets opens the sets at the keys for reading. The result for a missing key has no Edit. It
// reports false after a WRONGTYPE reply. It makes its own Edits, because the keyspace keeps only a
// few open and there may be any number of keys.
func openSets(c *engine.Ctx, keys [][]byte) ([]object.Members, bool) {
	edits := make([]object.Edit, len(keys))
	sets := make([]object.Members, len(keys))
	ahead := c.DB.Lookahead(keys, 1)
	for i, key := range keys {
		ahead.Reach(i)
		e := c.DB.LookupRead(key)
		switch {
		case !e.Exists():
		case e.Type() != object.Set:
			c.Err(engine.ErrWrongType)
			return nil, false
		default:
			edits[i].Reset(c.E.KS.Heap, e, c.DB)
			sets[i] = object.AsSet(&edits[i])
		}
	}
	return sets, true
}

// present returns the sets that the result depends on, in order. It returns none if the result is
// empty.
func (op setOp) present(sets []object.Members) []object.Members {
	missing := func(s object.Members) bool { return s.Edit == nil }
	if op == opInter && slices.ContainsFunc(sets, missing) || op == opDiff && missing(sets[0]) {
		return nil
	}
	return slices.DeleteFunc(sets, missing)
}

// run calls emit for each member of the result, until emit returns false.
func (op setOp) run(sets []object.Members, emit func(v listpack.Value) bool) {
	switch {
	case len(sets) == 0:
	case op == opInter:
		object.Inter(sets, emit)
	case op == opUnion:
		object.Union(sets, emit)
	default:
		object.Diff(sets, emit)
	}
}

func answerSets(c *engine.Ctx, op setOp) {
	sets, ok := openSets(c, c.Args[1:])
	if !ok {
		return
	}
	// Members are written to the reply as they are found. Their number is inserted at the end.
	at, n := c.Mark(), 0
	op.run(op.present(sets), func(v listpack.Value) bool {
		bulkValue(c, v)
		n++
		return true
	})
	var tmp [32]byte
	head := resp.Writer{Buf: tmp[:0], Proto: c.Proto}
	head.Set(n)
	c.Insert(at, head.Buf)
}

// storeSets builds the result outside the keyspace, because the destination may be one of the
// sources. It stores the complete result.
func storeSets(c *engine.Ctx, op setOp, event string) {
	dst := c.Args[1]
	sets, ok := openSets(c, c.Args[2:])
	if !ok {
		return
	}
	res := object.AsSet(op.newResult(c, op.present(sets)))
	n := res.Len()
	if n == 0 {
		res.Discard()
		storedNothing(c, dst)
		return
	}
	c.DB.Install(dst, res.Edit)
	c.Changed(dst)
	c.Notify(keyspace.EvSet, event, dst)
	c.Dirty(1)
	c.Int(int64(n))
}

// newResult returns the result as a detached set. Its encoding is the one that Redis 7.2 ends with,
// which depends on the order in which Redis adds and removes members.
func (op setOp) newResult(c *engine.Ctx, sets []object.Members) *object.Edit {
	x := object.NewDetached(c.E.KS.Heap, object.Set, object.EncIntset, intset.Empty())
	res := object.AsSet(x)
	add := func(v listpack.Value) bool {
		res.AddValue(v)
		return true
	}
	switch {
	case len(sets) == 0:
	case op == opInter:
		if slices.MinFunc(sets, object.Members.Compare).Base() != object.EncIntset {
			x.SetPacked(object.EncListpack, listpack.Empty())
		}
		object.Inter(sets, add)
		res.ToIntset()
	case op == opUnion:
		l := res.H.Lim
		if n := slices.MaxFunc(sets, object.Members.Compare).Len(); n >
			max(l.SetMaxIntsetEntries, l.SetMaxListpackEntries) {
			res.Reserve(n)
		}
		for _, s := range sets {
			s.Each(add)
		}
	case copiesFirst(sets):
		sets[0].Each(add)
		for _, s := range sets[1:] {
			s.Each(func(v listpack.Value) bool {
				res.RemoveValue(v)
				return true
			})
		}
	default:
		object.Diff(sets, add)
	}
	return x
}

// copiesFirst reports whether Redis computes the difference by copying the first set and removing
// the members of the others.
func copiesFirst(sets []object.Members) bool {
	total := 0
	for _, s := range sets {
		if total += s.Len(); s.E.Ref == sets[0].E.Ref && s.Edit != sets[0].Edit {
			return false // The result is known to be empty.
		}
	}
	return sets[0].Len()*len(sets)/2 > total
}
