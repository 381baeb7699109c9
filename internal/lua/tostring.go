package lua

import (
	"fmt"
	"strconv"
)

// ToString returns what tostring returns for a value. The metamethod __tostring may return a value
// of any type.
func (t *Thread) ToString(v Value) Value {
	switch v.Kind() {
	case KindString:
		return v
	case KindNumber:
		var room [32]byte
		return t.s.NewString(AppendNumber(room[:0], v.Num()))
	case KindBool:
		return String(strconv.FormatBool(v.Truthy()))
	case KindNil:
		return String("nil")
	}
	if h := t.metamethod(v, eventToString); !h.IsNil() {
		return t.CallFunction(h, v)
	}
	return String(ObjectName(v))
}

// ObjectName returns the type and the identity of a value that refers to an object.
func ObjectName(v Value) string {
	if u := v.Userdata(); u != nil && u.Name != "" {
		return "userdata: " + u.Name
	}
	return fmt.Sprintf("%s: 0x%012x", v.TypeName(), v.address())
}
