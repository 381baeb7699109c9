package lua

import "strconv"

// addressBits make addresses look as those of Redis do. Scripts should not know more of the heap
// than that two objects differ.
const addressBits = 0x7f0000000000

// ToString returns what tostring returns for a value. The metamethod __tostring may return a value
// of any type.
func (t *Thread) ToString(v Value) Value {
	switch v.Kind() {
	case KindString:
		return v
	case KindNumber:
		return String(string(AppendNumber(nil, v.Num())))
	case KindBool:
		return String(strconv.FormatBool(v.Truthy()))
	case KindNil:
		return String("nil")
	}
	if h := t.metamethod(v, eventToString); !h.IsNil() {
		return t.CallFunction(h, v)
	}
	return String(nameOfObject(v))
}

// nameOfObject returns the type and the identity of a value that refers to an object.
func nameOfObject(v Value) string {
	if u := v.Userdata(); u != nil && u.Name != "" {
		return "userdata: " + u.Name
	}
	address := uint64(v.address()) ^ addressBits
	return v.TypeName() + ": 0x" + strconv.FormatUint(address, 16)
}
