package command

import (
	"godwit/internal/listpack"
	"godwit/internal/object"
)

// collectionLen is the number of elements of a collection of any type.
func collectionLen(x *object.Edit) int {
	switch x.E.Type() {
	case object.List:
		return object.AsList(x).Len()
	case object.Set:
		return object.AsSet(x).Len()
	case object.ZSet:
		return object.AsZSet(x).Len()
	}
	return object.AsHash(x).Len()
}

// eachElement calls emit for the elements with the numbers from … to-1 of a list, a set or a sorted set, in the value's own order; lists and
// sorted sets may be walked, and numbered, from their other end. The value must not be changed meanwhile.
func eachElement(x *object.Edit, from, to int, reverse bool, emit func(v listpack.Value)) {
	if from >= to {
		return
	}
	switch x.E.Type() {
	case object.List:
		l, first := object.AsList(x), from
		if reverse {
			first = l.Len() - 1 - from
		}
		it := l.Iter(first, reverse)
		for range to - from {
			v, _ := it.Next() // from and to are within the list
			emit(v)
		}
	case object.Set:
		i := 0
		object.AsSet(x).Each(func(v listpack.Value) bool {
			if i >= from {
				emit(v)
			}
			i++
			return i < to
		})
	case object.ZSet:
		for it := object.AsZSet(x).ByRank(from, to-1, reverse); it.Next(); {
			emit(it.Member)
		}
	}
}
