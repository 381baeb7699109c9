package rdb

import (
	"godwit/internal/listpack"
	"godwit/internal/object"
	"godwit/internal/quicklist"
)

// Lists are written as nodes (18). Each is its container (1: one element, 2: a listpack) and a
// string. A list that is one listpack is one node. Redis 5 and 6 get nodes that are ziplists (14).
//
// They are read as those, as elements (1) and as one ziplist (10).
func init() {
	register(&Type{
		Object: object.List,
		Ops: []Op{
			{typeList, "*(s)", decodeListPlain},
			{typeListZiplist, "s", decodeListZiplist},
			{typeListQuicklist, "*(s)", decodeListQuicklist},
			{typeListQuicklist2, "*(ls)", decodeListNodes},
		},
		Op:      func(e *Encoder, _ *object.Edit) byte { return e.listOp() },
		Encode:  encodeList,
		LargeOp: func(e *Encoder, _ *object.Outline) byte { return e.listOp() },
		Head: func(e *Encoder, o *object.Outline) ElementEncoder {
			e.Len(uint64(o.Len))
			return nodeEncoder{}
		},
		SavedLen: savedListLen,
		Rewrite: func(_ *Commands, a *adder, key []byte, _ *object.Outline) Rewriter {
			return a.with("RPUSH", key, 1, addNode)
		},
		Fits:  func(l *object.Limits, v *Value) bool { return l.PacksList(v.b) },
		Build: buildList,
	})
}

func (e *Encoder) listOp() byte {
	if e.Target.ziplists() {
		return typeListQuicklist
	}
	return typeListQuicklist2
}

// encodeList leaves nodes compressed that are.
func encodeList(e *Encoder, _ byte, x *object.Edit) {
	if x.Base().Packed() {
		e.Len(1)
		e.ListNode(x.Bytes(), false)
		return
	}
	e.Len(uint64(object.AsList(x).Quicklist().Nodes()))
	x.Each(func(el *object.Element) bool {
		e.listNode(el.Node, true)
		return true
	})
}

// nodeEncoder is the ElementEncoder of lists.
type nodeEncoder struct{ noEnd }

// Element implements ElementEncoder.
func (nodeEncoder) Element(e *Encoder, el *object.Element) { e.listNode(el.Node, e.Compress) }

// listNode adds a node; compressed says whether it may stay so.
func (e *Encoder) listNode(n *quicklist.Payload, compressed bool) {
	if n.LZF && compressed && !e.Target.ziplists() {
		e.container(false)
		e.compressed(n.B, n.Size)
		return
	}
	e.ListNode(n.Unpacked(nil), n.Plain)
}

// ListNode adds a node of a list: a listpack, or the bytes of one element if plain.
func (e *Encoder) ListNode(b []byte, plain bool) {
	switch {
	case !e.Target.ziplists():
		e.container(plain)
		e.String(b)
	case plain:
		e.String(appendZiplist(nil, func(yield func(listpack.Value) bool) {
			yield(listpack.Str(b))
		}))
	default:
		e.ziplist(b)
	}
}

func (e *Encoder) container(plain bool) {
	if plain {
		e.B = append(e.B, containerPlain)
	} else {
		e.B = append(e.B, containerPacked)
	}
}

func savedListLen(x *object.Edit) int {
	n, nodes := 0, 0
	x.Each(func(el *object.Element) bool {
		n += 1 + savedString(el.Node.Size)
		nodes++
		return true
	})
	return n + lenWidth(nodes)
}

func addNode(c *Commands, a *adder, el *object.Element) {
	a.unpack = object.EachInNode(el.Node, a.unpack, func(v listpack.Value) {
		a.arg(v)
		a.next(c)
	})
}

func decodeListPlain(d *Decoder) (Value, error) {
	n, err := d.Count(1)
	if err != nil {
		return Value{}, err
	}
	f := d.flatten()
	for range n {
		if err := f.string(); err != nil {
			return Value{}, err
		}
	}
	return Value{form: formElements, n: int64(n), b: f.end(), max: f.max}, nil
}

// decodeListZiplist reads a list that is one ziplist. It becomes elements, because it may be longer
// than a node is allowed to be.
func decodeListZiplist(d *Decoder) (Value, error) {
	at := d.pos
	b, err := d.String()
	if err != nil {
		return Value{}, err
	}
	var e Encoder
	n := 0
	err = ziplistEach(b, func(v listpack.Value) {
		e.Element(v)
		n++
	})
	if err != nil {
		d.pos = at
		return Value{}, d.errorf("%v", err)
	}
	return Value{form: formElements, n: int64(n), b: e.B}, nil
}

func decodeListQuicklist(d *Decoder) (Value, error) {
	nodes, err := d.Count(1)
	if err != nil {
		return Value{}, err
	}
	var e Encoder
	n := 0
	for range nodes {
		lp, err := d.ziplist(1, false)
		if err != nil {
			return Value{}, err
		}
		if listpack.Count(lp) > 0 { // Redis leaves empty nodes out
			e.ListNode(lp, false)
			n++
		}
	}
	return Value{form: formNodes, n: int64(n), b: e.B}, nil
}

func decodeListNodes(d *Decoder) (Value, error) {
	nodes, err := d.Count(2)
	if err != nil {
		return Value{}, err
	}
	if nodes == 1 && d.left() > 0 && d.b[d.pos] == containerPacked {
		d.pos++
		lp, err := d.listpack(1, false)
		return Value{form: formPacked, enc: object.EncListpack, n: int64(count(lp)), b: lp}, err
	}
	f := d.flatten()
	n := 0
	for range nodes {
		kept, err := f.node()
		if err != nil {
			return Value{}, err
		}
		n += kept
	}
	return Value{form: formNodes, n: int64(n), b: f.end()}, nil
}

// node takes a node; one without elements is left out. It returns how many were kept.
func (f *flat) node() (n int, err error) {
	d := f.d
	at := d.pos
	container, err := d.Len()
	if err != nil {
		return 0, err
	}
	if container == containerPlain {
		return 1, f.string()
	}
	if container != containerPacked {
		d.pos = at
		return 0, d.errorf("a list node of unknown kind %d", container)
	}
	data := d.pos
	t, err := d.text()
	if err != nil {
		return 0, err
	}
	if err := listpack.Validate(t.b); err != nil {
		d.pos = data
		return 0, d.errorf("a list node: %v", err)
	}
	if listpack.Count(t.b) == 0 {
		f.drop(at)
		return 0, nil
	}
	if t.fresh {
		f.put(data, t.b)
	}
	return 1, nil
}

func buildList(h *object.Heap, v *Value) (*object.Edit, error) {
	b := object.NewListBuilder(h)
	r := reader{b: v.b}
	switch v.form {
	case formPacked:
		b.Node(v.b, false)
	case formElements:
		var digits [24]byte
		for range v.n {
			b.Push(r.string(digits[:0]))
		}
	case formNodes:
		var digits [24]byte
		for range v.n {
			plain := r.length() == containerPlain
			b.Node(r.string(digits[:0]), plain)
		}
	}
	return b.List(), nil
}
