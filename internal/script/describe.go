package script

import (
	"fmt"
	"strings"

	"godwit/internal/lua"
	"godwit/internal/resp"
)

// Bounds of what the debugger shows: how deep tables are shown within tables, and after how many
// bytes it stops.
const (
	maxDescribed  = 10
	maxDescribing = 1 << 20
)

// describe writes a value as the debugger shows it. A table shows its keys unless they are 1, 2, …
// in the order of their traversal.
func describe(b *strings.Builder, v lua.Value, depth int) {
	if b.Len() > maxDescribing {
		return
	}
	if depth++; depth > maxDescribed {
		b.WriteString("<max recursion level reached! Nested table?>")
		return
	}
	switch v.Kind() {
	case lua.KindString:
		writeQuoted(b, v.Borrow())
	case lua.KindNumber:
		b.Write(lua.AppendG(nil, v.Num(), 6))
	case lua.KindNil, lua.KindBool:
		b.WriteString(display(v))
	case lua.KindTable:
		describeTable(b, v.Table(), depth)
	default:
		kind, address, _ := strings.Cut(display(v), ": ")
		if v.Userdata() != nil {
			kind = "light-userdata" // there are no others
		}
		fmt.Fprintf(b, `"%s@%s"`, kind, address)
	}
}

// writeQuoted writes a string, or its beginning.
func writeQuoted(b *strings.Builder, text []byte) {
	b.Write(resp.AppendQuoted(nil, text[:min(len(text), maxDescribing)]))
}

func describeTable(b *strings.Builder, t *lua.Table, depth int) {
	list, n := true, 0
	each(t, func(k, _ lua.Value) {
		n++
		list = list && k.IsNumber() && k.Num() == float64(n)
	})
	separator := "{"
	each(t, func(k, v lua.Value) {
		if b.Len() > maxDescribing {
			return
		}
		b.WriteString(separator)
		separator = "; "
		if !list {
			b.WriteByte('[')
			describe(b, k, depth)
			b.WriteString("]=")
		}
		describe(b, v, depth)
	})
	if n == 0 {
		b.WriteByte('{')
	}
	b.WriteByte('}')
}

// describeReply writes a reply as the debugger shows it. Our own commands have written it.
func describeReply(b *strings.Builder, reply []byte) {
	d := decoder{b: reply}
	d.describe(b)
}

func (d *decoder) describe(b *strings.Builder) {
	if b.Len() > maxDescribing {
		return
	}
	switch kind := d.b[0]; kind {
	case ':':
		b.Write(d.line())
	case '$':
		n := d.integer()
		if n < 0 {
			b.WriteString("NULL")
			return
		}
		writeQuoted(b, d.bulk(n))
	case '+', '-':
		b.Write(resp.AppendQuoted(nil, append([]byte{kind}, d.line()...)))
	case '*', '>':
		d.describeList(b, "[", "", "]")
	case '~':
		d.describeList(b, "~(", "", ")")
	case '%':
		d.describeList(b, "{", " => ", "}")
	case '_':
		d.line()
		b.WriteString("(null)")
	case '#':
		b.WriteString(map[bool]string{true: "#true", false: "#false"}[d.line()[0] == 't'])
	case ',':
		b.WriteString("(double) ")
		b.Write(d.line())
	case '=':
		writeQuoted(b, d.bulk(d.integer())[len("txt:"):])
	default:
		b.Write(d.line())
	}
}

// describeList writes the elements of a list, or of a map in pairs.
func (d *decoder) describeList(b *strings.Builder, open, pair, end string) {
	n := d.integer()
	if n < 0 {
		b.WriteString("NULL")
		return
	}
	b.WriteString(open)
	for i := int64(0); i < n && b.Len() <= maxDescribing; i++ {
		if i > 0 {
			b.WriteByte(',')
		}
		if d.describe(b); pair != "" {
			b.WriteString(pair)
			d.describe(b)
		}
	}
	b.WriteString(end)
}
