package rdb

import (
	"bytes"
	"cmp"
	"sync"

	"godwit/internal/listpack"
	"godwit/internal/object"
)

// Redis 8.10 keeps the names of fields once for all hashes that have the same ones. A file defines
// such templates, and hashes refer to them by number:
//
//	+----+--------+--------+---------+-----+
//	| F2 | number | fields | field   | …   |   a template: lengths and strings
//	+----+--------+--------+---------+-----+
//	| 1E | key | listpack of number, value … |
//	+----+-----+--------+---------+-----+---+
//	| 20 | key | number | value   | …   |
//	+----+-----+--------+---------+-----+
//
// In payloads the template takes the place of its number: 1D and 1F, then 0 and a listpack of the
// fields, or 1, their number and the fields. The listpack of values still has a first element,
// which says nothing. Fields are in order: short ones first, then by their bytes.
//
// Here these are hashes as any other. A decoded value shares the fields with its template until it
// is inserted, so many small records cannot make much memory of one long field.

// template is the names of the fields of a hash.
type template struct {
	fields [][]byte
	at     int64 // where the file defines it
	max    int   // bytes of the longest field
}

// templates are those that a file defines, by number. The splitter adds, any goroutine finds.
type templates struct {
	mu   sync.RWMutex
	byID map[uint64]*template
}

// add reports whether the number was free.
func (ts *templates) add(id uint64, t *template) bool {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	if ts.byID[id] != nil {
		return false
	}
	if ts.byID == nil {
		ts.byID = map[uint64]*template{}
	}
	ts.byID[id] = t
	return true
}

// find returns the template with the number that is defined before the offset, nil if there is
// none.
func (ts *templates) find(id uint64, before int64) *template {
	if ts == nil {
		return nil
	}
	ts.mu.RLock()
	defer ts.mu.RUnlock()
	if t := ts.byID[id]; t != nil && t.at < before {
		return t
	}
	return nil
}

// newTemplate checks that the fields are in order.
func (d *Decoder) newTemplate(fields [][]byte) (*template, error) {
	if len(fields) == 0 {
		return nil, d.errorf("a template without fields")
	}
	t := &template{fields: fields}
	for i, f := range fields {
		t.max = max(t.max, len(f))
		if i > 0 && byLength(fields[i-1], f) >= 0 {
			return nil, d.errorf("the fields of a template are in disorder")
		}
	}
	return t, nil
}

func byLength(a, b []byte) int {
	return cmp.Or(cmp.Compare(len(a), len(b)), bytes.Compare(a, b))
}

// rawFields reads fields behind their number.
func (d *Decoder) rawFields() ([][]byte, error) {
	n, err := d.Count(1)
	if err != nil {
		return nil, err
	}
	var fields [][]byte
	for range n {
		f, err := d.String()
		if err != nil {
			return nil, err
		}
		fields = append(fields, f)
	}
	return fields, nil
}

// template skips the definition of a template and keeps it.
func (s *skimmer) template() error {
	at := s.pos
	if _, err := s.length(); err != nil {
		return err
	}
	n, err := s.length()
	if err != nil {
		return err
	}
	if err := s.strings(n); err != nil {
		return err
	}
	d := Decoder{b: bytes.Clone(s.b[at:s.pos]), base: s.base + int64(at)}
	id, err := d.Len()
	if err != nil {
		return err
	}
	fields, err := d.rawFields()
	if err != nil {
		return err
	}
	d.pos = 0
	t, err := d.newTemplate(fields)
	if err != nil {
		return err
	}
	t.at = s.base + int64(s.start)
	if !s.templates.add(id, t) {
		return d.errorf("two templates have the number %d", id)
	}
	return nil
}

// Forms of the fields of a payload.
const (
	fieldsListpack = 0
	fieldsRaw      = 1
)

// templateFields skips the fields that a value brings with it, and returns how many there are.
func (s *skimmer) templateFields() (n uint64, err error) {
	at := s.pos
	form, err := s.length()
	switch {
	case err != nil:
		return 0, err
	case form == fieldsRaw:
		if n, err = s.length(); err == nil {
			err = s.strings(n)
		}
		return n, err
	case form != fieldsListpack:
		s.pos = at
		return 0, s.errorf("fields in the unknown form %d", form)
	}
	if err := s.string(); err != nil {
		return 0, err
	}
	d := Decoder{b: s.b[:s.pos], pos: at, base: s.base}
	t, err := d.ownTemplate()
	if err != nil {
		return 0, err
	}
	return uint64(len(t.fields)), nil
}

