package lua

// MaxString is the length of the longest string that a script can make: that of the longest value.
const MaxString = 512 << 20

// concat puts the concatenation of the slots first … last into a slot. Lua joins from the right; a
// run of strings and numbers is joined at once.
func (t *Thread) concat(first, last, slot int) bool {
	for last > first {
		from := last
		size, digits := 0, 0
		for from >= first && (t.stack[from].IsString() || t.stack[from].IsNumber()) {
			if v := t.stack[from]; v.IsString() {
				size += v.Len()
			} else {
				digits += numberSize
			}
			from--
		}
		from++
		if last-from < 1 {
			if !t.concatMeta(last-1, last) {
				return false
			}
			last--
			continue
		}
		if size > MaxString {
			return t.raise("string length overflow")
		}
		v, ok := t.join(t.stack[from:last+1], size+digits)
		if !ok {
			return false
		}
		t.stack[from] = v
		last = from
	}
	t.stack[slot] = t.stack[first]
	return true
}

// numberSize is enough for a number as text.
const numberSize = 24

// join returns the concatenation of strings and numbers, whose size is at most size.
func (t *Thread) join(list []Value, size int) (Value, bool) {
	if !t.goesOn(t.s.Grow(size)) {
		return Nil, false
	}
	if size <= joinedTwice {
		t.s.text = appendAll(t.s.text[:0], list)
		return t.s.NewString(t.s.text), true
	}
	return t.joinLong(list, size)
}

// joinedTwice is up to which length a string is first made in a buffer, so that it is not longer
// than it must be.
const joinedTwice = 64 << 10

func (t *Thread) joinLong(list []Value, size int) (v Value, ok bool) {
	t.s.asideIf(size >= LongWork, func() { v = Bytes(appendAll(make([]byte, 0, size), list)) })
	return v, t.s.spent(t, size/HandledPerStep)
}

func appendAll(b []byte, list []Value) []byte {
	for _, v := range list {
		if v.IsString() {
			b = append(b, v.Str()...)
		} else {
			b = AppendNumber(b, v.Num())
		}
	}
	return b
}

// concatMeta joins two neighbours by their metamethod.
func (t *Thread) concatMeta(i, j int) bool {
	x, y := t.stack[i], t.stack[j]
	h := t.metamethod(x, eventConcat)
	if h.n == bitsNil {
		h = t.metamethod(y, eventConcat)
	}
	if h.n == bitsNil {
		if x.IsString() || x.IsNumber() {
			i, x = j, y
		}
		return t.typeError("concatenate", x, i-int(t.frames[t.depth-1].base))
	}
	v, ok := t.callMeta(h, x, y)
	if ok {
		t.stack[i] = v
	}
	return ok
}