// ownTemplate reads the fields that a value brings with it.
func (d *Decoder) ownTemplate() (*template, error) {
	at := d.pos
	form, err := d.Len()
	if err != nil {
		return nil, err
	}
	var fields [][]byte
	switch form {
	case fieldsListpack:
		var lp []byte
		if lp, err = d.listpack(1, false); err != nil {
			return nil, err
		}
		for p := listpack.First(lp); p != 0; p = listpack.Next(lp, p) {
			v := listpack.Get(lp, p)
			if v.IsInt {
				v.B = v.Append(nil)
			}
			fields = append(fields, v.B)
		}
	case fieldsRaw:
		fields, err = d.rawFields()
	default:
		d.pos = at
		err = d.errorf("fields in the unknown form %d", form)
	}
	if err != nil {
		return nil, err
	}
	end := d.pos
	d.pos = at
	t, err := d.newTemplate(fields)
	d.pos = end
	return t, err
}

// numbered returns the template with the number.
func (d *Decoder) numbered(id uint64) (*template, error) {
	t := d.templates.find(id, d.base+int64(d.pos))
	switch {
	case d.templates == nil:
		return nil, d.errorf("a template's number, which says nothing outside of a file")
	case t == nil:
		return nil, d.errorf("no template has the number %d", id)
	}
	return t, nil
}

// decodeTemplateLP reads a listpack of values behind their fields.
func decodeTemplateLP(d *Decoder) (Value, error) {
	t, err := d.ownTemplate()
	if err != nil {
		return Value{}, err
	}
	return d.templateListpack(func(uint64) (*template, error) { return t, nil })
}

// decodeTemplateLPRef reads a listpack of a template's number and values.
func decodeTemplateLPRef(d *Decoder) (Value, error) { return d.templateListpack(d.numbered) }

func (d *Decoder) templateListpack(find func(uint64) (*template, error)) (Value, error) {
	at := d.pos
	lp, err := d.listpack(1, false)
	if err != nil {
		return Value{}, err
	}
	end := d.pos
	d.pos = at
	first := listpack.First(lp)
	if first == 0 {
		return Value{}, d.errorf("a hash without the number of its template")
	}
	id := listpack.Get(lp, first)
	if !id.IsInt || id.N < 0 {
		return Value{}, d.errorf("%.32q is no template's number", id.Append(nil))
	}
	t, err := find(uint64(id.N))
	if err != nil {
		return Value{}, err
	}
	if n := listpack.Count(lp) - 1; n != len(t.fields) {
		return Value{}, d.errorf("%d values for %d fields", n, len(t.fields))
	}
	d.pos = end
	v := Value{form: formTemplate, enc: object.EncListpack, n: int64(len(t.fields)), b: lp,
		max: t.max, rare: &rareValue{template: t}}
	for p := listpack.Next(lp, first); p != 0; p = listpack.Next(lp, p) {
		v.max = max(v.max, listpack.Get(lp, p).Len())
	}
	return v, nil
}

// decodeTemplateArray reads values behind their fields.
func decodeTemplateArray(d *Decoder) (Value, error) {
	t, err := d.ownTemplate()
	if err != nil {
		return Value{}, err
	}
	return d.templateValues(t)
}

// decodeTemplateArrRef reads values behind the number of their template.
func decodeTemplateArrRef(d *Decoder) (Value, error) {
	at := d.pos
	id, err := d.Len()
	if err != nil {
		return Value{}, err
	}
	end := d.pos
	d.pos = at
	t, err := d.numbered(id)
	if err != nil {
		return Value{}, err
	}
	d.pos = end
	return d.templateValues(t)
}

func (d *Decoder) templateValues(t *template) (Value, error) {
	f := d.flatten()
	for range t.fields {
		if err := f.string(); err != nil {
			return Value{}, err
		}
	}
	return Value{form: formTemplate, n: int64(len(t.fields)), b: f.end(), max: max(t.max, f.max),
		rare: &rareValue{template: t}}, nil
}

// nextOfTemplate gives fields and values in turn.
func (v *Value) nextOfTemplate() object.Next {
	values := (&Value{form: formElements, b: v.b}).next()
	if v.enc == object.EncListpack {
		values = (&Value{form: formPacked, enc: object.EncListpack, b: v.b}).next()
		values(nil) // the template's number
	}
	i := 0
	return func(buf []byte) []byte {
		i++
		if i%2 == 1 {
			return v.rare.template.fields[i/2]
		}
		return values(buf)
	}
}
